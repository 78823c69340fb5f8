// Any bytes as a dead letter: parts between bytes 0xFE are topic, key, value, then names and values of
// headers in turn. With a first byte below 64 it is one of the cases of tests/cases/envelope instead, in
// which the bytes behind change single bytes of names and values, cut them or leave them out.
//
// No record is refused: it has a format, by every format that somebody may choose; headers are each kept or
// dropped in their order, none is lost; the recipe of its value is one that is read.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "core/envelope/envelope.h"
#include "core/envelope/undo.h"
#include "core/recipe/recipe.h"
#include "tests/lib/envelope_case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS = 40, CASES = 64 };

struct letter {
    struct bytes topic, key, value;
    struct event_header headers[HEADERS];
    size_t header_count;
};

static struct letter letters[CASES];
static size_t letter_count;
static struct arena lasting; // the cases, for as long as the program runs

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
keep_case(const struct envelope_case *one, void *context)
{
    (void)context;
    if (letter_count == CASES)
        return;
    struct letter *letter = &letters[letter_count++];
    letter->topic = arena_copy(&lasting, one->record.topic);
    letter->key = arena_copy(&lasting, one->record.key);
    letter->value = arena_copy(&lasting, one->record.value);
    for (size_t i = 0; i < one->record.header_count && i < HEADERS; i++)
        letter->headers[letter->header_count++] =
            (struct event_header){.name = arena_copy(&lasting, one->headers[i].name),
                                  .value = arena_copy(&lasting, one->headers[i].value)};
}

static struct bytes
take_part(struct bytes *rest)
{
    size_t at = bytes_find(*rest, BYTES("\xFE"), 0);
    struct bytes part = at == SIZE_MAX ? *rest : bytes_slice(*rest, 0, at);
    *rest = at == SIZE_MAX ? BYTES_ABSENT : bytes_slice(*rest, at + 1, rest->len);
    return part;
}

static void
make_letter(struct bytes rest, struct letter *letter)
{
    letter->topic = take_part(&rest);
    letter->key = take_part(&rest);
    letter->value = take_part(&rest);
    while (bytes_present(rest) && letter->header_count < HEADERS) {
        struct event_header *header = &letter->headers[letter->header_count++];
        header->name = take_part(&rest);
        header->value = take_part(&rest);
        if (!bytes_present(header->name))
            letter->header_count--;
    }
}

// Four bytes: what, which place of it twice, and the new byte.
static void
change(struct bytes *part, const uint8_t *how, struct arena *arena)
{
    size_t place = (size_t)how[1] << 8 | how[2];
    if (part->len == 0)
        return;
    if (how[0] >= 224)
        part->len = place % part->len;
    if (how[0] >= 250)
        *part = BYTES_ABSENT;
    if (part->len == 0)
        return;
    char *copy = arena_alloc(arena, part->len);
    memcpy(copy, part->data, part->len);
    copy[place % part->len] = (char)how[3];
    part->data = copy;
}

static void
mutate(struct letter *letter, const uint8_t *data, size_t size, struct arena *arena)
{
    for (; size >= 4; data += 4, size -= 4) {
        size_t which = data[0] % (letter->header_count * 2 + 2);
        struct event_header *header = &letter->headers[which > 1 ? (which - 2) / 2 : 0];
        struct bytes *part = which == 0   ? &letter->value
                             : which == 1 ? &letter->topic
                             : which % 2  ? &header->name
                                          : &header->value;
        change(part, data, arena);
        if (!bytes_present(header->name))
            header->name = BYTES("");
    }
}

static void
check_undo(const struct envelope_record *record, const struct envelope *envelope, struct arena *arena)
{
    struct envelope_undo undo;
    size_t of_record = 0;
    envelope_undo(record, envelope, arena, &undo);
    for (size_t i = 0; i < undo.header_count; i++) {
        if (undo.headers[i].fate == FATE_ADDED)
            continue;
        require(of_record < record->header_count);
        require(bytes_equal(undo.headers[i].name, record->headers[of_record].name));
        require(bytes_equal(undo.headers[i].value, record->headers[of_record].value));
        of_record++;
    }
    require(of_record == record->header_count);
    require(undo.how_text && undo.why && undo.partition >= -1);
    if (undo.how == UNDO_AS_IS)
        require(bytes_equal(undo.value, record->value));
}

static void
check_recipe(struct bytes value)
{
    struct strbuf text = {0};
    struct recipe *recipe;
    if (envelope_recipe(value, &text)) {
        require(recipe_parse(&recipe, "envelope", strbuf_bytes(&text), NULL));
        recipe_destroy(recipe);
    }
    strbuf_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct letter letter = {0};
    struct envelope envelope;
    if (letter_count == 0)
        envelope_cases("tests/cases/envelope", keep_case, NULL);
    if (size > 0 && data[0] < CASES && letter_count > 0) {
        letter = letters[data[0] % letter_count];
        mutate(&letter, data + 1, size - 1, &arena);
    } else {
        make_letter((struct bytes){(const char *)data, size}, &letter);
    }
    const struct envelope_record record = {.topic = letter.topic,
                                           .key = letter.key,
                                           .value = letter.value,
                                           .headers = letter.headers,
                                           .header_count = letter.header_count,
                                           .timestamp = TIME_ABSENT};
    envelope_read(&record, &arena, &envelope);
    require(envelope.format && envelope.why);
    check_undo(&record, &envelope, &arena);
    const struct envelope_format *chosen = envelope_format_at(size % 30);
    if (chosen) {
        envelope_read_as(chosen, &record, &arena, &envelope);
        check_undo(&record, &envelope, &arena);
    }
    check_recipe(record.value);
    arena_release(&arena);
    return 0;
}
