#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/backlog/column.h"
#include "core/backlog/texts.h"

static const uint64_t key[2] = {0x1234567890abcdef, 0xfedcba0987654321};

static struct bytes
text_at(const struct texts *texts, struct text_room *room, uint32_t number)
{
    struct text_block block = texts_block(texts, number, room);
    assert_in_range(number, block.first, block.first + block.count - 1);
    uint32_t first, count;
    texts_span(texts, number, &first, &count);
    assert_int_equal(first, block.first);
    assert_int_equal(count, block.count);
    return text_block_at(&block, number - block.first);
}

// The i-th of many texts; some are empty, some long.
static struct bytes
make_text(char *room, size_t size, unsigned i)
{
    int len = snprintf(room, size, "message %u of host-%u, \xc3\xa9t\xc3\xa9 %u", i, i % 7, i * 2654435761u);
    if (i == 5)
        len = 0;
    if (i == 900) { // a block of its own
        memset(room, 'x', size);
        len = (int)size;
    }
    return (struct bytes){room, (size_t)len};
}

static void
each_text_is_kept_once_and_comes_back(void **state)
{
    (void)state;
    enum { TEXTS = 20000, ROOM = 100000 };
    char *made = malloc(ROOM);
    struct texts *texts = texts_create(key);
    struct text_room room = {0};
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < TEXTS; i++)
            assert_int_equal(texts_add(texts, make_text(made, ROOM, i)), i);
    assert_int_equal(texts_count(texts), TEXTS);
    for (unsigned i = 0; i < TEXTS; i++) {
        unsigned number = i * 7919 % TEXTS;
        assert_true(bytes_equal(text_at(texts, &room, number), make_text(made, ROOM, number)));
    }
    assert_true(texts_memory(texts) < 2000000);

    // One room for two.
    struct texts *others = texts_create(key);
    for (unsigned i = 0; i < TEXTS; i++)
        assert_int_equal(texts_add(others, make_text(made, ROOM, TEXTS + i)), i);
    for (unsigned i = 0; i < TEXTS; i += 97) {
        assert_true(bytes_equal(text_at(texts, &room, i), make_text(made, ROOM, i)));
        assert_true(bytes_equal(text_at(others, &room, i), make_text(made, ROOM, TEXTS + i)));
    }
    text_room_release(&room);
    texts_destroy(others);
    texts_destroy(texts);
    free(made);
}

static void
what_cannot_be_searched_here_is_elsewhere(void **state)
{
    (void)state;
    struct texts *texts = texts_create(key);
    struct text_room room = {0};
    char *large = calloc(TEXT_BYTES + 1, 1);
    assert_int_equal(texts_add(texts, BYTES_ABSENT), TEXT_ABSENT);
    assert_int_equal(texts_add(texts, BYTES("caf\xe9")), TEXT_ELSEWHERE);
    assert_int_equal(texts_add(texts, (struct bytes){large, TEXT_BYTES + 1}), TEXT_ELSEWHERE);
    assert_int_equal(texts_count(texts), 0);
    assert_int_equal(texts_add(texts, (struct bytes){large, TEXT_BYTES}), 0);
    assert_int_equal(text_at(texts, &room, 0).len, TEXT_BYTES);
    free(large);
    text_room_release(&room);
    texts_destroy(texts);
}

// From the newest down, arrivals upwards, late ones in between.
static void
a_column_finds_its_events_in_any_order(void **state)
{
    (void)state;
    struct column column;
    column_init(&column, key);
    struct text_room room = {0};
    char made[200];
    for (int64_t id = 1000; id > 0; id -= 2)
        column_add(&column, id, make_text(made, sizeof made, (unsigned)id));
    for (int64_t id = 1002; id < 1500; id += 2)
        column_add(&column, id, make_text(made, sizeof made, (unsigned)id));
    for (int64_t id = 301; id < 1400; id += 100)
        column_add(&column, id, make_text(made, sizeof made, (unsigned)id));
    column_add(&column, 400, BYTES("another"));

    size_t hint = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t step = 0; step < 1600; step++) {
            int64_t id = pass ? step : 1599 - step;
            uint32_t number;
            bool is_there = (id % 2 == 0 && id > 0 && id < 1500) || (id > 300 && id < 1400 && id % 100 == 1);
            assert_int_equal(column_find(&column, id, &hint, &number), is_there);
            struct bytes wanted = id == 400 ? BYTES("another") : make_text(made, sizeof made, (unsigned)id);
            if (is_there)
                assert_true(bytes_equal(text_at(column.texts, &room, number), wanted));
        }
    }
    assert_int_equal(column_count(&column), 500 + 249 + 11);
    text_room_release(&room);
    column_release(&column);
}

// In any order, and no further than the first that is not there.
static void
a_column_finds_many_at_once(void **state)
{
    (void)state;
    enum { EVENTS = 600 };
    struct column column;
    column_init(&column, key);
    char made[200];
    for (int64_t id = EVENTS; id > 0; id -= id % 50 ? 1 : 3)
        column_add(&column, id, id % 9 ? make_text(made, sizeof made, (unsigned)id / 4) : BYTES_ABSENT);
    for (int64_t id = EVENTS + 1; id <= EVENTS + 100; id++)
        column_add(&column, id, make_text(made, sizeof made, (unsigned)id));

    static int64_t ids[3][EVENTS + 110];
    static uint32_t numbers[EVENTS + 110];
    size_t count = sizeof ids[0] / sizeof *ids[0];
    for (size_t i = 0; i < count; i++) {
        ids[0][i] = (int64_t)(count - i) - 5; // down, with gaps and nothing at both ends
        ids[1][i] = (int64_t)i + 1;
        ids[2][i] = (int64_t)(i * 7919 % count) + 1;
    }
    size_t hint = 0, found = 0;
    for (size_t order = 0; order < 3; order++) {
        for (size_t at = 0; at < count;) {
            size_t asked = count - at < 100 ? count - at : 100;
            size_t done = column_numbers(&column, ids[order] + at, asked, &hint, numbers);
            size_t other = 0;
            uint32_t number;
            for (size_t i = 0; i < done; i++) {
                assert_true(column_find(&column, ids[order][at + i], &other, &number));
                assert_int_equal(numbers[i], number);
            }
            if (done < asked)
                assert_false(column_find(&column, ids[order][at + done], &other, &number));
            at += done ? done : 1;
            found += done;
        }
    }
    assert_int_equal(found, 3 * column_count(&column));
    column_release(&column);
}

static bool
adopt(struct column *column, struct bytes pack, int64_t below)
{
    return column_adopt(column, pack, below, (struct column_ids){0});
}

// A pack is what another process reads: its events below an id, their texts, and those that have none.
static void
a_pack_holds_what_the_column_held(void **state)
{
    (void)state;
    enum { EVENTS = 5000 };
    struct column column, other;
    struct strbuf pack = {0};
    char made[200];
    struct text_room room = {0};
    column_init(&column, key);
    column_init(&other, (const uint64_t[]){7, 8});
    for (int64_t id = EVENTS; id > 0; id--) {
        unsigned i = (unsigned)id / 2;
        column_add(&column, id * 10,
                   id == 77   ? BYTES_ABSENT
                   : id == 78 ? BYTES("caf\xe9")
                              : make_text(made, sizeof made, i));
    }
    column_pack(&column, &pack);
    column_release(&column);

    column_add(&other, 60000, BYTES("held before"));
    assert_true(adopt(&other, strbuf_bytes(&pack), EVENTS * 10 - 5));
    assert_int_equal(column_count(&other), 1 + EVENTS - 1);
    assert_true(texts_count(other.texts) < EVENTS / 2 + 10);
    column_add(&other, 5, BYTES("added behind"));
    size_t hint = 0;
    uint32_t number;
    assert_true(column_find(&other, 60000, &hint, &number));
    assert_true(bytes_equal_text(text_at(other.texts, &room, number), "held before"));
    assert_true(column_find(&other, 5, &hint, &number));
    assert_true(bytes_equal_text(text_at(other.texts, &room, number), "added behind"));
    assert_false(column_find(&other, EVENTS * 10, &hint, &number));
    for (int64_t id = EVENTS - 1; id > 0; id--) {
        assert_true(column_find(&other, id * 10, &hint, &number));
        if (id == 77)
            assert_int_equal(number, TEXT_ABSENT);
        else if (id == 78)
            assert_int_equal(number, TEXT_ELSEWHERE);
        else
            assert_true(bytes_equal(text_at(other.texts, &room, number),
                                    make_text(made, sizeof made, (unsigned)id / 2)));
    }
    text_room_release(&room);
    // Without some, be they there or not.
    column_release(&other);
    column_init(&other, key);
    static const int64_t without[] = {60000, 49990, 49985, 300, 290, 5};
    assert_true(column_adopt(&other, strbuf_bytes(&pack), INT64_MAX,
                             (struct column_ids){without, sizeof without / sizeof *without}));
    assert_int_equal(column_count(&other), EVENTS - 3);
    assert_false(column_find(&other, 290, &hint, &number));
    assert_true(column_find(&other, 310, &hint, &number));
    strbuf_release(&pack);
    column_release(&other);
}

// Nothing but empty texts, or no texts at all.
static void
a_pack_may_hold_little(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct column column, other;
        struct strbuf pack = {0};
        column_init(&column, key);
        column_init(&other, key);
        if (i)
            column_add(&column, 5, i == 1 ? BYTES("") : BYTES_ABSENT);
        column_pack(&column, &pack);
        assert_true(adopt(&other, strbuf_bytes(&pack), INT64_MAX));
        assert_int_equal(column_count(&other), i > 0);
        assert_int_equal(texts_count(other.texts), i == 1);
        strbuf_release(&pack);
        column_release(&column);
        column_release(&other);
    }
}

// Half a million empty texts compress to nothing, and each would take 16 bytes in every screen.
static void
a_pack_holds_no_more_texts_than_events(void **state)
{
    (void)state;
    struct column many, one;
    struct strbuf pack = {0}, events = {0}, forged = {0};
    column_init(&many, key);
    column_init(&one, key);
    for (int64_t id = 1000; id > 0; id--) {
        char text[20];
        snprintf(text, sizeof text, "%d", (int)id);
        column_add(&many, id, bytes_of(text));
    }
    column_add(&one, 5, BYTES("1000"));
    column_pack(&many, &pack);
    column_pack(&one, &events);
    // The events of one, and the texts of many: the parts stand one behind the other, the texts from the mark
    // on.
    static const char mark[] = {0x31, 0x72, 0x64, 0x72};
    size_t at = bytes_find(strbuf_bytes(&events), (struct bytes){mark, sizeof mark}, 0);
    strbuf_add(&forged, bytes_slice(strbuf_bytes(&events), 0, at));
    strbuf_add(&forged,
               bytes_slice(strbuf_bytes(&pack),
                           bytes_find(strbuf_bytes(&pack), (struct bytes){mark, sizeof mark}, 0), SIZE_MAX));
    column_release(&one);
    column_init(&one, key);
    assert_true(adopt(&one, strbuf_bytes(&events), INT64_MAX));
    assert_false(adopt(&one, strbuf_bytes(&forged), INT64_MAX));
    assert_int_equal(texts_count(one.texts), 1);
    column_release(&many);
    column_release(&one);
    strbuf_release(&pack);
    strbuf_release(&events);
    strbuf_release(&forged);
}

static void
what_is_no_pack_is_refused(void **state)
{
    (void)state;
    struct column column;
    struct strbuf pack = {0};
    column_init(&column, key);
    column_add(&column, 2, BYTES("one"));
    column_add(&column, 1, BYTES("two"));
    column_pack(&column, &pack);
    for (size_t len = 0; len < pack.len; len++)
        assert_false(adopt(&column, bytes_slice(strbuf_bytes(&pack), 0, len), 1));
    strbuf_add_char(&pack, 'x');
    assert_false(adopt(&column, strbuf_bytes(&pack), 1));
    pack.len--;
    assert_true(adopt(&column, strbuf_bytes(&pack), 1));
    assert_int_equal(column_count(&column), 2);
    strbuf_release(&pack);
    column_release(&column);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_kept_once_and_comes_back),
        cmocka_unit_test(what_cannot_be_searched_here_is_elsewhere),
        cmocka_unit_test(a_column_finds_its_events_in_any_order),
        cmocka_unit_test(a_column_finds_many_at_once),
        cmocka_unit_test(a_pack_holds_what_the_column_held),
        cmocka_unit_test(a_pack_may_hold_little),
        cmocka_unit_test(a_pack_holds_no_more_texts_than_events),
        cmocka_unit_test(what_is_no_pack_is_refused),
    };
    return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
