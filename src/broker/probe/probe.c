#include "broker/probe/probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/uuid.h"
#include "broker/marker.h"
#include "broker/probe/private.h"
#include "broker/producer.h"
#include "broker/scan.h"

#define PATIENCE_MS 15000

// The trial: every step says what it saw; the first that fails ends it.
struct trial {
    struct broker *broker;
    const struct broker_settings *settings;
    struct probe *probe;
    char id[200]; // transactional id and marker group
    char token[UUID_SIZE];
    bool has_topic; // records can be tried as well
};

static void add_finding(struct probe *probe, bool is_ok, const char *remedy, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

static void
add_finding(struct probe *probe, bool is_ok, const char *remedy, const char *format, va_list args)
{
    if (probe->count == PROBE_FINDINGS)
        return;
    struct finding *finding = &probe->findings[probe->count++];
    *finding = (struct finding){.is_ok = is_ok};
    snprintf(finding->remedy, sizeof finding->remedy, "%s", remedy);
    vsnprintf(finding->sentence, sizeof finding->sentence, format, args);
}

void
probe_note(struct probe *probe, const char *remedy, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_finding(probe, true, remedy, format, args);
    va_end(args);
}

bool
probe_found(struct probe *probe, bool is_ok, const char *remedy, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_finding(probe, is_ok, is_ok ? "" : remedy, format, args);
    va_end(args);
    return is_ok;
}

#define UNFIT                                                                                                \
    "use brokers with transactions: Apache Kafka 2.5 or newer; until then redrive publishes at least once"

bool
probe_take_id(const struct broker_settings *settings, const char *id, struct producer **producer,
              struct err *err)
{
    const struct producer_settings how = {.txn_id = id, .records = 10};
    if (!producer_open(producer, settings, &how, err))
        return false;

    int64_t deadline = clock_mono() + PATIENCE_MS * 1000LL;
    for (bool is_done = false; !is_done;) {
        if (!producer_init(*producer, 20, &is_done, err))
            return false;
        if (!is_done && clock_mono() > deadline)
            return err_set(err, ERR_UNREACHABLE, "Kafka did not give a transactional id within %d s",
                           PATIENCE_MS / 1000);
    }
    return true;
}

static bool
take_handle(struct trial *trial, struct producer **producer, struct err *err)
{
    return probe_take_id(trial->settings, trial->id, producer, err);
}

static bool
mark(struct trial *trial, struct producer *producer, int64_t seq, struct err *err)
{
    return producer_mark(producer, MARKER_PARTITION, trial->id, seq, trial->token, err);
}

static bool
commit(struct producer *producer, struct err *err)
{
    bool is_done = false;
    for (int i = 0; !is_done && i < PATIENCE_MS / 500; i++)
        if (!producer_commit(producer, 500, &is_done, err))
            return false;
    return is_done ||
           err_set(err, ERR_UNREACHABLE, "Kafka did not end a transaction within %d s", PATIENCE_MS / 1000);
}

// Reads the marker as the coordinator of today knows it. A coordinator that was cut off answers with old
// data, and would make fit brokers fail: only an answer that shows a nonce written just now counts, or an
// unstable answer, which an old coordinator never gives. `waits`: until it is stable.
static bool
read_believable(struct trial *trial, bool waits, struct marker_reading *reading, struct err *err)
{
    int64_t deadline = clock_mono() + PATIENCE_MS * 1000LL;
    const int64_t nonce = clock_now() & INT32_MAX;
    if (!marker_write_nonce(trial->broker, trial->id, nonce, 5000, err))
        return false;
    for (;;) {
        if (!marker_read(trial->broker, trial->id, 5000, reading, err))
            return false;
        if (reading->is_stable ? reading->has_nonce && reading->nonce == nonce : !waits)
            return true;
        if (clock_mono() > deadline)
            return err_set(err, ERR_UNREACHABLE, "the marker %s for %d s",
                           reading->is_stable ? "was read from a coordinator of the past" : "stayed unstable",
                           PATIENCE_MS / 1000);
        clock_sleep(2000);
    }
}

// Sends one record of the trial, named `name`, within the open transaction.
static bool
send_record(struct trial *trial, struct producer *producer, const char *name, struct err *err)
{
    if (!trial->has_topic)
        return true;
    const struct event_header headers[] = {
        {.name = BYTES("redrive-chunk-id"), .value = bytes_of(name)},
        {.name = BYTES("redrive-event-id"), .value = BYTES("1")},
    };
    const struct producer_record record = {
        .topic = PROBE_TOPIC, .partition = 0, .value = BYTES("probe"), .headers = headers, .header_count = 2};
    const char *const topics[] = {PROBE_TOPIC};
    bool is_full = false;
    if (!producer_warm(producer, topics, 1, 5000, err))
        return false;
    int64_t sent_at = clock_now();
    if (!producer_send(producer, &record, 0, &is_full, err))
        return false;

    struct report report;
    size_t count = 0;
    for (int i = 0; !count && i < PATIENCE_MS / 500; i++)
        if (!producer_serve(producer, 500, &report, 1, &count, err))
            return false;
    if (!count || report.kind != REPORT_DELIVERED)
        return err_set(err, count ? ERR_DATA : ERR_UNREACHABLE,
                       "a record for " PROBE_TOPIC " was not taken: %s", count ? report.reason : "no answer");
    if (report.stamped_at != TIME_ABSENT)
        probe_note_clock(trial->probe, report.broker, report.stamped_at, sent_at, clock_now());
    return true;
}

static bool
count_records(struct trial *trial, const char *name, size_t *count, struct err *err)
{
    const char *const topics[] = {PROBE_TOPIC};
    struct scan scan = {.topics = topics, .topic_count = 1, .chunk_id = name, .since = clock_now()};
    if (!broker_scan(trial->broker, &scan, PATIENCE_MS, NULL, NULL, err))
        return false;
    *count = scan.found_count;
    scan_release(&scan);
    return true;
}

// An open transaction hides its marker; a new holder of the id ends it, and the old value stands.
static bool
try_fencing_abort(struct trial *trial, struct producer **holder, bool *is_fit, struct err *err)
{
    struct marker_reading reading;
    *is_fit = false;
    if (!take_handle(trial, holder, err) || !producer_begin(*holder, err) ||
        !send_record(trial, *holder, "aborted", err) || !mark(trial, *holder, 1, err) ||
        !read_believable(trial, false, &reading, err))
        return false;
    if (!probe_found(trial->probe, !reading.is_stable, UNFIT, "the marker of an open transaction is %s",
                     reading.is_stable ? "reported as if decided (require-stable is not honoured)"
                                       : "withheld until it ends"))
        return true;

    producer_destroy(*holder);
    *holder = NULL;
    if (!take_handle(trial, holder, err) || !read_believable(trial, true, &reading, err))
        return false;
    bool is_old = !reading.marker.is_present;
    *is_fit =
        probe_found(trial->probe, is_old, UNFIT, "a transaction whose owner died %s",
                    is_old ? "ends without a trace when the next owner comes" : "left its marker behind");
    return true;
}

// A holder that was superseded can never commit; what its successor commits is there.
static bool
try_fencing_commit(struct trial *trial, struct producer **holder, bool *is_fit, struct err *err)
{
    *is_fit = false;
    if (!producer_begin(*holder, err) || !mark(trial, *holder, 2, err))
        return false;

    struct producer *successor = NULL;
    struct err refusal = {0};
    bool is_good = take_handle(trial, &successor, err);
    bool has_committed = is_good && commit(*holder, &refusal);
    producer_destroy(*holder);
    *holder = successor;
    if (!is_good)
        return false;
    if (!probe_found(trial->probe, !has_committed && refusal.kind == ERR_CONFLICT, UNFIT,
                     "an owner that was superseded %s",
                     has_committed ? "can still commit (no fencing)" : "is refused"))
        return true;

    struct marker_reading reading;
    if (!producer_begin(*holder, err) || !send_record(trial, *holder, "committed", err) ||
        !mark(trial, *holder, 3, err) || !commit(*holder, err) ||
        !read_believable(trial, true, &reading, err))
        return false;
    bool is_there =
        reading.marker.is_present && reading.marker.seq == 3 && strcmp(reading.marker.id, trial->token) == 0;
    *is_fit = probe_found(trial->probe, is_there, UNFIT, "a committed marker %s",
                          is_there ? "is read back with its text" : "is not read back");
    return true;
}

static bool
try_visibility(struct trial *trial, bool *is_fit, struct err *err)
{
    size_t committed = 0, aborted = 0;
    if (!trial->has_topic) {
        probe_found(trial->probe, true, "",
                    "whether aborted records are hidden was not tried: there is no topic " PROBE_TOPIC);
        return true;
    }
    if (!count_records(trial, "committed", &committed, err) ||
        !count_records(trial, "aborted", &aborted, err))
        return false;
    if (committed == 0) {
        probe_found(trial->probe, true, "",
                    "whether aborted records are hidden was not tried: " PROBE_TOPIC
                    " cannot be read (ACL Read)");
        return true;
    }
    *is_fit = probe_found(trial->probe, aborted == 0, UNFIT,
                          "records of an aborted transaction are %s from read_committed consumers",
                          aborted ? "not hidden" : "hidden");
    return true;
}

static bool
run_trial(struct trial *trial, bool *is_fit, struct err *err)
{
    struct producer *holder = NULL;
    bool is_good = try_fencing_abort(trial, &holder, is_fit, err) &&
                   (!*is_fit || try_fencing_commit(trial, &holder, is_fit, err)) &&
                   (!*is_fit || try_visibility(trial, is_fit, err));
    producer_destroy(holder);
    return is_good;
}

// An answer that waiting does not change: a right that is missing, or a broker that cannot do it.
static bool
is_lasting(const struct err *err)
{
    return err->kind != ERR_UNREACHABLE && err->kind != ERR_CONFLICT;
}

static void
conclude(struct probe *probe, bool is_fit, const char *why)
{
    struct cluster *cluster = &probe->cluster;
    cluster->promise = is_fit ? PROMISE_EXACTLY_ONCE : PROMISE_AT_LEAST_ONCE;
    if (is_fit)
        snprintf(cluster->words, sizeof cluster->words, "exactly once");
    else if (broker_is_mock(cluster->name))
        snprintf(cluster->words, sizeof cluster->words, "demo broker: at least once");
    else
        snprintf(cluster->words, sizeof cluster->words, "at least once (%.150s)", why);
    snprintf(cluster->evidence, sizeof cluster->evidence, "%s",
             is_fit ? "marker withheld while open, aborted by fencing, superseded owner refused, committed "
                      "marker read back"
                    : why);
}

bool
probe_run(struct broker *broker, const struct broker_settings *settings, const char *install,
          struct probe *probe, struct err *err)
{
    *probe = (struct probe){0};
    struct trial trial = {.broker = broker, .settings = settings, .probe = probe};
    if (!broker_cluster_id(broker, PATIENCE_MS, probe->cluster.name, err))
        return false;
    uuid_make(trial.token);
    snprintf(trial.id, sizeof trial.id, "redrive.%.40s.%s.probe.%.8s", install, probe->cluster.name,
             trial.token);

    struct err failure = {0};
    bool is_fit = false;
    bool is_good = marker_topic_ensure(broker, 10000, &failure);
    if (is_good) {
        const struct topic_wish wish = {.name = PROBE_TOPIC, .partitions = 1, .is_stamped = true};
        trial.has_topic = topic_ensure(broker, &wish, 10000, NULL);
        is_good = run_trial(&trial, &is_fit, &failure);
    }
    if (!is_good && !is_lasting(&failure))
        return err_set(err, failure.kind, "%s", failure.text);
    size_t known = probe->count;
    if (!is_good && failure.kind == ERR_DENIED)
        probe_rights(broker, settings, trial.id, probe);
    if (!is_good && probe->count == known)
        probe_found(probe, false,
                    failure.kind == ERR_DENIED
                        ? "grant the rights named in README, then run redrive doctor again"
                        : UNFIT,
                    "%.290s", failure.text);
    is_fit = is_fit && is_good;

    conclude(probe, is_fit, is_fit ? "" : probe->findings[is_good ? probe->count - 1 : known].sentence);
    return true;
}
