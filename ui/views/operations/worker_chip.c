#include "ui/views/operations/worker_chip.h"

#include "ui/views/operations/texts.h"
#include "ui/widgets/statusbar.h"

enum { GAP = 3, LEAST_CELLS = WORKER_CHIP_LEAST - GAP };

void
worker_chip_draw(const struct app *app, struct canvas *canvas, int row, int *col, int limit)
{
    const struct status *status = app_status(app);
    if (status->link != LINK_LIVE || !status->has_schema)
        return;
    if (status->worker.count == 0) {
        chip_draw(canvas, row, col, limit, status->running.no ? ROLE_STATUS_WARN : ROLE_DIM,
                  BYTES("no worker"));
    } else if (status->worker.silent) {
        chip_draw(canvas, row, col, limit, ROLE_STATUS_WARN,
                  bytes_of(arena_printf(app_frame(app), MSG_WORKER_SILENT, status->worker.silent)));
    } else {
        const char *label = status->worker.count == 1 ? "worker " : "workers ";
        bool is_idle = status->worker.idle == status->worker.count;
        const char *words =
            is_idle ? arena_printf(app_frame(app), " %d idle", status->worker.count)
            : status->worker.count == 1
                ? arena_printf(app_frame(app), " %s", status->worker.note)
                : arena_printf(app_frame(app), " %d, %d idle", status->worker.count, status->worker.idle);
        // The note may be long; its beginning is enough to see that something is wrong.
        if (*col + LEAST_CELLS > limit)
            return;
        *col += canvas_text(canvas, row, *col, limit - *col, bytes_of(label), ROLE_STATUS);
        *col += canvas_glyph(canvas, row, *col, GLYPH_DOT, ROLE_LIVE);
        *col += canvas_text(canvas, row, *col, limit - *col, bytes_of(words), ROLE_STATUS) + 3;
    }
    if (status->promise == PROMISE_EXACTLY_ONCE) // line 1 shows anything less, in every view
        chip_draw(canvas, row, col, limit, ROLE_STATUS_OK, bytes_of(status->promise_words));
}
