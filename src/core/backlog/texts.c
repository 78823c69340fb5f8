#include "core/backlog/texts.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"

enum { BLOCK = 64 << 10, FIRST_BUCKETS = 1 << 10 };

// A full block: the ends, then the texts, compressed as one.
struct block {
    char *data;
    struct block_head {
        uint32_t size;   // of data
        uint32_t length; // of the texts
        uint32_t count;
    } head;
    uint32_t first;
};

struct texts {
    uint64_t key[2];
    struct block *blocks;
    size_t block_count, block_capacity;
    size_t held; // bytes of all blocks

    // The block that is being filled.
    char *open;
    size_t open_len, open_capacity;
    uint32_t *ends;
    size_t open_count, end_capacity;
    uint32_t open_first;

    char *scratch; // for a block that is made or checked
    size_t scratch_size;

    struct hash {
        uint64_t a, b;
    } * hashes; // by number
    size_t count, hash_capacity;
    uint32_t *buckets; // open addressing: number + 1, 0 is free
    size_t bucket_count, buckets_taken;
};

struct texts *
texts_create(const uint64_t key[2])
{
    struct texts *texts = alloc_bytes(sizeof *texts);
    memcpy(texts->key, key, sizeof texts->key);
    texts->bucket_count = FIRST_BUCKETS;
    texts->buckets = alloc_array(texts->bucket_count, sizeof *texts->buckets);
    return texts;
}

void
texts_destroy(struct texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->block_count; i++)
        free(texts->blocks[i].data);
    free(texts->blocks);
    free(texts->open);
    free(texts->ends);
    free(texts->scratch);
    free(texts->hashes);
    free(texts->buckets);
    free(texts);
}

// The halves of a full product, folded.
static uint64_t
texts_mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t
word(const char *data, size_t len)
{
    uint64_t value = 0;
    memcpy(&value, data, len < sizeof value ? len : sizeof value);
    return value;
}

static struct hash
hash_of(const struct texts *texts, struct bytes text)
{
    struct hash hash = {texts->key[0] ^ text.len, texts->key[1]};
    size_t at = 0;
    for (; at + 16 <= text.len; at += 16) {
        uint64_t left = word(text.data + at, 8);
        uint64_t right = word(text.data + at + 8, 8);
        hash.a = texts_mix(left ^ texts->key[1], right ^ hash.a);
        hash.b = texts_mix(right ^ texts->key[0], left ^ hash.b);
    }
    size_t rest = text.len - at;
    uint64_t left = word(text.data + at, rest < 8 ? rest : 8);
    uint64_t right = rest > 8 ? word(text.data + at + 8, rest - 8) : 0;
    hash.a = texts_mix(left ^ texts->key[1], right ^ hash.a);
    hash.b = texts_mix(right ^ texts->key[0], left ^ hash.b);
    return (struct hash){texts_mix(hash.a ^ texts->key[0], hash.b ^ texts->key[1]),
                         texts_mix(hash.b ^ texts->key[0], hash.a ^ texts->key[1])};
}

// The bucket of this text, or the free bucket for it.
static uint32_t *
find_bucket(const struct texts *texts, const struct hash *hash)
{
    for (size_t at = hash->a & (texts->bucket_count - 1);; at = (at + 1) & (texts->bucket_count - 1)) {
        uint32_t *bucket = &texts->buckets[at];
        if (*bucket == 0)
            return bucket;
        const struct hash *there = &texts->hashes[*bucket - 1];
        if (there->a == hash->a && there->b == hash->b)
            return bucket;
    }
}

// Those of texts that were adopted are 0.
static bool
is_looked_for(const struct hash *hash)
{
    return (hash->a | hash->b) != 0;
}

static void
more_buckets(struct texts *texts)
{
    free(texts->buckets);
    texts->bucket_count *= 2;
    texts->buckets = alloc_array(texts->bucket_count, sizeof *texts->buckets);
    for (size_t i = 0; i < texts->count; i++)
        if (is_looked_for(&texts->hashes[i]))
            *find_bucket(texts, &texts->hashes[i]) = (uint32_t)i + 1;
}

static char *
scratch(struct texts *texts, size_t size)
{
    if (size > texts->scratch_size) {
        texts->scratch = alloc_resize(texts->scratch, size, 1);
        texts->scratch_size = size;
    }
    return texts->scratch;
}

// Behind the others, none of which is being filled.
static void
add_block(struct texts *texts, const struct block_head *head, const char *packed)
{
    texts->blocks =
        alloc_grow(texts->blocks, texts->block_count, &texts->block_capacity, sizeof *texts->blocks);
    struct block *block = &texts->blocks[texts->block_count++];
    *block = (struct block){.data = alloc_array(head->size, 1), .head = *head, .first = texts->open_first};
    memcpy(block->data, packed, head->size);
    texts->held += head->size;
    texts->open_first += head->count;
}

static void
close_block(struct texts *texts)
{
    size_t ends = texts->open_count * sizeof *texts->ends;
    size_t raw = ends + texts->open_len;
    char *whole = alloc_array(raw, 1);
    memcpy(whole, texts->ends, ends);
    if (texts->open_len)
        memcpy(whole + ends, texts->open, texts->open_len);
    int bound = LZ4_compressBound((int)raw);
    char *packed = scratch(texts, (size_t)bound);
    int size = LZ4_compress_default(whole, packed, (int)raw, bound);
    if (size <= 0)
        die("a block of texts could not be compressed");
    free(whole);

    const struct block_head head = {
        .size = (uint32_t)size, .length = (uint32_t)texts->open_len, .count = (uint32_t)texts->open_count};
    add_block(texts, &head, packed);
    texts->open_len = 0;
    texts->open_count = 0;
}

static void
append(struct texts *texts, struct bytes text)
{
    if (texts->open_count && texts->open_len + text.len > BLOCK)
        close_block(texts);
    if (texts->open_len + text.len > texts->open_capacity) {
        texts->open_capacity = texts->open_len + text.len > BLOCK ? texts->open_len + text.len : BLOCK;
        texts->open = alloc_resize(texts->open, texts->open_capacity, 1);
    }
    if (text.len)
        memcpy(texts->open + texts->open_len, text.data, text.len);
    texts->open_len += text.len;
    texts->ends = alloc_grow(texts->ends, texts->open_count, &texts->end_capacity, sizeof *texts->ends);
    texts->ends[texts->open_count++] = (uint32_t)texts->open_len;
}

uint32_t
texts_add(struct texts *texts, struct bytes text)
{
    if (!bytes_present(text))
        return TEXT_ABSENT;
    if (text.len > TEXT_BYTES || texts->count >= TEXT_ELSEWHERE)
        return TEXT_ELSEWHERE;
    struct hash hash = hash_of(texts, text);
    uint32_t *bucket = find_bucket(texts, &hash);
    if (*bucket)
        return *bucket - 1;
    if (!utf8_valid(text))
        return TEXT_ELSEWHERE;
    append(texts, text);
    texts->hashes = alloc_grow(texts->hashes, texts->count, &texts->hash_capacity, sizeof *texts->hashes);
    texts->hashes[texts->count] = hash;
    *bucket = (uint32_t)++texts->count;
    if (++texts->buckets_taken * 4 > texts->bucket_count * 3)
        more_buckets(texts);
    return (uint32_t)texts->count - 1;
}

size_t
texts_count(const struct texts *texts)
{
    return texts->count;
}

size_t
texts_memory(const struct texts *texts)
{
    return texts->held + texts->block_capacity * sizeof *texts->blocks + texts->open_capacity +
           texts->end_capacity * sizeof *texts->ends + texts->scratch_size +
           texts->hash_capacity * sizeof *texts->hashes + texts->bucket_count * sizeof *texts->buckets;
}

static size_t
block_of(const struct texts *texts, uint32_t number)
{
    size_t low = 0;
    size_t high = texts->block_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (texts->blocks[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void
texts_span(const struct texts *texts, uint32_t number, uint32_t *first, uint32_t *count)
{
    if (number >= texts->count)
        die("there is no text %u", (unsigned)number);
    bool is_open = number >= texts->open_first;
    const struct block *block = is_open ? NULL : &texts->blocks[block_of(texts, number)];
    *first = is_open ? texts->open_first : block->first;
    *count = is_open ? (uint32_t)texts->open_count : block->head.count;
}

static void
unpack(const struct texts *texts, size_t at, struct text_room *room)
{
    const struct block *block = &texts->blocks[at];
    size_t raw = (size_t)block->head.count * sizeof(uint32_t) + block->head.length;
    if (raw > room->size) {
        room->data = alloc_resize(room->data, raw, 1);
        room->size = raw;
    }
    if (LZ4_decompress_safe(block->data, room->data, (int)block->head.size, (int)raw) != (int)raw)
        die("a block of texts could not be unpacked");
    room->texts = texts;
    room->block = at;
}

static bool
is_unpacked(const struct texts *texts, uint32_t number, const struct text_room *room)
{
    if (room->texts != texts)
        return false;
    const struct block *block = &texts->blocks[room->block];
    return number >= block->first && number < block->first + block->head.count;
}

struct text_block
texts_block(const struct texts *texts, uint32_t number, struct text_room *room)
{
    if (number >= texts->count)
        die("there is no text %u", (unsigned)number);
    if (number >= texts->open_first)
        return (struct text_block){.first = texts->open_first,
                                   .count = (uint32_t)texts->open_count,
                                   .bytes = {texts->open, texts->open_len},
                                   .ends = texts->ends};
    if (!is_unpacked(texts, number, room))
        unpack(texts, block_of(texts, number), room);
    const struct block *block = &texts->blocks[room->block];
    const char *bytes = room->data + (size_t)block->head.count * sizeof(uint32_t);
    return (struct text_block){.first = block->first,
                               .count = block->head.count,
                               .bytes = {bytes, block->head.length},
                               .ends = (const uint32_t *)(const void *)room->data};
}

void
text_room_release(struct text_room *room)
{
    free(room->data);
    *room = (struct text_room){0};
}

struct bytes
text_block_at(const struct text_block *block, uint32_t i)
{
    size_t from = i ? block->ends[i - 1] : 0;
    return (struct bytes){block->bytes.data ? block->bytes.data + from : "", block->ends[i] - from};
}

// --- packs: a mark, then each block behind its head ---

// Read as another number where bytes stand the other way round.
static const uint32_t MARK = 0x72647231;
enum { MOST_RAW = BLOCK + TEXT_BYTES * 2, LZ4_MOST = 255 }; // of a block; of what one byte can unpack to

void
texts_pack(struct texts *texts, struct strbuf *out)
{
    if (texts->open_count)
        close_block(texts);
    strbuf_add(out, (struct bytes){(const char *)&MARK, sizeof MARK});
    for (size_t i = 0; i < texts->block_count; i++) {
        const struct block *block = &texts->blocks[i];
        strbuf_add(out, (struct bytes){(const char *)&block->head, sizeof block->head});
        strbuf_add(out, (struct bytes){block->data, block->head.size});
    }
}

// The next block of a pack, cut off from it.
static bool
take_block(struct bytes *pack, struct block_head *head, struct bytes *data)
{
    if (pack->len < sizeof *head)
        return false;
    memcpy(head, pack->data, sizeof *head);
    *data = bytes_slice(*pack, sizeof *head, head->size);
    *pack = bytes_slice(*pack, sizeof *head + head->size, SIZE_MAX);
    return data->len == head->size && head->count > 0 && head->length <= MOST_RAW &&
           head->count <= MOST_RAW / sizeof(uint32_t) && head->length / LZ4_MOST <= head->size;
}

// Is that what texts_block and those who search in it rely on: whole, in order, each text valid?
static bool
is_sound(struct texts *texts, const struct block_head *head, struct bytes data)
{
    size_t ends_size = (size_t)head->count * sizeof(uint32_t);
    size_t raw = ends_size + head->length;
    char *out = scratch(texts, raw);
    if (LZ4_decompress_safe(data.data, out, (int)head->size, (int)raw) != (int)raw)
        return false;
    const uint32_t *ends = (const uint32_t *)(const void *)out;
    const char *text = out + ends_size;
    uint32_t before = 0;
    for (uint32_t i = 0; i < head->count; i++) {
        bool is_within_character = ends[i] < head->length && ((unsigned char)text[ends[i]] & 0xc0) == 0x80;
        if (ends[i] < before || ends[i] > head->length || is_within_character)
            return false;
        before = ends[i];
    }
    return before == head->length && utf8_valid((struct bytes){text, head->length});
}

// Ends compress to a two-hundredth: their number is bounded before any block is unpacked.
static bool
is_sound_pack(struct texts *texts, struct bytes pack, size_t most, size_t *count)
{
    uint32_t mark = 0;
    struct block_head head = {0};
    struct bytes data;
    *count = 0;
    if (pack.len >= sizeof mark)
        memcpy(&mark, pack.data, sizeof mark);
    bool ok = mark == MARK;
    for (pack = bytes_slice(pack, sizeof mark, SIZE_MAX); ok && pack.len; *count += head.count)
        ok = take_block(&pack, &head, &data) && head.count <= most - *count && is_sound(texts, &head, data);
    return ok && *count < TEXT_ELSEWHERE - texts->count;
}

bool
texts_adopt(struct texts *texts, struct bytes pack, size_t most, uint32_t *first, uint32_t *count)
{
    struct block_head head;
    struct bytes data;
    size_t wanted;
    if (!is_sound_pack(texts, pack, most, &wanted))
        return false;
    *first = (uint32_t)texts->count;
    *count = (uint32_t)wanted;
    if (wanted == 0)
        return true;
    if (texts->open_count)
        close_block(texts);
    for (pack = bytes_slice(pack, sizeof MARK, SIZE_MAX); pack.len && take_block(&pack, &head, &data);)
        add_block(texts, &head, data.data);
    texts->count += wanted;
    if (texts->count > texts->hash_capacity) {
        texts->hash_capacity = texts->count * 2;
        texts->hashes = alloc_resize(texts->hashes, texts->hash_capacity, sizeof *texts->hashes);
    }
    memset(texts->hashes + *first, 0, wanted * sizeof *texts->hashes);
    return true;
}
