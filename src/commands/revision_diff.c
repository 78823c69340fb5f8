// What one revision changed against another, for show --diff.
#include <inttypes.h>
#include <stdlib.h>
#include "base/text.h"
#include "commands/cli/output.h"
#include "commands/revisions.h"
#include "core/diff/diff.h"
#include "core/json/changes.h"
#include "correct/correct.h"

enum { CONTEXT = 3 };

struct side {
    int64_t no;
    struct record_parts parts;
};

// "1..2", "1.." or "..2"; NULL: from the original to the newest.
static bool
parse_range(const struct one_event *one, const char *text, struct side sides[2], struct err *err)
{
    sides[0].no = 0;
    sides[1].no = one->revision_count ? one->revisions[0].no : 0;
    if (!text)
        return true;
    struct bytes range = bytes_of(text);
    size_t dots = bytes_find(range, BYTES(".."), 0);
    struct bytes ends[2] = {bytes_slice(range, 0, dots), bytes_slice(range, dots + 2, SIZE_MAX)};
    for (int i = 0; i < 2; i++)
        if (dots == range.len || (ends[i].len && !text_parse_int(ends[i], &sides[i].no, NULL)) ||
            sides[i].no < 0)
            return err_set(err, ERR_USAGE, "--diff takes revisions as M..N, such as 0..2, not \"%s\"", text);
    return true;
}

static bool
read_side(struct call *call, struct store *store, struct one_event *one, struct side *side, struct err *err)
{
    const struct revision *revision = one_event_revision(one, side->no);
    struct event event = one->event;
    event.known.correction = revision ? revision->parts : (struct correction){0};
    if (!revision_payload(call, store, one, side->no, &event.payload, err))
        return false;
    correct_parts(&event, &side->parts);
    return true;
}

// A line a token, unless the exact bytes are wanted or it is no JSON.
static void
add_lines(struct bytes payload, bool is_raw, struct strbuf *out)
{
    size_t begin = out->len;
    if (is_raw || !json_fits(payload, NULL) || !json_format(payload, out)) {
        strbuf_splice(out, begin, out->len - begin, BYTES(""));
        strbuf_add(out, payload);
    }
    if (!is_raw && !bytes_ends(strbuf_bytes(out), "\n"))
        strbuf_add_char(out, '\n');
}

static void
add_diff(const struct call *call, const struct side sides[2], struct arena *arena, struct strbuf *out)
{
    struct strbuf texts[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++)
        add_lines(sides[i].parts.payload, call->options.command.raw, &texts[i]);
    struct diff *diff = diff_create(strbuf_bytes(&texts[0]), strbuf_bytes(&texts[1]), DIFF_WORK);
    diff_unified(diff, CONTEXT, arena_printf(arena, "revision %" PRId64, sides[0].no),
                 arena_printf(arena, "revision %" PRId64, sides[1].no), out);
    diff_destroy(diff);
    strbuf_release(&texts[0]);
    strbuf_release(&texts[1]);
}

static void
say_changes(const struct call *call, const struct side sides[2], struct arena *arena)
{
    struct json_changes changes;
    struct err ignored = {0};
    struct strbuf text = {0};
    if (json_compare(sides[0].parts.payload, sides[1].parts.payload, arena, &changes, &ignored)) {
        json_changes_sentence(&changes, &text);
        remark(call, "%s", strbuf_text(&text));
    }
    strbuf_release(&text);
}

bool
revision_diff_print(struct call *call, struct store *store, struct one_event *one, const char *range,
                    struct err *err)
{
    struct side sides[2];
    if (!parse_range(one, range, sides, err) || !read_side(call, store, one, &sides[0], err) ||
        !read_side(call, store, one, &sides[1], err))
        return false;
    struct strbuf text = {0};
    bool ok;
    add_diff(call, sides, &one->arena, &text);
    if (call->options.general.json) {
        struct value *object = value_object();
        value_add_int(object, "id", one->event.id);
        value_add_int(object, "from", sides[0].no);
        value_add_int(object, "to", sides[1].no);
        value_add(object, "changed", changes_json(&sides[0].parts, &sides[1].parts));
        value_add_bytes(object, "diff", strbuf_bytes(&text));
        ok = json_print(object, err);
    } else {
        say_changes(call, sides, &one->arena);
        ok = bytes_print(call, strbuf_bytes(&text), err);
    }
    strbuf_release(&text);
    return ok;
}
