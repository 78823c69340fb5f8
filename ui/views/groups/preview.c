#include "ui/views/groups/preview.h"

#include <inttypes.h>
#include <string.h>
#include "base/text.h"
#include "ui/app/operation_words.h"
#include "ui/views/care.h"
#include "ui/views/events/row.h"
#include "ui/views/groups/row.h"
#include "ui/widgets/preview.h"
#include "ui/widgets/sparkline.h"
#include "ui/views/groups/texts.h"

enum { SAMPLE_ROWS = 3, AGE_CELLS = 4, ID_CELLS = 11, HOURLY_FROM_COLS = 48, CHART_ROWS = 5 };

// Bytes of a message before and behind what its pattern is made of, up to which the pattern is seen in it.
enum { MOST_BEFORE = 24, MOST_BEHIND = 120 };

// "order.created 28,010   order.updated 3,194"; "order.created" when all of them are.
static const char *
shares_text(const struct group_share *shares, struct arena *arena)
{
    const char *text = "";
    char count[TEXT_SHORT];
    bool has_several = shares[1].count > 0;
    for (int i = 0; i < GROUP_TOP && shares[i].count > 0; i++)
        text = arena_printf(arena, "%s%s%s%s%s", text, i ? "   " : "",
                            shares[i].name ? shares[i].name : "(none)", has_several ? " " : "",
                            has_several ? text_count(shares[i].count, count) : "");
    return text;
}

static const char *
moment(int64_t at, int64_t now, char out[TIME_TEXT])
{
    return at == TIME_ABSENT ? "never" : time_brief(at, now, out);
}

static const char *
retries_text(const struct event_group *group, const char *dash, struct arena *arena)
{
    if (group->retries_low < 0)
        return "";
    return group->retries_low == group->retries_high
               ? arena_printf(arena, "retries %d", (int)group->retries_low)
               : arena_printf(arena, "retries %d%s%d", (int)group->retries_low, dash,
                              (int)group->retries_high);
}

// Draws a text over as many rows of the area as it needs and takes them off it.
static void
draw_wrapped_spans(struct canvas *canvas, struct area *area, struct bytes text, enum role role,
                   const struct canvas_span *spans, size_t count)
{
    for (size_t at = 0; at < text.len && area->rows > 0;) {
        size_t len = text_fit(text, at, area->cols, canvas->is_ascii);
        struct bytes line = bytes_trim(bytes_slice(text, at, len));
        size_t from = (size_t)(line.data - text.data);
        struct canvas_span of_line[GROUP_VARYING];
        size_t some = 0;
        for (size_t i = 0; i < count; i++) {
            size_t begin = spans[i].from > from ? spans[i].from : from;
            size_t end = spans[i].from + spans[i].len;
            end = end < from + line.len ? end : from + line.len;
            if (begin < end)
                of_line[some++] =
                    (struct canvas_span){.from = begin - from, .len = end - begin, .role = spans[i].role};
        }
        struct area row = area_take_top(area, 1);
        (void)canvas_styled(canvas, row.row, row.col, row.cols, line,
                            &(struct canvas_style){.role = role, .spans = of_line, .span_count = some});
        at += len ? len : 1;
    }
}

static void
group_preview_draw_wrapped(struct canvas *canvas, struct area *area, struct bytes text, enum role role)
{
    struct canvas_span spans[GROUP_SPANS];
    size_t count = group_placeholders(text, spans, GROUP_SPANS);
    draw_wrapped_spans(canvas, area, text, role, spans, count);
}

// By the hour where there is room for that, else by two hours: a cell is three bytes, and another group has
// another curve.
static void
draw_heat_line(const struct event_group *group, struct canvas *canvas, struct area *area)
{
    struct area line = area_take_top(area, 1);
    if (line.rows < 1)
        return;
    int used = canvas_text(canvas, line.row, line.col, line.cols, BYTES("last 24 h "), ROLE_DIM);
    int hours = line.cols < HOURLY_FROM_COLS ? 2 : 1;
    uint32_t curve[GROUP_HEAT] = {0};
    for (int i = 0; i < GROUP_HEAT; i++)
        curve[i / hours] += group->heat[i];
    sparkline_draw(canvas, line.row, line.col + used, line.cols - used, curve, (size_t)(GROUP_HEAT / hours),
                   ROLE_GRAPH);
}

static bool
begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool
group_preview_ends_with(const char *text, const char *word)
{
    size_t len = strlen(text);
    size_t part = strlen(word);
    return part <= len && strcmp(text + len - part, word) == 0;
}

bool
group_varying(struct bytes pattern, struct bytes message, struct canvas_span spans[GROUP_VARYING],
              size_t *count)
{
    struct canvas_span places[GROUP_SPANS];
    size_t place_count = group_placeholders(pattern, places, GROUP_SPANS);
    size_t at = 0; // of what is not placed yet in the message
    *count = 0;
    for (size_t i = 0; i <= place_count; i++) {
        size_t from = i == 0 ? 0 : places[i - 1].from + places[i - 1].len;
        size_t to = i == place_count ? pattern.len : places[i].from;
        struct bytes words = bytes_slice(pattern, from, to - from);
        size_t found =
            i > 0 && i == place_count && words.len == 0 ? message.len : bytes_find(message, words, at);
        if (found == SIZE_MAX || (i == 0 && found > MOST_BEFORE))
            return false;
        if (found > at)
            spans[(*count)++] = (struct canvas_span){.from = at, .len = found - at, .role = ROLE_DIM};
        at = found + words.len;
    }
    if (message.len - at > MOST_BEHIND)
        return false;
    if (message.len > at)
        spans[(*count)++] = (struct canvas_span){.from = at, .len = message.len - at, .role = ROLE_DIM};
    return true;
}

// One message as it came, without the class in front of it.
static const char *
message_of(const struct event_group *group)
{
    const char *name = group->text.error_class ? group->text.error_class : "";
    const char *sample = group->text.sample ? group->text.sample : "";
    if (*name && begins_with(sample, name))
        sample += strlen(name) + strspn(sample + strlen(name), ": ");
    return sample;
}

// The title with its placeholders filled in from one event: both what the group has in common and an example.
// False, and nothing drawn: the message differs from the root cause that names the group.
static bool
draw_title_as_seen(const struct event_group *group, const char *title, struct canvas *canvas,
                   struct area *area, struct arena *arena)
{
    struct canvas_span spans[GROUP_VARYING];
    size_t count;
    const char *words = group->text.pattern;
    if (!words || !*words || !group_preview_ends_with(title, words))
        return false;
    struct bytes pattern = bytes_of(words);
    const char *message = message_of(group);
    if (!group_varying(pattern, bytes_of(message), spans, &count))
        return false;
    size_t before = strlen(title) - pattern.len; // "SocketTimeoutException: "
    for (size_t i = 0; i < count; i++)
        spans[i].from += before;
    const char *seen = arena_printf(arena, "%.*s%s", (int)before, title, message);
    draw_wrapped_spans(canvas, area, bytes_of(seen), ROLE_STRONG, spans, count);
    return true;
}

// The group's title, its frame and one of its messages.
static void
draw_name(const struct event_group *group, enum pivot pivot, struct canvas *canvas, struct area *area,
          struct arena *arena)
{
    const char *title = group_title(group, pivot, arena);
    bool is_seen = pivot == PIVOT_ERROR && draw_title_as_seen(group, title, canvas, area, arena);
    if (!is_seen)
        group_preview_draw_wrapped(canvas, area, bytes_of(title), ROLE_STRONG);
    if (group->text.frame)
        group_preview_draw_wrapped(canvas, area, bytes_of(arena_printf(arena, "at %s", group->text.frame)),
                                   ROLE_STRONG);
    const char *message = message_of(group);
    if (is_seen || !*message || group_preview_ends_with(title, message))
        return;
    struct area part = area_take_top(area, SAMPLE_ROWS);
    group_preview_draw_wrapped(canvas, &part, bytes_of(arena_printf(arena, "seen as: %s", message)),
                               ROLE_TEXT);
    area->row -= part.rows; // what the sample leaves
    area->rows += part.rows;
}

// "resolved 12   discarded 3   reprocessed 840   since 14:02:11   returned 17", without the zeros. `since` is
// when the counting of outcomes began. Fresh are all that did not return, known once all returns are.
static const char *
outcomes_text(const struct event_group *group, int64_t now, struct arena *arena)
{
    const struct group_outcomes *outcomes = &group->outcomes;
    const struct {
        const char *name;
        int64_t count;
    } parts[] = {{"resolved", outcomes->resolved},
                 {"discarded", outcomes->discarded},
                 {"reprocessed", outcomes->reprocessed}};
    const char *text = "";
    char count[TEXT_SHORT];
    char fresh[TEXT_SHORT];
    char time[TIME_TEXT];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count > 0)
            text = arena_printf(arena, "%s%s%s %s", text, *text ? "   " : "", parts[i].name,
                                text_count(parts[i].count, count));
    if (*text && outcomes->since)
        text = arena_printf(arena, "%s   since %s", text, moment(outcomes->since, now, time));
    // Fresh arrivals say that the cause goes on; returned ones, that the last attempt failed.
    if (outcomes->returned > 0 && outcomes->is_partial)
        text = arena_printf(arena, "%s%s" MSG_RETURNED_SO_FAR, text, *text ? "   " : "",
                            text_count(outcomes->returned, count));
    else if (outcomes->returned > 0)
        text = arena_printf(arena, "%s%sreturned %s   fresh %s", text, *text ? "   " : "",
                            text_count(outcomes->returned, count),
                            text_count(group->count - outcomes->returned, fresh));
    return text;
}

static void
preview_line(struct canvas *canvas, struct area *area, const char *text, enum role role)
{
    struct area line = area_take_top(area, 1);
    if (line.rows > 0)
        group_draw_masked(canvas, line, bytes_of(text), role);
}

static void
draw_chart(const struct event_group *group, struct canvas *canvas, struct area area)
{
    const struct chart chart = {
        .values = group->heat, .count = GROUP_HEAT, .from = MSG_CHART_FROM, .to = MSG_CHART_TO};
    (void)chart_draw(canvas, area, &chart, ROLE_GRAPH);
}

// "operation 41: reprocess by ana 2h ago: DONE, BUT 2,011 OF 2,011 RETURNED", in the colour of how it ended.
static const char *
decision_text(const struct group_previewed *previewed, enum role *role, struct arena *arena)
{
    const struct operation *decision = previewed->recent ? previewed->recent->decision : NULL;
    char at[TEXT_SHORT];
    if (!decision)
        return "";
    *role = operation_standing_role(decision);
    return arena_printf(arena, MSG_LAST_DECISION, decision->no, action_name(decision->action),
                        decision->requested_by, moment_phrase(previewed->moments, decision->created_at, at),
                        operation_standing(decision, arena));
}

// "  4s  912,204  order.created  c-88213  connect to pay-3:443 timed out", a row each, as far as there is
// room.
static void
draw_newest(const struct group_previewed *previewed, struct canvas *canvas, struct area *area)
{
    size_t count = previewed->recent ? previewed->recent->count : 0;
    for (size_t i = 0; i < count && area->rows > 0; i++) {
        const struct event *event = &previewed->recent->events[i];
        const struct bytes parts[] = {event->event_type, event_key(event)};
        struct area row = area_take_top(area, 1);
        struct area at = area_take_left(&row, moment_cells(previewed->moments.by_clock, AGE_CELLS));
        char text[TEXT_SHORT];
        if (event->created_at != TIME_ABSENT)
            canvas_styled(canvas, at.row, at.col, at.cols,
                          bytes_of(moment_text(previewed->moments, event->created_at, text)),
                          &(struct canvas_style){.role = ROLE_DIM, .at_right = true});
        struct area id = area_take_left(&row, ID_CELLS);
        canvas_count(canvas, id.row, id.col, id.cols, event->id, ROLE_DIM);
        area_take_left(&row, 2);
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
            if (bytes_present(parts[part]))
                area_take_left(&row,
                               canvas_text(canvas, row.row, row.col, row.cols, parts[part], ROLE_TEXT) + 2);
        (void)canvas_text(canvas, row.row, row.col, row.cols, event_headline(event), ROLE_TEXT);
    }
}

// What people say about it, and what the runbook says.
static void
draw_care(const struct group_previewed *previewed, struct canvas *canvas, struct area *area,
          struct arena *arena)
{
    const char *words = care_words(previewed->care, previewed->moments, previewed->group->count, arena);
    group_preview_draw_wrapped(canvas, area, bytes_of(words), ROLE_STATUS_WARN);
    if (previewed->advice)
        group_preview_draw_wrapped(canvas, area, bytes_of(advice_words(previewed->advice, arena)),
                                   ROLE_STATUS_INFO);
}

// By error only: other pivots have no category.
static const char *
advice_text(const struct group_previewed *previewed)
{
    enum category category = previewed->group->category;
    bool has_advice = previewed->pivot == PIVOT_ERROR && category != CATEGORY_UNKNOWN && !previewed->advice;
    return has_advice ? category_advice(category) : "";
}

// The rows that every group has come first: from one group to the next only their numbers change, which keeps
// a key cheap over a slow line.
static void
draw_facts(const struct group_previewed *previewed, struct canvas *canvas, struct area *area,
           struct arena *arena)
{
    const struct event_group *group = previewed->group;
    char count[TEXT_SHORT];
    char rate[TEXT_SHORT];
    char first[TIME_TEXT];
    char last[TIME_TEXT];
    bool is_by_error = previewed->pivot == PIVOT_ERROR;
    enum role role = ROLE_TEXT;
    int64_t now = previewed->moments.now;
    const char *facts[] = {
        arena_printf(arena, "%s event%s   %s   first %s   last %s", text_count(group->count, count),
                     group->count == 1 ? "" : "s", group_rate_text(group->per_minute, rate),
                     moment(group->first_at, now, first), moment(group->last_at, now, last)),
        !is_by_error
            ? ""
            : arena_printf(arena, "group %.8s%s   %s%s", group->value,
                           group->is_overridden ? MSG_SET_BY_HAND : "",
                           retries_text(group, glyph_text(canvas, GLYPH_NONE), arena),
                           group->is_returned && !group->outcomes.returned ? MSG_RETURNED_AFTER_EMPTIED : ""),
        arena_printf(arena, "%s   %s", shares_text(group->types, arena), shares_text(group->topics, arena)),
        outcomes_text(group, now, arena),
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        group_preview_draw_wrapped(canvas, area, bytes_of(facts[i]), ROLE_TEXT);
    const char *decision = decision_text(previewed, &role, arena);
    group_preview_draw_wrapped(canvas, area, bytes_of(decision), role);
    draw_care(previewed, canvas, area, arena);
    group_preview_draw_wrapped(canvas, area, bytes_of(advice_text(previewed)),
                               category_role(group->category));
}

// The chart at a place that no text above it moves; where all is drawn, below the text.
static void
preview_tall(const struct group_previewed *previewed, struct canvas *canvas, struct area area,
             struct arena *arena)
{
    bool is_whole = area.rows >= PREVIEW_WHOLE;
    struct area right = preview_take_right(&area);
    struct area *beside = right.cols ? &right : &area;
    struct area chart = {0};
    if (!is_whole)
        chart = area_take_bottom(beside, CHART_ROWS);
    draw_facts(previewed, canvas, &area, arena);
    area_take_top(&area, area.rows > PREVIEW_TALL - 3 ? 1 : 0);
    draw_name(previewed->group, previewed->pivot, canvas, &area, arena);
    if (!right.cols)
        area_take_top(&area, area.rows > 1 ? 1 : 0);
    draw_newest(previewed, canvas, beside);
    if (is_whole) {
        area_take_top(beside, 1);
        chart = area_take_top(beside, CHART_ROWS);
    }
    draw_chart(previewed->group, canvas, chart);
}

static void
preview_low(const struct group_previewed *previewed, struct canvas *canvas, struct area area,
            struct arena *arena)
{
    const struct event_group *group = previewed->group;
    char count[TEXT_SHORT];
    char first[TIME_TEXT];
    char last[TIME_TEXT];
    enum role role = ROLE_TEXT;
    int64_t now = previewed->moments.now;
    preview_line(
        canvas, &area,
        arena_printf(arena, "%s event%s   first %s   last %s   %s%s", text_count(group->count, count),
                     group->count == 1 ? "" : "s", moment(group->first_at, now, first),
                     moment(group->last_at, now, last),
                     retries_text(group, glyph_text(canvas, GLYPH_NONE), arena),
                     group->is_returned && !group->outcomes.returned ? MSG_RETURNED_AFTER_EMPTIED : ""),
        ROLE_TEXT);
    preview_line(canvas, &area,
                 arena_printf(arena, "%s   %s   %s", shares_text(group->types, arena),
                              shares_text(group->topics, arena), outcomes_text(group, now, arena)),
                 ROLE_TEXT);
    preview_line(canvas, &area, group_title(group, previewed->pivot, arena), ROLE_STRONG);
    const char *decision = decision_text(previewed, &role, arena);
    if (*decision)
        preview_line(canvas, &area, decision, role);
    draw_care(previewed, canvas, &area, arena);
    if (group->text.frame)
        preview_line(canvas, &area, arena_printf(arena, "  at %s", group->text.frame), ROLE_TEXT);
    if (group->text.sample)
        preview_line(canvas, &area, arena_printf(arena, "  seen as: %s", group->text.sample), ROLE_DIM);
    else
        draw_heat_line(group, canvas, &area);
    const char *advice = advice_text(previewed);
    if (*advice)
        preview_line(canvas, &area, advice, category_role(group->category));
}

void
group_preview(const struct group_previewed *previewed, struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    (area.rows >= PREVIEW_TALL ? preview_tall : preview_low)(previewed, canvas, area, &arena);
    arena_release(&arena);
}
