// trend_pane: the chart of the backlog over time, above the analyses: pending, in and out, marks, and a
// cursor that tells time and values. It looks for news every few seconds; the same picture costs nothing.
#ifndef REDRIVE_UI_VIEWS_TREND_PANE_H
#define REDRIVE_UI_VIEWS_TREND_PANE_H

#include "ui/view.h"

struct trend_pane {
    struct arena arena; // of the trend
    struct trend trend;
    bool has_answer;
    enum trend_span span; // asked for
    uint64_t number;      // of the request that is waited for, or 0
    int64_t look_at;      // clock_mono
    int64_t cursor_at;    // an instant; 0: no cursor
    int cols;             // of the last layout
};

void trend_pane_init(struct app *app, struct trend_pane *pane);
void trend_pane_release(struct trend_pane *pane);
// Takes the chart's rows off the top of the body; none where it is low, or nothing is known.
struct area trend_pane_layout(struct trend_pane *pane, struct area *body);
void trend_pane_draw(const struct app *app, const struct trend_pane *pane, struct canvas *canvas,
                     struct area area);
// Is it an answer to this pane? *is_news: another picture.
bool trend_pane_receive(struct app *app, struct trend_pane *pane, struct reply *reply, bool *is_news);
// LEFT, RIGHT, OPEN, BACK, SPAN_LONGER and SPAN_SHORTER. false: not used.
bool trend_pane_handle(struct app *app, struct trend_pane *pane, enum action action);
void trend_pane_tick(struct app *app, struct trend_pane *pane, bool is_shown);

#endif
