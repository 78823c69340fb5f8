// The lines of a sample: both payloads are formatted alike and compared line by line.
#include "ui/views/recipe/state.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/json/json.h"
#include "ui/views/recipe/texts.h"

enum { CONTEXT_LINES = 2, COMPARED = 1 << 20 }; // pairs of lines; more count as replaced

struct lines {
    struct strbuf text;
    struct bytes *list;
    size_t count;
};

static void
split(struct lines *lines, struct bytes payload)
{
    if (!bytes_present(payload))
        strbuf_add_text(&lines->text, MSG_NULL_VALUE);
    else if (!json_format(payload, &lines->text)) {
        strbuf_reset(&lines->text);
        strbuf_add(&lines->text, payload);
    }
    struct bytes text = strbuf_bytes(&lines->text);
    size_t capacity = 0;
    for (size_t at = 0; at < text.len;) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        end = end < text.len ? end : text.len;
        lines->list = alloc_grow(lines->list, lines->count, &capacity, sizeof *lines->list);
        lines->list[lines->count++] = bytes_slice(text, at, end - at);
        at = end + 1;
    }
}

static void
lines_release(struct lines *lines)
{
    strbuf_release(&lines->text);
    free(lines->list);
}

// common[i * (b_count + 1) + k]: how many lines a from i on and b from k on have in common, in order.
static uint32_t *
measure_common(const struct bytes *a, size_t a_count, const struct bytes *b, size_t b_count)
{
    if (a_count * b_count > COMPARED)
        return NULL;
    size_t width = b_count + 1;
    uint32_t *common = alloc_array((a_count + 1) * width, sizeof *common);
    for (size_t i = a_count; i-- > 0;)
        for (size_t k = b_count; k-- > 0;) {
            uint32_t down = common[(i + 1) * width + k];
            uint32_t right = common[i * width + k + 1];
            common[i * width + k] = bytes_equal(a[i], b[k]) ? common[(i + 1) * width + k + 1] + 1
                                    : down > right          ? down
                                                            : right;
        }
    return common;
}

// What is shown of one of the two texts.
struct shown_line {
    char mark; // ' ', '-' or '+'
    struct bytes text;
};

// All lines of both, in order. `out` has room for them.
static size_t
merge(const struct lines *before, const struct lines *after, struct shown_line *out)
{
    size_t count = 0;
    size_t head = 0;
    size_t least = before->count < after->count ? before->count : after->count;
    while (head < least && bytes_equal(before->list[head], after->list[head]))
        head++;
    size_t tail = 0;
    while (tail < least - head &&
           bytes_equal(before->list[before->count - 1 - tail], after->list[after->count - 1 - tail]))
        tail++;
    const struct bytes *a = before->list + head;
    const struct bytes *b = after->list + head;
    size_t a_count = before->count - head - tail;
    size_t b_count = after->count - head - tail;
    uint32_t *common = measure_common(a, a_count, b, b_count);
    for (size_t i = 0; i < head; i++)
        out[count++] = (struct shown_line){' ', before->list[i]};
    size_t i = 0;
    size_t k = 0;
    while (i < a_count || k < b_count) {
        bool is_same = common && i < a_count && k < b_count && bytes_equal(a[i], b[k]);
        bool takes_a =
            i < a_count && (k == b_count || !common ||
                            common[(i + 1) * (b_count + 1) + k] >= common[i * (b_count + 1) + k + 1]);
        out[count++] = is_same   ? (struct shown_line){' ', a[i]}
                       : takes_a ? (struct shown_line){'-', a[i]}
                                 : (struct shown_line){'+', b[k]};
        i += is_same || takes_a;
        k += is_same || !takes_a;
    }
    for (size_t t = tail; t > 0; t--)
        out[count++] = (struct shown_line){' ', before->list[before->count - t]};
    free(common);
    return count;
}

static void
add_line(struct pager *pager, const struct shown_line *line)
{
    struct strbuf text = {0};
    strbuf_add_char(&text, line->mark);
    strbuf_add_char(&text, ' ');
    strbuf_add(&text, line->text);
    pager_line(pager,
               line->mark == '-'   ? ROLE_STATUS_ERROR
               : line->mark == '+' ? ROLE_STATUS_OK
                                   : ROLE_DIM,
               strbuf_bytes(&text));
    strbuf_release(&text);
}

// A line stands near a change.
static bool
is_near_change(const struct shown_line *lines, size_t count, size_t i)
{
    size_t from = i > CONTEXT_LINES ? i - CONTEXT_LINES : 0;
    for (size_t at = from; at <= i + CONTEXT_LINES && at < count; at++)
        if (lines[at].mark != ' ')
            return true;
    return false;
}

static void
payload_lines_that_differ(struct pager *pager, const struct recipe_sample *sample)
{
    struct lines before = {0};
    struct lines after = {0};
    split(&before, sample->before);
    split(&after, sample->after);
    struct shown_line *shown = alloc_array(before.count + after.count + 1, sizeof *shown);
    size_t count = merge(&before, &after, shown);
    bool is_gap = false;
    bool has_change = false;
    for (size_t i = 0; i < count; i++) {
        bool is_shown = is_near_change(shown, count, i);
        if (is_shown)
            add_line(pager, &shown[i]);
        else if (!is_gap)
            pager_printf(pager, ROLE_DIM, "  %s", pager_glyph(pager, GLYPH_ELLIPSIS));
        is_gap = !is_shown;
        has_change = has_change || shown[i].mark != ' ';
    }
    bool is_equal = bytes_present(sample->before) == bytes_present(sample->after) &&
                    (!bytes_present(sample->before) || bytes_equal(sample->before, sample->after));
    if (!has_change && !is_equal)
        pager_line(pager, ROLE_DIM, BYTES(MSG_ONLY_SPACE));
    free(shown);
    lines_release(&before);
    lines_release(&after);
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
        struct shown_line line = {'+', bytes_slice(record, at, end - at)};
        add_line(pager, &line);
        at = end + 1;
    }
}
