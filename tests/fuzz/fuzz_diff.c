// Any bytes as two texts, parted at the first byte 0xFE: the changes lead from one to the other, with little
// work too, and marks within lines stay within them.
#include <stdint.h>
#include <stdlib.h>
#include "core/diff/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
check_marks(struct bytes a, struct bytes b)
{
    struct diff_words words;
    diff_words(a, b, &words);
    for (size_t i = 0; i < words.a_count; i++)
        require(words.a[i].len > 0 && words.a[i].from + words.a[i].len <= a.len &&
                (i == 0 || words.a[i].from > words.a[i - 1].from + words.a[i - 1].len));
    for (size_t i = 0; i < words.b_count; i++)
        require(words.b[i].len > 0 && words.b[i].from + words.b[i].len <= b.len &&
                (i == 0 || words.b[i].from > words.b[i - 1].from + words.b[i - 1].len));
}

static void
check(struct bytes a, struct bytes b, uint64_t work)
{
    struct diff *diff = diff_create(a, b, work);
    struct strbuf built = {0};
    struct diff_hunk hunk = {0};
    size_t at = 0;
    while (diff_next_hunk(diff, 1, &hunk)) {
        size_t count;
        struct diff_row *rows = diff_rows(diff, &hunk, &count);
        for (; at < hunk.a; at++)
            strbuf_add(&built, diff_line(&diff->a, at));
        for (size_t i = 0; i < count; i++) {
            at += rows[i].a != DIFF_NO_LINE;
            if (rows[i].b != DIFF_NO_LINE)
                strbuf_add(&built, diff_line(&diff->b, rows[i].b));
            if (rows[i].a != DIFF_NO_LINE && rows[i].b != DIFF_NO_LINE)
                check_marks(diff_line(&diff->a, rows[i].a), diff_line(&diff->b, rows[i].b));
        }
        free(rows);
    }
    for (; at < diff->a.line_count; at++)
        strbuf_add(&built, diff_line(&diff->a, at));
    require(bytes_equal(strbuf_bytes(&built), b));
    strbuf_release(&built);
    diff_destroy(diff);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text = {(const char *)data, size};
    size_t at = bytes_find(text, BYTES("\xFE"), 0);
    struct bytes a = at == SIZE_MAX ? text : bytes_slice(text, 0, at);
    struct bytes b = at == SIZE_MAX ? BYTES("") : bytes_slice(text, at + 1, size);
    check(a, b, DIFF_WORK);
    check(b, a, size % 64);
    return 0;
}
