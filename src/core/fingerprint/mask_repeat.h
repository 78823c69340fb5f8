// mask_repeat: lists of any length agree. One bad line of an order and three of them are the same problem:
// `lines * amount must be positive lines * amount must be positive` becomes one `lines * amount must be
// positive`.
//
// The canonical text tells each of its words as it is written. A run of 2 to 16 words that repeats the run
// before it is taken back. How far the run before lies is guessed from the last literal word that looked like
// the newest one, so that a word costs one look into a table.
#ifndef REDRIVE_CORE_FINGERPRINT_MASK_REPEAT_H
#define REDRIVE_CORE_FINGERPRINT_MASK_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_REPEAT_WORDS 512 // of the canonical text; what stands behind them stays as it is
#define MASK_REPEAT_ITEM 16   // words of one item of a list
#define MASK_REPEAT_PLACES 64

struct canonical_word {
    uint16_t from; // its blank
    uint16_t len;  // with the blank
};

struct mask_repeat {
    struct canonical_word words[MASK_REPEAT_WORDS];
    uint16_t last[MASK_REPEAT_PLACES]; // behind the last word of that place; 0: none
    uint32_t count;
    uint32_t period; // from the last literal word back to the one that may be the same
};

void mask_repeat_begin(struct mask_repeat *repeat);

// After mask_repeat_note: the length of the text without the run of words that repeats the one before it, or
// `len` as it is.
size_t mask_repeat_drop(struct mask_repeat *repeat, const char *out, size_t len);

static inline unsigned
mask_repeat_place(const char *word, size_t len)
{
    return ((unsigned char)word[0] + 5U * (unsigned char)word[len - 1] + 3U * (unsigned)len) %
           MASK_REPEAT_PLACES;
}

// A word of `len` bytes, or `*`, was written at `from` of the canonical text. Might it end a repetition?
static inline bool
mask_repeat_note(struct mask_repeat *repeat, const char *word, size_t len, size_t from)
{
    uint32_t count = repeat->count;
    if (count == MASK_REPEAT_WORDS)
        return false;
    repeat->words[count++] = (struct canonical_word){(uint16_t)from, (uint16_t)(len + 1)};
    repeat->count = count;
    if (len > 1 || (len == 1 && *word != '*')) {
        uint16_t *last = &repeat->last[mask_repeat_place(word, len)];
        repeat->period = *last == 0 ? 0 : count - *last;
        *last = (uint16_t)count;
    }
    return repeat->period >= 2 && repeat->period <= MASK_REPEAT_ITEM && 2 * repeat->period <= count;
}

#endif
