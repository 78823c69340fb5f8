#include "watch/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"

static const char OTHER[] = "other";

// A row of the table of families at the end of this file: adds the samples of one table.
typedef void metrics_add_fn(struct exposition *e, const char *table, const struct watch_sums *sums);
struct family {
    struct metric metric;
    metrics_add_fn *add;
};

static double
seconds_of(int64_t instant)
{
    return (double)instant / (double)US_PER_SECOND;
}

static void
sample(struct exposition *e, const char *table, double value)
{
    exposition_sample(e, "", (const struct metric_label[]){{"table", table}}, 1, value);
}

static void
sample_of(struct exposition *e, const char *table, const char *label, const char *of, int64_t value)
{
    const struct metric_label labels[] = {{"table", table}, {label, of}};
    exposition_sample(e, "", labels, 2, (double)value);
}

// The sample of what a bounded list leaves out, "other", or of something of that name: together, since a
// label has one value.
static void
sample_of_others(struct exposition *e, const char *table, const char *label, int64_t rest, int64_t named)
{
    if (rest + named)
        sample_of(e, table, label, OTHER, rest + named);
}

static void
instant(struct exposition *e, const char *table, int64_t at)
{
    if (at != TIME_ABSENT)
        sample(e, table, seconds_of(at));
}

// --- the backlog ---

// From the rollup; before its first count is over, from the last count of all rows. False: neither is there.
static bool
knows_pending(const struct watch_sums *sums, int64_t *count)
{
    *count = sums->rollup.is_counted ? sums->pending.count : sums->statuses.pending;
    return sums->rollup.is_counted || sums->statuses.counted_at != TIME_ABSENT;
}

static void
add_statuses(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    int64_t pending;
    if (knows_pending(sums, &pending))
        sample_of(e, table, "status", "pending", pending);
    if (sums->statuses.counted_at == TIME_ABSENT)
        return;
    sample_of(e, table, "status", "resolved", sums->statuses.resolved);
    sample_of(e, table, "status", "discarded", sums->statuses.discarded);
    if (sums->statuses.other)
        sample_of(e, table, "status", "other", sums->statuses.other);
}

static void
add_counted_at(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    instant(e, table, sums->statuses.counted_at);
}

static void
add_pending(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    int64_t pending;
    if (knows_pending(sums, &pending))
        sample(e, table, (double)pending);
}

static void
add_oldest(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    if (sums->rollup.is_counted)
        instant(e, table, sums->pending.oldest_at);
}

static void
add_groups(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    const struct watch_pending *pending = &sums->pending;
    if (!sums->rollup.is_counted)
        return;
    for (size_t i = 0; i < pending->group_count; i++) {
        char key[20];
        snprintf(key, sizeof key, "%016" PRIx64, pending->groups[i].key);
        const struct metric_label labels[] = {{"table", table},
                                              {"group", key},
                                              {"category", category_name(pending->groups[i].category)},
                                              {"error_class", pending->groups[i].error_class}};
        exposition_sample(e, "", labels, 4, (double)pending->groups[i].pending);
    }
    if (pending->in_other_groups)
        sample_of(e, table, "group", "other", pending->in_other_groups);
}

static void
add_categories(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    if (!sums->rollup.is_counted)
        return;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        sample_of(e, table, "category", category_name((enum category)i), sums->pending.by_category[i]);
    if (sums->pending.in_other_categories)
        sample_of(e, table, "category", "other", sums->pending.in_other_categories);
}

static void
add_types(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    if (!sums->rollup.is_counted)
        return;
    int64_t named = 0;
    for (size_t i = 0; i < sums->pending.type_count; i++) {
        const struct watch_type *type = &sums->pending.types[i];
        if (strcmp(type->event_type, OTHER) == 0)
            named = type->pending;
        else
            sample_of(e, table, "event_type", type->event_type, type->pending);
    }
    sample_of_others(e, table, "event_type", sums->pending.in_other_types, named);
}

static void
add_arrived(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample(e, table, (double)sums->arrived);
}

static void
add_arrivals(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->arrival_count; i++) {
        const struct metric_label labels[] = {{"table", table},
                                              {"reason", sums->arrivals[i].error_class},
                                              {"task_type", sums->arrivals[i].event_type}};
        exposition_sample(e, "", labels, 3, (double)sums->arrivals[i].count);
    }
}

// Buckets are cumulative.
static void
add_histogram(struct exposition *e, const char *table, const struct watch_histogram *histogram)
{
    int64_t sum = 0;
    for (size_t i = 0; i < histogram->count; i++) {
        char bound[32] = "+Inf";
        if (i + 1 < histogram->count)
            snprintf(bound, sizeof bound, "%.1f", histogram->bounds[i]);
        sum += histogram->counts[i];
        const struct metric_label labels[] = {{"table", table}, {"le", bound}};
        exposition_sample(e, "_bucket", labels, 2, (double)sum);
    }
    const struct metric_label labels[] = {{"table", table}};
    exposition_sample(e, "_sum", labels, 1, histogram->sum);
    exposition_sample(e, "_count", labels, 1, (double)sum);
}

static void
add_resolution(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    add_histogram(e, table, &sums->resolution);
}

static void
add_retries(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    add_histogram(e, table, &sums->retries);
}

// --- topics ---

static void
add_behind_topics(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    int64_t named = 0;
    for (size_t i = 0; i < sums->letters_count; i++) {
        const struct watch_letters *letters = &sums->letters[i];
        if (strcmp(letters->topic, OTHER) == 0)
            named = letters->behind;
        else if (letters->is_known)
            sample_of(e, table, "topic", letters->topic, letters->behind);
    }
    sample_of_others(e, table, "topic", sums->in_other_letters, named);
}

static void
add_read_topics(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->letters_count; i++)
        sample_of(e, table, "topic", sums->letters[i].topic, sums->letters[i].is_read);
}

// Topics whose rate is not known have no sample.
static void
add_topic_messages(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->shares.count; i++)
        if (sums->shares.topics[i].covered > 0)
            sample_of(e, table, "topic", sums->shares.topics[i].topic, sums->shares.topics[i].written);
}

static void
add_topic_letters(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->shares.count; i++)
        if (sums->shares.topics[i].covered > 0)
            sample_of(e, table, "topic", sums->shares.topics[i].topic, sums->shares.topics[i].arrived);
}

static void
add_topic_ratios(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->shares.count; i++) {
        double percent = topic_share_percent(&sums->shares.topics[i]);
        const struct metric_label labels[] = {{"table", table}, {"topic", sums->shares.topics[i].topic}};
        if (percent >= 0)
            exposition_sample(e, "", labels, 2, percent / 100);
    }
}

// --- operations ---

static struct watch_operations
reprocesses(const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->operation_count; i++)
        if (bytes_equal_text(bytes_of(sums->operations[i].action), "reprocess"))
            return sums->operations[i];
    return (struct watch_operations){0};
}

static void
add_success(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample(e, table, (double)reprocesses(sums).done);
}

static void
add_failure(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample_of(e, table, "why", "refused", reprocesses(sums).refused);
    sample_of(e, table, "why", "returned", reprocesses(sums).returned);
}

static void
add_publish_errors(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    const struct watch_operations of = reprocesses(sums);
    sample_of(e, table, "error_type", "refused", of.refused - of.refused_by_check);
    sample_of(e, table, "error_type", "refused_by_check", of.refused_by_check);
}

static void
add_outcome(struct exposition *e, const char *table, const char *action, const char *outcome, int64_t count)
{
    const struct metric_label labels[] = {{"table", table}, {"action", action}, {"outcome", outcome}};
    exposition_sample(e, "", labels, 3, (double)count);
}

static void
add_outcomes(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->operation_count; i++) {
        const struct watch_operations *of = &sums->operations[i];
        add_outcome(e, table, of->action, "done", of->done);
        add_outcome(e, table, of->action, "refused", of->refused);
        add_outcome(e, table, of->action, "skipped", of->skipped);
        add_outcome(e, table, of->action, "returned", of->returned);
    }
}

static void
add_states(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    for (size_t i = 0; i < sums->state_count; i++)
        sample_of(e, table, "state", sums->states[i].state, sums->states[i].count);
}

static void
add_in_doubt(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample(e, table, (double)sums->in_doubt);
}

static void
add_workers(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample_of(e, table, "publishes", "yes", sums->publishing_workers);
    sample_of(e, table, "publishes", "no", sums->workers - sums->publishing_workers);
}

// --- how far the sums can be trusted ---

static void
add_as_of(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    instant(e, table, sums->as_of);
}

static void
add_kept(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample(e, table, sums->rollup.is_kept ? 1 : 0);
}

static void
add_behind(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    sample(e, table, (double)sums->rollup.behind);
}

static void
add_exact_at(struct exposition *e, const char *table, const struct watch_sums *sums)
{
    instant(e, table, sums->rollup.exact_at);
}

static const struct family families[] = {
    {{"dlq_events_total", METRIC_UNKNOWN, NULL,
      "Events in the table of dead letters by status. It rises and falls, in spite of its name: dlq_events "
      "is "
      "the same as a gauge."},
     add_statuses},
    {{"dlq_events", METRIC_GAUGE, NULL,
      "Events in the table of dead letters by status; closed ones as of "
      "dlq_events_counted_timestamp_seconds."},
     add_statuses},
    {{"dlq_events_counted_timestamp_seconds", METRIC_GAUGE, "seconds",
      "When closed events were counted last."},
     add_counted_at},
    {{"dlq_pending_messages", METRIC_GAUGE, NULL, "Pending events."}, add_pending},
    {{"dlq_oldest_pending_timestamp_seconds", METRIC_GAUGE, "seconds",
      "When the oldest pending event was created; absent without one."},
     add_oldest},
    {{"dlq_group_pending_events", METRIC_GAUGE, NULL,
      "Pending events of the 50 largest groups by error, and of all others together."},
     add_groups},
    {{"dlq_category_pending_events", METRIC_GAUGE, NULL,
      "Pending events by category, of the 500 largest groups, and of all others together."},
     add_categories},
    {{"dlq_event_type_pending_events", METRIC_GAUGE, NULL,
      "Pending events of the 50 most frequent event types, and of all others together."},
     add_types},
    {{"dlq_messages_total", METRIC_COUNTER, NULL, "Events that arrived, archived and deleted ones included."},
     add_arrived},
    {{"redrive_dlq_messages_total", METRIC_COUNTER, NULL,
      "Events that arrived since somebody watches, a minute or two later, by error class (reason) and event "
      "type "
      "(task_type)."},
     add_arrivals},
    {{"redrive_dlq_retry_count", METRIC_HISTOGRAM, NULL,
      "Retries of the events that arrived since somebody watches, a minute or two later."},
     add_retries},
    {{"dlq_resolution_time_seconds", METRIC_HISTOGRAM, "seconds",
      "From the creation of an event until it was resolved, counted once a minute at most."},
     add_resolution},
    {{"redrive_ingest_lag_messages", METRIC_GAUGE, NULL,
      "Dead letters that redrive ingest has still to take in, by topic of dead letters: of the 50 topics "
      "that are furthest behind, and of all others together. As Kafka told last."},
     add_behind_topics},
    {{"redrive_ingest_topic_read", METRIC_GAUGE, NULL,
      "1 where a redrive ingest is alive that reads the topic; without one, its lag is an old one."},
     add_read_topics},
    {{"redrive_topic_messages", METRIC_GAUGE, NULL,
      "Messages that were written to a topic within the last hour, as far as a worker asked Kafka; of the 49 "
      "topics with most dead letters, and of all others together."},
     add_topic_messages},
    {{"redrive_topic_dead_letters", METRIC_GAUGE, NULL, "Events that came from these messages."},
     add_topic_letters},
    {{"redrive_topic_dead_letter_ratio", METRIC_GAUGE, NULL,
      "The second of these by the first: the part of a topic's messages that became dead letters."},
     add_topic_ratios},
    {{"dlq_reprocess_success_total", METRIC_COUNTER, NULL, "Events that were republished."}, add_success},
    {{"dlq_reprocess_failure_total", METRIC_COUNTER, NULL,
      "Events whose reprocess was refused, and those that failed again afterwards."},
     add_failure},
    {{"redrive_dlq_publish_errors_total", METRIC_COUNTER, NULL,
      "Events that could not be republished, by kind."},
     add_publish_errors},
    {{"redrive_operation_events_total", METRIC_COUNTER, NULL,
      "Events of operations by outcome; returned ones are done ones that failed again."},
     add_outcomes},
    {{"redrive_operations", METRIC_GAUGE, NULL, "Operations by state."}, add_states},
    {{"redrive_in_doubt_events", METRIC_GAUGE, NULL,
      "Events of which no evidence shows whether they were published; an administrator decides."},
     add_in_doubt},
    {{"redrive_workers", METRIC_GAUGE, NULL, "Workers that gave a sign of life within 15 seconds."},
     add_workers},
    {{"redrive_sums_timestamp_seconds", METRIC_GAUGE, "seconds",
      "The database's clock when these sums were read."},
     add_as_of},
    {{"redrive_rollup_kept", METRIC_GAUGE, NULL,
      "1 where a process keeps the counts of pending events true."},
     add_kept},
    {{"redrive_rollup_behind_events", METRIC_GAUGE, NULL,
      "Pending events that were not counted at the last check."},
     add_behind},
    {{"redrive_rollup_exact_timestamp_seconds", METRIC_GAUGE, "seconds",
      "When the counts of pending events and the table agreed last."},
     add_exact_at},
};

// --- the watcher ---

static void
add_looks(struct exposition *e, const struct metrics_table *tables, size_t count)
{
    exposition_family(e, &(const struct metric){"redrive_up", METRIC_GAUGE, NULL,
                                                "1 where the last look into PostgreSQL succeeded."});
    for (size_t i = 0; i < count; i++)
        sample(e, tables[i].table, tables[i].is_up ? 1 : 0);
    exposition_family(e, &(const struct metric){"redrive_looks_total", METRIC_COUNTER, NULL,
                                                "Looks into PostgreSQL of this watcher."});
    for (size_t i = 0; i < count; i++)
        sample(e, tables[i].table, (double)tables[i].looks);
    exposition_family(e, &(const struct metric){"redrive_failed_looks_total", METRIC_COUNTER, NULL,
                                                "Those of them that failed."});
    for (size_t i = 0; i < count; i++)
        sample(e, tables[i].table, (double)tables[i].failed_looks);
    exposition_family(e, &(const struct metric){"redrive_look_duration_seconds", METRIC_GAUGE, "seconds",
                                                "How long the last look took."});
    for (size_t i = 0; i < count; i++)
        sample(e, tables[i].table, seconds_of(tables[i].took));
}

static void
add_process(struct exposition *e, const struct metrics_process *process)
{
    exposition_family(
        e, &(const struct metric){"redrive_build_info", METRIC_GAUGE, NULL, "The version of redrive; 1."});
    exposition_sample(e, "", (const struct metric_label[]){{"version", process->version}}, 1, 1);
    exposition_family(e, &(const struct metric){"process_start_time_seconds", METRIC_GAUGE, "seconds",
                                                "When the watcher was started."});
    exposition_sample(e, "", NULL, 0, seconds_of(process->started_at));
    exposition_family(e, &(const struct metric){"process_cpu_seconds_total", METRIC_COUNTER, "seconds",
                                                "Processor time of the watcher."});
    exposition_sample(e, "", NULL, 0, process->cpu_seconds);
    exposition_family(e, &(const struct metric){"process_resident_memory_bytes", METRIC_GAUGE, "bytes",
                                                "Memory of the watcher."});
    exposition_sample(e, "", NULL, 0, (double)process->memory);
}

void
metrics_write(enum exposition_form form, const struct metrics_process *process,
              const struct metrics_table *tables, size_t count, struct strbuf *out)
{
    struct exposition e = {.out = out, .form = form};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        exposition_family(&e, &families[f].metric);
        for (size_t i = 0; i < count; i++)
            if (tables[i].sums)
                families[f].add(&e, tables[i].table, tables[i].sums);
    }
    add_looks(&e, tables, count);
    add_process(&e, process);
    exposition_end(&e);
}
