// seed -d CONNINFO [-n ROWS] [-s SEED] [-w]: makes the table of dead letters and fills it: ROWS pending
// events of the last days, oldest first as they would have come in, and a quarter more that people have
// closed already. -w: as bad as real ones: payloads up to 20 kB, stacks of hundreds of frames, messages of 30
// KB, the same event twice. The same seed gives the same rows on every machine.
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/demo/lib/failures.h"
#include "tests/lib/contract.h"

struct row {
    int64_t created;
    uint64_t seed;
    uint16_t kind;
    uint8_t status;
};

static int
by_time(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->created != right->created)
        return left->created < right->created ? -1 : 1;
    return left->seed < right->seed ? -1 : left->seed > right->seed;
}

static void
plan_rows(struct row *rows, size_t pending, size_t closed, uint64_t seed, int64_t now)
{
    struct random random = {seed};
    for (size_t i = 0; i < pending + closed; i++) {
        rows[i].kind = (uint16_t)failure_choose(&random);
        rows[i].seed = random_next(&random);
        int64_t age = failure_age(&random, rows[i].kind, now);
        if (i >= pending) {
            // Closed ones lie further back, so that a history of weeks is there to be looked at.
            age = age * 6 + 2 * 3600 * US_PER_SECOND;
            rows[i].status = random_below(&random, 4) ? DEMO_RESOLVED : DEMO_DISCARDED;
        }
        rows[i].created = now - age;
    }
    qsort(rows, pending + closed, sizeof *rows, by_time);
}

static void
pad_payload(struct strbuf *payload, size_t size, struct random *random)
{
    if (payload->len < 2 || payload->data[payload->len - 1] != '}')
        return;
    strbuf_splice(payload, payload->len - 1, 1, BYTES(",\"lines\":["));
    for (int i = 0; payload->len < size; i++)
        strbuf_printf(
            payload, "%s{\"sku\":\"SKU-%05" PRIu64 "\",\"quantity\":%" PRIu64 ",\"note\":\"%016" PRIx64 "\"}",
            i ? "," : "", random_below(random, 100000), 1 + random_below(random, 9), random_next(random));
    strbuf_add_text(payload, "]}");
}

// What makes real tables slow, in the shares in which it is met.
static void
worsen(struct failed_event *event, const char *earlier_id, uint64_t seed)
{
    struct random random = {seed ^ UINT64_C(0x5DEECE66D)};
    uint64_t dice = random_below(&random, 10000);
    size_t size = dice < 100    ? 2000 + random_below(&random, 18000)
                  : dice < 3000 ? 400 + random_below(&random, 1600)
                                : 0;
    if (size)
        pad_payload(&event->payload, size, &random);
    if (random_below(&random, 1000) == 0)
        for (int i = 0; i < 300; i++)
            strbuf_printf(&event->stack, "\n\tat com.acme.generated.Layer%d.call(Layer%d.java:%d)", i, i,
                          10 + i);
    if (random_below(&random, 20000) == 0)
        while (event->error.len < 30000)
            strbuf_printf(&event->error, " [retry %" PRIu64 " of %s]", random_below(&random, 100),
                          event->event_id);
    if (*earlier_id && random_below(&random, 200) == 0)
        snprintf(event->event_id, sizeof event->event_id, "%s", earlier_id);
}

static void
copy_rows(PGconn *conn, const struct row *rows, size_t count, bool is_worse, int64_t now)
{
    char earlier_id[51] = "";
    struct failed_event event = {0};
    int64_t offsets[64] = {0};
    rows_begin(conn);
    for (size_t i = 0; i < count; i++) {
        failure_make(&event, rows[i].kind, rows[i].seed, rows[i].created);
        event.status = (enum demo_status)rows[i].status;
        if (event.resolved > now)
            event.resolved = now;
        // Dead letters are the exception: offsets go on in leaps.
        size_t line = (size_t)(event.topic[0] * 7 + event.topic[3] * 3 + event.partition) % 64;
        offsets[line] += 1 + (int64_t)(rows[i].seed % 900);
        event.offset = 1200000 + offsets[line];
        if (is_worse)
            worsen(&event, earlier_id, rows[i].seed);
        memcpy(earlier_id, event.event_id, sizeof earlier_id);
        rows_add(conn, &event);
    }
    rows_end(conn);
    failed_event_release(&event);
}

int
main(int argc, char **argv)
{
    const char *conninfo = "";
    size_t pending = 20000;
    uint64_t seed = 1;
    bool is_worse = false;
    int option;
    while ((option = getopt(argc, argv, "d:n:s:w")) != -1) {
        switch (option) {
        case 'd':
            conninfo = optarg;
            break;
        case 'n':
            pending = strtoull(optarg, NULL, 10);
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        case 'w':
            is_worse = true;
            break;
        default:
            fprintf(stderr, "usage: seed -d CONNINFO [-n ROWS] [-s SEED] [-w]\n");
            return 2;
        }
    }
    PGconn *conn = demo_connect(conninfo);
    int64_t now = demo_now(conn);
    size_t closed = pending / 4;
    struct row *rows = alloc_array(pending + closed + 1, sizeof *rows);
    plan_rows(rows, pending, closed, seed, now);

    // Indexes come last: four times as quick at a million rows.
    PQclear(demo_run(conn, "BEGIN"));
    PQclear(demo_run(conn, CONTRACT_TABLE));
    copy_rows(conn, rows, pending + closed, is_worse, now);
    PQclear(demo_run(conn, CONTRACT_INDEXES));
    PQclear(demo_run(conn, "COMMIT"));
    PQclear(demo_run(conn, "VACUUM ANALYZE public.dlq_events"));
    PQfinish(conn);
    free(rows);
    return 0;
}
