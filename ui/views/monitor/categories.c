// The pending events by category, which is what an operator would do with them.
#include "ui/views/events/row.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static const enum role roles[CATEGORY_COUNT] = {
    [CATEGORY_UNKNOWN] = ROLE_KIND_UNKNOWN,     [CATEGORY_TRANSIENT] = ROLE_KIND_TRANSIENT,
    [CATEGORY_DATA] = ROLE_KIND_DATA,           [CATEGORY_SYSTEM] = ROLE_KIND_SYSTEM,
    [CATEGORY_PERMANENT] = ROLE_KIND_PERMANENT,
};

// Always in the same order, those that a retry helps first.
static void
categories_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    static const enum category order[] = {CATEGORY_TRANSIENT, CATEGORY_DATA, CATEGORY_SYSTEM,
                                          CATEGORY_PERMANENT, CATEGORY_UNKNOWN};
    const struct monitor_pending *pending = &facts->monitor.pending;
    panel_rows_begin(app, rows, CATEGORY_COUNT);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!pending->categories[order[i]])
            continue;
        struct panel_row *row =
            panel_rows_add(app, rows, category_name(order[i]), pending->categories[order[i]], pending->count);
        row->key = order[i];
        row->role = roles[order[i]];
    }
    rows->summary = "of pending";
    if (facts->has_monitor && !rows->count)
        rows->empty = MSG_NOTHING_PENDING;
}

static void
categories_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    panel_open_events(app, event_facet_term("category", row->name, app_frame(app)), true);
}

const struct panel panel_categories = {
    .name = "categories",
    .least = 5,
    .most = 6,
    .step = 1,
    .rows = categories_rows,
    .open = categories_open,
};
