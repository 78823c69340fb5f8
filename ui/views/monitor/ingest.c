// Topics of dead letters: how many letters redrive ingest has still to take in of each, and whether it runs.
// The title says how fast they come in, or what can not be read any more of the topic under the cursor.
#include "base/text.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

// "1,204", "1,204  not read", "0  2 alarms"
static const char *
ingest_figures(const struct app *app, const struct letter_topic *topic)
{
    const char *left = topic->left < 0 ? MSG_LETTERS_UNKNOWN : panel_count(app, topic->left);
    if (topic->alarms > 0)
        return arena_printf(app_frame(app), MSG_LETTER_ALARMS, left, topic->alarms,
                            topic->alarms == 1 ? "" : "s");
    return topic->is_read ? left : arena_printf(app_frame(app), MSG_NOT_READ, left);
}

static const char *
ingest_in_words(const struct app *app, const struct monitor *monitor)
{
    int64_t left = letter_topics_left(monitor->letter_topics, monitor->letter_topic_count);
    if (monitor->letters_per_second < 0)
        return arena_printf(app_frame(app), MSG_LETTERS_LEFT, panel_count(app, left));
    return arena_printf(app_frame(app), MSG_LETTERS_IN, monitor->letters_per_second, panel_count(app, left));
}

static void
ingest_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor *monitor = &facts->monitor;
    panel_rows_begin(app, rows, monitor->letter_topic_count);
    for (size_t i = 0; i < monitor->letter_topic_count; i++) {
        const struct letter_topic *topic = &monitor->letter_topics[i];
        rows->list[rows->count++] = (struct panel_row){.name = topic->name,
                                                       .figures = ingest_figures(app, topic),
                                                       .count = topic->left > 0 ? topic->left : 0,
                                                       .role = topic->alarms > 0 ? ROLE_STATUS_ERROR
                                                               : topic->is_read  ? 0
                                                                                 : ROLE_STATUS_WARN,
                                                       .key = (int64_t)bytes_hash(bytes_of(topic->name))};
    }
    if (rows->count > 0)
        rows->summary = ingest_in_words(app, monitor);
    else if (facts->has_monitor)
        rows->empty = MSG_NO_LETTER_TOPIC;
}

static const char *
ingest_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
               size_t cursor)
{
    (void)app;
    const struct monitor *monitor = &facts->monitor;
    return cursor < monitor->letter_topic_count && monitor->letter_topics[cursor].alarm
               ? monitor->letter_topics[cursor].alarm
               : rows->summary;
}

// The pending events that came from it.
static void
ingest_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    panel_open_events(app, arena_printf(app_frame(app), "dlq-topic:=\"%s\"", row->name), true);
}

const struct panel panel_ingest = {
    .name = "dead letter topics",
    .least = 3,
    .most = 8,
    .step = 1,
    .rows = ingest_rows,
    .summary = ingest_summary,
    .open = ingest_open,
};
