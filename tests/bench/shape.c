// shape [SECONDS]: how quickly a shape learns and finds departures, a place is found from a message, and two
// texts are compared, in time of the processor. One line each, `name=value` pairs; needs no server.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/diff/diff.h"
#include "core/json/json.h"
#include "core/shape/locate.h"
#include "core/shape/shape.h"
#include "tests/unit/cpu_time.h"

enum { SAMPLES = 2000 };

// An order of `lines` lines; one in a hundred has an amount that is text.
static void
write_order(struct strbuf *out, int number, int lines, bool has_faults)
{
    static const char *const states[] = {"PAID", "OPEN", "VOID"};
    strbuf_reset(out);
    strbuf_printf(out,
                  "{\"id\": \"ord-%08d\", \"status\": \"%s\", \"shipping\": {\"city\": \"Town %d\", "
                  "\"postal_code\": \"%05d\"}, \"lines\": [",
                  number, states[number % 3], number % 97, number % 99999);
    for (int i = 0; i < lines; i++) {
        bool is_fault = has_faults && i % 100 == 99;
        strbuf_printf(out, "%s{\"sku\": \"SKU-%d\", \"amount\": %s%d.%02d%s, \"quantity\": %d, \"gift\": %s}",
                      i ? ", " : "", number * 31 + i, is_fault ? "\"" : "", i % 500, i % 100,
                      is_fault ? "\"" : "", i % 9 + 1, i % 2 ? "true" : "false");
    }
    strbuf_add_text(out, "], \"note\": null}");
}

static double
seconds_since(int64_t began)
{
    return (double)(cpu_time() - began) / (double)SECOND_SPENT;
}

static void
bench_add(double seconds, struct shape *shape)
{
    struct strbuf order = {0};
    double spent = 0;
    size_t bytes = 0;
    int count = 0;
    for (; count < SAMPLES || spent < seconds; count++) {
        write_order(&order, count, 10, false);
        int64_t began = cpu_time();
        shape_add(shape, strbuf_bytes(&order));
        spent += seconds_since(began);
        bytes += order.len;
    }
    printf("add payloads=%d bytes_each=%zu mb_per_s=%.0f paths=%zu memory_kb=%zu\n", count,
           bytes / (size_t)count, (double)bytes / 1e6 / spent, shape_paths(shape),
           shape_memory(shape) / 1024);
    strbuf_release(&order);
}

static void
bench_departures(double seconds, const struct shape *shape, int lines)
{
    struct strbuf order = {0};
    write_order(&order, 1, lines, true);
    struct arena arena = {0};
    struct shape_departure *list;
    size_t count = 0;
    int times = 0;
    int64_t began = cpu_time();
    for (; times == 0 || seconds_since(began) < seconds; times++) {
        arena_reset(&arena);
        shape_departures(shape, strbuf_bytes(&order), &arena, &list, &count);
    }
    double each = seconds_since(began) / times;
    printf("departures bytes=%zu found=%zu ms=%.3f mb_per_s=%.0f\n", order.len, count, each * 1000,
           (double)order.len / 1e6 / each);
    arena_release(&arena);
    strbuf_release(&order);
}

static void
bench_locate(double seconds, const struct shape *shape)
{
    static const char message[] = "Cannot deserialize value (through reference chain: "
                                  "com.acme.Order[\"lines\"]->java.util.ArrayList[9000]->Line[\"amount\"])";
    struct strbuf order = {0};
    write_order(&order, 1, 10000, true);
    struct arena arena = {0};
    struct locate_where where;
    struct locate_found found = {0};
    int times = 0;
    int64_t began = cpu_time();
    for (; times == 0 || seconds_since(began) < seconds; times++) {
        arena_reset(&arena);
        locate_read(bytes_of(message), BYTES_ABSENT, &arena, &where);
        locate_in(strbuf_bytes(&order), true, &where, shape, &arena, &found);
    }
    printf("locate bytes=%zu path=%s ms=%.3f\n", order.len, found.path, seconds_since(began) / times * 1000);
    arena_release(&arena);
    strbuf_release(&order);
}

// A formatted document of a megabyte against itself with some of its lines changed.
static void
bench_diff(double seconds)
{
    struct strbuf order = {0}, a = {0}, b = {0};
    write_order(&order, 1, 10000, false);
    json_format(strbuf_bytes(&order), &a);
    write_order(&order, 1, 10000, true);
    json_format(strbuf_bytes(&order), &b);
    size_t changes = 0;
    int times = 0;
    int64_t began = cpu_time();
    for (; times == 0 || seconds_since(began) < seconds; times++) {
        struct diff *diff = diff_create(strbuf_bytes(&a), strbuf_bytes(&b), DIFF_WORK);
        changes = diff->change_count;
        diff_destroy(diff);
    }
    printf("diff bytes=%zu changes=%zu ms=%.3f\n", a.len, changes, seconds_since(began) / times * 1000);
    strbuf_release(&order);
    strbuf_release(&a);
    strbuf_release(&b);
}

int
main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    struct shape *shape = shape_create();
    bench_add(seconds, shape);
    bench_departures(seconds, shape, 10);
    bench_departures(seconds, shape, 14000);
    bench_locate(seconds, shape);
    bench_diff(seconds);
    shape_destroy(shape);
    return 0;
}
