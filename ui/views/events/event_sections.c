// The text of the view of one event: sections of what is known of it.
#include "ui/views/events/event_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/fingerprint/fingerprint.h"
#include "core/json/json.h"
#include "ui/views/events/texts.h"
#include "ui/views/links.h"
#include "ui/app/operation_words.h"

enum { FRAMES_SHOWN = 200, LABEL = 17, LETTER_LABEL = 19, WIDEST_LABEL = 32, MARKS = 64 };

// Marks what the list's filter found of a column in the lines from `first` on, behind `label` bytes of each.
static void
mark(const struct view_of_event *view, struct pager *pager, size_t first, size_t label,
     enum filter_column column)
{
    for (size_t i = first; view->filter && i < pager_lines(pager); i++) {
        struct filter_span found[MARKS];
        struct canvas_span marks[MARKS];
        struct bytes text = pager_text(pager, i);
        if (text.len < label)
            continue;
        size_t count =
            filter_spans(view->filter, column, bytes_slice(text, label, text.len - label), found, MARKS);
        for (size_t m = 0; m < count; m++)
            marks[m] = (struct canvas_span){.from = label + found[m].from, .len = found[m].len};
        if (count)
            pager_marks(pager, i, marks, count);
    }
}

// Its value begins behind so many cells.
static void
field_behind(struct pager *pager, int cells, const char *name, struct bytes value)
{
    if (!bytes_present(value))
        return;
    struct strbuf line = {0};
    pager_hang(pager, cells);
    strbuf_printf(&line, "%-*s ", cells - 1, name);
    size_t label = line.len;
    strbuf_add(&line, value);
    const struct canvas_span span = {.from = 0, .len = label, .role = ROLE_DIM};
    if (bytes_find(value, BYTES("\n"), 0) == SIZE_MAX)
        pager_spans(pager, ROLE_TEXT, strbuf_bytes(&line), &span, 1);
    else
        pager_line(pager, ROLE_TEXT, strbuf_bytes(&line));
    pager_hang(pager, 0);
    strbuf_release(&line);
}

static void
field(struct pager *pager, const char *name, struct bytes value)
{
    field_behind(pager, LABEL, name, value);
}

// A column that a filter may have found.
static void
found_field(struct view_of_event *view, const char *name, struct bytes value, enum filter_column column)
{
    size_t first = pager_lines(view->pager);
    field(view->pager, name, value);
    mark(view, view->pager, first, LABEL, column);
}

static void
time_field(struct pager *pager, const char *name, int64_t at, struct moments moments)
{
    char local[TIME_TEXT];
    char age[TEXT_SHORT];
    char text[TIME_TEXT + TEXT_SHORT + 8];
    if (at == TIME_ABSENT)
        return;
    (void)time_local(at, local);
    if (moments.by_clock)
        snprintf(text, sizeof text, "%s", local);
    else
        snprintf(text, sizeof text, "%s  (%s)", local, moment_phrase(moments, at, age));
    field(pager, name, bytes_of(text));
}

static void
number_field(struct pager *pager, const char *name, int64_t number)
{
    char text[TEXT_SHORT];
    field(pager, name, bytes_of(text_count(number, text)));
}

// A number that names something: as commands take it, without separators.
static void
id_field(struct pager *pager, const char *name, int64_t id)
{
    char text[TEXT_SHORT];
    snprintf(text, sizeof text, "%" PRId64, id);
    field(pager, name, bytes_of(text));
}

static bool
is_frame(struct bytes line)
{
    struct bytes text = bytes_trim(line);
    return bytes_starts(text, "at ") || bytes_starts(text, "File \"") || bytes_starts(text, "from ") ||
           bytes_starts(text, "#");
}

// Library frames are known by common prefixes. The frame that a group's key uses is explained by `x`.
static bool
is_library_frame(struct bytes line)
{
    static const char *const marks[] = {"org.springframework",
                                        "java.",
                                        "javax.",
                                        "jdk.",
                                        "sun.",
                                        "org.apache.",
                                        "org.hibernate",
                                        "com.fasterxml",
                                        "io.netty",
                                        "reactor.",
                                        "kotlin",
                                        "site-packages",
                                        "node_modules",
                                        "node:internal",
                                        "System.",
                                        "Microsoft.",
                                        "/vendor/",
                                        "/gems/",
                                        "runtime/",
                                        "com.zaxxer"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (bytes_find(line, bytes_of(marks[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

static void
add_folded(struct pager *pager, size_t frames)
{
    char count[TEXT_SHORT];
    if (frames)
        pager_printf(pager, ROLE_DIM, MSG_LIBRARY_FRAMES, pager_glyph(pager, GLYPH_ELLIPSIS),
                     text_count((int64_t)frames, count), frames == 1 ? "" : "s");
}

// The stack, with each run of library frames folded into one line that counts the frames.
static void
stack_lines(struct pager *pager, struct bytes stack)
{
    size_t folded = 0;
    size_t shown = 0;
    for (size_t at = 0; at < stack.len && shown < FRAMES_SHOWN;) {
        size_t end = bytes_find(stack, BYTES("\n"), at);
        size_t len = (end == SIZE_MAX ? stack.len : end) - at;
        struct bytes line = bytes_slice(stack, at, len);
        at += len + 1;
        if (is_frame(line) && is_library_frame(line)) {
            folded++;
            continue;
        }
        add_folded(pager, folded);
        folded = 0;
        pager_line(pager, is_frame(line) ? ROLE_STRONG : ROLE_TEXT, line);
        shown++;
    }
    add_folded(pager, folded);
}

// What one asks first of any event, in one line: what, where, when, how often.
static void
summary_line(struct view_of_event *view, struct moments moments)
{
    const struct event *event = &view->detail.event;
    struct strbuf line = {0};
    char dot[16];
    snprintf(dot, sizeof dot, " %s ", pager_glyph(view->pager, GLYPH_SEPARATOR));
    char time[TIME_TEXT], age[TEXT_SHORT];
    struct bytes key = event_key(event);
    strbuf_add(&line, bytes_present(event->event_type) ? event->event_type : BYTES("no type"));
    if (bytes_present(event->topic)) {
        strbuf_add_text(&line, dot);
        strbuf_add(&line, event->topic);
        if (event->origin.has_partition && event->origin.has_offset)
            strbuf_printf(&line, " p%" PRId32 " @%" PRId64, event->origin.partition, event->origin.offset);
    }
    if (bytes_present(key)) {
        strbuf_printf(&line, "%skey ", dot);
        strbuf_add(&line, key);
    }
    if (event->created_at != TIME_ABSENT)
        strbuf_printf(&line, "%s%s", dot, time_brief(event->created_at, moments.now, time));
    if (event->created_at != TIME_ABSENT && !moments.by_clock)
        strbuf_printf(&line, ", %s", moment_phrase(moments, event->created_at, age));
    strbuf_printf(&line, "%stry %" PRId32 "/%" PRId32 "%s%s", dot, event->retries.count, event->retries.max,
                  dot, category_name(event->category));
    if (event->known.returned)
        strbuf_printf(&line, "%sreturned %" PRId32, dot, event->known.returned);
    pager_line(view->pager, ROLE_DIM, strbuf_bytes(&line));
    strbuf_release(&line);
}

static void
error_section(struct view_of_event *view)
{
    const struct event *event = &view->detail.event;
    char group[GROUP_TEXT];
    pager_section(view->pager, "error", NULL, false);
    field(view->pager, "class", event->error_class);
    struct arena arena = {0};
    struct fingerprint print = fingerprint_parts(
        &(struct fingerprint_input){.message = event->error_message, .stack = event->stack_trace}, &arena);
    if (bytes_present(print.root_text) && !bytes_equal(print.root_text, event->error_message))
        field(view->pager, "root cause", print.root_text);
    arena_release(&arena);
    size_t first = pager_lines(view->pager);
    pager_line(view->pager, event->known.unreadable_error ? ROLE_STATUS_WARN : ROLE_STRONG,
               event_error_text(event));
    mark(view, view->pager, first, 0, FILTER_COLUMN_ERROR);
    pager_printf(view->pager, ROLE_DIM, "%s, group %s", category_name(event->category),
                 group_text(event->group, group));
}

// The trace without its first lines where they only say the class and the message again.
static struct bytes
behind_message(const struct event *event)
{
    struct bytes stack = event->stack_trace;
    size_t at = bytes_find(stack, event->error_message, 0);
    size_t line_end = bytes_find(stack, BYTES("\n"), 0);
    size_t end = at == SIZE_MAX ? 0 : at + event->error_message.len;
    bool is_only_message = at != SIZE_MAX && event->error_message.len && at < line_end && end < stack.len &&
                           stack.data[end] == '\n';
    return is_only_message ? bytes_slice(stack, end + 1, stack.len - end - 1) : stack;
}

static void
stack_section(struct view_of_event *view)
{
    const struct event *event = &view->detail.event;
    pager_section(view->pager, MSG_SECTION_STACK, NULL, false);
    if (event->known.unreadable_stack) {
        pager_printf(view->pager, ROLE_STATUS_WARN, "%s", event->known.unreadable_stack);
        return;
    }
    if (!bytes_present(event->stack_trace) || event->stack_trace.len == 0) {
        pager_printf(view->pager, ROLE_DIM, MSG_NO_STACK);
        return;
    }
    size_t first = pager_lines(view->pager);
    stack_lines(view->pager, behind_message(event));
    mark(view, view->pager, first, 0, FILTER_COLUMN_STACK);
}

// Says what is known of a value that is no JSON. true: it is decoded.
static bool
decoded_line(struct pager *pager, const struct decoded *decoded)
{
    if (bytes_present(decoded->json))
        pager_printf(pager, ROLE_DIM, MSG_DECODED, decoded->language, decoded->schema, decoded->origin);
    else if (decoded->schema)
        pager_printf(pager, ROLE_STATUS_WARN, MSG_NOT_DECODED, decoded->schema, decoded->why);
    return bytes_present(decoded->json);
}

static void
payload_section(struct view_of_event *view, struct pager *pager)
{
    const struct event *event = &view->detail.event;
    char size[TEXT_SHORT];
    char note[96];
    snprintf(note, sizeof note, "%s%s",
             event->known.unreadable ? MSG_UNREADABLE : text_size(event->payload_size, size),
             view->detail.revision_count ? ", corrected" : "");
    pager_section(pager, "payload", note, false);
    if (event->known.unreadable) {
        pager_printf(pager, ROLE_STATUS_WARN, "%s", event->known.unreadable);
        return;
    }
    struct bytes original = view->detail.letter.original;
    if (!bytes_present(event->payload) && bytes_present(original) &&
        event->record.original.state != EVENT_ORIGINAL_FETCHED) {
        pager_printf(pager, ROLE_STATUS_WARN, MSG_NO_ORIGINAL, BYTES_ARGS(original));
        return;
    }
    const char *separator = pager_glyph(pager, GLYPH_SEPARATOR);
    pager_printf(pager, ROLE_DIM, "%s %s %s %s %s", payload_form_name(view->form), separator, size, separator,
                 view->detail.revision_count ? "newest revision"
                 : event->record.is_kept     ? "as received"
                                             : "as stored");
    const struct decoded *decoded = &view->detail.letter.decoded;
    bool is_decoded = decoded_line(pager, decoded) && view->form != PAYLOAD_HEX;
    size_t first = pager_lines(pager);
    payload_lines(pager, is_decoded ? decoded->json : event->payload, view->form);
    mark(view, pager, first, 0, FILTER_COLUMN_PAYLOAD);
    if (event->payload.len < event->payload_size)
        pager_printf(pager, ROLE_STATUS_WARN, MSG_PAYLOAD_CUT, event->id);
}

static void
header_lines(struct pager *pager, const struct event_header *headers, uint32_t count)
{
    int cells = LABEL;
    for (uint32_t i = 0; i < count; i++) {
        int wanted = text_cells(headers[i].name, false) + 1;
        cells = wanted > cells && wanted <= WIDEST_LABEL ? wanted : cells;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct strbuf name = {0};
        strbuf_add(&name, headers[i].name);
        field_behind(pager, cells, strbuf_text(&name),
                     bytes_present(headers[i].value) ? headers[i].value : BYTES("(null)"));
        strbuf_release(&name);
    }
}

static void
record_section(struct view_of_event *view)
{
    const struct event *event = &view->detail.event;
    if (!event->record.is_kept && !bytes_present(event->record.key) && event->record.header_count == 0)
        return;
    pager_section(view->pager, "headers and key", NULL, false);
    found_field(view, "key", bytes_present(event->record.key) ? event->record.key : BYTES("(null)"),
                FILTER_COLUMN_KEY);
    header_lines(view->pager, event->record.headers, event->record.header_count);
}

static void
origin_section(struct view_of_event *view, struct moments moments)
{
    const struct event *event = &view->detail.event;
    pager_section(view->pager, MSG_SECTION_ORIGIN, NULL, false);
    found_field(view, "topic", event->topic, FILTER_COLUMN_TOPIC);
    if (event->origin.has_partition)
        id_field(view->pager, "partition", event->origin.partition);
    if (event->origin.has_offset)
        id_field(view->pager, "offset", event->origin.offset);
    found_field(view, "event id", event->event_id, FILTER_COLUMN_EVENT_ID);
    found_field(view, "event type", event->event_type, FILTER_COLUMN_TYPE);
    found_field(view, "source table", event->source_table, FILTER_COLUMN_SOURCE);
    field(view->pager, "source id", event->source_id);
    field(view->pager, "correlation id", event->correlation_id);
    time_field(view->pager, "created", event->created_at, moments);
    char retries[64];
    snprintf(retries, sizeof retries, "%" PRId32 " of %" PRId32, event->retries.count, event->retries.max);
    field(view->pager, "retries", bytes_of(retries));
    time_field(view->pager, "last retry", event->retries.last_at, moments);
    field(view->pager, "status", event->status_text);
    time_field(view->pager, "closed", event->closed.at, moments);
    field(view->pager, "closed by", event->closed.by);
    if (event->known.published)
        number_field(view->pager, "published", event->known.published);
    if (event->known.returned)
        number_field(view->pager, "returned", event->known.returned);
    if (event->known.returned_from && event->known.returned_id != event->id)
        pager_printf(view->pager, ROLE_EVENT_RETURNED, MSG_RETURNED_FROM, event->known.returned_from,
                     event->known.returned_id);
    else if (event->known.returned_from)
        pager_printf(view->pager, ROLE_EVENT_RETURNED, MSG_REOPENED_FROM, event->known.returned_from);
    if (event->known.is_quarantined)
        pager_printf(view->pager, ROLE_EVENT_QUARANTINED, MSG_QUARANTINED);
    if (event->known.operation)
        pager_printf(view->pager, ROLE_EVENT_BUSY, MSG_IN_OPERATION, event->known.operation);
}

static void
link_section(struct view_of_event *view)
{
    struct arena arena = {0};
    const char *name, *address;
    view->link_count = 0;
    if (links_of(view->links, &view->detail.event, 0, &arena, &name, &address))
        pager_section(view->pager, MSG_SECTION_LINKS, NULL, false);
    view->links_at = pager_lines(view->pager);
    while (links_of(view->links, &view->detail.event, view->link_count, &arena, &name, &address)) {
        field(view->pager, name, bytes_of(address));
        size_t label = strlen(name) < LABEL - 1 ? LABEL : strlen(name) + 1;
        pager_link(view->pager, view->links_at + view->link_count++, label);
    }
    arena_release(&arena);
}

static void
decision_section(struct view_of_event *view)
{
    char at[TIME_TEXT];
    char note[48];
    size_t count = view->detail.decision_count + view->detail.revision_count;
    snprintf(note, sizeof note, "%zu", count);
    pager_section(view->pager, MSG_SECTION_DECISIONS, note, false);
    if (count == 0)
        pager_printf(view->pager, ROLE_DIM, "none yet");
    for (size_t i = 0; i < view->detail.decision_count; i++) {
        const struct decision *decision = &view->detail.decisions[i];
        pager_printf(view->pager,
                     decision->state == ITEM_REFUSED || decision->state == ITEM_SKIPPED ? ROLE_STATUS_WARN
                                                                                        : ROLE_TEXT,
                     MSG_DECISION, decision->at == TIME_ABSENT ? "" : time_local(decision->at, at),
                     action_name(decision->action), item_state_word(decision->state, decision->action),
                     decision->detail ? ": " : "", decision->detail ? decision->detail : "", decision->who,
                     decision->operation, decision->reason ? ", reason: " : "",
                     decision->reason ? decision->reason : "");
    }
    for (size_t i = 0; i < view->detail.revision_count; i++) {
        const struct revision *revision = &view->detail.revisions[i];
        pager_printf(view->pager, ROLE_EVENT_EDITED, "%s  revision %" PRId32 " by %s%s%s",
                     time_local(revision->at, at), revision->no, revision->author,
                     revision->reason ? ", reason: " : "", revision->reason ? revision->reason : "");
    }
}

// A dead letter of a retry topic, or one that was written twice.
static void
letter_lines(struct view_of_event *view, const struct letter_attempt *letter)
{
    char at[TIME_TEXT];
    pager_printf(view->pager, ROLE_EVENT_RETURNED, "   %s  %s, partition %d, offset %" PRId64 ", %s%s%s",
                 letter->at == TIME_ABSENT ? "" : time_local(letter->at, at), letter->topic,
                 (int)letter->partition, letter->offset, letter->format, letter->consumer ? ", of " : "",
                 letter->consumer ? letter->consumer : "");
    pager_line(view->pager, ROLE_STRONG, letter->error_message);
    if (bytes_present(letter->stack_trace) && letter->stack_trace.len)
        stack_lines(view->pager, letter->stack_trace);
}

// Every time the same event failed, each with its trace; the trace of this row is at the top already.
static void
attempts_section(struct view_of_event *view)
{
    const struct event_detail *detail = &view->detail;
    char at[TIME_TEXT];
    char note[48];
    if (detail->attempt_count < 2 && detail->letter_count == 0)
        return;
    snprintf(note, sizeof note, "%zu", detail->attempt_count + detail->letter_count);
    pager_section(view->pager, "attempts", note, false);
    for (size_t i = 0; i < detail->letter_count; i++)
        letter_lines(view, &detail->letters[i]);
    for (size_t i = 0; i < detail->attempt_count; i++) {
        const struct event *attempt = &detail->attempts[i];
        bool is_this = attempt->id == detail->event.id;
        pager_printf(view->pager, ROLE_EVENT_RETURNED, "%zu  %s  event %" PRId64 "%s", i + 1,
                     attempt->created_at == TIME_ABSENT ? "" : time_local(attempt->created_at, at),
                     attempt->id, is_this ? ", this event" : "");
        if (is_this)
            continue;
        pager_line(view->pager, ROLE_STRONG, attempt->error_message);
        if (bytes_present(attempt->stack_trace) && attempt->stack_trace.len)
            stack_lines(view->pager, attempt->stack_trace);
    }
}

// The beginning of what a control field says. Of several lines the first one: stacks are shown with the
// error, and whole among the record's headers.
static void
letter_text(struct strbuf *text, const struct envelope_field *one)
{
    enum { TEXT_MOST = 300 };
    size_t end = 0, lines = 1;
    for (size_t i = 0; i < one->text.len; i++)
        if (one->text.data[i] == '\n' && i + 1 < one->text.len && lines++ == 1)
            end = i;
    struct bytes first = bytes_slice(one->text, 0, lines > 1 ? end : one->text.len);
    text_visible(text, bytes_slice(first, 0, utf8_cut(first, TEXT_MOST)), false);
    if (first.len > TEXT_MOST)
        strbuf_add_text(text, " …");
    if (lines > 1)
        strbuf_printf(text, " … %zu lines", lines);
    if (!bytes_present(one->text))
        strbuf_add_text(text, "(null)");
}

// A control field: what it says, or why it does not, and of which header or member.
static void
letter_field(struct view_of_event *view, const struct envelope *envelope, const struct envelope_field *one)
{
    char at[TIME_TEXT];
    struct strbuf text = {0};
    bool is_time = one->fact == FACT_FAILED_AT || one->fact == FACT_TIMESTAMP;
    if (one->is_taken && is_time && envelope->has_number[one->fact])
        strbuf_printf(&text, "%s, as ", time_local(envelope->numbers[one->fact], at));
    letter_text(&text, one);
    strbuf_printf(&text, "  (%s ", one->is_header ? "header" : "member");
    text_visible(&text, one->name, false);
    if (one->note)
        strbuf_printf(&text, "; %s", one->note);
    if (one->fact != FACT_NONE && !one->is_taken)
        strbuf_add_text(&text, "; another one is taken");
    strbuf_add_char(&text, ')');
    field_behind(view->pager, LETTER_LABEL, one->fact == FACT_NONE ? "" : envelope_fact_title(one->fact),
                 strbuf_bytes(&text));
    strbuf_release(&text);
}

// A part of the value, as JSON where it is that.
static void
letter_part(struct view_of_event *view, const char *title, struct bytes part)
{
    if (!bytes_present(part))
        return;
    struct strbuf text = {0};
    pager_section(view->pager, title, NULL, false);
    bool is_json = json_format(part, &text);
    pager_line(view->pager, ROLE_TEXT, is_json ? strbuf_bytes(&text) : part);
    strbuf_release(&text);
}

// Which format its dead letter has, why, and every field of it; then what it is about.
static void
letter_section(struct view_of_event *view)
{
    const struct dead_letter *letter = &view->detail.letter;
    const struct envelope *envelope = &letter->envelope;
    if (!letter->is_there)
        return;
    struct strbuf format = {0};
    strbuf_printf(&format, "%s: %s", envelope_format_name(envelope->format),
                  envelope_format_title(envelope->format));
    pager_section(view->pager, MSG_SECTION_LETTER, envelope_format_name(envelope->format), false);
    field_behind(view->pager, LETTER_LABEL, "format", strbuf_bytes(&format));
    strbuf_release(&format);
    field_behind(view->pager, LETTER_LABEL, "because", bytes_of(envelope->why));
    for (size_t i = 0; i < ENVELOPE_ALSO && envelope->also[i]; i++)
        field_behind(view->pager, LETTER_LABEL, "could also be",
                     bytes_of(envelope_format_name(envelope->also[i])));
    if (letter->unsure)
        pager_printf(view->pager, ROLE_STATUS_WARN, MSG_LETTER_UNSURE, letter->unsure);
    field_behind(view->pager, LETTER_LABEL, "read from",
                 letter->place ? bytes_of(letter->place) : BYTES_ABSENT);
    field_behind(view->pager, LETTER_LABEL, "written with",
                 letter->schema ? bytes_of(letter->schema) : BYTES_ABSENT);
    field_behind(view->pager, LETTER_LABEL, "the original",
                 bytes_present(letter->original) ? letter->original
                 : envelope->pointer             ? bytes_of(envelope->pointer)
                                                 : BYTES_ABSENT);
    for (size_t i = 0; i < envelope->field_count; i++)
        letter_field(view, envelope, &envelope->fields[i]);
    letter_part(view, MSG_SECTION_DATA, letter->data);
    letter_part(view, MSG_SECTION_METADATA, letter->metadata);
}

static void
send_section(struct view_of_event *view)
{
    const struct would_send *send = &view->detail.would_send;
    char size[TEXT_SHORT];
    pager_section(view->pager, MSG_SECTION_SEND, NULL, false);
    if (send->refusal) {
        pager_printf(view->pager, ROLE_STATUS_WARN, MSG_SENDS_NOTHING, send->refusal);
        return;
    }
    if (view->detail.event.status != EVENT_PENDING)
        pager_printf(view->pager, ROLE_STATUS_WARN, MSG_SENDS_IF_PENDING,
                     event_status_name(view->detail.event.status));
    field(view->pager, "topic", bytes_of(send->topic));
    field(view->pager, "", send->topic_why ? bytes_of(send->topic_why) : BYTES_ABSENT);
    if (send->partition >= 0)
        id_field(view->pager, "partition", send->partition);
    else
        field(view->pager, "partition", BYTES("by key"));
    field(view->pager, "key", bytes_present(send->key) ? send->key : BYTES("(null)"));
    field(view->pager, "value", bytes_of(text_size(send->size, size)));
    pager_printf(view->pager, send->is_exact ? ROLE_STATUS_OK : ROLE_STATUS_INFO, "%s: %s",
                 send->is_exact ? "byte for byte" : "not byte for byte", send->why ? send->why : "");
    header_lines(view->pager, send->headers, send->header_count);
    for (uint32_t i = 0; i < send->dropped_count; i++)
        field(view->pager, i ? "" : "drops headers", send->dropped[i].name);
}

void
event_build(struct view_of_event *view, struct moments moments)
{
    view->by_clock = moments.by_clock;
    pager_begin(view->pager);
    summary_line(view, moments);
    error_section(view);
    if (!view->is_beside)
        payload_section(view, view->pager);
    stack_section(view);
    attempts_section(view);
    letter_section(view);
    record_section(view);
    origin_section(view, moments);
    link_section(view);
    decision_section(view);
    send_section(view);
    pager_end(view->pager);

    pager_begin(view->payload);
    if (view->is_beside)
        payload_section(view, view->payload);
    pager_end(view->payload);
}
