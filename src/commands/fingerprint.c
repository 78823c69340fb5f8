// fingerprint: group keys of the lines of standard input, one line out for each line in.
//
// Reads and writes in large blocks; a line is a view into the block, and no memory is taken per line.
#include "core/fingerprint/fingerprint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/record.h"
#include "core/category.h"
#include "core/event.h"
#include "core/fingerprint/rules.h"
#include "core/fingerprint/writers.h"
#include "core/json/value.h"

enum { BLOCK = 1 << 20 };

struct lines {
    char *data;
    size_t from, to, capacity; // what is read and not yet given out
    bool is_at_end;
    int64_t number; // of the line given out last
};

// Moves what is left to the front and reads behind it; a line longer than the block makes it grow.
static bool
command_fingerprint_fill(struct lines *lines, struct err *err)
{
    memmove(lines->data, lines->data + lines->from, lines->to - lines->from);
    lines->to -= lines->from;
    lines->from = 0;
    if (lines->capacity - lines->to < BLOCK / 2)
        lines->data = alloc_resize(lines->data, lines->capacity = size_mul(lines->capacity, 2), 1);
    ssize_t got = 0;
    do
        got = read(STDIN_FILENO, lines->data + lines->to, lines->capacity - lines->to);
    while (got < 0 && errno == EINTR && !interrupt_is_set());
    if (got < 0)
        return err_set(err, ERR_USAGE, "standard input cannot be read: %s", strerror(errno));
    lines->to += (size_t)got;
    lines->is_at_end = got == 0;
    return true;
}

// The next line without its end. *line is absent at the end of input.
static bool
next_line(struct lines *lines, struct bytes *line, struct err *err)
{
    size_t looked = lines->from;
    for (;;) {
        const char *end = memchr(lines->data + looked, '\n', lines->to - looked);
        bool is_rest = end == NULL && lines->is_at_end && lines->to > lines->from;
        if (end != NULL || is_rest) {
            size_t len = (end != NULL ? (size_t)(end - lines->data) : lines->to) - lines->from;
            *line = (struct bytes){lines->data + lines->from, len};
            lines->from += len + (end != NULL);
            lines->number++;
            return true;
        }
        *line = BYTES_ABSENT;
        if (lines->is_at_end)
            return true;
        looked = lines->to - lines->from; // its index after fill
        if (!command_fingerprint_fill(lines, err))
            return false;
    }
}

struct keying {
    const struct call *call;
    struct record_reader reader;
    struct strbuf out;
    struct arena arena;           // of one explanation
    struct writer_survey *survey; // NULL: keys are asked for
};

static void
add_part(struct strbuf *out, const char *name, struct bytes part)
{
    strbuf_printf(out, "  %-8s", name);
    if (bytes_present(part))
        text_visible(out, part, false);
    else
        strbuf_add_char(out, '-');
    strbuf_add_char(out, '\n');
}

static void
add_rules(const struct keying *keying, const struct fingerprint *print, struct strbuf *out)
{
    char version[GROUP_RULES_VERSION];
    char key[GROUP_TEXT];
    strbuf_printf(out, "  rules   version %s", group_rules_version(keying->call->group_rules, version));
    if (print->rule != NULL) {
        strbuf_printf(out, "; \"");
        text_visible(out, bytes_of(print->rule), false);
        strbuf_printf(out, "\" made it of %s", group_text(print->text_key, key));
    }
    strbuf_add_char(out, '\n');
}

static void
explain_text(const struct keying *keying, const struct fingerprint *print, struct strbuf *out)
{
    char key[GROUP_TEXT];
    const char *why = NULL;
    enum category category = category_of(keying->call->rules, print->root_class, print->pattern, &why);
    strbuf_printf(out, "%s\n", group_text(print->key, key));
    add_part(out, "class", print->root_class);
    add_part(out, "text", print->root_text);
    add_part(out, "pattern", print->pattern);
    add_part(out, "frame", print->frame);
    add_part(out, "because", print->frame_reason);
    add_rules(keying, print, out);
    strbuf_printf(out, "  category %s: ", category_name(category));
    text_visible(out, bytes_of(why), false);
    strbuf_add_char(out, '\n');
    for (uint32_t i = 0; i < print->mask_count; i++) {
        strbuf_printf(out, "  masked  %s: ", print->masks[i].rule);
        text_visible(out, print->masks[i].text, false);
        strbuf_add_char(out, '\n');
    }
}

static struct value *
masks_json(const struct fingerprint *print)
{
    struct value *masks = value_array();
    for (uint32_t i = 0; i < print->mask_count; i++) {
        struct value *mask = value_object();
        value_add_bytes(mask, "text", print->masks[i].text);
        value_add_text(mask, "rule", print->masks[i].rule);
        value_add(masks, NULL, mask);
    }
    return masks;
}

static void
explain_json(const struct keying *keying, const struct fingerprint *print, struct strbuf *out)
{
    char version[GROUP_RULES_VERSION];
    const char *why = NULL;
    enum category category = category_of(keying->call->rules, print->root_class, print->pattern, &why);
    struct value *object = value_object();
    json_group(object, "group", print->key);
    json_group(object, "text_group", print->text_key);
    value_add_text(object, "version", group_rules_version(keying->call->group_rules, version));
    value_add_text(object, "group_rule", print->rule);
    value_add_bytes(object, "root_class", print->root_class);
    value_add_bytes(object, "root_text", print->root_text);
    value_add_bytes(object, "pattern", print->pattern);
    value_add_bytes(object, "frame", print->frame);
    value_add_bytes(object, "frame_reason", print->frame_reason);
    value_add_text(object, "category", category_name(category));
    value_add_text(object, "category_rule", why);
    value_add_bool(object, "cut", print->is_cut);
    value_add(object, "masks", masks_json(print));
    value_dump(object, out);
    strbuf_add_char(out, '\n');
    value_destroy(object);
}

// The key as 16 digits and a line end; written by hand since millions of lines a second pass here.
static void
command_fingerprint_add_key(struct strbuf *out, uint64_t key)
{
    char line[17];
    for (int i = 0; i < 16; i++)
        line[i] = "0123456789abcdef"[key >> (60 - 4 * i) & 15];
    line[16] = '\n';
    strbuf_add(out, (struct bytes){line, sizeof line});
}

static bool
key_line(struct keying *keying, struct bytes line, struct err *err)
{
    struct fingerprint_input input = {.message = line};
    if (keying->call->options.command.record && !record_read(&keying->reader, line, &input, err))
        return false;
    input.rules = keying->call->group_rules;
    if (keying->survey != NULL) {
        writer_survey_add(keying->survey, &input);
        return true;
    }
    if (!keying->call->options.command.explain && !keying->call->options.general.json) {
        command_fingerprint_add_key(&keying->out, fingerprint_key(&input));
        return true;
    }
    struct fingerprint print = fingerprint_explain(&input, &keying->arena);
    if (keying->call->options.general.json)
        explain_json(keying, &print, &keying->out);
    else
        explain_text(keying, &print, &keying->out);
    arena_reset(&keying->arena);
    return true;
}

static bool
flush(struct keying *keying, struct err *err)
{
    bool ok = output_bytes(strbuf_bytes(&keying->out), err);
    strbuf_reset(&keying->out);
    return ok;
}

static bool
key_lines(struct keying *keying, struct lines *lines, struct err *err)
{
    struct bytes line;
    for (;;) {
        // A line typed at a terminal is answered at once; a block of lines is answered as a block.
        bool is_behind = memchr(lines->data + lines->from, '\n', lines->to - lines->from) == NULL;
        if ((keying->out.len >= BLOCK || is_behind) && !flush(keying, err))
            return false;
        if (is_behind && !output_flush(err))
            return false;
        if (!next_line(lines, &line, err))
            return false;
        if (!bytes_present(line))
            return true;
        if (!key_line(keying, line, err))
            return err_context(err, "standard input, line %" PRId64, lines->number);
    }
}

// A text in quotes, as the rules file reads it.
static void
add_quoted(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '"');
    while (*text != '\0') {
        size_t len = strcspn(text, "\"\\");
        text_visible(out, (struct bytes){text, len}, false);
        text += len;
        if (*text != '\0') {
            strbuf_add_char(out, '\\');
            strbuf_add_char(out, *text++);
        }
    }
    strbuf_add_char(out, '"');
}

// A row that can go into the rules file as it is, below what it was learned from.
static void
add_writers(struct keying *keying)
{
    size_t count = 0;
    const struct writer_found *found = writer_survey_found(keying->survey, &count);
    struct strbuf *out = &keying->out;
    for (size_t i = 0; i < count; i++) {
        strbuf_add_text(out, "# ");
        text_visible(out, bytes_of(found[i].frame), false);
        strbuf_printf(out, ": %" PRIu64 " events, %u different messages\n", found[i].records,
                      found[i].messages);
    }
    for (size_t i = 0; i < count; i++) {
        strbuf_add_text(out, i == 0 ? "writer = { " : ", ");
        add_quoted(out, found[i].frame);
    }
    strbuf_add_text(out, count > 0 ? " }\n" : "");
}

int
command_fingerprint(struct call *call, struct err *err)
{
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    if (call->options.command.writers && !call->options.command.record) {
        err_set(err, ERR_USAGE, "--writers compares messages with stacks; give it records, with --record");
        return STATUS_USAGE;
    }
    if (!command_rules(call, err))
        return STATUS_USAGE;
    struct lines lines = {.data = alloc_bytes(BLOCK), .capacity = BLOCK};
    struct keying keying = {.call = call};
    if (call->options.command.writers)
        keying.survey = writer_survey_create();
    bool ok = key_lines(&keying, &lines, err);
    if (ok && keying.survey != NULL)
        add_writers(&keying);
    ok = flush(&keying, ok ? err : NULL) && ok; // the lines before a bad one keep their answer
    writer_survey_destroy(keying.survey);
    record_release(&keying.reader);
    strbuf_release(&keying.out);
    arena_release(&keying.arena);
    free(lines.data);
    return ok ? STATUS_DONE : command_status(err);
}
