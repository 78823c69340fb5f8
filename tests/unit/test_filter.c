#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/filter/filter.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

static const int64_t NOW = 1700000000LL * US_PER_SECOND; // 2023-11-14T22:13:20Z
static struct event_header headers[] = {{{"trace", 5}, {"xabcx", 5}}, {{"none", 4}, {NULL, 0}}};

static struct event events[6];

static int
make_events(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        events[i] = (struct event){.id = i + 1,
                                   .created_at = TIME_ABSENT,
                                   .created_wall = TIME_ABSENT,
                                   .error_message = BYTES("other"),
                                   .group = 0xbb00000000000000};
    struct event *a = &events[0];
    a->error_message = BYTES("connect to host:443 timeout after 30 ms");
    a->event_type = BYTES("order.created");
    a->topic = BYTES("orders.events");
    a->source_table = BYTES("orders");
    a->source_id = BYTES("A-1");
    a->correlation_id = BYTES("7f000000-0000-4000-8000-000000000001");
    a->origin.has_partition = true;
    a->origin.partition = 3;
    a->origin.has_offset = true;
    a->origin.offset = 100;
    a->record.is_kept = true;
    a->record.key = BYTES("c-1");
    a->record.headers = headers;
    a->record.header_count = 2;
    a->retries.count = 1;
    a->created_at = a->created_wall = NOW - 30 * US_PER_SECOND;
    a->category = CATEGORY_TRANSIENT;
    a->group = 0xaa00000000000001;
    a->payload = BYTES("{\"amount\":10.50,\"who\":\"ana\",\"lines\":[{\"sku\":\"A\"}]}");
    struct event *b = &events[1];
    b->error_message = BYTES("Timeout");
    b->event_id = BYTES("ev-2");
    b->event_type = BYTES("order.updated");
    b->source_id = BYTES("S-2"); // no record is kept: its key
    b->topic = BYTES("orders.events");
    b->origin.has_partition = true;
    b->retries.count = 3;
    b->created_at = b->created_wall = NOW - 3 * 3600 * US_PER_SECOND;
    b->known.revisions = 1;
    b->category = CATEGORY_TRANSIENT;
    b->payload = BYTES("{\"amount\":\"10,00\",\"who\":\"Rui\"}");
    struct event *c = &events[2];
    c->error_message = BYTES("constraint violated");
    c->topic = BYTES("payments_dlq");
    c->created_at = c->created_wall = NOW - 70 * US_PER_SECOND;
    c->known.is_quarantined = true;
    c->known.returned = 3;
    c->payload = BYTES("{\"amount\":1e2}");
    struct event *e = &events[4];
    e->status = EVENT_RESOLVED;
    e->closed.by = BYTES("rui");
    e->payload = BYTES("no json \x1b[31m");
    struct event *f = &events[5];
    f->error_class = BYTES("java.lang.NullPointerException");
    f->stack_trace = BYTES("at com.acme.Order(Order.java:10)");
    f->known.operation = 41;
    f->record.is_kept = true;
    f->record.format = BYTES("spring-dlt");
    f->record.topic = BYTES("central");
    f->record.consumer = BYTES("billing");
    return 0;
}

static const struct filter_context context = {.now = NOW, .new_after = TIME_ABSENT};

static bool
check_match(char *text, const char *expected)
{
    struct err err = {0};
    struct filter *filter;
    if (!filter_parse(&filter, bytes_of(text), &context, &err)) {
        print_error("%s: column %d: %s\n", text, err.column, err.text);
        return false;
    }
    struct strbuf matched = {0};
    for (int i = 0; i < 6; i++)
        if (filter_match(filter, &events[i]) == FILTER_YES)
            strbuf_printf(&matched, "%s%c", matched.len ? " " : "", 'a' + i);
    bool is_same = strcmp(matched.len ? strbuf_text(&matched) : "-", expected) == 0;
    if (!is_same)
        print_error("%s: matches %s, not %s\n", text, strbuf_text(&matched), expected);
    strbuf_release(&matched);
    filter_destroy(filter);
    return is_same;
}

static bool
check_wrong(char *text, const char *expected)
{
    struct err err = {0};
    struct filter *filter;
    if (filter_parse(&filter, bytes_of(text), &context, &err)) {
        print_error("%s was read\n", text);
        filter_destroy(filter);
        return false;
    }
    char *words;
    long column = strtol(expected, &words, 10);
    while (*words == ' ')
        words++;
    bool is_same = err.column == column && strstr(err.text, words) != NULL;
    if (!is_same)
        print_error("%s: column %d, not %ld: %s\n", text, err.column, column, err.text);
    return is_same;
}

// The values of terms are read in read_term.c, what joins them in operators.c.
static void
filters_match_as_the_cases_say(void **state)
{
    (void)state;
    each_case("tests/cases/filter/match.txt", check_match);
}

static void
errors_have_the_column_of_the_mistake(void **state)
{
    (void)state;
    each_case("tests/cases/filter/wrong.txt", check_wrong);
}

static struct filter *
parse(const char *text)
{
    struct filter *filter;
    assert_true(filter_parse(&filter, bytes_of(text), &context, NULL));
    return filter;
}

static void
only_what_is_needed_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned needs;
    } rows[] = {{"timeout", EVENT_ERROR},
                {"id:3", 0},
                {"$.a=1", EVENT_PAYLOAD},
                {"kind:data type:x", EVENT_GROUP | EVENT_NARROW},
                {"is:new", EVENT_NARROW},
                {"is:back", EVENT_KNOWN},
                {"has:stack", EVENT_STACK},
                {"has:raw", EVENT_RAW},
                {"!payload:x header:a=b", EVENT_PAYLOAD | EVENT_RAW},
                {"class:x", EVENT_GROUP},
                {"format:x consumer:y", EVENT_NARROW},
                {"queue:x key:y", EVENT_NARROW | EVENT_RAW},
                {"stack:x !y", EVENT_STACK | EVENT_ERROR},
                {"", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct filter *filter = parse(rows[i].text);
        assert_int_equal(filter_needs(filter), rows[i].needs);
        filter_destroy(filter);
    }
    struct filter *filter = parse("status:resolved");
    assert_int_equal(filter_statuses(filter), 1u << EVENT_RESOLVED);
    filter_destroy(filter);
    filter = parse("!status:resolved");
    assert_int_equal(filter_statuses(filter),
                     1u << EVENT_PENDING | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER);
    filter_destroy(filter);
    filter = parse("timeout");
    assert_int_equal(filter_statuses(filter), 0);
    assert_false(filter_is_empty(filter));
    filter_destroy(filter);
}

// The most hostile texts end at a limit, in bounded time, and are told as undecided.
static void
costly_patterns_end_undecided(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 30000; i++)
        strbuf_add_char(&text, 'a');
    strbuf_add_char(&text, '!');
    struct event event = {.error_message = strbuf_bytes(&text), .created_at = TIME_ABSENT};
    struct filter *filter = parse("(a+)+$");
    int64_t began = cpu_time();
    assert_int_equal(filter_match(filter, &event), FILTER_UNDECIDED);
    assert_true(cpu_time() - began < 5 * SECOND_SPENT);
    filter_destroy(filter);
    filter = parse("!(a+)+$");
    assert_int_equal(filter_match(filter, &event), FILTER_UNDECIDED);
    filter_destroy(filter);
    filter = parse("(a+)+$ id:7");
    int64_t began_cheap = cpu_time();
    for (int i = 0; i < 1000; i++)
        assert_int_equal(filter_match(filter, &event),
                         FILTER_NO); // another term decides, and it is asked first
    assert_true(cpu_time() - began_cheap < SECOND_SPENT / 2);
    filter_destroy(filter);
    filter = parse("(a+)+$ error:zzz");
    assert_int_equal(filter_match(filter, &event), FILTER_NO); // also behind an undecided one
    filter_destroy(filter);

    // A header as well: another one of the same name may decide, a "no" does not.
    struct event_header traces[] = {{BYTES("trace"), strbuf_bytes(&text)}, {BYTES("trace"), BYTES("b")}};
    event = (struct event){.record.headers = traces, .record.header_count = 2, .created_at = TIME_ABSENT};
    filter = parse("header:trace=(a+)+$");
    assert_int_equal(filter_match(filter, &event), FILTER_UNDECIDED);
    traces[1].value = BYTES("a");
    assert_int_equal(filter_match(filter, &event), FILTER_YES);
    filter_destroy(filter);
    strbuf_release(&text);
}

static void
matches_are_shown_once_and_in_order(void **state)
{
    (void)state;
    struct filter *filter = parse("o error:to error:ct");
    struct filter_span spans[8];
    size_t count = filter_spans(filter, FILTER_COLUMN_ERROR, BYTES("connect to"), spans, 8);
    assert_int_equal(count, 3);
    assert_int_equal(spans[0].from, 1);
    assert_int_equal(spans[1].from, 5);
    assert_int_equal(spans[1].len, 2);
    assert_int_equal(spans[2].from, 8);
    assert_int_equal(filter_spans(filter, FILTER_COLUMN_TOPIC, BYTES("topic"), spans, 8), 0);
    filter_destroy(filter);
}

static void
words_are_completed(void **state)
{
    (void)state;
    assert_string_equal(filter_complete(BYTES("timeout ret"), 0), "retries:");
    assert_null(filter_complete(BYTES("timeout ret"), 1));
    assert_string_equal(filter_complete(BYTES("is:"), 1), "is:returned");
    assert_string_equal(filter_complete(BYTES("cat"), 0), "category:");
    assert_null(filter_complete(BYTES("zzz"), 0));
    assert_string_equal(filter_complete(BYTES("!ret"), 0), "!retries:");
    assert_string_equal(filter_complete(BYTES("x !is:q"), 0), "!is:quarantined");
    assert_null(filter_complete(BYTES("!is:q"), 1));
    assert_string_equal(filter_complete(BYTES(""), 0), "error:");
    assert_string_equal(filter_complete(BYTES("error:x "), 1), "stack:");
    assert_null(filter_complete(BYTES("is:edited"), 0)); // nothing is left to add
}

// What help and completion offer can be typed.
static void
every_word_that_is_offered_is_read(void **state)
{
    (void)state;
    const char *name;
    const char *sentence;
    size_t count = 0;
    for (; filter_field_help(count, &name, &sentence); count++) {
        assert_true(strlen(sentence) > 5);
        const char *word;
        for (size_t i = 0; (word = filter_complete(bytes_of(name), i)) != NULL; i++)
            filter_destroy(parse(word));
    }
    assert_int_equal(count, 30);
}

static void
a_filter_names_quarantined_events_or_not(void **state)
{
    (void)state;
    assert_true(filter_names_quarantined("is:quarantined"));
    assert_true(filter_names_quarantined("timeout topic:orders is:quarantined"));
    static const char *const others[] = {"",
                                         "!is:quarantined",
                                         "not is:quarantined",
                                         "topic:x not (retries:>2 is:quarantined)",
                                         "error:=\"is:quarantined\"",
                                         "is:new",
                                         "is:quar",
                                         "(",
                                         NULL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(filter_names_quarantined(others[i]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_names_quarantined_events_or_not),
        cmocka_unit_test(filters_match_as_the_cases_say),
        cmocka_unit_test(errors_have_the_column_of_the_mistake),
        cmocka_unit_test(only_what_is_needed_is_asked_for),
        cmocka_unit_test(costly_patterns_end_undecided),
        cmocka_unit_test(matches_are_shown_once_and_in_order),
        cmocka_unit_test(words_are_completed),
        cmocka_unit_test(every_word_that_is_offered_is_read),
    };
    return cmocka_run_group_tests_name("filter", tests, make_events, NULL);
}
