// import: events from files into the table: what consumers wrote down while the database was away, and what
// export wrote. A line that is wrong is told, and does not stop the rest.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "commands/import_batches.h"

struct importing {
    struct call *call;
    struct import_batches *batches;
    const char *name; // of the file, for people
    int64_t line;     // of it, from 1
    int64_t read, rejected;
    struct progress_line progress;
};

static void
reject(void *context, const char *source, int64_t line, const char *why)
{
    struct importing *importing = context;
    struct strbuf text = {0};
    text_visible(&text, bytes_of(why), false);
    progress_end(&importing->progress);
    fprintf(stderr, "%s:%" PRId64 ": %s\n", source, line, strbuf_text(&text));
    strbuf_release(&text);
    importing->rejected++;
}

static bool
insert(struct importing *importing, struct err *err)
{
    bool ok = import_batches_insert(importing->batches, importing->name, err);
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
    if (!import_batches_add(importing->batches, line, importing->line, &why))
        reject(importing, importing->name, importing->line, why.text);
    return !import_batches_is_full(importing->batches) || insert(importing, err);
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
    ok = ok && insert(importing, err);
    ok = import_batches_wait(importing->batches, ok ? err : &(struct err){0}) && ok;
    free(text);
    if (!is_input)
        fclose(file);
    return ok;
}

static bool
tell(const struct importing *importing, struct err *err)
{
    struct import_counts counts = import_batches_counts(importing->batches);
    char read[TEXT_SHORT], inserted[TEXT_SHORT], duplicates[TEXT_SHORT], rejected[TEXT_SHORT];
    bool is_dry = importing->call->options.change.dry_run;
    if (importing->call->options.general.json) {
        struct strbuf line = {0};
        strbuf_printf(&line,
                      "{\"read\":%" PRId64 ",\"inserted\":%" PRId64 ",\"duplicate\":%" PRId64
                      ",\"rejected\":%" PRId64 ",\"is_dry\":%s}\n",
                      importing->read, counts.inserted, counts.duplicates, importing->rejected,
                      is_dry ? "true" : "false");
        bool ok = output_bytes(strbuf_bytes(&line), err);
        strbuf_release(&line);
        return ok;
    }
    remark(importing->call, "%s lines: %s %s, %s in the table already, %s rejected",
           text_count(importing->read, read), text_count(counts.inserted, inserted),
           is_dry ? "would be inserted" : "inserted", text_count(counts.duplicates, duplicates),
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
    int64_t inserted = import_batches_counts(importing->batches).inserted;
    if (!ok && inserted > 0 && !importing->call->options.change.dry_run)
        remark(importing->call, "%" PRId64 " are inserted; the same command continues behind them", inserted);
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
    struct store *store = NULL;
    bool ok = command_store(call, STORE_WRITE, &store, err);
    if (ok) {
        importing.batches = import_batches_begin(
            &(struct import_batches_settings){.store = store,
                                              .other = command_store_settings(call, STORE_WRITE),
                                              .reason = call->options.change.reason,
                                              .is_dry = call->options.change.dry_run,
                                              .refuse = reject,
                                              .context = &importing});
        progress_begin(&importing.progress, call, "lines");
        ok = take_all(&importing, err);
        import_batches_end(importing.batches);
    }
    store_close(store);
    return !ok                      ? command_status(err)
           : interrupt_is_set()     ? STATUS_INTERRUPTED
           : importing.rejected > 0 ? STATUS_PART
                                    : STATUS_DONE;
}
