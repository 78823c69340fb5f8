#include "ui/views/events/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/json.h"
#include "ui/widgets/preview.h"
#include "ui/views/events/texts.h"

enum { SPANS = 16, LONGEST_AGE = 8, PRETTY_LIMIT = 16 << 10, CLASS_MOST = 64, WORDS_LEAST = 16, CONTEXT = 5 };

#define HEADING "error"

const struct table_column event_columns[EVENT_COLUMNS] = {
    [COLUMN_ID] = {.title = "id", .width = 9, .widest = 11, .priority = 2, .at_right = true},
    [COLUMN_MARKS] = {.title = "", .width = 3, .priority = 1},
    [COLUMN_WHEN] = {.title = "when", .width = 4, .priority = 1, .at_right = true},
    [COLUMN_TYPE] = {.title = "type", .width = 13, .widest = 18, .priority = 3},
    [COLUMN_KEY] = {.title = "key", .width = 9, .widest = 14, .priority = 4},
    [COLUMN_TRY] = {.title = "try", .width = 3, .priority = 5, .at_right = true},
    [COLUMN_STATUS] = {.title = "status", .width = 9, .priority = 6, .yields_below = 44},
    [COLUMN_PATH] = {.title = "path", .width = 12, .widest = 30, .priority = 1},
    [COLUMN_ERROR] = {.title = "error", .width = 20, .widest = TABLE_REST, .wish = 36},
};

static int
by_id(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

// The class that all their messages begin with, with the colon behind it, as far as there is something to
// compare.
static size_t
shared_class(const struct row_cache *cache)
{
    struct bytes shared = event_class_of(event_headline(&cache->rows[0]));
    for (size_t i = 1; i < cache->count && shared.len; i++)
        if (!bytes_equal(event_class_of(event_headline(&cache->rows[i])), shared))
            return 0;
    return shared.len && shared.len < CLASS_MOST ? shared.len + sizeof ": " - 1 : 0;
}

// And the words behind the first `from` bytes, but for the last of them: a row begins with what tells what
// differs in it. 0: they are few, or nothing differs.
static size_t
shared_words(const struct row_cache *cache, size_t from)
{
    struct bytes first = event_headline(&cache->rows[0]);
    size_t shared = first.len;
    bool is_same = true;
    for (size_t i = 1; i < cache->count; i++) {
        struct bytes other = event_headline(&cache->rows[i]);
        is_same &= bytes_equal(first, other);
        size_t len = 0;
        while (len < shared && len < other.len && first.data[len] == other.data[len])
            len++;
        shared = len;
    }
    for (size_t end = shared; shared > from && (end - shared < CONTEXT || first.data[shared - 1] != ' ');)
        shared--;
    return !is_same && shared >= from + WORDS_LEAST ? shared : 0;
}

static void
find_shared(struct row_cache *cache)
{
    size_t of_class = cache->count > 1 ? shared_class(cache) : 0;
    size_t of_words = cache->count > 1 ? shared_words(cache, of_class) : 0;
    cache->shared = of_words ? of_words : of_class;
    struct bytes said = bytes_trim(row_cache_shared(cache));
    size_t len = utf8_cut(said, sizeof cache->heading - sizeof HEADING ": ");
    if (!said.len)
        snprintf(cache->heading, sizeof cache->heading, HEADING);
    else // of a class alone without the colon
        snprintf(cache->heading, sizeof cache->heading, HEADING ": %.*s", (int)len - !of_words, said.data);
}

static void
measure(struct row_cache *cache)
{
    char id[TEXT_SHORT];
    for (size_t i = 0; i < cache->count; i++) {
        const struct event *event = &cache->rows[i];
        const struct {
            enum event_column column;
            struct bytes text;
        } cells[] = {{COLUMN_ID, bytes_of(text_count(event->id, id))},
                     {COLUMN_TYPE, event->event_type},
                     {COLUMN_KEY, event_key(event)},
                     {COLUMN_PATH, event->at_path}};
        for (size_t cell = 0; cell < sizeof cells / sizeof *cells; cell++) {
            int *widest = &cache->widest[cells[cell].column];
            int width = bytes_present(cells[cell].text) ? text_cells(cells[cell].text, false) : 0;
            *widest = width > *widest ? width : *widest;
        }
    }
}

void
row_cache_take(struct row_cache *cache, struct reply *reply)
{
    row_cache_release(cache);
    arena_adopt(&cache->arena, &reply->arena);
    cache->rows = reply->rows.events;
    cache->count = reply->rows.count;
    reply->rows.events = NULL;
    reply->rows.count = 0;
    if (cache->count)
        qsort(cache->rows, cache->count, sizeof *cache->rows, by_id);
    find_shared(cache);
    measure(cache);
}

struct bytes
row_cache_shared(const struct row_cache *cache)
{
    return cache->shared ? bytes_slice(event_headline(&cache->rows[0]), 0, cache->shared) : BYTES("");
}

const struct event *
row_cache_find(const struct row_cache *cache, int64_t id)
{
    if (!cache->count)
        return NULL;
    struct event wanted = {.id = id};
    return bsearch(&wanted, cache->rows, cache->count, sizeof *cache->rows, by_id);
}

void
row_cache_release(struct row_cache *cache)
{
    arena_release(&cache->arena);
    cache->rows = NULL;
    cache->count = 0;
    cache->shared = 0;
    cache->heading[0] = '\0';
}

static enum role
status_role(enum event_status status)
{
    switch (status) {
    case EVENT_RESOLVED:
        return ROLE_EVENT_RESOLVED;
    case EVENT_DISCARDED:
        return ROLE_EVENT_DISCARDED;
    case EVENT_PENDING:
    case EVENT_OTHER:
        break;
    }
    return ROLE_EVENT_PENDING;
}

// "~ ↩2 ! ⧗", as many as fit.
static void
draw_marks(const struct event *event, struct canvas *canvas, struct area area)
{
    int col = area.col;
    int end = area.col + area.cols;
    if (event->status != EVENT_PENDING && col < end) {
        canvas_glyph(canvas, area.row, col, GLYPH_CLOSED, status_role(event->status));
        return;
    }
    if (event->known.operation && col < end)
        col += canvas_glyph(canvas, area.row, col, GLYPH_BUSY, ROLE_EVENT_BUSY);
    if (event->known.revisions > 0 && col < end)
        col += canvas_glyph(canvas, area.row, col, GLYPH_EDITED, ROLE_EVENT_EDITED);
    if (event->known.is_quarantined && col < end)
        canvas_glyph(canvas, area.row, col, GLYPH_QUARANTINE, ROLE_EVENT_QUARANTINED);
    else if (event->known.returned > 0 && col + 1 < end) {
        col += canvas_printf(canvas, area.row, col, end - col - 1, ROLE_EVENT_RETURNED, "%" PRId32,
                             event->known.returned);
        canvas_glyph(canvas, area.row, col, GLYPH_BACK, ROLE_EVENT_RETURNED);
    }
}

static struct bytes
first_line(struct bytes text)
{
    size_t end = bytes_find(text, BYTES("\n"), 0);
    return end == SIZE_MAX ? text : bytes_slice(text, 0, end);
}

// A text is cut at its beginning where its first match would stand right of the area: a third of the area
// shows what is before the match. Returns the bytes to leave out.
static size_t
hidden_before_match(struct bytes text, size_t hidden, const struct filter_span *match, int cols,
                    bool is_ascii)
{
    int upto_end = text_cells(bytes_slice(text, hidden, match->from + match->len - hidden), is_ascii);
    if (upto_end < cols)
        return hidden;
    size_t from = match->from;
    int before = 0;
    while (from > hidden && before < cols / 3) {
        from = utf8_cut(text, from - 1);
        before = text_cells(bytes_slice(text, from, match->from - from), is_ascii);
    }
    return from;
}

// Not behind a package or a class.
static bool
is_within_sentence(struct bytes text, size_t at)
{
    return at > 1 && at < text.len && text.data[at - 1] == ' ' && text.data[at - 2] != ':';
}

// The first `hidden` bytes are looked at by the filter, and left out of the picture.
static void
draw_rest(struct canvas *canvas, struct area area, struct bytes text, size_t hidden, enum role role,
          struct filter *filter, enum filter_column column)
{
    struct filter_span found[SPANS];
    struct canvas_span spans[SPANS];
    size_t found_count = filter && bytes_present(text) ? filter_spans(filter, column, text, found, SPANS) : 0;
    size_t count = 0;
    size_t package = hidden;
    for (size_t i = 0; i < found_count && hidden == package; i++)
        if (found[i].from >= hidden)
            hidden = hidden_before_match(text, hidden, &found[i], area.cols, canvas->is_ascii);
    if ((hidden > package || is_within_sentence(text, hidden)) && area.cols > 1) {
        (void)canvas_glyph(canvas, area.row, area.col, GLYPH_ELLIPSIS, ROLE_DIM);
        area_take_left(&area, 1);
    }
    for (size_t i = 0; i < found_count; i++) {
        size_t from = found[i].from > hidden ? found[i].from : hidden;
        size_t end = found[i].from + found[i].len;
        if (end > from)
            spans[count++] =
                (struct canvas_span){.from = from - hidden, .len = end - from, .role = ROLE_MATCH};
    }
    canvas_styled(canvas, area.row, area.col, area.cols, bytes_slice(text, hidden, text.len - hidden),
                  &(struct canvas_style){.role = role, .spans = spans, .span_count = count});
}

static void
draw_highlighted(struct canvas *canvas, struct area area, struct bytes text, enum role role,
                 struct filter *filter, enum filter_column column)
{
    draw_rest(canvas, area, text, 0, role, filter, column);
}

static bool
is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

size_t
event_package_len(struct bytes message)
{
    size_t package = 0;
    size_t at = 0;
    for (; at < message.len && (is_name(message.data[at]) || message.data[at] == '.'); at++)
        if (message.data[at] == '.')
            package = at + 1;
    bool is_class =
        package > 0 && package < at && message.data[package] >= 'A' && message.data[package] <= 'Z';
    struct bytes behind = bytes_slice(message, at, message.len);
    bool has_end = !behind.len || *behind.data == ':' || bytes_starts(behind, " (0x"); // .NET's number of it
    return is_class && has_end ? package : 0;
}

struct bytes
event_class_of(struct bytes headline)
{
    size_t len = 0;
    bool has_small = false;
    for (; len < headline.len && is_name(headline.data[len]); len++)
        has_small |= headline.data[len] >= 'a' && headline.data[len] <= 'z';
    bool is_class = has_small && headline.data[0] >= 'A' && headline.data[0] <= 'Z' &&
                    bytes_starts(bytes_slice(headline, len, headline.len), ": ");
    return is_class ? bytes_slice(headline, 0, len) : BYTES("");
}

static bool
has_match_before(struct bytes text, size_t end, struct filter *filter)
{
    struct filter_span found[SPANS];
    size_t count = filter ? filter_spans(filter, FILTER_COLUMN_ERROR, text, found, SPANS) : 0;
    for (size_t i = 0; i < count; i++)
        if (found[i].from < end)
            return true;
    return false;
}

// As people speak of it: the class without its package, and without what the heading says. A match in that
// stays visible. The preview and the event itself have all of it.
static void
draw_error(const struct event *event, enum role role, const struct event_look *look, struct canvas *canvas,
           struct area area)
{
    struct bytes line = first_line(event_error_text(event));
    size_t hidden = event_package_len(line);
    size_t upto_rest = hidden + look->shared.len;
    if (event->known.unreadable_error)
        role = ROLE_STATUS_WARN;
    if (look->shared.len && bytes_equal(bytes_slice(line, hidden, look->shared.len), look->shared) &&
        !has_match_before(line, upto_rest, look->filter))
        hidden = upto_rest;
    draw_rest(canvas, area, line, hidden, role, look->filter, FILTER_COLUMN_ERROR);
}

struct bytes
event_headline(const struct event *event)
{
    struct bytes line = first_line(event_error_text(event));
    size_t package = event_package_len(line);
    return bytes_slice(line, package, line.len - package);
}

void
event_cell(const struct event *event, enum event_column column, const struct event_look *look,
           struct canvas *canvas, struct area area)
{
    enum role role = status_role(event->status);
    char text[TEXT_SHORT];
    switch (column) {
    case COLUMN_ID:
        canvas_count(canvas, area.row, area.col, area.cols, event->id, role);
        break;
    case COLUMN_MARKS:
        draw_marks(event, canvas, area);
        break;
    case COLUMN_WHEN:
        if (event->created_at != TIME_ABSENT)
            canvas_styled(canvas, area.row, area.col, area.cols,
                          bytes_of(moment_text(look->moments, event->created_at, text)),
                          &(struct canvas_style){.role = role, .at_right = true});
        break;
    case COLUMN_TYPE:
        draw_highlighted(canvas, area, event->event_type, role, look->filter, FILTER_COLUMN_TYPE);
        break;
    case COLUMN_KEY:
        draw_highlighted(canvas, area, event_key(event), role, look->filter, FILTER_COLUMN_KEY);
        break;
    case COLUMN_TRY:
        canvas_count(canvas, area.row, area.col, area.cols, event->retries.count, role);
        break;
    case COLUMN_STATUS:
        canvas_text(canvas, area.row, area.col, area.cols, bytes_of(event_status_name(event->status)), role);
        break;
    case COLUMN_PATH:
        canvas_text(canvas, area.row, area.col, area.cols, event->at_path, role);
        break;
    case COLUMN_ERROR:
        draw_error(event, role, look, canvas, area);
        break;
    case EVENT_COLUMNS:
        break;
    }
}

static int
rows_needed(struct bytes text, struct area area, bool is_ascii)
{
    int rows = 0;
    for (size_t at = 0; at < text.len && rows <= area.rows; rows++)
        at = text_resume(text, at + text_fit(text, at, area.cols, is_ascii));
    return rows;
}

// Draws a text over as many rows of the area as it needs, at most `rows`; returns how many it took.
static int
event_row_draw_wrapped(struct canvas *canvas, struct area area, int rows, struct bytes text, enum role role,
                       struct filter *filter, enum filter_column column)
{
    int used = 0;
    for (size_t at = 0; at < text.len && used < rows && used < area.rows; used++) {
        size_t len = text_fit(text, at, area.cols, canvas->is_ascii);
        struct area line = {.row = area.row + used, .col = area.col, .rows = 1, .cols = area.cols};
        draw_highlighted(canvas, line, bytes_slice(text, at, len), role, filter, column);
        at = text_resume(text, at + len);
    }
    return used;
}

// Indented where there is room and it is whole; as it is stored where only that fits.
static void
draw_payload(const struct event *event, struct filter *filter, struct canvas *canvas, struct area area,
             bool is_tall)
{
    struct strbuf pretty = {0};
    struct bytes text = event_payload_shown(event);
    bool is_whole = (bytes_present(event->record.decoded) || event->payload_size == event->payload.len) &&
                    text.len <= PRETTY_LIMIT;
    if (is_tall && is_whole && json_format(text, &pretty) &&
        (rows_needed(strbuf_bytes(&pretty), area, canvas->is_ascii) <= area.rows ||
         rows_needed(text, area, canvas->is_ascii) > area.rows))
        text = strbuf_bytes(&pretty);
    event_row_draw_wrapped(canvas, area, area.rows, text, ROLE_TEXT, filter, FILTER_COLUMN_PAYLOAD);
    strbuf_release(&pretty);
}

// Where there is no payload: the original that the dead letter points at is gone, or not fetched yet.
static void
draw_no_original(const struct event *event, struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    struct bytes original = event_original_text(event, &arena);
    if (bytes_present(original))
        event_row_draw_wrapped(canvas, area, area.rows,
                               bytes_of(arena_printf(&arena, MSG_NO_ORIGINAL, BYTES_ARGS(original))),
                               ROLE_STATUS_WARN, NULL, FILTER_COLUMN_PAYLOAD);
    arena_release(&arena);
}

void
event_preview(const struct event *event, struct filter *filter, struct canvas *canvas, struct area area)
{
    char created[TIME_TEXT] = "";
    bool is_tall = area.rows >= PREVIEW_TALL;
    struct area right = preview_take_right(&area);
    if (event->created_at != TIME_ABSENT)
        time_local(event->created_at, created);
    struct arena *arena = &(struct arena){0};
    const char *where = "no topic";
    if (bytes_present(event->topic))
        where = event->origin.has_partition && event->origin.has_offset
                    ? arena_printf(arena, "%s p%" PRId32 " @%" PRId64, arena_text(arena, event->topic),
                                   event->origin.partition, event->origin.offset)
                    : arena_text(arena, event->topic);
    if (area.rows > 2) {
        struct area top = area_take_top(&area, 1);
        canvas_printf(canvas, top.row, top.col, top.cols, ROLE_DIM,
                      "%s  %s  retries %" PRId32 "/%" PRId32 "  %s", created, where, event->retries.count,
                      event->retries.max, category_name(event->category));
    }
    arena_release(arena);

    int error_rows = area.rows > 6 ? 4 : area.rows > 2 ? 2 : area.rows > 1 ? 1 : 0;
    int used = event_row_draw_wrapped(canvas, area, error_rows, event_error_text(event),
                                      event->known.unreadable_error ? ROLE_STATUS_WARN : ROLE_STRONG, filter,
                                      FILTER_COLUMN_ERROR);
    area_take_top(&area, used);
    area = right.cols ? right : area;
    if (event->known.unreadable)
        event_row_draw_wrapped(canvas, area, area.rows, bytes_of(event->known.unreadable), ROLE_STATUS_WARN,
                               NULL, FILTER_COLUMN_PAYLOAD);
    else if (bytes_present(event->payload))
        draw_payload(event, filter, canvas, area, is_tall);
    else
        draw_no_original(event, canvas, area);
}

// A value as a filter term takes it exactly: "=…" with what needs it quoted.
static const char *
exact_term(struct arena *arena, const char *field, struct bytes value)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s:=", field);
    bool needs_quotes =
        bytes_find(value, BYTES(" "), 0) != SIZE_MAX || bytes_find(value, BYTES("\""), 0) != SIZE_MAX;
    if (needs_quotes)
        strbuf_add_char(&out, '"');
    for (size_t i = 0; i < value.len; i++) {
        if (needs_quotes && (value.data[i] == '"' || value.data[i] == '\\'))
            strbuf_add_char(&out, '\\');
        strbuf_add_char(&out, value.data[i]);
    }
    if (needs_quotes)
        strbuf_add_char(&out, '"');
    const char *term = arena_text(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return term;
}

bool
event_narrow_term(const struct event *event, size_t i, struct arena *arena, const char **text,
                  const char **term)
{
    char group[GROUP_TEXT];
    const struct {
        const char *field;
        struct bytes value;
        bool is_exact;
    } fields[] = {
        {"group", bytes_of(group_text(event->group, group)), false},
        {"category", bytes_of(category_name(event->category)), false},
        {"type", event->event_type, true},
        {"topic", event->topic, true},
        {"source", event->source_table, true},
        {"source-id", event->source_id, true},
        {"event-id", event->event_id, true},
        {"correlation", event->correlation_id, true},
        {"class", event->error_class, true},
        {"key", event->record.key, true},
        {"format", event->record.format, true},
        {"consumer", event->record.consumer, true},
        {"queue", event_queue(event), true},
    };
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        if (!bytes_present(fields[f].value) || i-- > 0)
            continue;
        *term = fields[f].is_exact
                    ? exact_term(arena, fields[f].field, fields[f].value)
                    : arena_printf(arena, "%s:%s", fields[f].field, arena_text(arena, fields[f].value));
        *text = arena_printf(arena, "%-12s %s", fields[f].field, arena_text(arena, fields[f].value));
        return true;
    }
    return false;
}

const char *
event_facet_term(const char *field, const char *value, struct arena *arena)
{
    if (!value)
        return arena_printf(arena, "!%s:/^/", field);
    return strcmp(field, "category") == 0 ? arena_printf(arena, "category:%s", value)
                                          : exact_term(arena, field, bytes_of(value));
}

bool
event_copy_choice(struct app *app, const struct event *event, size_t i, const char **text,
                  struct bytes *value)
{
    struct arena *arena = app_frame(app);
    char group[GROUP_TEXT];
    const struct {
        const char *text;
        struct bytes value;
    } choices[] = {
        {"id", bytes_of(arena_int(arena, event->id))},
        {"event id", event->event_id},
        {"payload", event->payload_size == event->payload.len ? event->payload : BYTES_ABSENT},
        {"key", event_key(event)},
        {"error message", event->error_message},
        {"stack trace", event->stack_trace},
        {"correlation id", event->correlation_id},
        {"group", arena_copy(arena, bytes_of(group_text(event->group, group)))},
        {"redrive command",
         bytes_of(app_command(app, arena_printf(arena, "redrive show %" PRId64, event->id)))},
    };
    for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
        if (!bytes_present(choices[c].value) || i-- > 0)
            continue;
        *text = choices[c].text;
        *value = choices[c].value;
        return true;
    }
    return false;
}
