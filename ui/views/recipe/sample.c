// The lines of a sample: both payloads are formatted alike and compared line by line.
#include "ui/views/recipe/state.h"

#include "base/text.h"
#include "core/json/json.h"
#include "ui/views/difference.h"
#include "ui/views/recipe/texts.h"

enum { AROUND = 2 }; // lines that are the same, beside those that differ

static struct bytes
formatted(struct bytes payload, struct arena *arena)
{
    struct strbuf text = {0};
    if (!bytes_present(payload))
        return BYTES(MSG_NULL_VALUE);
    if (!json_format(payload, &text)) {
        strbuf_release(&text);
        return payload;
    }
    struct bytes copy = arena_copy(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return copy;
}

static void
add_line(struct pager *pager, enum difference_kind kind, struct bytes line)
{
    static const char signs[] = {' ', '-', '+', ' '};
    struct strbuf text = {0};
    strbuf_add_char(&text, signs[kind]);
    strbuf_add_char(&text, ' ');
    strbuf_add(&text, kind == DIFFERENCE_GAP ? bytes_of(pager_glyph(pager, GLYPH_ELLIPSIS)) : line);
    pager_line(pager,
               kind == DIFFERENCE_REMOVED ? ROLE_DIFF_REMOVED
               : kind == DIFFERENCE_ADDED ? ROLE_DIFF_ADDED
                                          : ROLE_DIM,
               strbuf_bytes(&text));
    strbuf_release(&text);
}

static void
payload_lines_that_differ(struct pager *pager, const struct recipe_sample *sample)
{
    struct arena arena = {0};
    struct difference difference =
        difference_of(formatted(sample->before, &arena), formatted(sample->after, &arena), AROUND, &arena);
    bool is_equal = bytes_present(sample->before) == bytes_present(sample->after) &&
                    (!bytes_present(sample->before) || bytes_equal(sample->before, sample->after));
    for (size_t i = 0; i < difference.count; i++)
        add_line(pager, difference.lines[i].kind, difference.lines[i].text);
    if (difference.removed + difference.added == 0 && !is_equal)
        pager_line(pager, ROLE_DIM, BYTES(MSG_ONLY_SPACE));
    arena_release(&arena);
}

void
sample_lines(struct pager *pager, const struct recipe_sample *sample)
{
    char before[TEXT_SHORT];
    char after[TEXT_SHORT];
    if (sample->is_large)
        pager_printf(pager, ROLE_STATUS_WARN, MSG_SAMPLE_LARGE,
                     text_count((int64_t)sample->before_len, before),
                     text_count((int64_t)sample->after_len, after));
    else
        payload_lines_that_differ(pager, sample);
    struct bytes record = bytes_of(sample->record ? sample->record : "");
    for (size_t at = 0; at < record.len;) {
        size_t end = bytes_find(record, BYTES("\n"), at);
        end = end < record.len ? end : record.len;
        add_line(pager, DIFFERENCE_ADDED, bytes_slice(record, at, end - at));
        at = end + 1;
    }
}
