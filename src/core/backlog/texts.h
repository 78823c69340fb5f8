// texts: many texts in little memory, to be searched. Home of lz4.
//
// Each different text is kept once and has a number, in order of arrival; texts are compressed in blocks of
// some 64 KiB, so that a search unpacks a block, looks through all of it, and forgets it. A million error
// messages of 150 bytes, two thirds of them different, take some 60 MB. Texts are told apart by a keyed hash
// of 128 bits: nobody who does not know the key can make two of them meet.
//
// While nobody adds, any number of threads may read, each with a room of its own.
#ifndef REDRIVE_CORE_BACKLOG_TEXTS_H
#define REDRIVE_CORE_BACKLOG_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"

struct texts;

#define TEXT_ABSENT UINT32_MAX          // of a text that is absent
#define TEXT_ELSEWHERE (UINT32_MAX - 1) // is not kept: no UTF-8, or above TEXT_BYTES
#define TEXT_BYTES (1 << 20)

struct texts *texts_create(const uint64_t key[2]);
void texts_destroy(struct texts *texts);
// The number of this text; adds it where it is new.
uint32_t texts_add(struct texts *texts, struct bytes text);
size_t texts_count(const struct texts *texts);
size_t texts_memory(const struct texts *texts); // bytes held

// All of them, as they are compressed, for another process on a machine of the same byte order; appended.
void texts_pack(struct texts *texts, struct strbuf *out);
// Adds the texts of a pack: they get the numbers from *first on, *count of them, and are not looked for when
// others are added. The pack is checked, wherever it comes from; false: it is none, and nothing was added.
bool texts_adopt(struct texts *texts, struct bytes pack, uint32_t *first, uint32_t *count);

// Texts first … first + count - 1 end at ends[i] of bytes and begin where the one before ends.
struct text_block {
    uint32_t first, count;
    struct bytes bytes;
    const uint32_t *ends;
};
// Where blocks are unpacked, each over the one before. Begins with {0}, and is released once the texts it was
// last used for are gone.
struct text_room {
    char *data;
    size_t size;
    const struct texts *texts; // whose block is there; NULL: none
    size_t block;
};
// The block that holds this number; valid until the next one into the same room, or texts_add.
struct text_block texts_block(const struct texts *texts, uint32_t number, struct text_room *room);
void text_room_release(struct text_room *room);
// Which texts that block holds, without unpacking it.
void texts_span(const struct texts *texts, uint32_t number, uint32_t *first, uint32_t *count);
struct bytes text_block_at(const struct text_block *block, uint32_t i);

#endif
