#include "tests/demo/lib/failures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"

#define HOUR (3600 * US_PER_SECOND)
#define DAY (24 * HOUR)

enum when { STEADY, RISING, OUTAGE, NIGHTLY };

static const struct {
    unsigned weight;
    enum when when;
    const char *topic, *type, *table, *error, *stack, *payload;
    size_t placed; // so many of them; 0: chosen by weight
    enum demo_status status;
} kinds[] = {
#define FAILURE(weight, when, topic, type, table, error, stack, payload)                                     \
    {weight, when, topic, type, table, error, stack, payload, 0, DEMO_PENDING},
#define PLACED(count, status, topic, type, table, error, stack, payload)                                     \
    {0, STEADY, topic, type, table, error, stack, payload, count, status},
#include "tests/demo/lib/failures.def"
#undef FAILURE
#undef PLACED
};
#define KINDS (sizeof kinds / sizeof kinds[0])

const struct demo_topic demo_topics[] = {
    {.name = "orders.events", .partitions = 6},
    {.name = "orders.audit", .partitions = 3},
    {"payments.captured", 6, DEMO_SPRING, "payments.captured-dlt"},
    {"inventory.reservations", 3, DEMO_CONNECT, "warehouse-sink.dlq"},
    {"shipping.labels", 3, DEMO_HEADERS, "shipping.labels.dlq"},
    {.name = "customers.events", .partitions = 3},
    {.name = "customers.kyc", .partitions = 1},
    {.name = "catalog.products", .partitions = 3},
    {.name = "invoices.nfe", .partitions = 3},
    {.name = "loyalty.points", .partitions = 2},
    {"notifications.email", 4, DEMO_QUEUE, "notifications.email_dlq"},
};
const size_t demo_topic_count = sizeof demo_topics / sizeof demo_topics[0];

static const char *const first_names[] = {"Ana",  "João", "Marina", "Pedro",     "Lucía",   "Íñigo",
                                          "민준", "서연", "Grace",  "Oluwaseun", "Beatriz", "Guilherme",
                                          "Noor", "Zoë",  "Rafael", "Priya"};
static const char *const last_names[] = {"Souza",  "Gonçalves", "Kim",     "O'Connor", "Muñoz", "Duarte",
                                         "Okafor", "Nguyen",    "Schäfer", "Lima",     "이",    "Patel"};
static const char *const countries[] = {"BR", "BR", "BR", "PT", "ES", "KR", "US", "AR"};
static const char *const people[] = {"ana.souza", "j.kim", "m.oconnor", "p.duarte", "retry-job"};
#define PICK(random, list) (list)[random_below(random, sizeof(list) / sizeof(list)[0])]

// splitmix64: every seed is a good one.
uint64_t
random_next(struct random *random)
{
    uint64_t z = (random->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t
random_below(struct random *random, uint64_t n)
{
    return random_next(random) % n;
}

double
random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) / 9007199254740992.0;
}

size_t
failure_choose(struct random *random)
{
    static uint64_t total;
    if (!total)
        for (size_t i = 0; i < KINDS; i++)
            total += kinds[i].weight;
    uint64_t at = random_below(random, total);
    for (size_t i = 0;; i++) {
        if (at < kinds[i].weight)
            return i;
        at -= kinds[i].weight;
    }
}

bool
failure_goes_on(size_t kind)
{
    return kinds[kind].when == STEADY || kinds[kind].when == RISING;
}

bool
failure_placed(size_t index, size_t *kind, size_t *count, enum demo_status *status)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].placed && index-- == 0) {
            *kind = i;
            *count = kinds[i].placed;
            *status = kinds[i].status;
            return true;
        }
    return false;
}

int64_t
failure_age(struct random *random, size_t kind, int64_t now)
{
    double u = random_unit(random);
    switch (kinds[kind].when) {
    case RISING:
        // Two thirds within the hour, the more the later.
        return random_below(random, 3) ? (int64_t)(u * u * (double)HOUR) : (int64_t)(u * (double)DAY);
    case OUTAGE:
        return 7 * HOUR + (int64_t)(kind % 5) * 37 * 60 * US_PER_SECOND +
               (int64_t)(u * 25 * 60) * US_PER_SECOND;
    case NIGHTLY: {
        int64_t since_two = (now - 2 * HOUR) % DAY;
        return since_two + (int64_t)random_below(random, 5) * DAY - (int64_t)(u * 900) * US_PER_SECOND;
    }
    case STEADY:
        break;
    }
    return (int64_t)(u * sqrt(u) * 5 * (double)DAY);
}

// What stays the same within one event.
struct values {
    uint64_t order, customer, sku, quantity, cents;
    const char *first, *last, *country;
    char uuid[37];
    int64_t time;
    uint64_t lines, line; // how many lines an order has, and the first one that is wrong
};

static void
make_uuid(struct random *random, char out[37])
{
    uint64_t a = random_next(random), b = random_next(random);
    snprintf(out, 37, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
             (unsigned)a & 0xfff, ((unsigned)(b >> 48) & 0x3fff) | 0x8000, b & UINT64_C(0xffffffffffff));
}

static void
add_date(struct strbuf *out, int64_t wall, bool is_brazilian)
{
    time_t seconds = (time_t)(wall / US_PER_SECOND);
    struct tm tm;
    char text[40];
    gmtime_r(&seconds, &tm);
    size_t len = strftime(text, sizeof text, is_brazilian ? "%d/%m/%Y" : "%Y-%m-%dT%H:%M:%SZ", &tm);
    strbuf_add(out, (struct bytes){text, len});
}

static bool
is_word(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

static void
add_email(struct strbuf *out, const struct values *v)
{
    static const char *const hosts[] = {"example.com", "example.org", "mail.example.net"};
    strbuf_printf(out, "cliente%" PRIu64 "@%s", v->customer, hosts[v->customer % 3]);
}

// Lines of an order, spaced and written as no serialiser does it. Where they are broken, the amounts of the
// wrong ones are text with a decimal comma.
static void
add_lines(struct strbuf *out, const struct values *v, bool are_broken)
{
    for (uint64_t i = 0; i < v->lines; i++) {
        uint64_t cents = i == v->line ? v->cents : 100 + (v->cents * (i + 3)) % 90000;
        bool is_wrong = are_broken && (i == v->line || (i > v->line && (v->order >> i & 1)));
        strbuf_printf(out, "%s\n  { \"sku\":\"SKU-%05" PRIu64 "\" ,\"quantity\":%" PRIu64 ",\t\"amount\" : ",
                      i ? "," : "", (v->sku + i) % 60000, v->quantity);
        strbuf_printf(out, is_wrong ? "\"%" PRIu64 ",%02" PRIu64 "\"" : "%" PRIu64 ".%02" PRIu64 "e0",
                      cents / 100, cents % 100);
        strbuf_add_text(out, ", \"tax\":1.90E-1}");
    }
}

// The words of failures.def that stay the same within an event.
static bool
add_value(struct strbuf *out, const char *word, size_t len, const struct values *v)
{
    if (is_word(word, len, "order"))
        strbuf_printf(out, "%" PRIu64, v->order);
    else if (is_word(word, len, "customer"))
        strbuf_printf(out, "C-%06" PRIu64, v->customer);
    else if (is_word(word, len, "sku"))
        strbuf_printf(out, "SKU-%05" PRIu64, v->sku);
    else if (is_word(word, len, "qty"))
        strbuf_printf(out, "%" PRIu64, v->quantity);
    else if (is_word(word, len, "amount"))
        strbuf_printf(out, "%" PRIu64 ".%02" PRIu64, v->cents / 100, v->cents % 100);
    else if (is_word(word, len, "amount_br"))
        strbuf_printf(out, "%" PRIu64 ",%02" PRIu64, v->cents / 100, v->cents % 100);
    else if (is_word(word, len, "line"))
        strbuf_printf(out, "%" PRIu64, v->line);
    else if (is_word(word, len, "lines") || is_word(word, len, "broken_lines"))
        add_lines(out, v, *word == 'b');
    else if (is_word(word, len, "name"))
        strbuf_printf(out, "%s %s", v->first, v->last);
    else if (is_word(word, len, "email"))
        add_email(out, v);
    else if (is_word(word, len, "uuid"))
        strbuf_add_text(out, v->uuid);
    else if (is_word(word, len, "iso"))
        add_date(out, v->time, false);
    else if (is_word(word, len, "date_br"))
        add_date(out, v->time - (int64_t)(v->customer % 20000) * DAY, true);
    else if (is_word(word, len, "zip"))
        strbuf_printf(out, "%05" PRIu64 "-%03" PRIu64, v->customer % 100000, v->sku % 1000);
    else if (is_word(word, len, "country"))
        strbuf_add_text(out, v->country);
    else if (is_word(word, len, "phone"))
        strbuf_printf(out, "+55 11 9%04" PRIu64 "-%04" PRIu64, v->customer % 10000, v->order % 10000);
    else
        return false;
    return true;
}

// The words that are new each time: what a fingerprint has to see through.
static bool
add_volatile(struct strbuf *out, const char *word, size_t len, struct random *random)
{
    uint64_t r = random_next(random);
    if (is_word(word, len, "n"))
        strbuf_printf(out, "%" PRIu64, 10 + r % 980);
    else if (is_word(word, len, "ms"))
        strbuf_printf(out, "%" PRIu64, 5000 + r % 25000);
    else if (is_word(word, len, "ip"))
        strbuf_printf(out, "10.%u.%u.%u", (unsigned)(r % 4), (unsigned)(r >> 8) % 256,
                      (unsigned)(r >> 16) % 256);
    else if (is_word(word, len, "port"))
        strbuf_printf(out, "%u", 30000 + (unsigned)(r % 20000));
    else if (is_word(word, len, "hex8"))
        strbuf_printf(out, "%08x", (unsigned)r);
    else if (is_word(word, len, "hex16"))
        strbuf_printf(out, "%016" PRIx64, r);
    else if (is_word(word, len, "host"))
        strbuf_printf(out, "node-%02u", (unsigned)(r % 24));
    else
        return false;
    return true;
}

// Everything else in braces is JSON.
static void
expand(struct strbuf *out, const char *template, const struct values *values, struct random *random)
{
    strbuf_reset(out);
    while (*template) {
        size_t plain = strcspn(template, "{");
        strbuf_add(out, (struct bytes){template, plain});
        template += plain;
        if (!*template)
            break;
        size_t len = strspn(template + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (template[1 + len] == '}' &&
            (add_value(out, template + 1, len, values) || add_volatile(out, template + 1, len, random))) {
            template += len + 2;
        } else {
            strbuf_add_char(out, '{');
            template ++;
        }
    }
}

static int
partitions_of(const char *topic)
{
    for (size_t i = 0; i < demo_topic_count; i++)
        if (strcmp(demo_topics[i].name, topic) == 0)
            return demo_topics[i].partitions;
    return 1;
}

void
failure_make(struct failed_event *event, size_t kind, uint64_t seed, int64_t created)
{
    struct random random = {seed};
    random_next(&random);
    struct values v = {
        .order = 40000000 + random_below(&random, 9000000),
        .customer = random_below(&random, 400000),
        .sku = random_below(&random, 60000),
        .quantity = 1 + random_below(&random, 8),
        .cents = 990 + random_below(&random, 200000),
        .first = PICK(&random, first_names),
        .last = PICK(&random, last_names),
        .country = PICK(&random, countries),
        .time = created - (int64_t)random_below(&random, 900) * US_PER_SECOND,
    };
    v.lines = 1 + v.sku % 5;
    v.line = v.customer % v.lines;
    make_uuid(&random, v.uuid);
    make_uuid(&random, event->event_id);
    make_uuid(&random, event->correlation);
    event->topic = kinds[kind].topic;
    event->type = kinds[kind].type;
    event->table = kinds[kind].table;
    snprintf(event->source_id, sizeof event->source_id, "%" PRIu64, v.order);
    expand(&event->payload, kinds[kind].payload, &v, &random);
    expand(&event->error, kinds[kind].error, &v, &random);
    expand(&event->stack, kinds[kind].stack, &v, &random);
    event->retries = (int)random_below(&random, 4);
    event->created = created;
    event->status = kinds[kind].status;
    event->partition = (int)(v.order % (uint64_t)partitions_of(event->topic));
    event->offset = -1;
    event->resolved_by = PICK(&random, people);
    // Most are closed within hours, some after days.
    double u = random_unit(&random);
    event->resolved = created + (int64_t)((0.05 + 30 * u * u * u * u) * (double)HOUR);
}

void
failed_event_release(struct failed_event *event)
{
    strbuf_release(&event->payload);
    strbuf_release(&event->error);
    strbuf_release(&event->stack);
}
