// Whatever the number of threads and the order of asking, a text gets the verdict that the filter has for an
// event with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "search/text_verdicts.h"

enum { TEXTS = 20000, ROOM = 400 };

static const uint64_t key[2] = {0x1234567890abcdef, 0xfedcba0987654321};

// The i-th of many, in blocks of some hundreds; all are JSON, some long, one empty.
static struct bytes
make_text(char *room, unsigned i)
{
    unsigned odd = i * 2654435761u;
    int len =
        snprintf(room, ROOM, "{\"n\": %u, \"host\": \"Host-%u.\xc3\xa9t\xc3\xa9\", \"code\": \"%x%s\"}", i,
                 i % 7, odd, i % 3 ? "" : " timed out after 30 s, and once again, and then for good");
    return (struct bytes){room, i == 77 ? 0 : (size_t)len};
}

// Two columns: the second has the texts behind those of the first.
struct columns {
    struct texts *texts[2];
};

static void
fill(struct columns *columns, unsigned from, unsigned count)
{
    char room[ROOM];
    for (unsigned n = 0; n < 2; n++) {
        if (!columns->texts[n])
            columns->texts[n] = texts_create(key);
        for (unsigned i = from; i < from + count; i++)
            assert_int_equal(texts_add(columns->texts[n], make_text(room, n * TEXTS + i)), i);
    }
}

static void
release(struct columns *columns)
{
    texts_destroy(columns->texts[0]);
    texts_destroy(columns->texts[1]);
    *columns = (struct columns){0};
}

static struct filter *
parse(const char *text)
{
    struct err err = {0};
    struct filter *filter;
    const struct filter_context context = {.now = clock_now(), .new_after = TIME_ABSENT};
    if (!filter_parse(&filter, bytes_of(text), &context, &err))
        fail_msg("%s: %s", text, err.text);
    return filter;
}

static struct event
event_of(struct bytes text)
{
    return (struct event){
        .created_at = TIME_ABSENT, .error_message = text, .stack_trace = text, .payload = text};
}

// The order in which texts are asked for.
enum walk { UP, DOWN, HERE_AND_THERE, WALKS };

static uint32_t
walked(enum walk walk, unsigned step, unsigned count)
{
    return walk == UP ? step : walk == DOWN ? count - 1 - step : (uint32_t)((uint64_t)step * 7919 % count);
}

// Every term of the filter is about one of the columns.
static void
compare(struct text_verdicts *verdicts, struct filter *filter, const struct columns *columns, enum walk walk,
        bool wants_most)
{
    char room[ROOM];
    unsigned count = (unsigned)texts_count(columns->texts[0]);
    for (unsigned step = 0; step < count; step++) {
        uint32_t number = walked(walk, step, count);
        for (size_t term = 0; term < filter_terms(filter); term++) {
            unsigned column = term % 2;
            struct event event = event_of(make_text(room, column * TEXTS + number));
            enum filter_verdict wanted = filter_match_term(filter, term, &event);
            if (text_verdicts_of(verdicts, term, columns->texts[column], number, wants_most) != wanted)
                fail_msg("term %zu, walk %d: text %u is not %d", term, (int)walk, (unsigned)number,
                         (int)wanted);
            size_t out = text_verdicts_ruled_out(verdicts, term, &number, 1);
            assert_int_equal(out, wanted == FILTER_NO);
        }
    }
}

static void
every_thread_says_the_same(void **state)
{
    (void)state;
    static const char *const filters[] = {"timed.out",
                                          "Host-3",
                                          "/[a-c]+f|zzz/",
                                          "!/out after \\d/",
                                          "payload:4\\d1 !payload:7777",
                                          "$.host~^Host-[35] !$.n=15 has:stack",
                                          "stack:\xc3\xa9T\xc3\xa9",
                                          "error:\"exactly this\""};
    struct columns columns = {0};
    fill(&columns, 0, TEXTS);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        struct filter *filter = parse(filters[i]);
        for (unsigned threads = 1; threads <= 3; threads += 2)
            for (enum walk walk = UP; walk < WALKS; walk++) {
                struct filter *other = parse(filters[i]);
                struct text_verdicts *verdicts = text_verdicts_create(other, threads);
                compare(verdicts, filter, &columns, walk, i % 4 > 0 || walk == HERE_AND_THERE);
                const struct event absent = event_of(BYTES_ABSENT);
                for (size_t term = 0; term < filter_terms(filter); term++)
                    assert_int_equal(text_verdicts_of(verdicts, term, columns.texts[0], TEXT_ABSENT, true),
                                     filter_match_term(filter, term, &absent));
                text_verdicts_destroy(verdicts);
                filter_destroy(other);
            }
        filter_destroy(filter);
    }
    release(&columns);
}

// Texts that come between two questions, into the block that was open, are decided too; and where numbers
// stand for other texts nothing is left of those before.
static void
columns_grow_and_are_forgotten(void **state)
{
    (void)state;
    struct filter *filter = parse("/[a-c]+f|out/");
    struct text_verdicts *verdicts = text_verdicts_create(filter, 3);
    for (unsigned round = 0; round < 2; round++) {
        struct columns columns = {0};
        for (unsigned from = 0; from < TEXTS; from += TEXTS / 8) {
            fill(&columns, from, TEXTS / 8);
            compare(verdicts, filter, &columns, UP, true);
        }
        text_verdicts_forget(verdicts);
        release(&columns);

        struct texts *texts = texts_create(key);
        for (unsigned i = 0; i < TEXTS; i++) {
            char other[40];
            int len = snprintf(other, sizeof other, "%u %s", i, i % 2 ? "aff" : "none");
            assert_int_equal(texts_add(texts, (struct bytes){other, (size_t)len}), i);
        }
        for (uint32_t i = 0; i < TEXTS; i++)
            assert_int_equal(text_verdicts_of(verdicts, 0, texts, i, true), i % 2 ? FILTER_YES : FILTER_NO);
        text_verdicts_forget(verdicts);
        texts_destroy(texts);
    }
    text_verdicts_destroy(verdicts);
    filter_destroy(filter);
}

// All end, each is undecided, and none is matched twice.
static void
hostile_texts_end_at_their_limit(void **state)
{
    (void)state;
    enum { HOSTILE = 400, LONG = 30000, SHORT = 40 };
    char *made = alloc_array(LONG, 1);
    memset(made, 'a', LONG);
    struct texts *texts = texts_create(key);
    for (unsigned i = 0; i < HOSTILE; i++) {
        int len = snprintf(made, 20, "%u", i);
        made[len] = 'a';
        assert_int_equal(texts_add(texts, (struct bytes){made, i % 2 ? LONG : SHORT}), i);
    }
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct filter *filter = parse("(a+)+[bc]$");
        struct text_verdicts *verdicts = text_verdicts_create(filter, threads);
        for (uint32_t i = 0; i < HOSTILE; i++)
            assert_int_equal(text_verdicts_of(verdicts, 0, texts, i, true), FILTER_UNDECIDED);
        assert_int_equal(text_verdicts_matched(verdicts), HOSTILE);
        text_verdicts_destroy(verdicts);
        filter_destroy(filter);
    }
    texts_destroy(texts);
    free(made);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_says_the_same),
        cmocka_unit_test(columns_grow_and_are_forgotten),
        cmocka_unit_test(hostile_texts_end_at_their_limit),
    };
    return cmocka_run_group_tests_name("text_verdicts", tests, NULL, NULL);
}
