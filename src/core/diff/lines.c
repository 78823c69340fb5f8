// The changes between two texts by line.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/diff/compare.h"
#include "core/diff/diff.h"

// A changed block that could be higher or lower is moved by at most so many lines.
enum { SLIDE_MOST = 1000 };

// A line that occurs in a text.
struct line_class {
    struct bytes line;
    uint64_t hash;
    uint32_t next; // of the same bucket, + 1
    bool is_in[2];
};

struct classes {
    struct line_class *items; // room for one a line of both texts
    size_t count;
    uint32_t *buckets; // + 1
    size_t bucket_count;
};

// What is compared of one text: the numbers of its lines that the other one has too.
struct side {
    const struct diff_text *text;
    uint32_t *numbers; // of all lines
    uint32_t *kept;    // of lines that both texts have
    size_t *places;    // of those in the text
    size_t kept_count;
    bool *changed; // by line, and one more that is false
    bool *kept_changed;
};

struct bytes
diff_line(const struct diff_text *text, size_t line)
{
    return bytes_slice(text->text, text->lines[line], text->lines[line + 1] - text->lines[line]);
}

static void
split_lines(struct diff_text *text, struct bytes bytes)
{
    bytes = bytes.data ? bytes : BYTES("");
    text->text = bytes;
    size_t count = 0;
    for (size_t at = 0; at < bytes.len; count++) {
        const char *end = memchr(bytes.data + at, '\n', bytes.len - at);
        at = end ? (size_t)(end - bytes.data) + 1 : bytes.len;
    }
    size_t *lines = alloc_array(count + 1, sizeof *lines);
    size_t line = 0;
    for (size_t at = 0; at < bytes.len;) {
        lines[line++] = at;
        const char *end = memchr(bytes.data + at, '\n', bytes.len - at);
        at = end ? (size_t)(end - bytes.data) + 1 : bytes.len;
    }
    lines[count] = bytes.len;
    text->lines = lines;
    text->line_count = count;
}

static uint32_t
line_number(struct classes *classes, struct bytes line, int which)
{
    uint64_t hash = bytes_hash(line);
    uint32_t *bucket = &classes->buckets[(hash ^ hash >> 32) & (classes->bucket_count - 1)];
    for (uint32_t at = *bucket; at; at = classes->items[at - 1].next) {
        struct line_class *item = &classes->items[at - 1];
        if (item->hash == hash && bytes_equal(item->line, line)) {
            item->is_in[which] = true;
            return at - 1;
        }
    }
    struct line_class *item = &classes->items[classes->count++];
    *item = (struct line_class){.line = line, .hash = hash, .next = *bucket};
    item->is_in[which] = true;
    *bucket = (uint32_t)classes->count;
    return *bucket - 1;
}

static void
begin_side(struct side *side, const struct diff_text *text, struct classes *classes, int which)
{
    size_t count = text->line_count;
    side->text = text;
    side->numbers = alloc_array(count + 1, sizeof *side->numbers);
    side->kept = alloc_array(count + 1, sizeof *side->kept);
    side->places = alloc_array(count + 1, sizeof *side->places);
    side->changed = alloc_array(count + 1, sizeof *side->changed);
    side->kept_changed = alloc_array(count + 1, sizeof *side->kept_changed);
    for (size_t i = 0; i < count; i++)
        side->numbers[i] = line_number(classes, diff_line(text, i), which);
}

// Lines that the other text does not have are changed, whatever else is found.
static void
set_aside(struct side *side, const struct classes *classes, int other)
{
    for (size_t i = 0; i < side->text->line_count; i++) {
        side->changed[i] = !classes->items[side->numbers[i]].is_in[other];
        if (side->changed[i])
            continue;
        side->places[side->kept_count] = i;
        side->kept[side->kept_count++] = side->numbers[i];
    }
}

static void
end_side(struct side *side)
{
    free(side->numbers);
    free(side->kept);
    free(side->places);
    free(side->changed);
    free(side->kept_changed);
}

static size_t
indentation(struct bytes line)
{
    size_t at = 0;
    while (at < line.len && (line.data[at] == ' ' || line.data[at] == '\t'))
        at++;
    return at == line.len ? SIZE_MAX : at;
}

// Lines [from, to) of one side are changed, and the other side has nothing there: its next line is `facing`.
// Of all places with the same effect the best begins with the outermost indentation, so that a block begins
// with its own bracket; of equal ones the last. Moves the marks and returns the place.
static size_t
slide(struct side *side, size_t from, size_t to, const struct side *other, size_t facing)
{
    size_t up = 0;
    while (up < SLIDE_MOST && up < from && up < facing && !side->changed[from - up - 1] &&
           !other->changed[facing - up - 1] && side->numbers[from - up - 1] == side->numbers[to - up - 1])
        up++;
    size_t down = 0;
    while (down < SLIDE_MOST && to + down < side->text->line_count &&
           facing + down < other->text->line_count && !side->changed[to + down] &&
           !other->changed[facing + down] && side->numbers[from + down] == side->numbers[to + down])
        down++;
    size_t best = from;
    size_t best_indentation = SIZE_MAX;
    for (size_t at = from - up; at <= from + down; at++) {
        size_t here = indentation(diff_line(side->text, at));
        if (here > best_indentation)
            continue;
        best = at;
        best_indentation = here;
    }
    for (size_t i = from; i < to; i++)
        side->changed[i] = false;
    for (size_t i = 0; i < to - from; i++)
        side->changed[best + i] = true;
    return best;
}

// The block [from, *at) of one side, where the other side has nothing, is moved to where people read it best.
static void
slide_block(struct side *side, size_t from, size_t *at, const struct side *other, size_t *facing)
{
    size_t best = slide(side, from, *at, other, *facing);
    size_t moved = best > from ? best - from : 0;
    *at += moved;
    *facing += moved;
}

static void
slide_all(struct side *a, struct side *b)
{
    size_t i = 0;
    size_t k = 0;
    while (i < a->text->line_count || k < b->text->line_count) {
        size_t a_from = i;
        size_t b_from = k;
        while (a->changed[i])
            i++;
        while (b->changed[k])
            k++;
        if (i > a_from && k == b_from)
            slide_block(a, a_from, &i, b, &k);
        else if (k > b_from && i == a_from)
            slide_block(b, b_from, &k, a, &i);
        // Equal lines, as many on both sides.
        while (i < a->text->line_count && k < b->text->line_count && !a->changed[i] && !b->changed[k]) {
            i++;
            k++;
        }
    }
}

static void
collect_changes(struct diff *diff, const struct side *a, const struct side *b)
{
    struct diff_change *changes = NULL;
    size_t capacity = 0;
    for (size_t i = 0, k = 0; i < diff->a.line_count || k < diff->b.line_count;) {
        struct diff_change change = {.a = i, .b = k};
        while (a->changed[i])
            i++;
        while (b->changed[k])
            k++;
        change.a_count = i - change.a;
        change.b_count = k - change.b;
        if (change.a_count || change.b_count) {
            changes = alloc_grow(changes, diff->change_count, &capacity, sizeof *changes);
            changes[diff->change_count++] = change;
            continue;
        }
        i++;
        k++;
    }
    diff->changes = changes;
}

struct diff *
diff_create(struct bytes a, struct bytes b, uint64_t work)
{
    struct diff *diff = alloc_bytes(sizeof *diff);
    split_lines(&diff->a, a);
    split_lines(&diff->b, b);
    struct classes classes = {.bucket_count = 16};
    while (classes.bucket_count < diff->a.line_count + diff->b.line_count)
        classes.bucket_count *= 2;
    classes.items = alloc_array(diff->a.line_count + diff->b.line_count + 1, sizeof *classes.items);
    classes.buckets = alloc_array(classes.bucket_count, sizeof *classes.buckets);
    struct side one = {0};
    struct side other = {0};
    begin_side(&one, &diff->a, &classes, 0);
    begin_side(&other, &diff->b, &classes, 1);
    set_aside(&one, &classes, 1);
    set_aside(&other, &classes, 0);
    diff->is_rough = !diff_compare(one.kept, one.kept_count, other.kept, other.kept_count, one.kept_changed,
                                   other.kept_changed, &work);
    for (size_t i = 0; i < one.kept_count; i++)
        one.changed[one.places[i]] = one.kept_changed[i];
    for (size_t i = 0; i < other.kept_count; i++)
        other.changed[other.places[i]] = other.kept_changed[i];
    slide_all(&one, &other);
    collect_changes(diff, &one, &other);
    end_side(&one);
    end_side(&other);
    free(classes.items);
    free(classes.buckets);
    return diff;
}

void
diff_destroy(struct diff *diff)
{
    if (!diff)
        return;
    free(diff->a.lines);
    free(diff->b.lines);
    free(diff->changes);
    free(diff);
}
