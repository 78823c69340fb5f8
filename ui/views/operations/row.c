#include "ui/views/operations/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "ui/views/operations/texts.h"
#include "ui/views/row_filter.h"
#include "ui/widgets/statusbar.h"

// "DONE, BUT 2,011 OF 2,011 RETURNED": rate and start leave for it at 80 columns, since it says more.
enum { STANDING_CELLS = 33, STANDING_MOST = 80 };
enum { MARK_CELLS = 2, COUNT_GAP = 3 }; // before and after a count
static const int64_t DAY = 86400 * US_PER_SECOND;

static void
widen(int *width, const char *text)
{
    int cells = text_cells(bytes_of(text ? text : ""), false);
    *width = cells > *width ? cells : *width;
}

static const char *
sent_text(const struct operation *operation, struct arena *arena)
{
    char done[TEXT_SHORT];
    char total[TEXT_SHORT];
    return arena_printf(arena, "%s / %s", text_count(operation->done, done),
                        text_count(operation->total, total));
}

const char *
operation_begin_text(const struct operation *operation, int64_t now, struct arena *arena)
{
    char text[BEGIN_TEXT];
    return operation_begins_later(operation, now)
               ? arena_printf(arena, MSG_BEGINS, begin_brief(operation->plan.begin.at, now, text))
               : "";
}

// In the list; one that waits for approval says that, since it does not begin before.
static const char *
row_standing(const struct operation *operation, int64_t now, struct arena *arena)
{
    const char *begins = operation_begin_text(operation, now, arena);
    return *begins && operation->state == OPERATION_FROZEN ? begins : operation_standing(operation, arena);
}

void
operation_columns(const struct operation *operations, size_t count, int64_t now,
                  struct table_column columns[OPERATION_COLUMNS])
{
    struct arena arena = {0};
    int no = 3;
    int who = 5;
    int sent = 12;
    int state = 9;
    for (size_t i = 0; i < count; i++) {
        widen(&no, arena_printf(&arena, "%" PRId64, operations[i].no));
        widen(&who, operations[i].requested_by);
        widen(&sent, sent_text(&operations[i], &arena));
        widen(&state, row_standing(&operations[i], now, &arena));
    }
    arena_release(&arena);
    const struct table_column all[OPERATION_COLUMNS] = {
        [OPERATION_COLUMN_NO] = {.title = "no", .width = no, .at_right = true},
        [OPERATION_COLUMN_WHAT] = {.title = "what", .width = 9, .priority = 2},
        [OPERATION_COLUMN_WHO] = {.title = "who", .width = who < 12 ? who : 12, .priority = 3},
        [OPERATION_COLUMN_STATE] = {.title = "state",
                                    .width = state < STANDING_CELLS ? state : STANDING_CELLS,
                                    .widest = state < STANDING_MOST ? state : STANDING_MOST,
                                    .priority = 1},
        [OPERATION_COLUMN_SENT] = {.title = "sent / of", .width = sent, .at_right = true},
        [OPERATION_COLUMN_RETURNED] = {.title = "returned", .width = 8, .priority = 5, .at_right = true},
        [OPERATION_COLUMN_RATE] = {.title = "rate", .width = 6, .priority = 4, .at_right = true},
        [OPERATION_COLUMN_STARTED] = {.title = "started",
                                      .width = OPERATION_STARTED_CELLS,
                                      .priority = 6,
                                      .at_right = true},
        [OPERATION_COLUMN_NOTE] = {.title = "", .width = 12, .widest = TABLE_REST, .priority = 7},
    };
    memcpy(columns, all, sizeof all);
}

enum role
item_role(enum item_state state)
{
    switch (state) {
    case ITEM_DONE:
        return ROLE_OPERATION_DONE;
    case ITEM_REFUSED:
    case ITEM_SKIPPED:
    case ITEM_IN_DOUBT:
        return ROLE_OPERATION_FAILED;
    case ITEM_CLAIMED:
        return ROLE_OPERATION_RUNNING;
    case ITEM_QUEUED:
    case ITEM_CANCELLED:
    case ITEM_STATE_COUNT:
        break;
    }
    return ROLE_OPERATION_WAITING;
}

const char *
operation_hint(const struct operation *operation, struct arena *arena)
{
    if (operation->state == OPERATION_AWAITING)
        return "A approve";
    if (operation->state == OPERATION_PAUSED || operation->state == OPERATION_HALTED)
        return "p resume";
    if (operation->state == OPERATION_FROZEN && operation_can_be_called_back(operation))
        return "u undo";
    if (operation_can_be_undone(operation))
        return "u undo";
    if (operation->undone.by)
        return arena_printf(arena,
                            operation->undone.is_done ? "undone by %" PRId64 : "being undone by %" PRId64,
                            operation->undone.by);
    return "";
}

const char *
operation_step_text(const struct operation *operation, struct arena *arena)
{
    char count[TEXT_SHORT];
    size_t steps = operation->plan.step_count;
    if (steps == 0)
        return "";
    if (operation->step > (int32_t)steps)
        return arena_printf(arena, "step %zu of %zu (rest)", steps + 1, steps + 1);
    return arena_printf(arena, "step %" PRId32 " of %zu (%s)", operation->step, steps + 1,
                        text_count(operation->plan.steps[operation->step - 1], count));
}

const char *
operation_wait_text(const struct operation *operation, int64_t now, const char *separator,
                    struct arena *arena)
{
    char left[TEXT_SHORT];
    char watched[TEXT_SHORT];
    int64_t wait = operation->settle_until == TIME_ABSENT ? 0 : operation->settle_until - now;
    if (operation->state == OPERATION_WAITING)
        return arena_printf(arena, MSG_WATCHING, operation->step, operation->plan.step_count + 1, separator,
                            text_count(operation->sent.watched, watched), separator,
                            text_age(wait > 0 ? wait + US_PER_SECOND - 1 : 0, left),
                            operation->plan.halts ? arena_printf(arena, " %s " MSG_HALTS_ABOVE, separator,
                                                                 operation->plan.halt_above)
                                                  : "");
    if (operation_begins_later(operation, now))
        return operation_begin_text(operation, now, arena);
    if (operation->state == OPERATION_FROZEN && operation->send_after != TIME_ABSENT &&
        now < operation->send_after)
        return arena_printf(arena, operation->action == ACTION_CORRECT ? MSG_CORRECTING_IN : MSG_SENDING_IN,
                            text_age(operation->send_after - now + US_PER_SECOND - 1, left));
    return "";
}

const char *
operation_rate_text(int32_t rate, struct arena *arena)
{
    return rate == RATE_UNLIMITED ? "no limit" : arena_printf(arena, "%" PRId32 "/s", rate);
}

const char *
operation_moment(int64_t at, int64_t now, struct arena *arena)
{
    char text[TIME_TEXT];
    return at == TIME_ABSENT ? "" : arena_text(arena, bytes_of(time_brief(at, now, text)));
}

const char *
operation_title(const struct operation *operation, struct arena *arena)
{
    char total[TEXT_SHORT];
    if (!operation->scope)
        return arena_printf(arena, "%s: %s event%s", action_name(operation->action),
                            text_count(operation->total, total), operation->total == 1 ? "" : "s");
    return arena_printf(arena, "%s: %s", action_name(operation->action), operation->scope);
}

// The counts of an operation in the order in which they are told.
struct told_count {
    const char *word;
    int64_t count;
    bool is_always;
    enum outcome_part part; // of the bar; OUTCOME_PARTS: of none
    const char *by;         // who did that; NULL: not told
};
enum { TOLD_COUNTS = 16 };

static void
told_counts(const struct operation *operation, struct told_count counts[TOLD_COUNTS])
{
    enum operation_action action = operation->action;
    bool corrects = action == ACTION_CORRECT;
    bool sends = action == ACTION_REPROCESS;
    const struct told_count all[TOLD_COUNTS] = {
        {corrects ? MSG_CHANGED : item_state_word(ITEM_DONE, action), operation_changed(operation), true,
         sends ? OUTCOME_PARTS : PART_STAYED, NULL},
        {MSG_FORCED, operation->recipe.forced, false, OUTCOME_PARTS, NULL},
        {MSG_UNCHANGED, operation->recipe.unchanged, false, OUTCOME_PARTS, NULL},
        {MSG_NOT_APPLICABLE, operation->recipe.not_applicable, false, OUTCOME_PARTS, NULL},
        {MSG_TAKEN, operation->sent.taken.count, sends && operation->sent.taken.count >= 0, OUTCOME_PARTS,
         operation->sent.taken.by},
        {"returned", operation->returned, sends, PART_RETURNED, NULL},
        {"stayed away", operation->sent.quiet, sends && operation->done > 0, PART_STAYED, NULL},
        {"watching", operation->sent.watched, false, PART_WATCHING, NULL},
        {item_state_word(ITEM_REFUSED, action), operation->refused, false, PART_REFUSED, NULL},
        {MSG_BY_CHECK, operation->recipe.refused_by_check, false, OUTCOME_PARTS, NULL},
        {MSG_RECIPE_FAILED, operation->recipe.failed, false, OUTCOME_PARTS, NULL},
        {item_state_word(ITEM_SKIPPED, action), operation->skipped, false, PART_SKIPPED, NULL},
        {item_state_word(ITEM_IN_DOUBT, action), operation->in_doubt, false, PART_IN_DOUBT, NULL},
        {item_state_word(ITEM_CANCELLED, action), operation->cancelled, false, PART_UNSENT, NULL},
        {item_state_word(ITEM_QUEUED, action), operation->queued, false, PART_UNSENT, NULL},
        {item_state_word(ITEM_CLAIMED, action), operation->claimed, false, PART_UNSENT, NULL},
    };
    memcpy(counts, all, sizeof all);
}

static bool
is_told(const struct told_count *count)
{
    return count->is_always || count->count > 0;
}

static void
print_count(const struct told_count *count, struct strbuf *out)
{
    char number[TEXT_SHORT];
    strbuf_printf(out, "%s %s%s%s", count->word, text_count(count->count, number), count->by ? " by " : "",
                  count->by ? count->by : "");
}

const char *
operation_counts(const struct operation *operation, struct arena *arena)
{
    struct told_count counts[TOLD_COUNTS];
    told_counts(operation, counts);
    struct strbuf text = {0};
    for (size_t i = 0; i < TOLD_COUNTS; i++) {
        if (!is_told(&counts[i]))
            continue;
        strbuf_add_text(&text, text.len ? "   " : "");
        print_count(&counts[i], &text);
    }
    const char *copy = arena_text(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return copy;
}

// A count that does not fit behind the one before it begins the next line. canvas: NULL where only the lines
// are counted, which are returned.
static int
lay_counts(const struct operation *operation, struct canvas *canvas, struct area area)
{
    struct told_count counts[TOLD_COUNTS];
    told_counts(operation, counts);
    int col = area.col;
    int limit = area.col + area.cols;
    int row = area.row;
    struct strbuf text = {0};
    for (size_t i = 0; i < TOLD_COUNTS; i++) {
        if (!is_told(&counts[i]))
            continue;
        bool is_drawn = counts[i].part != OUTCOME_PARTS && counts[i].count > 0;
        struct bar_part mark = outcome_bar_part(is_drawn ? counts[i].part : PART_STAYED, counts[i].count);
        strbuf_reset(&text);
        print_count(&counts[i], &text);
        int cells = text_cells(strbuf_bytes(&text), false) + (is_drawn ? MARK_CELLS : 0);
        if (col > area.col && col + cells > limit) {
            col = area.col;
            row++;
        }
        if (canvas && row < area.row + area.rows) {
            int at = col + (is_drawn ? MARK_CELLS : 0);
            if (is_drawn)
                (void)canvas_glyph(canvas, row, col, mark.glyph, mark.role);
            chip_draw_cut(canvas, row, &at, limit, ROLE_TEXT, strbuf_bytes(&text));
        }
        col += cells + COUNT_GAP;
    }
    strbuf_release(&text);
    return row - area.row + 1;
}

void
operation_draw_counts(const struct operation *operation, struct canvas *canvas, struct area area)
{
    lay_counts(operation, canvas, area);
}

int
operation_count_rows(const struct operation *operation, int cols)
{
    return lay_counts(operation, NULL, (struct area){.cols = cols});
}

struct bar_part
outcome_bar_part(enum outcome_part part, int64_t count)
{
    static const struct bar_part parts[OUTCOME_PARTS] = {
        [PART_STAYED] = {0, GLYPH_FULL, ROLE_GAUGE},
        [PART_TAKEN] = {0, GLYPH_WATCHED, ROLE_DIM},
        [PART_WATCHING] = {0, GLYPH_WATCHED, ROLE_DIM},
        [PART_RETURNED] = {0, GLYPH_RETURNED, ROLE_EVENT_RETURNED},
        [PART_REFUSED] = {0, GLYPH_FAILED, ROLE_OPERATION_FAILED},
        [PART_SKIPPED] = {0, GLYPH_FAILED, ROLE_OPERATION_FAILED},
        [PART_IN_DOUBT] = {0, GLYPH_FAILED, ROLE_OPERATION_FAILED},
        [PART_UNSENT] = {0, GLYPH_EMPTY, ROLE_GAUGE_REST},
    };
    struct bar_part drawn = parts[part];
    drawn.count = count;
    return drawn;
}

static void
draw_text(struct canvas *canvas, struct area area, const char *text, enum role role, bool at_right)
{
    canvas_styled(canvas, area.row, area.col, area.cols, bytes_of(text ? text : ""),
                  &(struct canvas_style){.role = role, .at_right = at_right});
}

static void
draw_none(struct canvas *canvas, struct area area)
{
    canvas_glyph(canvas, area.row, area.col + area.cols - 1, GLYPH_NONE, ROLE_DIM);
}

// The hint first, then what it is about.
static void
draw_note(const struct operation *operation, struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    const char *hint = operation_hint(operation, &arena);
    const char *about = operation->state_note ? operation->state_note : operation->scope;
    if (*hint) {
        int used = canvas_text(canvas, area.row, area.col, area.cols, bytes_of(hint), ROLE_FOOTER_KEY);
        area_take_left(&area, used + 2);
    }
    draw_text(canvas, area, about, ROLE_DIM, false);
    arena_release(&arena);
}

// The time of the last day; of what is older its age, or its date.
static const char *
started_text(struct moments moments, int64_t at, char out[TEXT_SHORT])
{
    moments.by_clock |= moments.now - at < DAY;
    return (moments.by_clock ? moment_text : moment_phrase)(moments, at, out);
}

void
operation_cell(const struct operation *operation, enum operation_column column, struct moments moments,
               struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    char age[TEXT_SHORT];
    bool is_running = operation->state == OPERATION_RUNNING;
    switch (column) {
    case OPERATION_COLUMN_NO:
        draw_text(canvas, area, arena_printf(&arena, "%" PRId64, operation->no), ROLE_STRONG, true);
        break;
    case OPERATION_COLUMN_WHAT:
        draw_text(canvas, area, action_name(operation->action), ROLE_TEXT, false);
        break;
    case OPERATION_COLUMN_WHO:
        draw_text(canvas, area, operation->requested_by, ROLE_TEXT, false);
        break;
    case OPERATION_COLUMN_STATE:
        draw_text(canvas, area, row_standing(operation, moments.now, &arena),
                  operation_standing_role(operation), false);
        break;
    case OPERATION_COLUMN_SENT:
        draw_text(canvas, area, sent_text(operation, &arena), ROLE_TEXT, true);
        break;
    case OPERATION_COLUMN_RETURNED:
        if (operation->action == ACTION_REPROCESS)
            canvas_count(canvas, area.row, area.col, area.cols, operation->returned,
                         operation->returned ? ROLE_EVENT_RETURNED : ROLE_TEXT);
        else
            draw_none(canvas, area);
        break;
    case OPERATION_COLUMN_RATE:
        if (is_running)
            draw_text(canvas, area, arena_printf(&arena, "%.0f/s", operation->rate_now), ROLE_TEXT, true);
        else
            draw_none(canvas, area);
        break;
    case OPERATION_COLUMN_STARTED:
        if (operation->started_at == TIME_ABSENT)
            draw_none(canvas, area);
        else
            draw_text(canvas, area, started_text(moments, operation->started_at, age), ROLE_TEXT, true);
        break;
    case OPERATION_COLUMN_NOTE:
        draw_note(operation, canvas, area);
        break;
    case OPERATION_COLUMNS:
        break;
    }
    arena_release(&arena);
}

static void
preview_line(struct canvas *canvas, struct area *area, const char *text, enum role role)
{
    struct area line = area_take_top(area, 1);
    if (line.rows > 0 && *text)
        draw_text(canvas, line, text, role, false);
}

void
operation_draw_preview(const struct operation *operation, struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    preview_line(canvas, &area, operation_title(operation, &arena), ROLE_STRONG);
    preview_line(canvas, &area, operation_counts(operation, &arena), ROLE_TEXT);
    preview_line(canvas, &area,
                 arena_printf(&arena, "%s%s%s%s%s%s", operation->requested_by,
                              operation->host ? " from " : "", operation->host ? operation->host : "",
                              operation->reason ? "   \"" : "", operation->reason ? operation->reason : "",
                              operation->reason ? "\"" : ""),
                 ROLE_TEXT);
    const char *hint = operation_hint(operation, &arena);
    const char *note = operation_state_is_final(operation->state) ? operation_standing(operation, &arena)
                       : operation->state_note                    ? operation->state_note
                                                                  : "";
    preview_line(canvas, &area, arena_printf(&arena, "%s%s%s", hint, *hint && *note ? "   " : "", note),
                 operation_standing_role(operation));
    arena_release(&arena);
}

void
operation_row_text(const struct operation *operation, struct strbuf *out)
{
    struct arena arena = {0};
    strbuf_printf(out, "%" PRId64, operation->no);
    row_text_add(out, action_name(operation->action));
    row_text_add(out, operation_state_word(operation->state));
    row_text_add(out, outcome_sentence(operation, &arena));
    row_text_add(out, operation->requested_by);
    row_text_add(out, operation->host);
    row_text_add(out, operation->scope);
    row_text_add(out, operation->filter_text);
    row_text_add(out, operation->group);
    row_text_add(out, operation->reason);
    row_text_add(out, operation->state_note);
    row_text_add(out, operation->target_topic);
    arena_release(&arena);
}
