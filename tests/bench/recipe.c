// recipe [SECONDS]: how many events of 1 kB one core takes through the dry run of a recipe with three
// operations: applied, and applied again to see whether the result is stable. Counted in time of the
// processor, because other programs may run beside it. One line, `name=value` pairs: events a second, and the
// same in MB; beside it the rate at which the same payloads are checked alone.
#include <stdio.h>
#include <stdlib.h>
#include "core/json/json.h"
#include "core/recipe/recipe.h"
#include "tests/unit/cpu_time.h"

static const char RECIPE[] = "expect $.currency = \"EUR\"\n"
                             "to-number $.lines[*].amount\n"
                             "default $.address.postal_code \"00000\"\n";

// An order of about 1 kB with ten lines.
static void
write_payload(struct strbuf *out, int number)
{
    strbuf_printf(
        out,
        "{\"orderId\": \"ord-%08d\", \"currency\": \"EUR\", \"customer\": {\"id\": %d, \"name\": \"Ana "
        "Example\", \"email\": \"ana@example.com\"}, \"lines\": [",
        number, 40000 + number);
    for (int i = 0; i < 10; i++)
        strbuf_printf(out,
                      "%s{\"sku\": \"SKU-%04d\", \"quantity\": %d, \"amount\": \"%d,%02d\", \"tax\": 0.19}",
                      i ? ", " : "", number + i, i + 1, 10 + i, number % 100);
    strbuf_add_text(out,
                    "], \"address\": {\"street\": \"Example Road 1\", \"city\": \"Example\", \"country\": "
                    "\"DE\"}, \"createdAt\": \"2024-05-01T12:00:00Z\"}");
}

static double
rate(int64_t count, int64_t began)
{
    return (double)count * SECOND_SPENT / (double)(cpu_time() - began + 1);
}

int
main(int argc, char **argv)
{
    enum { PAYLOADS = 100 };
    struct err err = {0};
    struct strbuf payloads[PAYLOADS] = {0};
    size_t bytes = 0;
    for (int i = 0; i < PAYLOADS; i++) {
        write_payload(&payloads[i], i);
        bytes += payloads[i].len;
    }
    struct recipe *recipe;
    if (!recipe_parse(&recipe, "recipe", bytes_of(RECIPE), &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    int64_t time = (argc > 1 ? strtol(argv[1], NULL, 10) : 3) * SECOND_SPENT;
    int64_t count = 0, changed = 0, stable = 0;
    struct arena arena = {0};
    int64_t began = cpu_time();
    for (; cpu_time() - began < time; arena_reset(&arena)) {
        for (int i = 0; i < PAYLOADS; i++, count++) {
            struct record_parts in = {.payload = strbuf_bytes(&payloads[i]), .topic = BYTES("t")}, out;
            struct recipe_note note;
            changed += recipe_apply(recipe, &in, NULL, &arena, &out, &note) == RECIPE_CHANGED;
            stable += recipe_is_stable_on(recipe, &out, NULL, &arena, &note);
        }
    }
    double events = rate(count, began);
    if (changed != count || stable != count) {
        fprintf(stderr, "%lld of %lld changed\n", (long long)changed, (long long)count);
        return 1;
    }

    int64_t reads = 0;
    began = cpu_time();
    for (; cpu_time() - began < time / 3; reads += PAYLOADS)
        for (int i = 0; i < PAYLOADS; i++)
            if (!json_check(strbuf_bytes(&payloads[i]), NULL))
                return 1;
    double checks = rate(reads, began);
    double size = (double)bytes / PAYLOADS;
    printf("payload_bytes=%.0f dry_run_events_per_s=%.0f dry_run_mb_per_s=%.0f check_mb_per_s=%.0f\n", size,
           events, events * size / 1e6, checks * size / 1e6);
    arena_release(&arena);
    recipe_destroy(recipe);
    for (int i = 0; i < PAYLOADS; i++)
        strbuf_release(&payloads[i]);
    return 0;
}
