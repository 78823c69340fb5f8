#include "commands/letter_explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/letter_fetch.h"
#include "commands/letter_line.h"
#include "commands/letter_text.h"
#include "commands/whole_file.h"

static bool
print_letter(const struct call *call, const struct envelope_record *record, struct arena *arena,
             struct err *err)
{
    struct letter letter = {.record = *record};
    struct strbuf text = {0};
    envelope_read(record, arena, &letter.envelope);
    envelope_undo(record, &letter.envelope, arena, &letter.undo);
    if (call->options.general.json)
        return json_print(letter_json(&letter, arena), err);
    letter_text(&letter, arena, &text);
    strbuf_add_char(&text, '\n');
    bool ok = output_bytes(strbuf_bytes(&text), err);
    strbuf_release(&text);
    return ok;
}

static struct bytes
take_line(struct bytes *rest)
{
    size_t end = bytes_find(*rest, BYTES("\n"), 0);
    struct bytes line = end == SIZE_MAX ? *rest : bytes_slice(*rest, 0, end);
    *rest = end == SIZE_MAX ? BYTES_ABSENT : bytes_slice(*rest, end + 1, SIZE_MAX);
    return bytes_trim(line);
}

static void
tell_wrong(const char *name, int64_t number, const struct err *wrong)
{
    struct strbuf text = {0};
    text_visible(&text, bytes_of(name), false);
    strbuf_printf(&text, ":%" PRId64 ": ", number);
    text_visible(&text, bytes_of(wrong->text), false);
    fprintf(stderr, "redrive: %s\n", strbuf_text(&text));
    strbuf_release(&text);
}

// A broken line is told and does not stop the rest.
static int
explain_lines(const struct call *call, const char *name, struct bytes rest, struct err *err)
{
    bool is_part = false;
    struct arena arena = {0};
    for (int64_t number = 1; bytes_present(rest) && !interrupt_is_set() && !err_is_set(err); number++) {
        struct envelope_record record;
        struct err wrong = {0};
        struct bytes line = take_line(&rest);
        if (line.len == 0)
            continue;
        if (!letter_line_read(line, &arena, &record, &wrong)) {
            tell_wrong(name, number, &wrong);
            is_part = true;
        } else if (!print_letter(call, &record, &arena, err)) {
            break;
        }
        arena_reset(&arena);
    }
    arena_release(&arena);
    if (err_is_set(err))
        return command_status(err);
    if (interrupt_is_set())
        return STATUS_INTERRUPTED;
    return is_part ? STATUS_PART : STATUS_DONE;
}

static int
explain_file(struct call *call, const char *name, struct err *err)
{
    struct strbuf text = {0};
    int status = STATUS_USAGE;
    if (whole_file_read(name, &text, err))
        status = explain_lines(call, name, strbuf_bytes(&text), err);
    strbuf_release(&text);
    return status;
}

static int
explain_topic(struct call *call, const struct letter_place *place, struct arena *arena, struct err *err)
{
    struct envelope_record *records;
    size_t count;
    bool ok = letter_fetch(call, place, arena, &records, &count, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = print_letter(call, &records[i], arena, err);
    return ok ? STATUS_DONE : command_status(err);
}

int
letter_explain(struct call *call, const char *name, struct err *err)
{
    struct arena arena = {0};
    struct letter_place place;
    bool is_file = strcmp(name, "-") == 0 || access(name, F_OK) == 0;
    int status = !is_file && letter_place_read(name, &arena, &place)
                     ? explain_topic(call, &place, &arena, err)
                     : explain_file(call, name, err);
    arena_release(&arena);
    return status;
}
