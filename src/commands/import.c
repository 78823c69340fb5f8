// import: events from files into the table: what consumers wrote down while the database was away, and what
// export wrote. A line that is wrong is told, and does not stop the rest.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "store/ingest/import.h"

enum { BATCH_ROWS = 20000, BATCH_BYTES = 16 << 20 };

struct importing {
    struct call *call;
    struct store *store;
    const char *name;   // of the file, for people
    int64_t line;       // of it, from 1
    struct arena arena; // of the batch
    struct import_row *rows;
    int64_t *lines; // of each row
    size_t count, bytes;
    int64_t read, inserted, duplicates, rejected;
    struct progress_line progress;
};

static void
reject(struct importing *importing, int64_t line, const char *why)
{
    struct strbuf text = {0};
    text_visible(&text, bytes_of(why), false);
    progress_end(&importing->progress);
    fprintf(stderr, "%s:%" PRId64 ": %s\n", importing->name, line, strbuf_text(&text));
    strbuf_release(&text);
    importing->rejected++;
}

static bool
take_batch(struct importing *importing, struct err *err)
{
    const struct change_options *change = &importing->call->options.change;
    const struct import_batch batch = {.rows = importing->rows,
                                       .count = importing->count,
                                       .source = importing->name,
                                       .reason = change->reason,
                                       .is_dry = change->dry_run,
                                       .part = IMPORT_ALL_PARTS};
    struct import_taken taken = {0};
    bool ok = importing->count == 0 || import_take(importing->store, &batch, &importing->arena, &taken, err);
    if (ok) {
        importing->inserted += taken.inserted;
        importing->duplicates += taken.duplicates;
        for (size_t i = 0; i < taken.refused_count; i++)
            reject(importing, importing->lines[taken.refused[i].row], taken.refused[i].why);
    }
    importing->count = importing->bytes = 0;
    arena_reset(&importing->arena);
    progress_show(&importing->progress, importing->read, 0, NULL);
    return ok;
}

static bool
take_line(struct importing *importing, struct bytes line, struct err *err)
{
    struct err why = {0};
    importing->line++;
    line = bytes_trim(line);
    if (line.len == 0)
        return true;
    importing->read++;
    importing->bytes += line.len;
    if (import_line_read(line, &importing->arena, &importing->rows[importing->count], &why))
        importing->lines[importing->count++] = importing->line;
    else
        reject(importing, importing->line, why.text);
    return (importing->count < BATCH_ROWS && importing->bytes < BATCH_BYTES) || take_batch(importing, err);
}

static bool
take_file(struct importing *importing, const char *name, struct err *err)
{
    bool is_input = strcmp(name, "-") == 0, ok = true;
    FILE *file = is_input ? stdin : fopen(name, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    importing->name = is_input ? "standard input" : name;
    importing->line = 0;
    if (!file)
        return err_set(err, ERR_USAGE, "%s cannot be read: %s", name, strerror(errno));
    while (ok && !interrupt_is_set() && (len = getline(&text, &room, file)) >= 0)
        ok = take_line(importing, (struct bytes){text, (size_t)len}, err);
    if (ok && ferror(file))
        ok = err_set(err, ERR_USAGE, "%s cannot be read further than line %" PRId64, importing->name,
                     importing->line);
    ok = ok && take_batch(importing, err);
    free(text);
    if (!is_input)
        fclose(file);
    return ok;
}

static bool
tell(const struct importing *importing, struct err *err)
{
    char read[TEXT_SHORT], inserted[TEXT_SHORT], duplicates[TEXT_SHORT], rejected[TEXT_SHORT];
    bool is_dry = importing->call->options.change.dry_run;
    if (importing->call->options.general.json) {
        struct strbuf line = {0};
        strbuf_printf(&line,
                      "{\"read\":%" PRId64 ",\"inserted\":%" PRId64 ",\"duplicate\":%" PRId64
                      ",\"rejected\":%" PRId64 ",\"is_dry\":%s}\n",
                      importing->read, importing->inserted, importing->duplicates, importing->rejected,
                      is_dry ? "true" : "false");
        bool ok = output_bytes(strbuf_bytes(&line), err);
        strbuf_release(&line);
        return ok;
    }
    remark(importing->call, "%s lines: %s %s, %s in the table already, %s rejected",
           text_count(importing->read, read), text_count(importing->inserted, inserted),
           is_dry ? "would be inserted" : "inserted", text_count(importing->duplicates, duplicates),
           text_count(importing->rejected, rejected));
    return true;
}

static bool
take_all(struct importing *importing, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < importing->call->arg_count && !interrupt_is_set(); i++)
        ok = take_file(importing, importing->call->args[i], err);
    progress_end(&importing->progress);
    if (!ok && importing->inserted > 0)
        remark(importing->call, "%" PRId64 " are inserted; the same command continues behind them",
               importing->inserted);
    return ok && tell(importing, err);
}

int
command_import(struct call *call, struct err *err)
{
    struct importing importing = {.call = call};
    if (call->arg_count == 0) {
        err_set(err, ERR_USAGE, "say what to import: redrive import FILE…, or - for standard input");
        return STATUS_USAGE;
    }
    interrupt_catch();
    bool ok = command_store(call, STORE_WRITE, &importing.store, err);
    if (ok) {
        importing.rows = alloc_array(BATCH_ROWS, sizeof *importing.rows);
        importing.lines = alloc_array(BATCH_ROWS, sizeof *importing.lines);
        progress_begin(&importing.progress, call, "lines");
        ok = take_all(&importing, err);
    }
    free(importing.rows);
    free(importing.lines);
    arena_release(&importing.arena);
    store_close(importing.store);
    return !ok                      ? command_status(err)
           : interrupt_is_set()     ? STATUS_INTERRUPTED
           : importing.rejected > 0 ? STATUS_PART
                                    : STATUS_DONE;
}
