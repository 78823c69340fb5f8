// What the error says beside what makes its group: the words that are masked, and the newest own frame.
#include "core/apart/private.h"

#include "core/fingerprint/cause.h"
#include "core/fingerprint/fingerprint.h"
#include "core/fingerprint/frame.h"
#include "core/fingerprint/mask.h"

enum { WORD_LEAST = 2, WORD_MOST = 64, MESSAGE_MOST = 16 << 10 };

// Of people nothing is compared, and of data in the message its own fields are.
static bool
is_of_no_use(const char *rule)
{
    static const enum mask_rule left_out[] = {MASK_EMAIL, MASK_PERSON, MASK_PAYLOAD, MASK_EMPTY, MASK_LONG};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (rule == mask_sentence(left_out[i]))
            return true;
    return false;
}

// "ms" behind a number: as frequent as the sentence that it stands in.
static bool
is_unit(const struct fingerprint_mask *mask)
{
    if (mask->rule != mask_sentence(MASK_DURATION))
        return false;
    for (size_t i = 0; i < mask->text.len; i++)
        if (mask->text.data[i] >= '0' && mask->text.data[i] <= '9')
            return false;
    return true;
}

static void
read_words(struct apart *apart, const struct fingerprint_input *input)
{
    struct arena arena = {0};
    struct fingerprint parts = fingerprint_explain(input, &arena);
    for (uint32_t i = 0; i < parts.mask_count; i++) {
        struct bytes word = bytes_trim(parts.masks[i].text);
        bool is_here = word.len >= WORD_LEAST && word.len <= WORD_MOST &&
                       bytes_find(input->message, word, 0) != SIZE_MAX;
        if (is_here && !is_of_no_use(parts.masks[i].rule) && !is_unit(&parts.masks[i]))
            apart_see(apart, apart_field_need(apart, APART_WORD, BYTES_ABSENT), APART_TEXT, word);
    }
    arena_release(&arena);
}

static void
read_frame(struct apart *apart, const struct fingerprint_input *input)
{
    struct cause_chain chain;
    char frame[FRAME_TEXT_MAX];
    cause_read(input, &chain);
    size_t len = 0;
    for (unsigned i = 0; i < chain.count && len == 0; i++)
        len = frame_own(chain.links[i].frames, chain.is_newest_last, input->rules, frame);
    if (len > 0)
        apart_see(apart, apart_field_need(apart, APART_FRAME, BYTES_ABSENT), APART_TEXT,
                  (struct bytes){frame, len});
}

void
apart_read_message(struct apart *apart, const struct event *event)
{
    struct fingerprint_input input = {.message = bytes_slice(event->error_message, 0, MESSAGE_MOST),
                                      .stack = event->stack_trace,
                                      .rules = apart->rules};
    if (bytes_present(input.message) && !(apart->leaves_out & 1u << APART_WORD))
        read_words(apart, &input);
    if (bytes_present(input.stack) && !(apart->leaves_out & 1u << APART_FRAME))
        read_frame(apart, &input);
}
