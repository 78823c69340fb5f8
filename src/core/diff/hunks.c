// Hunks, rows side by side, and the unified form.
#include <stdlib.h>
#include "base/alloc.h"
#include "core/diff/diff.h"

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool
diff_next_hunk(const struct diff *diff, size_t context, struct diff_hunk *hunk)
{
    size_t first = hunk->first_change + hunk->change_count;
    if (first >= diff->change_count)
        return false;
    size_t last = first;
    const struct diff_change *changes = diff->changes;
    for (; last + 1 < diff->change_count; last++) {
        size_t between = changes[last + 1].a - changes[last].a - changes[last].a_count;
        if (between / 2 + between % 2 > context)
            break;
    }
    size_t before = least(context, least(changes[first].a, changes[first].b));
    size_t a_end = changes[last].a + changes[last].a_count;
    size_t b_end = changes[last].b + changes[last].b_count;
    size_t after = least(context, diff->a.line_count - a_end);
    *hunk = (struct diff_hunk){.a = changes[first].a - before,
                               .b = changes[first].b - before,
                               .first_change = first,
                               .change_count = last + 1 - first};
    hunk->a_count = a_end + after - hunk->a;
    hunk->b_count = b_end + after - hunk->b;
    return true;
}

// How many bytes two lines have in common at both ends, of 100 of the longer one.
static unsigned
likeness(struct bytes a, struct bytes b)
{
    size_t shorter = least(a.len, b.len);
    size_t longer = a.len + b.len - shorter;
    size_t front = 0;
    while (front < shorter && a.data[front] == b.data[front])
        front++;
    size_t back = 0;
    while (back < shorter - front && a.data[a.len - back - 1] == b.data[b.len - back - 1])
        back++;
    return longer ? (unsigned)((front + back) * 100 / longer) : 100;
}

// Lines of a change beside one another so that the sum of likeness is greatest; partners[i] is the line of b
// beside line i of a, both from the start of the change, or DIFF_NO_LINE.
static void
pair_by_likeness(const struct diff *diff, const struct diff_change *change, size_t *partners)
{
    enum { LIKE = 50 }; // less is not worth standing side by side
    size_t n = change->a_count;
    size_t m = change->b_count;
    unsigned *best = alloc_array((n + 1) * (m + 1), sizeof *best); // of the lines from i and k on
    for (size_t i = n; i-- > 0;) {
        for (size_t k = m; k-- > 0;) {
            unsigned like = likeness(diff_line(&diff->a, change->a + i), diff_line(&diff->b, change->b + k));
            unsigned skip_a = best[(i + 1) * (m + 1) + k];
            unsigned skip_b = best[i * (m + 1) + k + 1];
            unsigned pair = like >= LIKE ? best[(i + 1) * (m + 1) + k + 1] + like : 0;
            unsigned skip = skip_a > skip_b ? skip_a : skip_b;
            best[i * (m + 1) + k] = pair > skip ? pair : skip;
        }
    }
    for (size_t i = 0, k = 0; i < n; i++) {
        partners[i] = DIFF_NO_LINE;
        while (k < m && best[i * (m + 1) + k] == best[i * (m + 1) + k + 1])
            k++;
        if (k < m && best[i * (m + 1) + k] > best[(i + 1) * (m + 1) + k])
            partners[i] = k++;
    }
    free(best);
}

static void
pair_lines(const struct diff *diff, const struct diff_change *change, size_t *partners)
{
    if (change->a_count != change->b_count && change->a_count <= DIFF_PAIRED &&
        change->b_count <= DIFF_PAIRED) {
        pair_by_likeness(diff, change, partners);
        return;
    }
    for (size_t i = 0; i < change->a_count; i++)
        partners[i] = i < change->b_count ? i : DIFF_NO_LINE;
}

static size_t
add_change_rows(const struct diff *diff, const struct diff_change *change, struct diff_row *rows)
{
    size_t *partners = alloc_array(change->a_count + 1, sizeof *partners);
    pair_lines(diff, change, partners);
    size_t count = 0;
    size_t k = 0;
    for (size_t i = 0; i < change->a_count; i++) {
        for (; partners[i] != DIFF_NO_LINE && k < partners[i]; k++)
            rows[count++] = (struct diff_row){DIFF_NO_LINE, change->b + k, true};
        size_t b = partners[i] == DIFF_NO_LINE ? DIFF_NO_LINE : change->b + k++;
        rows[count++] = (struct diff_row){change->a + i, b, true};
    }
    for (; k < change->b_count; k++)
        rows[count++] = (struct diff_row){DIFF_NO_LINE, change->b + k, true};
    free(partners);
    return count;
}

struct diff_row *
diff_rows(const struct diff *diff, const struct diff_hunk *hunk, size_t *count)
{
    struct diff_row *rows = alloc_array(hunk->a_count + hunk->b_count + 1, sizeof *rows);
    size_t a = hunk->a;
    size_t b = hunk->b;
    *count = 0;
    for (size_t i = 0; i <= hunk->change_count; i++) {
        const struct diff_change *change =
            i < hunk->change_count ? &diff->changes[hunk->first_change + i] : NULL;
        size_t end = change ? change->a : hunk->a + hunk->a_count;
        while (a < end)
            rows[(*count)++] = (struct diff_row){a++, b++, false};
        if (!change)
            break;
        *count += add_change_rows(diff, change, rows + *count);
        a += change->a_count;
        b += change->b_count;
    }
    return rows;
}

static void
add_lines(const struct diff_text *text, size_t from, size_t count, char mark, struct strbuf *out)
{
    for (size_t i = from; i < from + count; i++) {
        struct bytes line = diff_line(text, i);
        strbuf_add_char(out, mark);
        strbuf_add(out, line);
        if (!bytes_ends(line, "\n"))
            strbuf_add_text(out, "\n\\ No newline at end of file\n");
    }
}

// As diff(1) writes it: without the count where that is 1, and before the first line where it is 0.
static void
add_range(char mark, size_t from, size_t count, struct strbuf *out)
{
    strbuf_printf(out, "%c%zu", mark, count ? from + 1 : from);
    if (count != 1)
        strbuf_printf(out, ",%zu", count);
}

void
diff_unified(const struct diff *diff, size_t context, const char *a_name, const char *b_name,
             struct strbuf *out)
{
    struct diff_hunk hunk = {0};
    if (diff->change_count)
        strbuf_printf(out, "--- %s\n+++ %s\n", a_name, b_name);
    while (diff_next_hunk(diff, context, &hunk)) {
        strbuf_add_text(out, "@@ ");
        add_range('-', hunk.a, hunk.a_count, out);
        strbuf_add_char(out, ' ');
        add_range('+', hunk.b, hunk.b_count, out);
        strbuf_add_text(out, " @@\n");
        size_t a = hunk.a;
        for (size_t i = 0; i < hunk.change_count; i++) {
            const struct diff_change *change = &diff->changes[hunk.first_change + i];
            add_lines(&diff->a, a, change->a - a, ' ', out);
            add_lines(&diff->a, change->a, change->a_count, '-', out);
            add_lines(&diff->b, change->b, change->b_count, '+', out);
            a = change->a + change->a_count;
        }
        add_lines(&diff->a, a, hunk.a + hunk.a_count - a, ' ', out);
    }
}
