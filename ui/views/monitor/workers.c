// Workers that are alive, what each does, and the slots they take turns with.
#include <string.h>
#include "base/text.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static void
workers_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor *monitor = &facts->monitor;
    panel_rows_begin(app, rows, monitor->worker_count + 2);
    for (size_t i = 0; i < monitor->worker_count; i++) {
        const struct worker *worker = &monitor->workers[i];
        const char *end = strchr(worker->name, '/');
        end = end ? strchr(end + 1, '/') : NULL; // host and process; its start tells nothing here
        struct bytes name =
            end ? (struct bytes){worker->name, (size_t)(end - worker->name)} : bytes_of(worker->name);
        bool is_silent = worker->silent_for >= WORKER_SILENT;
        rows->list[rows->count++] = (struct panel_row){
            .name = arena_printf(app_frame(app), "%s  %s", arena_text(app_frame(app), name),
                                 worker->note ? worker->note : ""),
            .figures = is_silent          ? arena_printf(app_frame(app), "no sign for %" PRId64 "s",
                                                         (int64_t)(worker->silent_for / US_PER_SECOND))
                       : worker->rate > 0 ? arena_printf(app_frame(app), "%.0f/s", worker->rate)
                                          : NULL,
            .key = (int64_t)bytes_hash(bytes_of(worker->name)),
        };
    }
    if (facts->has_monitor && !monitor->worker_count)
        rows->empty = MSG_NO_WORKER;
    if (monitor->slots.suspended)
        rows->summary =
            arena_printf(app_frame(app), "slots: %" PRId64 " held, %" PRId64 " SUSPENDED, of %" PRId64,
                         monitor->slots.held, monitor->slots.suspended, monitor->slots.total);
    else if (monitor->slots.total)
        rows->summary = arena_printf(app_frame(app), "slots: %" PRId64 " of %" PRId64 " held",
                                     monitor->slots.held, monitor->slots.total);
}

// What they carry out.
static void
workers_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    (void)row;
    app_go(app, 4);
}

const struct panel panel_workers = {
    .name = "workers",
    .least = 4,
    .most = 8,
    .step = 1,
    .rows = workers_rows,
    .open = workers_open,
};
