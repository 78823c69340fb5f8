#include "core/fingerprint/writers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/fingerprint/frame.h"

#define MESSAGES_MAX 99
#define STACKS_MAX 100000 // different ones; more are not looked at

// One stack, and the messages seen beside it.
struct stack_seen {
    uint64_t key;
    uint64_t records;
    uint64_t *messages; // keys, in the order of their coming
    size_t count, capacity;
    char *frame;
};

struct writer_survey {
    struct stack_seen *stacks; // an open table by key; no frame: free
    size_t places;             // a power of two, at most half of them taken
    size_t count;
    struct writer_found *found;
    size_t found_count, found_capacity;
};

struct writer_survey *
writer_survey_create(void)
{
    struct writer_survey *survey = alloc_bytes(sizeof *survey);
    survey->places = 64;
    survey->stacks = alloc_array(survey->places, sizeof *survey->stacks);
    return survey;
}

void
writer_survey_destroy(struct writer_survey *survey)
{
    if (survey == NULL)
        return;
    for (size_t i = 0; i < survey->places; i++) {
        free(survey->stacks[i].messages);
        free(survey->stacks[i].frame);
    }
    free(survey->stacks);
    free(survey->found);
    free(survey);
}

static struct stack_seen *
find_place(struct stack_seen *stacks, size_t places, uint64_t key)
{
    size_t at = key & (places - 1);
    while (stacks[at].frame != NULL && stacks[at].key != key)
        at = (at + 1) & (places - 1);
    return &stacks[at];
}

static void
grow(struct writer_survey *survey)
{
    size_t places = survey->places * 2;
    struct stack_seen *stacks = alloc_array(places, sizeof *stacks);
    for (size_t i = 0; i < survey->places; i++) {
        if (survey->stacks[i].frame != NULL)
            *find_place(stacks, places, survey->stacks[i].key) = survey->stacks[i];
    }
    free(survey->stacks);
    survey->stacks = stacks;
    survey->places = places;
}

static void
note_message(struct stack_seen *stack, uint64_t key)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (stack->messages[i] == key)
            return;
    }
    if (stack->count == MESSAGES_MAX)
        return;
    stack->messages = alloc_grow(stack->messages, stack->count, &stack->capacity, sizeof *stack->messages);
    stack->messages[stack->count++] = key;
}

void
writer_survey_add(struct writer_survey *survey, const struct fingerprint_input *input)
{
    struct fingerprint_site site;
    if (!fingerprint_site(input, &site))
        return;
    struct stack_seen *stack = find_place(survey->stacks, survey->places, site.stack_key);
    if (stack->frame == NULL) {
        if (survey->count == STACKS_MAX)
            return;
        survey->count++;
        stack->key = site.stack_key;
        stack->frame = alloc_bytes(size_add(site.frame_len, 1));
        memcpy(stack->frame, site.frame, site.frame_len);
    }
    stack->records++;
    note_message(stack, site.message_key);
    if (2 * survey->count > survey->places)
        grow(survey);
}

static int
by_records(const void *a, const void *b)
{
    const struct writer_found *x = a;
    const struct writer_found *y = b;
    if (x->records != y->records)
        return x->records < y->records ? 1 : -1;
    return strcmp(x->frame, y->frame);
}

// Stacks of one frame differ where its class or text does; they are one writer.
static void
add_found(struct writer_survey *survey, const struct stack_seen *stack)
{
    for (size_t i = 0; i < survey->found_count; i++) {
        struct writer_found *found = &survey->found[i];
        if (strcmp(found->frame, stack->frame) != 0)
            continue;
        found->records += stack->records;
        found->messages = stack->count > found->messages ? (unsigned)stack->count : found->messages;
        return;
    }
    survey->found =
        alloc_grow(survey->found, survey->found_count, &survey->found_capacity, sizeof *survey->found);
    survey->found[survey->found_count++] = (struct writer_found){
        .frame = stack->frame, .records = stack->records, .messages = (unsigned)stack->count};
}

const struct writer_found *
writer_survey_found(struct writer_survey *survey, size_t *count)
{
    survey->found_count = 0;
    for (size_t i = 0; i < survey->places; i++) {
        if (survey->stacks[i].frame != NULL && survey->stacks[i].count >= WRITERS_MESSAGES)
            add_found(survey, &survey->stacks[i]);
    }
    if (survey->found_count > 1)
        qsort(survey->found, survey->found_count, sizeof *survey->found, by_records);
    *count = survey->found_count;
    return survey->found;
}
