// One operation: how far it is, what became of its events, what happened to it.
#include "ui/views/operations/operation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/operations/doubt.h"
#include "ui/views/events/events.h"
#include "ui/views/notice.h"
#include "ui/views/operations/row.h"
#include "ui/views/operations/outcome_row.h"
#include "ui/views/operations/steering.h"
#include "ui/views/operations/stop.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/statusbar.h"
#include "ui/views/operations/texts.h"

enum {
    RATES = 12,
    HEAD_ROWS = 5,
    TRAIL_ROWS = 6,
    OUTCOME_ROWS = 4,
    ALL_STATES = (1 << ITEM_STATE_COUNT) - 1
};

struct view_of_operation {
    struct steering steering; // first: see steering.h
    int64_t no;
    struct arena arena; // of the newest answer
    struct operation operation;
    struct outcome *outcomes;
    size_t outcome_count;
    struct returned *returns; // they are rows above the outcomes
    size_t return_count;
    struct doubt *doubts; // rows above both
    size_t doubt_count;
    bool is_there;
    struct err err; // why it is not there
    struct table table;
    uint32_t rates[RATES]; // measured ones, newest last
    size_t rate_count;
    struct arena trail_arena;
    struct audit_row *trail; // newest first
    size_t trail_count;
    uint64_t number, trail_number;
};

static const enum action footer[] = {DO_OPERATION_APPROVE,
                                     DO_RATE_UP,
                                     DO_RATE_DOWN,
                                     DO_OPERATION_PAUSE,
                                     DO_OPERATION_CANCEL,
                                     DO_FAILED_ONLY,
                                     DO_OPEN,
                                     DO_UNDO,
                                     DO_HELP,
                                     DO_NONE};

static const struct table_column columns[OUTCOME_COLUMNS] = {
    [OUTCOME_STATE] = {.title = "outcome", .width = 9},
    [OUTCOME_COUNT] = {.title = "events", .width = 7, .widest = 9, .at_right = true},
    [OUTCOME_REASON] = {.title = "why", .width = 10, .widest = TABLE_REST},
};

// Outcomes have no number; state and reason identify them.
static int64_t
outcome_id(const void *rows, size_t index)
{
    const struct view_of_operation *view = rows;
    if (index < view->doubt_count)
        return (int64_t)(bytes_hash(bytes_of(view->doubts[index].chunk)) >> 4 | 1ULL << 61);
    index -= view->doubt_count;
    if (index < view->return_count)
        return (int64_t)((view->returns[index].group >> 2) | 1ULL << 62);
    const struct outcome *outcome = &view->outcomes[index - view->return_count];
    uint64_t hash = bytes_hash(bytes_of(outcome->reason ? outcome->reason : ""));
    return (int64_t)(hash >> 4) * ITEM_STATE_COUNT + (int64_t)outcome->state;
}

static void
draw_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct view_of_operation *view = rows;
    if (index < view->doubt_count) {
        outcome_row_doubt(&view->doubts[index], column, canvas, area);
        return;
    }
    index -= view->doubt_count;
    if (index < view->return_count) {
        outcome_row_returned(&view->returns[index], column, canvas, area);
        return;
    }
    outcome_row_cell(&view->outcomes[index - view->return_count], view->operation.action, column, canvas,
                     area);
}

static struct table_model
operation_model_of(const struct view_of_operation *view)
{
    return (struct table_model){.count = view->doubt_count + view->return_count + view->outcome_count,
                                .id = outcome_id,
                                .cell = draw_cell,
                                .columns = columns,
                                .column_count = OUTCOME_COLUMNS,
                                .rows = view};
}

static void
operation_ask(struct app *app, struct view_of_operation *view)
{
    struct request *request = request_create(REQUEST_OPERATION);
    request->operation = view->no;
    view->number = app_send(app, request);
}

static void
ask_trail(struct app *app, struct view_of_operation *view)
{
    struct request *request = request_create(REQUEST_AUDIT);
    request->operation = view->no;
    view->trail_number = app_send(app, request);
}

// Of a group where it is known.
static const char *
returned_filter(struct app *app, int64_t no, const struct returned *returned)
{
    char group[GROUP_TEXT];
    return arena_printf(app_frame(app), "operation:%" PRId64 " outcome:returned%s%s", no,
                        returned->is_grouped ? " group:" : "",
                        returned->is_grouped ? group_text(returned->group, group) : "");
}

// What the filter language calls it; NULL: a part of what it calls unsent.
static const char *
outcome_term(enum item_state state)
{
    static const char *const terms[ITEM_STATE_COUNT] = {[ITEM_DONE] = "sent",
                                                        [ITEM_REFUSED] = "refused",
                                                        [ITEM_SKIPPED] = "skipped",
                                                        [ITEM_IN_DOUBT] = "doubt"};
    return terms[state];
}

static void
open_items(struct app *app, const struct operation *operation, enum item_state state, const char *reason)
{
    const char *word = item_state_word(state, operation->action);
    const char *term = outcome_term(state);
    const char *filter =
        term ? arena_printf(app_frame(app), "operation:%" PRId64 " outcome:%s", operation->no, term) : NULL;
    if (filter && reason)
        steering_open_reason(app, operation, state, reason, filter, word);
    else if (filter)
        steering_open_filter(app, operation, filter, word);
    else
        steering_open_events(app, operation, 1u << state, word);
}

static bool
open_outcome(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct view_of_operation *view = state;
    size_t row = view->table.cursor;
    if (!view->is_there)
        return true;
    if (view->doubt_count + view->return_count + view->outcome_count == 0)
        steering_open_events(app, &view->operation, ALL_STATES, MSG_ALL_EVENTS);
    else if (row < view->doubt_count)
        open_items(app, &view->operation, ITEM_IN_DOUBT, NULL);
    else if (row - view->doubt_count < view->return_count)
        steering_open_filter(app, &view->operation,
                             returned_filter(app, view->no, &view->returns[row - view->doubt_count]),
                             MSG_RETURNED_TITLE);
    else {
        const struct outcome *outcome = &view->outcomes[row - view->doubt_count - view->return_count];
        open_items(app, &view->operation, outcome->state, outcome->reason);
    }
    return true;
}

// The one under the cursor, else the first.
static const struct doubt *
doubt_of(const struct view_of_operation *view)
{
    if (view->doubt_count == 0)
        return NULL;
    return &view->doubts[view->table.cursor < view->doubt_count ? view->table.cursor : 0];
}

static const struct operation *
known_operation(const struct view_of_operation *view)
{
    return view->is_there ? &view->operation : NULL;
}

static bool
operation_move(struct app *app, void *state, enum action action)
{
    (void)app;
    struct view_of_operation *view = state;
    struct table_model model = operation_model_of(view);
    return table_handle(&view->table, &model, action);
}

static bool
operation_steer(struct app *app, void *state, enum action action)
{
    struct view_of_operation *view = state;
    steering_handle(app, &view->steering, known_operation(view), action);
    return true;
}

static bool
operation_can_steer(const struct app *app, const void *state, enum action action)
{
    return steering_offers(app, known_operation(state), action);
}

static const char *
operation_steer_word(const struct app *app, const void *state, enum action action)
{
    (void)app;
    return steering_word(known_operation(state), action);
}

static bool
operation_decide_doubt(struct app *app, void *state, enum action action)
{
    (void)action;
    struct view_of_operation *view = state;
    doubt_ask(app, &view->steering, doubt_of(view));
    return true;
}

static bool
operation_open_trail(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct view_of_operation *view = state;
    app_open(app, &view_audit, &(struct audit_argument){.operation = view->no});
    return true;
}

static bool
operation_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct view_of_operation *view = state;
    app_copy(app, bytes_of(arena_printf(app_frame(app), "%" PRId64, view->no)), "operation number");
    return true;
}

static bool
operation_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    operation_ask(app, state);
    ask_trail(app, state);
    return true;
}

static const struct view_action actions[] = {
    {.part = table_moves, .run = operation_move},
    {.part = steering_handles,
     .run = operation_steer,
     .is_possible = operation_can_steer,
     .word = operation_steer_word},
    {.part = steering_refuses, .why_not = steering_why_not},
    {.action = DO_DOUBT_DECIDE, .run = operation_decide_doubt},
    {.action = DO_STOP_DECIDE, .run = stop_ask},
    {.action = DO_OPEN, .run = open_outcome},
    {.action = DO_TRAIL, .run = operation_open_trail},
    {.action = DO_COPY, .run = operation_copy},
    {.action = DO_COPY_ID, .run = operation_copy},
    {.action = DO_REFRESH, .run = operation_refresh},
    {.action = DO_CANCEL, .run = steering_stop},
    {0},
};

static void
remember_rate(struct view_of_operation *view)
{
    if (view->operation.state != OPERATION_RUNNING)
        return;
    if (view->rate_count == RATES) {
        memmove(view->rates, view->rates + 1, (RATES - 1) * sizeof *view->rates);
        view->rate_count--;
    }
    view->rates[view->rate_count++] = (uint32_t)view->operation.rate_now;
}

// Those that need a person come first, then those under way.
static int
by_urgency(const void *left, const void *right)
{
    static const int urgency[ITEM_STATE_COUNT] = {
        [ITEM_IN_DOUBT] = 0, [ITEM_REFUSED] = 1, [ITEM_SKIPPED] = 2,   [ITEM_CLAIMED] = 3,
        [ITEM_QUEUED] = 4,   [ITEM_DONE] = 5,    [ITEM_CANCELLED] = 6,
    };
    const struct outcome *a = left;
    const struct outcome *b = right;
    if (a->state != b->state)
        return urgency[a->state] - urgency[b->state];
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->first_event > b->first_event) - (a->first_event < b->first_event);
}

static void
take_operation(struct app *app, struct view_of_operation *view, struct reply *reply)
{
    bool is_news = !view->is_there || view->operation.state != reply->operations.list[0].state ||
                   view->operation.rate != reply->operations.list[0].rate;
    arena_release(&view->arena);
    arena_adopt(&view->arena, &reply->arena);
    view->operation = reply->operations.list[0];
    view->outcomes = reply->operations.outcomes;
    view->outcome_count = reply->operations.outcome_count;
    view->returns = reply->operations.returns;
    view->return_count = reply->operations.return_count;
    view->doubts = reply->operations.doubts;
    view->doubt_count = reply->operations.doubt_count;
    if (view->outcome_count)
        qsort(view->outcomes, view->outcome_count, sizeof *view->outcomes, by_urgency);
    view->is_there = true;
    err_clear(&view->err);
    remember_rate(view);
    steering_seen(app, &view->steering, &view->operation);
    struct table_model model = operation_model_of(view);
    table_sync(&view->table, &model);
    if (is_news)
        ask_trail(app, view);
}

static bool
operation_receive(struct app *app, void *state, struct reply *reply)
{
    struct view_of_operation *view = state;
    if (steering_receive(app, &view->steering, reply))
        return true;
    if (!reply->number)
        return false;
    if (reply->number == view->number) {
        if (reply->kind == REPLY_OPERATION)
            take_operation(app, view, reply);
        else
            view->err = reply->err;
        return true;
    }
    if (reply->number != view->trail_number || reply->kind != REPLY_AUDIT)
        return false;
    arena_release(&view->trail_arena);
    arena_adopt(&view->trail_arena, &reply->arena);
    view->trail = reply->audit.rows;
    view->trail_count = reply->audit.count;
    return true;
}

// A row per chunk repeats what the counts say.
static bool
is_worth_showing(const struct audit_row *row)
{
    return strcmp(row->action, "finish") != 0 && strcmp(row->action, "apply") != 0;
}

static int
trail_rows(const struct view_of_operation *view)
{
    int rows = 0;
    for (size_t i = 0; i < view->trail_count && rows < TRAIL_ROWS; i++)
        rows += is_worth_showing(&view->trail[i]);
    return rows;
}

// Why nobody knows who has read what was sent; NULL: it is known, or nothing was sent.
static const char *
untold(const struct operation *operation)
{
    const struct taken *taken = &operation->sent.taken;
    return operation->action == ACTION_REPROCESS && operation->done > 0 && taken->count < 0 ? taken->note
                                                                                            : NULL;
}

// The parts of the body, top to bottom; those that find no room are empty.
struct parts {
    struct area head, outcomes, trail;
};

static struct parts
operation_split(const struct view_of_operation *view, struct area body)
{
    struct parts parts = {0};
    int trail = trail_rows(view);
    int head = HEAD_ROWS;
    if (view->is_there)
        head +=
            operation_count_rows(&view->operation, body.cols - 2) - 1 + (untold(&view->operation) != NULL);
    parts.head = area_take_top(&body, body.rows < head + OUTCOME_ROWS ? 3 : head);
    if (trail && body.rows >= OUTCOME_ROWS + 2 + trail)
        parts.trail = area_take_bottom(&body, 1 + trail);
    parts.outcomes = body;
    return parts;
}

static void
operation_layout(struct app *app, void *state, const struct view_areas *areas)
{
    (void)app;
    struct view_of_operation *view = state;
    struct parts parts = operation_split(view, areas->body);
    area_take_top(&parts.outcomes, parts.outcomes.rows > OUTCOME_ROWS ? 1 : 0);
    struct table_model model = operation_model_of(view);
    table_layout(&view->table, &model, parts.outcomes);
}

// In parts that add up to all of its events.
static void
draw_bar(const struct app *app, const struct operation *operation, struct canvas *canvas, struct area line)
{
    char over[TEXT_SHORT];
    char total[TEXT_SHORT];
    struct outcomes outcomes = outcomes_of(operation);
    struct bar_part parts[OUTCOME_PARTS];
    for (int i = 0; i < OUTCOME_PARTS; i++)
        parts[i] = outcome_bar_part((enum outcome_part)i, outcomes.parts[i]);
    const char *words = arena_printf(app_frame(app), "%s / %s %4d%%",
                                     text_count(outcomes.total - outcomes.parts[PART_UNSENT], over),
                                     text_count(outcomes.total, total), outcomes_percent(&outcomes));
    int width = text_cells(bytes_of(words), canvas->is_ascii);
    int room = line.cols - width - 2;
    if (room >= OUTCOME_PARTS)
        bar_draw(canvas, line.row, line.col, room, parts, OUTCOME_PARTS, &parts[PART_UNSENT]);
    canvas_styled(canvas, line.row, line.col, line.cols, bytes_of(words),
                  &(struct canvas_style){.role = ROLE_STRONG, .at_right = true});
}

// "950/s of 1,000/s ▂▅▇█ 4s left   worker db1-a"
static void
draw_pace(const struct app *app, const struct view_of_operation *view, struct canvas *canvas, int row,
          int col, int limit)
{
    const struct operation *operation = &view->operation;
    struct arena *arena = app_frame(app);
    char left[TEXT_SHORT];
    if (operation->plan.step_count && !operation->follower.is_wanted)
        chip_draw(canvas, row, &col, limit, ROLE_STATUS, bytes_of(operation_step_text(operation, arena)));
    const char *words = arena_printf(arena, "%.0f/s of %s ", operation->rate_now,
                                     operation_rate_text(operation->rate, arena));
    if (operation->action != ACTION_REPROCESS)
        words = arena_printf(arena, "%.0f/s ", operation->rate_now);
    col += canvas_text(canvas, row, col, limit - col, bytes_of(words), ROLE_STATUS);
    col += sparkline_draw(canvas, row, col, limit - col, view->rates, view->rate_count, ROLE_GRAPH) + 3;
    int64_t rest = outcomes_of(operation).parts[PART_UNSENT];
    if (operation->rate_now >= 1 && rest > 0)
        chip_draw(canvas, row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(
                      arena, "%s left",
                      text_age((int64_t)((double)rest / operation->rate_now * US_PER_SECOND), left))));
    if (operation->worker)
        chip_draw(canvas, row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(arena, "worker %s", operation->worker)));
}

// Why nothing happens to an operation that somebody should carry out now; NULL: somebody is there.
static const char *
absence_text(const struct app *app, const struct operation *operation)
{
    const struct status *status = app_status(app);
    bool is_due = (operation->state == OPERATION_FROZEN || operation->state == OPERATION_RUNNING) &&
                  operation->queued > 0;
    if (!is_due || status->link != LINK_LIVE)
        return NULL;
    if (status->worker.count == 0)
        return MSG_NO_WORKER;
    if (operation->action == ACTION_REPROCESS && status->worker.publishing == 0)
        return MSG_NO_PUBLISHER;
    return status->worker.silent ? arena_printf(app_frame(app), MSG_WORKER_SILENT, status->worker.silent)
                                 : NULL;
}

static void
draw_state(const struct app *app, const struct view_of_operation *view, struct canvas *canvas,
           struct area line)
{
    const struct operation *operation = &view->operation;
    int col = line.col;
    int limit = line.col + line.cols;
    if (operation->state != OPERATION_WAITING) // the sentence says that it watches
        chip_draw_cut(canvas, line.row, &col, limit, operation_standing_role(operation),
                      bytes_of(operation_standing(operation, app_frame(app))));
    const char *hint = view->doubt_count ? MSG_DOUBT_HINT : operation_hint(operation, app_frame(app));
    chip_draw(canvas, line.row, &col, limit, ROLE_FOOTER_KEY, bytes_of(hint));
    const char *wait =
        operation_wait_text(operation, app_now(app), glyph_text(canvas, GLYPH_SEPARATOR), app_frame(app));
    const char *absence = absence_text(app, operation);
    bool is_told = operation->state == OPERATION_FROZEN || operation->state == OPERATION_WAITING;
    if (*wait && is_told)
        canvas_text(canvas, line.row, col, limit - col, bytes_of(wait), operation_standing_role(operation));
    else if (absence)
        canvas_text(canvas, line.row, col, limit - col, bytes_of(absence), ROLE_STATUS_WARN);
    else if (operation->state_note && operation->state != OPERATION_HALTED) // the sentence has it
        canvas_text(canvas, line.row, col, limit - col, bytes_of(operation->state_note),
                    operation_standing_role(operation));
    else if (operation->state == OPERATION_RUNNING)
        draw_pace(app, view, canvas, line.row, col, limit);
}

// Times, the promise of the cluster, when it halts, the target topic.
static void
draw_facts(const struct app *app, const struct operation *operation, struct canvas *canvas, struct area line)
{
    struct arena *arena = app_frame(app);
    const struct status *status = app_status(app);
    int64_t now = app_now(app);
    int col = line.col;
    int limit = line.col + line.cols;
    const struct {
        const char *word;
        int64_t at;
    } times[] = {{"created", operation->created_at},
                 {"begins", operation_begins_later(operation, now) ? operation->plan.begin.at : TIME_ABSENT},
                 {"started", operation->started_at},
                 {"ended", operation->finished_at}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].at != TIME_ABSENT)
            chip_draw(canvas, line.row, &col, limit, ROLE_DIM,
                      bytes_of(arena_printf(arena, "%s %s", times[i].word,
                                            operation_moment(times[i].at, now, arena))));
    if (operation->action != ACTION_REPROCESS)
        return;
    if (*status->promise_words)
        chip_draw(canvas, line.row, &col, limit,
                  status->promise == PROMISE_EXACTLY_ONCE ? ROLE_STATUS_OK : ROLE_STATUS_WARN,
                  bytes_of(status->promise_words));
    if (operation->plan.halts)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(arena, MSG_HALTS_ABOVE, operation->plan.halt_above)));
    if (operation->target_topic)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(arena, "to %s", operation->target_topic)));
}

// What follows a recipe, and why all of it was asked for.
static void
draw_why(const struct operation *operation, struct canvas *canvas, struct area line)
{
    struct strbuf words = {0};
    if (operation->follower.is_wanted) {
        strbuf_add_text(&words, MSG_THEN);
        operation_follower_text(operation, &words);
    }
    if (operation->reason)
        strbuf_printf(&words, "%s\"%s\"", words.len ? "   " : "", operation->reason);
    if (operation->filter_text)
        strbuf_printf(&words, "%sfilter: %s", words.len ? "   " : "", operation->filter_text);
    canvas_text(canvas, line.row, line.col, line.cols, strbuf_bytes(&words), ROLE_DIM);
    strbuf_release(&words);
}

static void
draw_head(const struct app *app, const struct view_of_operation *view, struct canvas *canvas,
          struct area head)
{
    const struct operation *operation = &view->operation;
    area_take_left(&head, 1);
    area_take_right(&head, 1);
    if (head.rows > 0)
        draw_bar(app, operation, canvas, area_take_top(&head, 1));
    if (head.rows > 0)
        draw_state(app, view, canvas, area_take_top(&head, 1));
    if (head.rows > 0)
        operation_draw_counts(operation, canvas,
                              area_take_top(&head, operation_count_rows(operation, head.cols)));
    if (head.rows > 0 && untold(operation)) {
        struct area line = area_take_top(&head, 1);
        canvas_printf(canvas, line.row, line.col, line.cols, ROLE_DIM, MSG_TAKEN_UNKNOWN, untold(operation));
    }
    if (head.rows > 0)
        draw_facts(app, operation, canvas, area_take_top(&head, 1));
    if (head.rows > 0)
        draw_why(operation, canvas, area_take_top(&head, 1));
}

// The head has the reason of the decision that made the operation.
static const char *
own_reason(const struct operation *operation, const struct audit_row *row)
{
    return strcmp(row->action, action_name(operation->action)) == 0 ? NULL : row->reason;
}

static void
draw_trail(const struct app *app, const struct view_of_operation *view, struct canvas *canvas,
           struct area area)
{
    struct arena *arena = app_frame(app);
    if (area.rows < 2)
        return;
    canvas_hline(canvas, area.row, area.col + 1, area.cols - 2, ROLE_BORDER);
    area_take_top(&area, 1);
    area_take_left(&area, 1);
    for (size_t i = 0; i < view->trail_count && area.rows > 0; i++) {
        const struct audit_row *row = &view->trail[i];
        char events[TEXT_SHORT];
        if (!is_worth_showing(row))
            continue;
        struct area line = area_take_top(&area, 1);
        const char *reason = own_reason(&view->operation, row);
        canvas_printf(canvas, line.row, line.col, line.cols, ROLE_DIM, "%s  %-10s %s%s%s%s%s%s%s%s",
                      operation_moment(row->at, app_now(app), arena), row->action, row->who,
                      row->events ? "  " : "", row->events ? text_count(row->events, events) : "",
                      reason ? "  \"" : "", reason ? reason : "", reason ? "\"" : "", row->detail ? "  " : "",
                      row->detail ? row->detail : "");
    }
}

static void
operation_draw_line(const struct app *app, const struct view_of_operation *view, struct canvas *canvas,
                    struct area line)
{
    if (line.rows < 1 || !view->is_there)
        return;
    const struct operation *operation = &view->operation;
    int col = line.col + 1;
    int limit = line.col + line.cols - 1;
    int who = text_cells(bytes_of(operation->requested_by), false);
    int room = limit - col - who;
    // However long the scope is, the asker stays.
    chip_draw_cut(canvas, line.row, &col, room > line.cols / 2 ? limit - who - 3 : limit, ROLE_STATUS,
                  bytes_of(operation_title(operation, app_frame(app))));
    if (col < limit)
        canvas_text(canvas, line.row, col, limit - col, bytes_of(operation->requested_by), ROLE_STATUS);
}

static void
operation_draw(const struct app *app, const void *state, struct canvas *canvas,
               const struct view_areas *areas)
{
    const struct view_of_operation *view = state;
    const struct status *status = app_status(app);
    operation_draw_line(app, view, canvas, areas->line);
    if (!view->is_there) {
        const char *words = !status->has_schema         ? MSG_NO_SCHEMA
                            : err_is_set(&view->err)    ? view->err.text
                            : status->link == LINK_LOST ? status->trouble
                                                        : MSG_LOADING;
        notice_draw(canvas, areas->body, words);
        return;
    }
    struct parts parts = operation_split(view, areas->body);
    draw_head(app, view, canvas, parts.head);
    if (parts.outcomes.rows > OUTCOME_ROWS) {
        struct area rule = area_take_top(&parts.outcomes, 1);
        canvas_hline(canvas, rule.row, rule.col + 1, rule.cols - 2, ROLE_BORDER);
    }
    struct table_model model = operation_model_of(view);
    if (model.count > 0)
        table_draw(&view->table, &model, canvas, parts.outcomes);
    else if (parts.outcomes.rows > 0)
        canvas_text(canvas, parts.outcomes.row, parts.outcomes.col + 1, parts.outcomes.cols - 2,
                    BYTES(MSG_NO_OUTCOMES), ROLE_DIM);
    draw_trail(app, view, canvas, parts.trail);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
operation_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct view_of_operation *view = state;
    if (i > 0)
        return false;
    strbuf_printf(out, "operation %" PRId64, view->no);
    return true;
}

static void *
operation_open(struct app *app, const void *argument)
{
    struct view_of_operation *view = alloc_bytes(sizeof *view);
    view->no = *(const int64_t *)argument;
    operation_ask(app, view);
    return view;
}

static void
operation_close(struct app *app, void *state)
{
    struct view_of_operation *view = state;
    app_send(app, request_create(REQUEST_OPERATIONS_END));
    steering_release(&view->steering);
    arena_release(&view->arena);
    arena_release(&view->trail_arena);
    free(view);
}

static void
operation_shown(struct app *app, void *state)
{
    operation_ask(app, state);
}

static bool
operation_is_of(const void *state, const void *argument)
{
    return ((const struct view_of_operation *)state)->no == *(const int64_t *)argument;
}

const struct view view_operation = {
    .name = "operation",
    .context = CONTEXT_VIEW_operation,
    .aging = AGES_BY_SECONDS,
    .actions = actions,
    .footer = footer,
    .open = operation_open,
    .close = operation_close,
    .is_of = operation_is_of,
    .shown = operation_shown,
    .receive = operation_receive,
    .crumb = operation_crumb,
    .draw = operation_draw,
    .layout = operation_layout,
};
