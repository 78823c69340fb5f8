// column.h: packs. A pack is: the count of events, the length of ids and numbers, the ids (the first one,
// then the difference of each to the one before), the numbers of their texts (below), and the texts. Counts,
// lengths, ids and numbers are base-128 numbers, lowest digits first.
#include "core/backlog/column.h"

#include <stdlib.h>
#include "base/alloc.h"

// How a number of struct column_side is written.
enum { ABSENT, ELSEWHERE, FIRST_TEXT };

static void
pack_put(struct strbuf *out, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        strbuf_add_char(out, (char)(n | 0x80));
    strbuf_add_char(out, (char)n);
}

// False: the input ends, or the number does not fit 64 bits.
static bool
pack_take(struct bytes *in, uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0, i = 0; i < in->len && shift < 64; shift += 7, i++) {
        unsigned char digit = (unsigned char)in->data[i];
        *n |= (uint64_t)(digit & 0x7f) << shift;
        if (digit < 0x80) {
            *in = bytes_slice(*in, i + 1, SIZE_MAX);
            return true;
        }
    }
    return false;
}

void
column_pack(const struct column *column, struct strbuf *out)
{
    const struct column_side *side = &column->older;
    struct strbuf events = {0};
    for (size_t i = 0; i < side->count; i++)
        pack_put(&events, (uint64_t)(i ? side->ids[i - 1] - side->ids[i] : side->ids[i]));
    for (size_t i = 0; i < side->count; i++)
        pack_put(&events, side->numbers[i] == TEXT_ABSENT      ? ABSENT
                          : side->numbers[i] == TEXT_ELSEWHERE ? ELSEWHERE
                                                               : (uint64_t)side->numbers[i] + FIRST_TEXT);
    pack_put(out, side->count);
    pack_put(out, events.len);
    strbuf_add(out, strbuf_bytes(&events));
    strbuf_release(&events);
    texts_pack(column->texts, out);
}

static bool
pack_take_ids(struct bytes *events, int64_t *ids, size_t count)
{
    uint64_t step = 0, id = 0;
    for (size_t i = 0; i < count; i++) {
        bool ok = pack_take(events, &step) && step > 0 && (i ? step < id : step <= INT64_MAX);
        if (!ok)
            return false;
        id = i ? id - step : step;
        ids[i] = (int64_t)id;
    }
    return true;
}

// Numbers as the pack writes them: ABSENT, ELSEWHERE, or FIRST_TEXT plus the number of a text.
static bool
pack_take_numbers(struct bytes *events, uint32_t *numbers, size_t count, uint32_t *most)
{
    uint64_t number;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pack_take(events, &number) || number >= TEXT_ELSEWHERE)
            return false;
        numbers[i] = (uint32_t)number;
        *most = numbers[i] > *most ? numbers[i] : *most;
    }
    return events->len == 0;
}

static uint32_t
number_here(uint32_t number, uint32_t first)
{
    return number == ABSENT      ? TEXT_ABSENT
           : number == ELSEWHERE ? TEXT_ELSEWHERE
                                 : first + number - FIRST_TEXT;
}

bool
column_adopt(struct column *column, struct bytes pack, int64_t below, struct column_ids without)
{
    uint64_t count, size;
    uint32_t first, texts, most;
    // Each event takes one byte at least.
    if (!pack_take(&pack, &count) || !pack_take(&pack, &size) || size > pack.len || count > size)
        return false;
    struct bytes events = bytes_slice(pack, 0, size);
    struct bytes rest = bytes_slice(pack, size, SIZE_MAX);
    int64_t *ids = alloc_array(count + 1, sizeof *ids);
    uint32_t *numbers = alloc_array(count + 1, sizeof *numbers);
    bool ok = pack_take_ids(&events, ids, count) && pack_take_numbers(&events, numbers, count, &most) &&
              texts_adopt(column->texts, rest, count, &first, &texts) &&
              (most < FIRST_TEXT || most - FIRST_TEXT < texts);
    for (size_t i = 0, left = 0; ok && i < count; i++) {
        while (left < without.count && without.ids[left] > ids[i])
            left++;
        bool is_left_out = left < without.count && without.ids[left] == ids[i];
        if (ids[i] < below && !is_left_out)
            column_put(column, ids[i], number_here(numbers[i], first));
    }
    free(ids);
    free(numbers);
    return ok;
}
