// doctor: what is wrong, and what to do about it: this host, PostgreSQL, the team's own checks, Kafka.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "broker/probe/probe.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "commands/readers.h"
#include "core/event.h"
#include "process/check.h"
#include "process/check_probe.h"
#include "publish/adopt.h"
#include "store/checkup.h"
#include "store/operations/ledger.h"

struct doctor_run {
    struct call *call;
    const char *part; // "host", "postgresql", "checks", "kafka"
    int status;       // the gravest so far
    int wrong;
    struct err *err;
};

// Unreachable is graver than denied, and denied than anything else that is wrong.
static void
note_status(struct doctor_run *examination, int status)
{
    static const int gravest_first[] = {STATUS_UNREACHABLE, STATUS_DENIED, STATUS_PART};
    examination->wrong++;
    for (size_t i = 0; i < 3; i++)
        if (gravest_first[i] == status || gravest_first[i] == examination->status) {
            examination->status = gravest_first[i];
            return;
        }
}

static void
finding(struct doctor_run *examination, const char *verdict, const char *sentence, const char *remedy)
{
    struct strbuf out = {0};
    if (examination->call->options.general.json) {
        struct value *object = value_object();
        value_add_text(object, "part", examination->part);
        value_add_text(object, "verdict", verdict);
        value_add_text(object, "finding", sentence);
        value_add_text(object, "remedy", remedy[0] == '\0' ? NULL : remedy);
        if (!json_print(object, examination->err))
            note_status(examination, STATUS_PART);
        return;
    }
    strbuf_printf(&out, "%-6s %-11s", verdict, examination->part);
    text_visible(&out, bytes_of(sentence), false);
    strbuf_add_char(&out, '\n');
    if (remedy[0] != '\0') {
        strbuf_add_text(&out, "                  -> ");
        text_visible(&out, bytes_of(remedy), false);
        strbuf_add_char(&out, '\n');
    }
    if (!output_bytes(strbuf_bytes(&out), examination->err))
        note_status(examination, STATUS_PART);
    strbuf_release(&out);
}

static void
command_doctor_wrong(struct doctor_run *examination, int status, const char *sentence, const char *remedy)
{
    note_status(examination, status);
    finding(examination, "WRONG", sentence, remedy);
}

static void
failed(struct doctor_run *examination, const struct err *err)
{
    command_doctor_wrong(examination,
                         err->kind == ERR_UNREACHABLE ? STATUS_UNREACHABLE
                         : err->kind == ERR_DENIED    ? STATUS_DENIED
                                                      : STATUS_PART,
                         err->text, "");
}

// --- this host ---

static void
examine_host(struct doctor_run *examination)
{
    struct settings *settings = &examination->call->settings;
    struct err err = {0};
    examination->part = "host";
    for (size_t i = 0; i < settings->file_count; i++)
        finding(examination, "ok", settings->files[i], "");
    if (settings->file_count == 0)
        finding(examination, "ok", "no configuration file; built-in values apply", "");
    if (getenv("PGPASSWORD") != NULL)
        finding(examination, "note", "PGPASSWORD is set, and every process of this user can read it",
                "use ~/.pgpass, mode 0600");
    if (settings_make_state_home(settings, &err))
        finding(examination, "ok", settings->state_home, "");
    else
        failed(examination, &err);
}

// --- PostgreSQL ---

static void
found_in_store(void *context, enum checkup_verdict verdict, const char *sentence, const char *remedy)
{
    struct doctor_run *examination = context;
    switch (verdict) {
    case CHECKUP_OK:
        finding(examination, "ok", sentence, remedy);
        return;
    case CHECKUP_NOTE:
        finding(examination, "note", sentence, remedy);
        return;
    case CHECKUP_WRONG:
        command_doctor_wrong(examination, STATUS_PART, sentence, remedy);
        return;
    case CHECKUP_DENIED:
        command_doctor_wrong(examination, STATUS_DENIED, sentence, remedy);
        return;
    }
}

static void
examine_store(struct doctor_run *examination, struct store **store)
{
    struct err err = {0};
    examination->part = "postgresql";
    if (!command_store(examination->call, STORE_BARE, store, &err) ||
        !store_checkup(*store, found_in_store, examination, &err))
        failed(examination, &err);
}

// --- the team's own checks ---

enum { MOST_NAMES = 1000 };

struct check_names {
    struct doctor_run *examination;
    bool are_known; // types and topics; else there is no database to ask
    const char **types, **topics;
    size_t type_count, topic_count;
};

static bool
has_events(const struct check_names *names, const struct check_finding *row)
{
    const char **list = row->is_topic ? names->topics : names->types;
    size_t count = row->is_topic ? names->topic_count : names->type_count;
    for (size_t i = 0; i < count; i++) {
        struct bytes name = bytes_of(list[i]);
        if (check_finding_matches(row, row->is_topic ? topic_original(name) : name))
            return true;
    }
    return false;
}

static void
found_in_checks(void *context, const struct check_finding *row)
{
    const struct check_names *names = context;
    struct doctor_run *examination = names->examination;
    struct strbuf sentence = {0};
    strbuf_printf(&sentence,
                  "%s: checks, row %zu (%s): ", examination->call->settings.origins[SETTING_ID_checks].where,
                  row->no, row->text);
    if (row->fault) {
        strbuf_add_text(&sentence, row->fault);
        command_doctor_wrong(examination, STATUS_PART, strbuf_text(&sentence),
                             "correct the command; until then no event that it checks passes");
    } else if (names->are_known && !has_events(names, row)) {
        strbuf_printf(&sentence, "no %s of the newest events matches %s", row->is_topic ? "topic" : "type",
                      row->pattern);
        finding(examination, "note", strbuf_text(&sentence), "look at the names: redrive stats");
    } else {
        strbuf_add_text(&sentence, "starts and ends as it should; nothing was asked");
        finding(examination, "ok", strbuf_text(&sentence), "");
    }
    strbuf_release(&sentence);
}

// Each check is started once, and nothing is asked.
static void
examine_checks(struct doctor_run *examination, struct store *store)
{
    const struct process_settings *process = &examination->call->settings.process;
    struct check_names names = {.examination = examination};
    struct arena arena = {0};
    struct err err = {0};
    examination->part = "checks";
    if (!process->checks || !process->checks[0])
        return;
    names.are_known =
        store && store_checkup_types(store, MOST_NAMES, &arena, &names.types, &names.type_count, &err) &&
        store_checkup_topics(store, MOST_NAMES, &arena, &names.topics, &names.topic_count, &err);
    err_clear(&err); // reported in the part about PostgreSQL
    if (!check_probe(process->checks, CHECK_START, process->check_memory, found_in_checks, &names, &err))
        failed(examination, &err);
    arena_release(&arena);
}

// --- Kafka ---

// So that screens and workers say what this cluster can promise, without trying it again.
static void
keep_verdict(struct doctor_run *examination, struct store *store, const struct cluster *cluster)
{
    struct err err = {0};
    if (store == NULL || store_info(store)->schema_version == 0 ||
        examination->call->settings.connection.read_only)
        return;
    if (!cluster_put(store, cluster, &err))
        finding(examination, "note", err.text, "");
}

enum { MOST_TOPICS = 20 };

static void
tell_findings(struct doctor_run *examination, const struct probe *probe)
{
    for (size_t i = 0; i < probe->count; i++) {
        const struct finding *row = &probe->findings[i];
        if (row->is_ok)
            finding(examination, row->remedy[0] == '\0' ? "ok" : "note", row->sentence, row->remedy);
        else
            command_doctor_wrong(examination, STATUS_PART, row->sentence, row->remedy);
    }
}

// A record that is sent again reaches every group that reads its topic.
static void
tell_readers(struct doctor_run *examination, struct broker *broker, struct store *store)
{
    struct arena arena = {0};
    const char **topics = NULL;
    struct topic_consumers *found;
    size_t count = 0;
    struct err ignored = {0};
    if (store && store_checkup_topics(store, MOST_TOPICS, &arena, &topics, &count, &ignored) && count > 0 &&
        readers_find(examination->call, store, broker, topics, count, &arena, &found))
        for (size_t i = 0; i < count; i++) {
            const char *sentence = consumers_sentence(&found[i], true, clock_now(), &arena);
            if (sentence)
                finding(examination, found[i].count ? "ok" : "note", sentence, "");
        }
    arena_release(&arena);
}

// The age of the oldest pending event in µs; 0: there is none, or it cannot be asked.
static int64_t
oldest_pending(struct store *store)
{
    int64_t age = 0;
    struct err ignored = {0}; // reported in the part about PostgreSQL
    return store && store_checkup_oldest(store, &age, &ignored) ? age : 0;
}

// The guarantee that this Kafka allows, by the probe; then rights and settings, which are looked at in any
// case.
static bool
look_at_cluster(struct broker *broker, const struct broker_settings *settings, struct store *store,
                struct probe *probe, struct err *err)
{
    const char *install =
        store != NULL && store_info(store)->install[0] != '\0' ? store_info(store)->install : "doctor";
    struct arena arena = {0};
    const char **topics = NULL;
    size_t count = 0;
    struct err ignored = {0}; // reported in the part about PostgreSQL
    if (store != NULL && !store_checkup_topics(store, MOST_TOPICS, &arena, &topics, &count, &ignored))
        count = 0;
    bool ok = probe_run(broker, settings, install, probe, err);
    if (ok && probe->cluster.promise == PROMISE_EXACTLY_ONCE)
        ok = probe_targets(broker, settings, install, topics, count, probe, err);
    if (ok)
        probe_cluster_settings(broker, settings, topics, count, probe);
    if (ok)
        probe_queues(broker, settings, oldest_pending(store), probe);
    arena_release(&arena);
    return ok;
}

// How far PostgreSQL's clock is ahead of this host's; TIME_ABSENT: it cannot be asked.
static int64_t
store_ahead(struct store *store)
{
    int64_t theirs;
    int64_t before = clock_now();
    struct err ignored = {0}; // reported in its own part
    if (store == NULL || !store_now(store, &theirs, &ignored))
        return TIME_ABSENT;
    return theirs - (before + (clock_now() - before) / 2);
}

// Before a worker finds out: does the database hold what Kafka holds?
static void
examine_history(struct doctor_run *examination, struct broker *broker, const struct cluster *cluster,
                struct store *store)
{
    char words[300];
    bool is_same = false;
    struct err ignored = {0}; // a missing right is reported in the part about PostgreSQL
    if (cluster->promise != PROMISE_EXACTLY_ONCE || !store || !store_info(store)->schema_version ||
        !history_compare(store, broker, cluster->name, &is_same, words, &ignored))
        return;
    if (is_same)
        finding(examination, "ok", words, "");
    else
        command_doctor_wrong(examination, STATUS_PART, words,
                             "this database is a copy, or older than what Kafka holds; nothing is published "
                             "from it: redrive migrate --adopt --dry-run, or --as-copy --dry-run");
}

static void
examine_cluster(struct doctor_run *examination, struct broker *broker, const struct broker_settings *settings,
                struct store *store)
{
    struct probe *probe = calloc(1, sizeof *probe);
    struct err err = {0};
    if (probe == NULL)
        return;
    bool ok = look_at_cluster(broker, settings, store, probe, &err);
    if (ok)
        probe_clocks(settings, store_ahead(store), probe);
    tell_findings(examination, probe);
    if (ok) {
        char sentence[300];
        snprintf(sentence, sizeof sentence, "cluster %s: %s", probe->cluster.name, probe->cluster.words);
        finding(examination, probe->cluster.promise == PROMISE_EXACTLY_ONCE ? "ok" : "note", sentence, "");
        keep_verdict(examination, store, &probe->cluster);
        tell_readers(examination, broker, store);
        examine_history(examination, broker, &probe->cluster, store);
    } else {
        failed(examination, &err);
    }
    free(probe);
}

static void
examine_kafka(struct doctor_run *examination, struct store *store)
{
    struct broker_settings settings;
    struct broker *broker = NULL;
    struct err err = {0};
    examination->part = "kafka";
    if (!publishing_broker_ready(examination->call, &settings, &err)) {
        failed(examination, &err);
        return;
    }
    if (!broker_settings_present(&settings)) {
        finding(examination, "note",
                "no brokers are configured: operations that send are left to other workers",
                "give -b HOST:PORT, or set brokers in the configuration");
        return;
    }
    const char *weakness = broker_settings_weakness(&settings);
    if (weakness != NULL)
        finding(examination, "note", weakness, "");
    if (broker_open(&broker, &settings, &err))
        examine_cluster(examination, broker, &settings, store);
    else
        failed(examination, &err);
    broker_close(broker);
}

int
command_doctor(struct call *call, struct err *err)
{
    struct doctor_run examination = {.call = call, .err = err};
    struct store *store = NULL;
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    examine_host(&examination);
    examine_store(&examination, &store);
    examine_checks(&examination, store);
    examine_kafka(&examination, store);
    store_close(store);
    if (examination.wrong == 0)
        remark(call, "no problems found");
    else
        remark(call, "%d problem%s found", examination.wrong, examination.wrong == 1 ? "" : "s");
    return err_is_set(err) ? command_status(err) : examination.status;
}
