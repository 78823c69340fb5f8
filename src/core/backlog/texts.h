// texts: many texts in little memory, to be searched. Home of lz4.
//
// Each different text is kept once and has a number, in order of arrival; texts are compressed in blocks of
// some 64 KiB, so that a search unpacks a block, looks through all of it, and forgets it. A million error
// messages of 150 bytes, two thirds of them different, take some 60 MB. Texts are identified by a keyed hash
// of 128 bits: without the key nobody can construct a collision.
//
// While no thread adds, any number of threads may read, each with a room of its own.
#ifndef REDRIVE_CORE_BACKLOG_TEXTS_H
#define REDRIVE_CORE_BACKLOG_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"

struct texts;

#define TEXT_ABSENT UINT32_MAX          // the absent text
#define TEXT_ELSEWHERE (UINT32_MAX - 1) // not kept here: not UTF-8, or above TEXT_BYTES
#define TEXT_BYTES (1 << 20)

struct texts *texts_create(const uint64_t key[2]);
void texts_destroy(struct texts *texts);
// The number of this text; a new text is added.
uint32_t texts_add(struct texts *texts, struct bytes text);
size_t texts_count(const struct texts *texts);
size_t texts_memory(const struct texts *texts); // bytes held

// Appends all texts in compressed form, for another process on a machine of the same byte order.
void texts_pack(struct texts *texts, struct strbuf *out);
// Adds the *count texts of a pack under numbers from *first on. texts_add does not find these texts. Every
// pack is checked, since anybody with a worker's rights may have written it; false: the bytes are no pack of
// at most `most` texts, and nothing was added.
bool texts_adopt(struct texts *texts, struct bytes pack, size_t most, uint32_t *first, uint32_t *count);

// Texts first … first + count - 1 end at ends[i] of bytes and begin where the one before ends.
struct text_block {
    uint32_t first, count;
    struct bytes bytes;
    const uint32_t *ends;
};
// Memory in which blocks are unpacked, each over the one before. Starts as {0}; the owner releases it.
struct text_room {
    char *data;
    size_t size;
    const struct texts *texts; // the owner of the unpacked block; NULL: none
    size_t block;
};
// The block that has this number; valid until the next texts_block into the same room, or texts_add.
struct text_block texts_block(const struct texts *texts, uint32_t number, struct text_room *room);
void text_room_release(struct text_room *room);
// The range of numbers in that block, without unpacking it.
void texts_span(const struct texts *texts, uint32_t number, uint32_t *first, uint32_t *count);
struct bytes text_block_at(const struct text_block *block, uint32_t i);

#endif
