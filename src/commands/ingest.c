// ingest: takes in dead letters from topics, as a service or once; or explains some (letter_explain.h), or
// decodes those of a topic again (decode_again.h).
#include <inttypes.h>
#include <string.h>
#include "base/log.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/cli/ready.h"
#include "commands/decode_again.h"
#include "commands/letter_explain.h"
#include "commands/publishing.h"
#include "commands/schema_place.h"
#include "core/filter/pattern.h"
#include "core/recipe/parts.h"
#include "ingest/ingester.h"

// What the settings name, taken apart at the commas.
static bool
read_topics(struct call *call, struct ingest_settings *ingest, struct err *err)
{
    struct arena *arena = &call->settings.arena;
    struct bytes rest = bytes_of(call->settings.ingest.ingest_topics);
    const char **topics = arena_array(arena, rest.len + 1, sizeof *topics);
    while (bytes_present(rest)) {
        size_t comma = bytes_find(rest, BYTES(","), 0);
        struct bytes name = bytes_trim(comma == SIZE_MAX ? rest : bytes_slice(rest, 0, comma));
        rest = comma == SIZE_MAX ? BYTES_ABSENT : bytes_slice(rest, comma + 1, SIZE_MAX);
        if (name.len == 0)
            continue;
        if (!parts_topic_is_legal(name))
            return err_set(err, ERR_USAGE,
                           "%.*s is no name of a topic: letters, digits, . _ and -, at most 249",
                           BYTES_ARGS(name));
        topics[ingest->topic_count++] = arena_text(arena, name);
    }
    ingest->topics = topics;
    return true;
}

// Kafka's own topics, and what redrive keeps in Kafka, hold no dead letters.
static bool
is_wanted(void *pattern, const char *name)
{
    return strncmp(name, "__", 2) != 0 && strncmp(name, "redrive.", 8) != 0 &&
           pattern_is_in(pattern, bytes_of(name)) == PATTERN_YES;
}

static bool
read_pattern(struct call *call, struct pattern **pattern, struct ingest_settings *ingest, struct err *err)
{
    const char *text = call->settings.ingest.ingest_pattern;
    if (!text || !text[0])
        return true;
    text = arena_printf(&call->settings.arena, "^(?:%s)$", text);
    if (!pattern_compile(pattern, bytes_of(text), err))
        return false;
    ingest->wanted = is_wanted;
    ingest->wanted_context = *pattern;
    return true;
}

static bool
print_dry(const struct call *call, const struct ingest_report *report, struct err *err)
{
    static const struct output_column columns[] = {
        {.title = "topic"}, {.title = "format"}, {.title = "dead letters", .align = ALIGN_RIGHT}};
    struct output_table table;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < report->count_count; i++) {
        table_add_text(&table, report->counts[i].topic);
        table_add_text(&table, report->counts[i].format);
        table_add_count(&table, report->counts[i].letters);
    }
    return table_end(&table, err);
}

static bool
print_json(const struct ingest_report *report, bool is_dry, struct err *err)
{
    struct strbuf line = {0};
    strbuf_printf(&line,
                  "{\"events\":%" PRId64 ",\"attempts\":%" PRId64 ",\"unfit\":%" PRId64 ",\"alarms\":%" PRId64
                  ",\"originals\":{\"fetched\":%" PRId64 ",\"gone\":%" PRId64 ",\"waiting\":%" PRId64
                  "},\"topics\":%" PRId32 ",\"partitions\":%" PRId32 ",\"left\":%" PRId32 ",\"is_dry\":%s",
                  report->events, report->attempts, report->unfit, report->alarms, report->originals.fetched,
                  report->originals.gone, report->originals.waiting, report->topics, report->partitions,
                  report->left > 0 ? report->left : 0, is_dry ? "true" : "false");
    for (size_t i = 0; i < report->count_count; i++)
        strbuf_printf(&line, "%s{\"topic\":\"%s\",\"format\":\"%s\",\"letters\":%" PRId64 "}%s",
                      i == 0 ? ",\"formats\":[" : ",", report->counts[i].topic, report->counts[i].format,
                      report->counts[i].letters, i + 1 == report->count_count ? "]" : "");
    strbuf_add_text(&line, "}\n");
    bool ok = output_bytes(strbuf_bytes(&line), err);
    strbuf_release(&line);
    return ok;
}

static void
tell_originals(const struct call *call, const struct pointers_report *originals)
{
    char fetched[TEXT_SHORT], gone[TEXT_SHORT], waiting[TEXT_SHORT];
    if (originals->fetched + originals->gone + originals->waiting > 0)
        remark(call, "originals that dead letters point at: fetched %s, gone %s, not fetched yet %s",
               text_count(originals->fetched, fetched), text_count(originals->gone, gone),
               text_count(originals->waiting, waiting));
}

static bool
tell_end(const struct call *call, const struct ingest_settings *ingest, const struct ingest_report *report,
         struct err *err)
{
    char events[TEXT_SHORT], attempts[TEXT_SHORT];
    bool is_dry = ingest->mode == INGEST_DRY;
    if (call->options.general.json)
        return print_json(report, is_dry, err);
    if (is_dry && !print_dry(call, report, err))
        return false;
    remark(call,
           "%s %s dead letters as events, and %s further attempts, from %" PRId32 " partitions of %" PRId32
           " topics",
           is_dry ? "there are" : "took in", text_count(report->events, events),
           text_count(report->attempts, attempts), report->partitions, report->topics);
    if (report->unfit > 0)
        remark(call,
               "the table of dead letters refuses %" PRId64
               ": they are kept in redrive.unfit, and redrive doctor says why",
               report->unfit);
    if (report->alarms > 0)
        remark(call, "%" PRId64 " times dead letters may be missing: the table redrive.alarm says which",
               report->alarms);
    tell_originals(call, &report->originals);
    if (report->left > 0)
        remark(call, "%" PRId32 " partitions are read by another ingester", report->left);
    return true;
}

static int
take_in(struct call *call, struct ingest_settings *ingest, struct err *err)
{
    struct ingest_report report = {0};
    struct arena arena = {0};
    struct store *store = NULL;
    // The ingester connects by itself; here only what a person must hear at once.
    if (!command_store(call, ingest->mode == INGEST_DRY ? STORE_SCHEMA : STORE_WRITE, &store, err))
        return command_status(err);
    store_close(store);
    if (!publishing_broker_ready(call, &ingest->broker, err))
        return command_status(err);
    if (!broker_settings_present(&ingest->broker)) {
        err_set(err, ERR_USAGE,
                "no Kafka brokers are given: use -b HOST:PORT, or brokers in the configuration");
        return STATUS_USAGE;
    }
    struct schema_place *place = NULL;
    if (!schema_place_open(call, ingest->rules, &place, &ingest->schemas, err))
        return command_status(err);
    ingest->store = publishing_store(call);
    ingest->stop = interrupt_flag();
    interrupt_catch();
    if (ingest->mode == INGEST_SERVICE)
        ready_tell();
    bool ok = ingester_run(ingest, &arena, &report, err);
    if (ingest->mode == INGEST_SERVICE)
        ready_tell_stopping();
    schema_place_close(place);
    bool is_cut = ingest->mode != INGEST_SERVICE && interrupt_is_set();
    if (ok && ingest->mode != INGEST_SERVICE)
        ok = tell_end(call, ingest, &report, err);
    arena_release(&arena);
    if (!ok)
        return command_status(err);
    return is_cut                                                     ? STATUS_INTERRUPTED
           : report.alarms > 0 || report.left > 0 || report.unfit > 0 ? STATUS_PART
                                                                      : STATUS_DONE;
}

static int
ingest_topics(struct call *call, struct err *err)
{
    struct pattern *pattern = NULL;
    struct ingest_settings ingest = {.group = call->settings.ingest.ingest_group,
                                     .mode = call->options.change.dry_run ? INGEST_DRY
                                             : call->options.command.once ? INGEST_ONCE
                                                                          : INGEST_SERVICE};
    int status = STATUS_USAGE;
    log_to(stderr, call->options.general.quiet || ingest.mode != INGEST_SERVICE ? LOG_WARN : LOG_INFO,
           call->options.general.json);
    ingest.rules = topic_rules_read(call->settings.publish.consumers, &call->settings.arena, err);
    if (!ingest.rules || !command_rules(call, err) || !read_topics(call, &ingest, err) ||
        !read_pattern(call, &pattern, &ingest, err))
        status = command_status(err);
    else if (ingest.topic_count == 0 && !ingest.wanted)
        err_set(err, ERR_USAGE,
                "say which dead letter topics to take in: --topics NAME,… or --pattern REGEX; or what to "
                "explain: redrive ingest --explain FILE, - or TOPIC:PARTITION:OFFSET");
    else
        status = take_in(call, &ingest, err);
    pattern_destroy(pattern);
    return status;
}

int
command_ingest(struct call *call, struct err *err)
{
    bool is_again = call->options.command.decode_again;
    if (!call->options.command.explain && !is_again)
        return command_no_args(call, err) ? ingest_topics(call, err) : STATUS_USAGE;
    if (call->arg_count == 1 && call->options.command.explain != is_again)
        return is_again ? decode_again(call, call->args[0], err) : letter_explain(call, call->args[0], err);
    err_set(err, ERR_USAGE,
            is_again ? "say whose dead letters to decode again: redrive ingest --decode-again TOPIC"
                     : "say what to explain: redrive ingest --explain FILE, - for standard input, or "
                       "TOPIC:PARTITION:OFFSET");
    return STATUS_USAGE;
}
