// How many of the messages that are written to topics become dead letters, by topic, in the time that the
// backlog is shown for. A topic of which nobody knows how much is written says so; the title then says why.
#include "base/clock.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static const char *
topics_share(const struct app *app, const struct topic_share *share)
{
    struct strbuf text = {0};
    topic_share_add(share, &text);
    const char *kept = arena_text(app_frame(app), strbuf_bytes(&text));
    strbuf_release(&text);
    return kept;
}

// "0.41%  1,204"
static const char *
topics_figures(const struct app *app, const struct topic_share *share)
{
    if (topic_share_percent(share) < 0)
        return topics_share(app, share);
    return arena_printf(app_frame(app), MSG_SHARE_FIGURES, topics_share(app, share),
                        panel_count(app, share->arrived));
}

static const char *
topics_share_of(const struct app *app, const struct topic_share *share)
{
    return arena_printf(app_frame(app), MSG_SHARE_OF, topics_share(app, share),
                        panel_count(app, share->written));
}

static void
topics_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct topic_shares *shares = &facts->monitor.shares;
    panel_rows_begin(app, rows, shares->count);
    for (size_t i = 0; i < shares->count; i++) {
        const struct topic_share *share = &shares->topics[i];
        double percent = topic_share_percent(share);
        rows->list[rows->count++] =
            (struct panel_row){.name = share->topic,
                               .figures = topics_figures(app, share),
                               .count = percent < 0 ? 0 : (int64_t)(percent * 10000 + 0.5),
                               .role = percent < 0 ? ROLE_DIM : 0,
                               .key = (int64_t)bytes_hash(bytes_of(share->topic))};
    }
    struct topic_share sum = topic_shares_sum(shares);
    if (sum.covered > 0)
        rows->summary = topics_share_of(app, &sum);
    else if (facts->has_monitor && !rows->count)
        rows->empty = MSG_SHARE_UNKNOWN;
}

// Of the topic under the cursor, or why it is not known.
static const char *
topics_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
               size_t cursor)
{
    const struct topic_shares *shares = &facts->monitor.shares;
    if (cursor >= shares->count)
        return rows->summary;
    const struct topic_share *share = &shares->topics[cursor];
    return share->covered > 0 ? topics_share_of(app, share) : share->note ? share->note : rows->summary;
}

// The events that came from it in that time, whatever became of them.
static void
topics_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    int64_t from = app_now(app) - facts->monitor.shares.window;
    panel_open_events(app,
                      arena_printf(app_frame(app), "topic:=\"%s\" %s", row->name,
                                   panel_created(app, from - from % (60 * US_PER_SECOND), INT64_MAX)),
                      false);
}

const struct panel panel_topics = {
    .name = "dead letter share",
    .least = 3,
    .most = 8,
    .step = 1,
    .rows = topics_rows,
    .summary = topics_summary,
    .open = topics_open,
};
