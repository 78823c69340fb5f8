// Any bytes as a pack of texts, made by others and kept in a database that others write to: it is refused, or
// everything in it may be searched. The input: four bytes that say which byte of a sound pack is changed, and
// how; then texts, a line each. With the first byte 0 the rest is the pack itself.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "core/backlog/column.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t key[2] = {1, 2};
enum { HEAD = 4, EVENTS = 300 };

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
pack_lines(struct bytes lines, struct strbuf *pack)
{
    struct column column;
    column_init(&column, key);
    for (int64_t id = EVENTS; id > 0; id--) {
        const char *end = lines.len ? memchr(lines.data, '\n', lines.len) : NULL;
        size_t len = end ? (size_t)(end - lines.data) : lines.len;
        column_add(&column, id * 3, id % 7 ? bytes_slice(lines, 0, len) : BYTES_ABSENT);
        lines = bytes_slice(lines, end ? len + 1 : 0, SIZE_MAX);
    }
    column_pack(&column, pack);
    column_release(&column);
}

static void
check_text(const struct texts *texts, uint32_t number)
{
    if (number == TEXT_ABSENT || number == TEXT_ELSEWHERE)
        return;
    require(number < texts_count(texts));
    struct text_room room = {0};
    struct text_block block = texts_block(texts, number, &room);
    require(number >= block.first && number - block.first < block.count);
    require(utf8_valid(text_block_at(&block, number - block.first)));
    text_room_release(&room);
}

// With texts before it and behind it.
static void
check_pack(struct bytes pack, bool is_sound)
{
    struct column column;
    column_init(&column, key);
    column_add(&column, INT64_MAX, BYTES("before"));
    bool ok = column_adopt(&column, pack, INT64_MAX, (struct column_ids){0});
    require(ok || !is_sound);
    require(ok || column_count(&column) == 1);
    size_t count = column.older.count;
    for (size_t i = 0; i < count; i++) {
        require(i == 0 || column.older.ids[i] < column.older.ids[i - 1]);
        check_text(column.texts, column.older.numbers[i]);
    }
    column_add(&column, 1, BYTES("behind"));
    check_text(column.texts, column.older.numbers[column.older.count - 1]);
    column_release(&column);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    struct bytes rest = {(const char *)data + HEAD, size - HEAD};
    if (data[0] == 0) {
        check_pack(rest, false);
        return 0;
    }
    struct strbuf pack = {0};
    pack_lines(rest, &pack);
    check_pack(strbuf_bytes(&pack), true);
    size_t at = ((size_t)data[1] << 8 | data[2]) % pack.len;
    pack.data[at] = (char)(pack.data[at] + data[3]);
    check_pack(strbuf_bytes(&pack), data[3] == 0);
    check_pack(bytes_slice(strbuf_bytes(&pack), 0, at), false);
    strbuf_release(&pack);
    return 0;
}
