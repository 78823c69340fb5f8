#include "core/fingerprint/fingerprint.h"

#include <string.h>

#include "base/strbuf.h"
#include "core/fingerprint/cause.h"
#include "core/fingerprint/frame.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/mask.h"
#include "core/fingerprint/word.h"
#include "core/fingerprint/rules.h"

#define CLASS_MAX 256
#define PART_END 0x1f
#define SHARED_MAX 64      // of a message: so much of it tells whether a stack holds it
#define SHARED_WITHIN 4096 // of the other text

// The parts of the hash, and their explanation for people.
struct evidence {
    const struct group_rules *rules;
    struct cause_chain chain;
    const struct cause_link *root; // the link whose text counts
    struct bytes class_name;
    enum cause_naming naming; // of the innermost text
    bool is_message;          // the stack belongs to something else
    struct mask mask;         // of the root text
    size_t frame_len;
    char frame[FRAME_TEXT_MAX];
    char canonical[MASK_CANONICAL_MAX];
};

static enum cause_naming
mask_link(struct mask *mask, char *out, const struct cause_link *link)
{
    *mask = (struct mask){.out = out};
    mask_text(mask, link->text, link->class_name);
    return cause_naming((struct bytes){mask->out, mask->len});
}

// Outward from the innermost to the first text that names something and is no mere wrapper: then that is the
// root, and its mask the one that counts.
static bool
find_telling(struct evidence *evidence)
{
    const struct cause_chain *chain = &evidence->chain;
    for (unsigned i = 1; i < chain->count; i++) {
        const struct cause_link *link = &chain->links[i];
        if (cause_is_wrapper(link, &chain->links[i - 1]))
            continue;
        struct mask mask;
        char out[MASK_CANONICAL_MAX];
        if (mask_link(&mask, out, link) != CAUSE_NAMES)
            continue;
        memcpy(evidence->canonical, out, mask.len);
        mask.out = evidence->canonical;
        evidence->mask = mask;
        evidence->root = link;
        return true;
    }
    return false;
}

// The newest own frame of the innermost exception. Frames that Java omits as common are looked for where they
// were printed.
static void
find_frame(struct evidence *evidence)
{
    const struct cause_chain *chain = &evidence->chain;
    for (unsigned i = 0; i < chain->count && evidence->frame_len == 0; i++) {
        struct bytes frames = chain->links[i].frames;
        evidence->frame_len = frame_own(frames, chain->is_newest_last, evidence->rules, evidence->frame);
        if (!frame_is_shared(frames))
            break;
    }
}

// The innermost text names nothing. Where a null pointer arose says most, and for timeouts what was being
// done; each falls back to the other.
static void
look_further(struct evidence *evidence)
{
    bool is_bug = evidence->naming == CAUSE_BLANK_BUG;
    if (is_bug)
        find_frame(evidence);
    if (evidence->frame_len > 0)
        return;

    if (!find_telling(evidence) && !is_bug)
        find_frame(evidence);
}

static bool
holds(struct bytes text, struct bytes part)
{
    return part.len > 0 &&
           bytes_find(bytes_slice(text, 0, SHARED_WITHIN), bytes_slice(part, 0, SHARED_MAX), 0) != SIZE_MAX;
}

static bool
is_apart(const struct cause_link *link, const struct fingerprint_input *input)
{
    return !holds(input->message, link->text) && !holds(link->text, bytes_trim(input->message));
}

// The operators say that whatever has its newest own frame there has its stack from there.
static bool
is_at_writer(const struct cause_chain *chain, const struct fingerprint_input *input)
{
    char frame[FRAME_TEXT_MAX];
    if (!group_rules_has_writers(input->rules))
        return false;
    size_t len = frame_own(chain->links[0].frames, chain->is_newest_last, input->rules, frame);
    return group_rules_is_writer(input->rules, (struct bytes){frame, len});
}

// A consumer may make an exception only to have a stack, where it writes the dead letter: one exception of a
// plain class, whose text has nothing to do with the message.
static bool
is_of_the_writer(const struct cause_chain *chain, const struct fingerprint_input *input)
{
    const struct cause_link *only = &chain->links[0];
    if (chain->count != 1 || input->stack.len == 0 || input->message.len == 0)
        return false;
    return (cause_is_plain(only->class_name) && is_apart(only, input)) || is_at_writer(chain, input);
}

static void
take_root(struct evidence *evidence)
{
    evidence->root = &evidence->chain.links[0];
    evidence->class_name = evidence->root->class_name;
    evidence->naming = mask_link(&evidence->mask, evidence->canonical, evidence->root);
}

// The message decides if it names something by itself.
static bool
take_message(struct evidence *evidence, const struct fingerprint_input *input)
{
    struct fingerprint_input alone = *input;
    alone.stack = BYTES_ABSENT;
    struct cause_link writer = evidence->chain.links[0];
    cause_read(&alone, &evidence->chain);
    take_root(evidence);
    return evidence->naming == CAUSE_NAMES && !cause_is_wrapper(evidence->root, &writer);
}

static void
fingerprint_gather(struct evidence *evidence, const struct fingerprint_input *input)
{
    evidence->rules = input->rules;
    evidence->frame_len = 0;
    cause_read(input, &evidence->chain);
    bool is_of_writer = is_of_the_writer(&evidence->chain, input);
    evidence->is_message = is_of_writer && take_message(evidence, input);
    if (is_of_writer && !evidence->is_message)
        cause_read(input, &evidence->chain);
    if (!evidence->is_message)
        take_root(evidence);
    if (evidence->naming != CAUSE_NAMES)
        look_further(evidence);
}

// A class without what proxies and compilers add to its name.
static struct bytes
plain_class(struct bytes class_name)
{
    if (class_name.len == 0)
        return class_name;
    // Most classes hold no $ at all, which memchr sees soonest.
    bool may_hold = memchr(class_name.data, '$', class_name.len) != NULL;
    size_t generated = may_hold ? bytes_find(class_name, BYTES("$$"), 0) : SIZE_MAX;
    if (generated != SIZE_MAX)
        class_name.len = generated;
    return bytes_slice(bytes_trim(class_name), 0, CLASS_MAX);
}

static uint64_t
hash_evidence(const struct evidence *evidence)
{
    char text[CLASS_MAX + MASK_CANONICAL_MAX + FRAME_TEXT_MAX + 2];
    struct bytes class_name = plain_class(evidence->class_name);
    size_t len = 0;
    if (class_name.len > 0)
        memcpy(text, class_name.data, class_name.len);
    len += class_name.len;
    text[len++] = PART_END;
    memcpy(text + len, evidence->canonical, evidence->mask.len);
    len += evidence->mask.len;
    text[len++] = PART_END;
    memcpy(text + len, evidence->frame, evidence->frame_len);
    len += evidence->frame_len;
    return fingerprint_hash((struct bytes){text, len}, FINGERPRINT_VERSION);
}

// The text as the mask saw it: both cut at the same place.
static struct bytes
seen_text(struct bytes text)
{
    return bytes_slice(text, 0, text.len > MASK_TEXT_MAX ? MASK_TEXT_MAX : text.len);
}

uint64_t
fingerprint_key(const struct fingerprint_input *input)
{
    struct evidence evidence;
    fingerprint_gather(&evidence, input);
    uint64_t key = hash_evidence(&evidence);
    return input->rules == NULL ? key
                                : group_rules_apply(input->rules, key, seen_text(evidence.root->text), NULL);
}

bool
fingerprint_site(const struct fingerprint_input *input, struct fingerprint_site *site)
{
    _Static_assert(sizeof site->frame == FRAME_TEXT_MAX, "a frame fits");
    struct evidence evidence = {.rules = input->rules};
    cause_read(input, &evidence.chain);
    const struct cause_link *only = &evidence.chain.links[0];
    bool may_differ = evidence.chain.count == 1 && input->stack.len > 0 && input->message.len > 0 &&
                      bytes_present(only->frames) && is_apart(only, input);
    if (!may_differ || is_of_the_writer(&evidence.chain, input))
        return false;
    site->frame_len = frame_own(only->frames, evidence.chain.is_newest_last, input->rules, site->frame);
    if (site->frame_len == 0 || !take_message(&evidence, input))
        return false;
    site->message_key = hash_evidence(&evidence);
    struct fingerprint_input alone = *input;
    alone.message = BYTES_ABSENT;
    site->stack_key = fingerprint_hash((struct bytes){site->frame, site->frame_len}, fingerprint_key(&alone));
    return true;
}

// For people

static bool
is_list_separator(struct bytes between)
{
    for (size_t i = 0; i < between.len; i++) {
        if ((word_kind(between.data[i]) & KIND_BLANK) == 0 && !word_is_one_of(between.data[i], ",:-/"))
            return false;
    }
    return true;
}

static void
fingerprint_add_line(struct strbuf *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool is_blank = (word_kind(text.data[i]) & KIND_BLANK) != 0;
        if (!is_blank)
            strbuf_add_char(out, text.data[i]);
        else if (out->len > 0 && out->data[out->len - 1] != ' ')
            strbuf_add_char(out, ' ');
    }
}

// The text on one line, placeholders for what is volatile; equal placeholders in a list appear once.
static struct bytes
write_pattern(struct arena *arena, struct bytes text, const struct mask_trail *trail)
{
    struct strbuf out = {0};
    size_t done = 0;
    const char *last = NULL;
    for (uint32_t i = 0; i < trail->count; i++) {
        const struct mask_span *span = &trail->spans[i];
        if (span->from < done)
            continue;
        struct bytes between = bytes_slice(text, done, span->from - done);
        const char *placeholder = mask_placeholder(span->rule);
        bool is_repeated = last == placeholder && is_list_separator(between);
        if (!is_repeated) {
            fingerprint_add_line(&out, between);
            strbuf_add_text(&out, placeholder);
        }
        last = placeholder;
        done = (size_t)span->from + span->len;
    }
    if (done < text.len)
        fingerprint_add_line(&out, bytes_slice(text, done, text.len));
    struct bytes pattern = arena_copy(arena, bytes_trim(strbuf_bytes(&out)));
    strbuf_release(&out);
    return pattern;
}

static const char *
frame_reason(const struct evidence *evidence)
{
    bool is_outer = evidence->root != &evidence->chain.links[0];
    if (evidence->is_message)
        return "The stack says only where the dead letter was written, so the message counts by itself.";
    if (evidence->naming == CAUSE_NAMES)
        return "The text of the root cause says what went wrong, so the place in the code is left out.";
    if (is_outer)
        return "The innermost cause names nothing; the text of the exception around it does and counts in "
               "its place.";
    if (evidence->frame_len > 0)
        return "The text of the root cause names nothing, so the newest frame of your own code counts.";
    if (bytes_present(evidence->chain.links[0].frames))
        return "The text of the root cause names nothing, and its stack holds no frame of your own code.";
    return "The text of the root cause names nothing, and there is no stack to tell where it arose.";
}

static struct fingerprint
fingerprint_describe(struct evidence *evidence, struct mask_trail *trail, struct arena *arena)
{
    struct bytes text = evidence->root->text;
    char out[MASK_CANONICAL_MAX];
    struct mask mask = {.out = out, .trail = trail};
    mask_text(&mask, text, evidence->root->class_name);

    struct bytes class_name = plain_class(evidence->class_name);
    struct fingerprint fingerprint = {
        .text_key = hash_evidence(evidence),
        .root_class = class_name.len > 0 ? arena_copy(arena, class_name) : BYTES_ABSENT,
        .root_text = arena_copy(arena, text),
        .pattern = write_pattern(arena, seen_text(text), trail),
        .is_cut = mask.is_cut || evidence->chain.is_cut,
    };
    fingerprint.key =
        group_rules_apply(evidence->rules, fingerprint.text_key, seen_text(text), &fingerprint.rule);
    if (evidence->frame_len > 0)
        fingerprint.frame = arena_copy(arena, (struct bytes){evidence->frame, evidence->frame_len});
    return fingerprint;
}

struct fingerprint
fingerprint_explain(const struct fingerprint_input *input, struct arena *arena)
{
    struct evidence evidence;
    struct mask_trail trail = {.arena = arena};
    fingerprint_gather(&evidence, input);
    struct fingerprint fingerprint = fingerprint_describe(&evidence, &trail, arena);
    fingerprint.frame_reason = arena_copy(arena, bytes_of(frame_reason(&evidence)));
    fingerprint.masks = arena_array(arena, trail.count, sizeof *fingerprint.masks);
    for (uint32_t i = 0; i < trail.count; i++) {
        const struct mask_span *span = &trail.spans[i];
        if (span->len == 0)
            continue;
        fingerprint.masks[fingerprint.mask_count++] = (struct fingerprint_mask){
            .text = bytes_slice(fingerprint.root_text, span->from, span->len),
            .rule = mask_sentence(span->rule),
        };
    }
    return fingerprint;
}

struct fingerprint
fingerprint_parts(const struct fingerprint_input *input, struct arena *arena)
{
    struct evidence evidence;
    struct mask_trail trail = {.arena = arena};
    fingerprint_gather(&evidence, input);
    return fingerprint_describe(&evidence, &trail, arena);
}
