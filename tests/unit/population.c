#include "tests/unit/population.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"

enum { DAY = 24 * 3600 };
static const int64_t START = 1763700000 * US_PER_SECOND;

static uint64_t
next(uint64_t *seed)
{
    uint64_t x = *seed += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t
below(uint64_t *seed, uint64_t limit)
{
    return next(seed) % limit;
}

static bool
chance(uint64_t *seed, double share)
{
    return (double)(next(seed) >> 11) / (double)(1ull << 53) < share;
}

static const struct {
    const char *name;
    enum apart_what what;
    const char *path;
} signals[SIGNALS] = {
    [SIGNAL_VALUE] = {"value", APART_PATH, "$.currency"},
    [SIGNAL_TYPE] = {"type", APART_PATH, "$.amount"},
    [SIGNAL_MISSING] = {"missing", APART_PATH, "$.shipping.zip"},
    [SIGNAL_NUMBER] = {"number", APART_PATH, "$.total"},
    [SIGNAL_HEADER] = {"header", APART_HEADER, "app-version"},
    [SIGNAL_PARTITION] = {"partition", APART_PARTITION, NULL},
    [SIGNAL_TIME] = {"time", APART_CREATED, NULL},
    [SIGNAL_WORD] = {"word", APART_WORD, NULL},
    [SIGNAL_ELEMENT] = {"element", APART_PATH, "$.lines[*].sku"},
    [SIGNAL_LENGTH] = {"length", APART_PATH, "$.note"},
    [SIGNAL_EVENT_TYPE] = {"event type", APART_TYPE, NULL},
    [SIGNAL_RETRIES] = {"retries", APART_RETRIES, NULL},
};

const char *
signal_name(enum signal signal)
{
    return signals[signal].name;
}

bool
signal_is_row(enum signal signal, const struct apart_row *row)
{
    struct apart_question about = {.what = signals[signal].what, .name = bytes_of(signals[signal].path)};
    if (row->question.what == about.what && bytes_equal(row->question.name, about.name))
        return true;
    struct strbuf subject = {0};
    apart_subject(&about, &subject);
    bool is_same = false;
    for (size_t i = 0; i < row->same_count && i < APART_SAME; i++)
        is_same |= strcmp(row->same[i], strbuf_text(&subject)) == 0;
    strbuf_release(&subject);
    return is_same;
}

bool
population_is_first(const struct population *population, const struct apart_row *row)
{
    return bytes_equal_text(row->question.name, "$.copy") || signal_is_row(population->planted[0], row);
}

bool
population_is_id(const struct apart_row *row)
{
    static const char *const ids[] = {"$.order_id",         "$.uuid",   "$.customer",
                                      "$.occurred_at",      "$.ts",     "$.invoice",
                                      "$.lines[*].line_no", "trace-id", "$.random"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (bytes_equal_text(row->question.name, ids[i]))
            return true;
    return row->question.what == APART_KEY;
}

struct population
population_make(uint64_t seed)
{
    struct population population = {.seed = seed};
    uint64_t chosen = seed;
    population.count = 1 + below(&chosen, PLANTED_MOST);
    for (size_t i = 0; i < population.count; i++) {
        bool is_new = false;
        while (!is_new) {
            population.planted[i] = (enum signal)below(&chosen, SIGNALS);
            is_new = true;
            for (size_t j = 0; j < i; j++)
                is_new &= population.planted[j] != population.planted[i];
        }
    }
    return population;
}

// How the sides of one population differ.
struct shares {
    double here[SIGNALS], there[SIGNALS]; // of events that have the mark of a signal
    double follows;                       // how often the decoy goes with the first signal
    int64_t zero_id;                      // ids begin behind it
    int noise;                            // members that tell nothing
};

static struct shares
shares_of(const struct population *population, uint64_t *seed)
{
    struct shares shares = {.follows = 0.5 + 0.01 * (double)below(seed, 35),
                            .zero_id = (int64_t)below(seed, 3) * 9990000,
                            .noise = (int)below(seed, 12)};
    for (int i = 0; i < SIGNALS; i++)
        shares.here[i] = shares.there[i] = 0.02 + 0.01 * (double)below(seed, 30);
    for (size_t i = 0; i < population->count && !population->is_even; i++) {
        shares.there[population->planted[i]] = 0.01 + 0.01 * (double)below(seed, 25);
        shares.here[population->planted[i]] =
            shares.there[population->planted[i]] + 0.4 + 0.01 * (double)below(seed, 33);
    }
    return shares;
}

// One event; its texts live until the next one is made.
struct maker {
    uint64_t seed;
    struct shares shares;
    const struct population *population;
    struct strbuf payload, message;
    char key[32], version[32], trace[40], type[32];
    struct event_header headers[4];
};

static void
add_lines(struct maker *maker, bool is_marked)
{
    uint64_t count = 1 + below(&maker->seed, 3);
    strbuf_add_text(&maker->payload, ", \"lines\": [");
    for (uint64_t i = 0; i < count; i++)
        strbuf_printf(
            &maker->payload, "%s{\"line_no\": %" PRIu64 ", \"sku\": \"%s%" PRIu64 "\", \"qty\": %" PRIu64 "}",
            i ? ", " : "", next(&maker->seed) % 1000000000, is_marked && i == 0 ? "BROKEN-" : "sku-",
            is_marked && i == 0 ? 1 : below(&maker->seed, 40), 1 + below(&maker->seed, 5));
    strbuf_add_char(&maker->payload, ']');
}

static void
add_note(struct maker *maker, bool is_marked)
{
    uint64_t length = is_marked ? 120 + below(&maker->seed, 60) : 5 + below(&maker->seed, 60);
    strbuf_add_text(&maker->payload, ", \"note\": \"");
    for (uint64_t i = 0; i < length; i++)
        strbuf_add_char(&maker->payload, (char)('a' + below(&maker->seed, 26)));
    strbuf_add_char(&maker->payload, '"');
}

static void
add_payload(struct maker *maker, const bool *marks, int64_t id, int64_t created, bool follows)
{
    static const char *const currencies[] = {"BRL", "USD", "EUR", "GBP", "CLP"};
    uint64_t *seed = &maker->seed;
    struct strbuf *out = &maker->payload;
    strbuf_reset(out);
    strbuf_printf(out,
                  "{\"order_id\": %" PRId64 ", \"uuid\": \"%016" PRIx64 "\", \"customer\": \"c-%" PRIu64 "\"",
                  id + 40000000, next(seed), below(seed, 100000));
    strbuf_printf(out, ", \"ts\": %" PRId64 ", \"occurred_at\": \"t%" PRId64 "\", \"constant\": \"v1\"",
                  created / 1000 - (int64_t)below(seed, 900), (int64_t)(created / US_PER_SECOND));
    strbuf_printf(out, ", \"random\": %" PRIu64 ", \"invoice\": \"INV-%" PRIu64 "\"", next(seed) >> 20,
                  next(seed) >> 30);
    strbuf_printf(out, ", \"currency\": \"%s\"", marks[SIGNAL_VALUE] ? "JPY" : currencies[below(seed, 5)]);
    strbuf_printf(out,
                  marks[SIGNAL_TYPE] ? ", \"amount\": \"%" PRIu64 ",00\"" : ", \"amount\": %" PRIu64 ".50",
                  below(seed, 90000));
    strbuf_printf(out, ", \"total\": %" PRIu64,
                  marks[SIGNAL_NUMBER] ? 12000 + below(seed, 80000) : 10 + below(seed, 9000));
    strbuf_printf(out, ", \"shipping\": {\"city\": \"city%" PRIu64 "\"", below(seed, 8));
    if (!marks[SIGNAL_MISSING])
        strbuf_printf(out, ", \"zip\": \"%05" PRIu64 "\"", below(seed, 99999));
    strbuf_printf(out, "}, \"region\": \"%s\"", follows ? "ap" : below(seed, 2) ? "eu" : "sa");
    for (int i = 0; i < maker->shares.noise; i++)
        strbuf_printf(out, ", \"n%d\": %" PRIu64, i, below(seed, (uint64_t)(2 + i * i)));
    strbuf_printf(out, ", \"copy\": %s", marks[maker->population->planted[0]] ? "true" : "false");
    add_lines(maker, marks[SIGNAL_ELEMENT]);
    add_note(maker, marks[SIGNAL_LENGTH]);
    strbuf_add_char(out, '}');
}

static void
make_event(struct maker *maker, bool is_here, int64_t id, struct event *event)
{
    uint64_t *seed = &maker->seed;
    bool marks[SIGNALS];
    for (int i = 0; i < SIGNALS; i++)
        marks[i] = chance(seed, is_here ? maker->shares.here[i] : maker->shares.there[i]);
    bool follows =
        chance(seed, maker->shares.follows) ? marks[maker->population->planted[0]] : below(seed, 3) == 0;
    int64_t created =
        START +
        (marks[SIGNAL_TIME] ? 20 * 3600 + (int64_t)below(seed, 3600) : (int64_t)below(seed, DAY)) *
            US_PER_SECOND +
        (int64_t)below(seed, US_PER_SECOND);
    add_payload(maker, marks, id, created, follows);
    strbuf_reset(&maker->message);
    strbuf_printf(&maker->message,
                  "SocketTimeoutException: connect to pay-%" PRIu64 ":443 timed out after %" PRIu64
                  " ms, request %016" PRIx64,
                  marks[SIGNAL_WORD] ? 77 : below(seed, 9), 3000 + below(seed, 50), next(seed));
    snprintf(maker->key, sizeof maker->key, "c-%" PRIu64, below(seed, 100000));
    snprintf(maker->version, sizeof maker->version, "4.%" PRIu64 ".1",
             marks[SIGNAL_HEADER] ? 17 : 10 + below(seed, 5));
    snprintf(maker->trace, sizeof maker->trace, "%016" PRIx64, next(seed));
    snprintf(maker->type, sizeof maker->type, "%s",
             marks[SIGNAL_EVENT_TYPE] ? "OrderRefunded"
             : below(seed, 2)         ? "OrderCreated"
                                      : "OrderUpdated");
    maker->headers[0] = (struct event_header){BYTES("app-version"), bytes_of(maker->version)};
    maker->headers[1] = (struct event_header){BYTES("trace-id"), bytes_of(maker->trace)};
    maker->headers[2] = (struct event_header){BYTES("content-type"), BYTES("application/json")};
    *event = (struct event){.id = id,
                            .event_type = bytes_of(maker->type),
                            .source_table = BYTES("orders"),
                            .topic = BYTES("orders.events"),
                            .created_at = created,
                            .retries.count = marks[SIGNAL_RETRIES] ? 3 : (int32_t)below(seed, 3),
                            .origin = {.partition = marks[SIGNAL_PARTITION] ? 11 : (int32_t)below(seed, 8),
                                       .has_partition = true},
                            .error_message = strbuf_bytes(&maker->message),
                            .payload = strbuf_bytes(&maker->payload),
                            .record = {.is_kept = true,
                                       .key = bytes_of(maker->key),
                                       .headers = maker->headers,
                                       .header_count = 3},
                            .group = is_here ? 1 : 2 + below(seed, 5)};
}

void
population_visit(const struct population *population, population_visit_fn *each, void *context)
{
    struct maker maker = {.seed = population->seed ^ 0x5DEECE66Du, .population = population};
    maker.shares = shares_of(population, &maker.seed);
    size_t here = 50 + below(&maker.seed, 250);
    size_t there = 200 + below(&maker.seed, 200);
    // In half of the populations what is here came last, and has the highest ids.
    bool is_late = below(&maker.seed, 2);
    for (size_t i = 0; i < here + there; i++) {
        bool is_here = is_late ? i >= there : below(&maker.seed, here + there) < here;
        struct event event;
        make_event(&maker, is_here, maker.shares.zero_id + (int64_t)i, &event);
        each(context, &event, is_here);
    }
    strbuf_release(&maker.payload);
    strbuf_release(&maker.message);
}

static void
learn(void *context, const struct event *event, bool is_here)
{
    apart_add(context, event, is_here);
}

struct apart *
population_apart(const struct population *population)
{
    struct apart *apart = apart_create(0, NULL);
    population_visit(population, learn, apart);
    return apart;
}
