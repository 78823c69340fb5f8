// Which words of two lines differ.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"
#include "core/diff/compare.h"
#include "core/diff/diff.h"

// More words than that in a line: only its ends are compared.
enum { WORDS_MOST = 4096, WORDS_WORK = 200000 };

struct words {
    struct bytes line;
    size_t *from; // offsets; one more at the end
    uint32_t *numbers;
    bool *changed;
    size_t count;
};

static bool
is_word_char(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || (c >= '0' && c <= '9') || ((u | 0x20) >= 'a' && (u | 0x20) <= 'z') ||
           (c && strchr("_.+-", c));
}

static size_t
words_end(struct bytes line, size_t at)
{
    size_t end = at + 1;
    if (is_word_char(line.data[at]))
        while (end < line.len && is_word_char(line.data[end]))
            end++;
    else if (line.data[at] == ' ')
        while (end < line.len && line.data[end] == ' ')
            end++;
    return end;
}

// Does a word go on across this offset?
static bool
is_in_word(struct bytes line, size_t at)
{
    return at > 0 && at < line.len && is_word_char(line.data[at - 1]) && is_word_char(line.data[at]);
}

// The lengths of what both lines begin and end with, cut between words of both: a changed number is marked as
// a whole.
static void
common_ends(struct bytes a, struct bytes b, size_t *front, size_t *back)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    *front = *back = 0;
    while (*front < shorter && a.data[*front] == b.data[*front])
        (*front)++;
    while (*back < shorter - *front && a.data[a.len - *back - 1] == b.data[b.len - *back - 1])
        (*back)++;
    while (is_in_word(a, *front) || is_in_word(b, *front))
        (*front)--;
    while (*back > 0 && (is_in_word(a, a.len - *back) || is_in_word(b, b.len - *back)))
        (*back)--;
}

static bool
split_words(struct bytes line, struct words *words)
{
    words->line = line;
    words->from = alloc_array(WORDS_MOST + 1, sizeof *words->from);
    words->numbers = alloc_array(WORDS_MOST + 1, sizeof *words->numbers);
    words->changed = alloc_array(WORDS_MOST + 1, sizeof *words->changed);
    for (size_t at = 0; at < line.len; at = words_end(line, at)) {
        if (words->count == WORDS_MOST)
            return false;
        words->from[words->count++] = at;
    }
    words->from[words->count] = line.len;
    return true;
}

static struct bytes
word_at(const struct words *words, size_t i)
{
    return bytes_slice(words->line, words->from[i], words->from[i + 1] - words->from[i]);
}

// Two words have the same number if they have the same hash; then a mark may be missing, in one of 2^32.
static void
number_words(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        uint64_t hash = bytes_hash(word_at(words, i));
        words->numbers[i] = (uint32_t)(hash ^ hash >> 32);
    }
}

static void
release_words(struct words *words)
{
    free(words->from);
    free(words->numbers);
    free(words->changed);
}

// Changed words as ranges of the line; blanks between two changed words count as changed.
static size_t
add_ranges(const struct words *words, size_t offset, struct diff_range *ranges)
{
    size_t count = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (!words->changed[i])
            continue;
        size_t from = offset + words->from[i];
        size_t len = words->from[i + 1] - words->from[i];
        struct diff_range *last = count ? &ranges[count - 1] : NULL;
        bool is_near = last && words->from[i] > 0 && i > 0 && words->line.data[words->from[i - 1]] == ' ' &&
                       last->from + last->len == offset + words->from[i - 1];
        if (last && (is_near || count == DIFF_RANGES || last->from + last->len == from))
            last->len = from + len - last->from;
        else
            ranges[count++] = (struct diff_range){from, len};
    }
    return count;
}

static size_t
changed_bytes(const struct words *words)
{
    size_t sum = 0;
    for (size_t i = 0; i < words->count; i++)
        sum += words->changed[i] ? words->from[i + 1] - words->from[i] : 0;
    return sum;
}

static size_t
whole(struct bytes middle, size_t offset, struct diff_range *ranges)
{
    if (middle.len == 0)
        return 0;
    ranges[0] = (struct diff_range){offset, middle.len};
    return 1;
}

void
diff_words(struct bytes a, struct bytes b, struct diff_words *result)
{
    *result = (struct diff_words){0};
    size_t front;
    size_t back;
    common_ends(a, b, &front, &back);
    if (front == a.len && front == b.len)
        return; // they are equal
    struct words one = {0};
    struct words other = {0};
    struct bytes a_middle = bytes_slice(a, front, a.len - front - back);
    struct bytes b_middle = bytes_slice(b, front, b.len - front - back);
    uint64_t work = WORDS_WORK;
    bool is_split = split_words(a_middle, &one) && split_words(b_middle, &other);
    if (is_split) {
        number_words(&one);
        number_words(&other);
        diff_compare(one.numbers, one.count, other.numbers, other.count, one.changed, other.changed, &work);
    }
    // Where three quarters of what is between the ends changed, marks on the rest would only be confusing.
    size_t changed = changed_bytes(&one) + changed_bytes(&other);
    if (!is_split || changed * 4 >= (a_middle.len + b_middle.len) * 3) {
        result->a_count = whole(a_middle, front, result->a);
        result->b_count = whole(b_middle, front, result->b);
    } else {
        result->a_count = add_ranges(&one, front, result->a);
        result->b_count = add_ranges(&other, front, result->b);
    }
    release_words(&one);
    release_words(&other);
}
