// One event with everything that is known of it, as sections of one scrolling text.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/fingerprint.h"
#include "ui/views/decide.h"
#include "ui/views/event_row.h"
#include "ui/views/events.h"
#include "ui/views/payload.h"
#include "ui/views/why.h"
#include "ui/widgets/pager.h"
#include "ui/widgets/statusbar.h"

enum { BESIDE_FROM_COLS = 120, FRAMES_SHOWN = 200, CHOICES = 16 };

struct view_of_event {
    struct decide decide; // first: see decide.h
    int64_t id;
    uint64_t number, why_number;
    struct pager *pager;   // everything, or all but the payload where there is room beside
    struct pager *payload; // beside
    bool is_beside;
    bool has_focus_beside;
    enum payload_form form;
    struct arena arena; // of the reply
    struct event_detail detail;
    bool is_there;
    struct err err; // why it is not
};

static const enum action footer[] = {DO_NEXT_EVENT, DO_PREVIOUS_EVENT, DO_SEARCH, DO_RAW, DO_REPROCESS,
                                     DO_DISCARD,    DO_COPY,           DO_HELP,   DO_NONE};

static void
ask(struct app *app, struct view_of_event *view)
{
    struct request *request = request_create(REQUEST_EVENT);
    request->id = view->id;
    view->number = app_send(app, request);
}

static void
field(struct pager *pager, const char *name, struct bytes value)
{
    if (!bytes_present(value))
        return;
    struct strbuf line = {0};
    strbuf_printf(&line, "%-16s ", name);
    size_t label = line.len;
    strbuf_add(&line, value);
    const struct canvas_span span = {.from = 0, .len = label, .role = ROLE_DIM};
    if (bytes_find(value, BYTES("\n"), 0) == SIZE_MAX)
        pager_spans(pager, ROLE_TEXT, strbuf_bytes(&line), &span, 1);
    else
        pager_line(pager, ROLE_TEXT, strbuf_bytes(&line));
    strbuf_release(&line);
}

static void
time_field(struct pager *pager, const char *name, int64_t at, int64_t now)
{
    char local[TIME_TEXT];
    char age[TEXT_SHORT];
    char text[TIME_TEXT + TEXT_SHORT + 8];
    if (at == TIME_ABSENT)
        return;
    snprintf(text, sizeof text, "%s  (%s ago)", time_local(at, local), text_ago(at, now, age));
    field(pager, name, bytes_of(text));
}

static void
number_field(struct pager *pager, const char *name, int64_t number)
{
    char text[TEXT_SHORT];
    field(pager, name, bytes_of(text_count(number, text)));
}

static bool
is_frame(struct bytes line)
{
    struct bytes text = bytes_trim(line);
    return bytes_starts(text, "at ") || bytes_starts(text, "File \"") || bytes_starts(text, "from ") ||
           bytes_starts(text, "#");
}

// Frames of libraries are told by the prefixes everybody knows; what a group's key rests on is explained by
// `x`.
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

// The stack with runs of library frames folded into one line that counts them.
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
        if (folded)
            pager_printf(pager, ROLE_DIM, "        … %zu frame%s of libraries", folded,
                         folded == 1 ? "" : "s");
        folded = 0;
        pager_line(pager, is_frame(line) ? ROLE_STRONG : ROLE_TEXT, line);
        shown++;
    }
    if (folded)
        pager_printf(pager, ROLE_DIM, "        … %zu frame%s of libraries", folded, folded == 1 ? "" : "s");
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
    pager_line(view->pager, ROLE_STRONG, event->error_message);
    pager_printf(view->pager, ROLE_DIM, "%s, group %s", category_name(event->category),
                 group_text(event->group, group));
    if (bytes_present(event->stack_trace) && event->stack_trace.len)
        stack_lines(view->pager, event->stack_trace);
    else
        pager_printf(view->pager, ROLE_DIM, "no stack trace was kept");
}

static void
payload_section(struct view_of_event *view, struct pager *pager)
{
    const struct event *event = &view->detail.event;
    char size[TEXT_SHORT];
    char note[96];
    snprintf(note, sizeof note, "%s%s", text_size(event->payload_size, size),
             view->detail.revision_count ? ", corrected" : "");
    pager_section(pager, "payload", note, false);
    pager_printf(pager, ROLE_DIM, "%s, %s%s", payload_form_name(view->form), size,
                 view->detail.revision_count ? ", newest revision"
                 : event->has_raw            ? ", the bytes as received"
                                             : ", as the table holds it");
    payload_lines(pager, event->payload, view->form);
    if (event->payload.len < event->payload_size)
        pager_printf(pager, ROLE_STATUS_WARN,
                     "only the beginning is shown; redrive show %" PRId64 " --raw has all of it", event->id);
}

static void
header_lines(struct pager *pager, const struct event_header *headers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct strbuf name = {0};
        strbuf_add(&name, headers[i].name);
        field(pager, strbuf_text(&name),
              bytes_present(headers[i].value) ? headers[i].value : BYTES("(null)"));
        strbuf_release(&name);
    }
}

static void
record_section(struct view_of_event *view)
{
    const struct event *event = &view->detail.event;
    if (!event->has_raw && !bytes_present(event->key) && event->header_count == 0)
        return;
    pager_section(view->pager, "headers and key", NULL, false);
    field(view->pager, "key", bytes_present(event->key) ? event->key : BYTES("(null)"));
    header_lines(view->pager, event->headers, event->header_count);
}

static void
origin_section(struct view_of_event *view, int64_t now)
{
    const struct event *event = &view->detail.event;
    pager_section(view->pager, "where it came from", NULL, false);
    field(view->pager, "topic", event->topic);
    if (event->has_partition)
        number_field(view->pager, "partition", event->partition);
    if (event->has_offset)
        number_field(view->pager, "offset", event->offset);
    field(view->pager, "event id", event->event_id);
    field(view->pager, "event type", event->event_type);
    field(view->pager, "source table", event->source_table);
    field(view->pager, "source id", event->source_id);
    field(view->pager, "correlation id", event->correlation_id);
    time_field(view->pager, "created", event->created_at, now);
    char retries[64];
    snprintf(retries, sizeof retries, "%" PRId32 " of %" PRId32, event->retry_count, event->max_retries);
    field(view->pager, "retries", bytes_of(retries));
    time_field(view->pager, "last retry", event->last_retry_at, now);
    field(view->pager, "status", event->status_text);
    time_field(view->pager, "closed", event->resolved_at, now);
    field(view->pager, "closed by", event->resolved_by);
    if (event->published)
        number_field(view->pager, "published", event->published);
    if (event->came_back)
        number_field(view->pager, "came back", event->came_back);
    if (event->is_quarantined)
        pager_printf(view->pager, ROLE_EVENT_QUARANTINED,
                     "in quarantine: it came back too often and is left out of bulk operations");
    if (event->operation)
        pager_printf(view->pager, ROLE_EVENT_BUSY, "in operation %" PRId64 " now", event->operation);
}

static void
decision_section(struct view_of_event *view)
{
    char at[TIME_TEXT];
    char note[48];
    snprintf(note, sizeof note, "%zu", view->detail.decision_count);
    pager_section(view->pager, "decisions", note, false);
    if (view->detail.decision_count == 0)
        pager_printf(view->pager, ROLE_DIM, "none yet");
    for (size_t i = 0; i < view->detail.decision_count; i++) {
        const struct decision *decision = &view->detail.decisions[i];
        pager_printf(view->pager,
                     decision->state == ITEM_REFUSED || decision->state == ITEM_CONFLICT ? ROLE_STATUS_WARN
                                                                                         : ROLE_TEXT,
                     "%s  %s: %s by %s, operation %" PRId64 "%s%s%s%s",
                     decision->at == TIME_ABSENT ? "" : time_local(decision->at, at),
                     action_name(decision->action), item_state_name(decision->state), decision->who,
                     decision->operation, decision->reason ? ", because " : "",
                     decision->reason ? decision->reason : "", decision->detail ? ": " : "",
                     decision->detail ? decision->detail : "");
    }
    for (size_t i = 0; i < view->detail.revision_count; i++) {
        const struct revision *revision = &view->detail.revisions[i];
        pager_printf(view->pager, ROLE_EVENT_EDITED, "%s  revision %" PRId32 " by %s%s%s",
                     time_local(revision->at, at), revision->no, revision->author,
                     revision->reason ? ", because " : "", revision->reason ? revision->reason : "");
    }
}

// The others by which the same event failed, each with its own trace; this one's stands at the top.
static void
attempts_section(struct view_of_event *view)
{
    const struct event_detail *detail = &view->detail;
    char at[TIME_TEXT];
    char note[48];
    if (detail->attempt_count < 2)
        return;
    snprintf(note, sizeof note, "%zu", detail->attempt_count);
    pager_section(view->pager, "attempts", note, false);
    for (size_t i = 0; i < detail->attempt_count; i++) {
        const struct event *attempt = &detail->attempts[i];
        bool is_this = attempt->id == detail->event.id;
        pager_printf(view->pager, ROLE_EVENT_BACK, "%zu  %s  event %" PRId64 "%s", i + 1,
                     attempt->created_at == TIME_ABSENT ? "" : time_local(attempt->created_at, at),
                     attempt->id, is_this ? ", this one" : "");
        if (is_this)
            continue;
        pager_line(view->pager, ROLE_STRONG, attempt->error_message);
        if (bytes_present(attempt->stack_trace) && attempt->stack_trace.len)
            stack_lines(view->pager, attempt->stack_trace);
    }
}

static void
send_section(struct view_of_event *view)
{
    const struct would_send *send = &view->detail.would_send;
    char size[TEXT_SHORT];
    pager_section(view->pager, "what a reprocess would send", NULL, false);
    if (send->refusal) {
        pager_printf(view->pager, ROLE_STATUS_WARN, "nothing: %s", send->refusal);
        return;
    }
    field(view->pager, "topic", bytes_of(send->topic));
    if (send->partition >= 0)
        number_field(view->pager, "partition", send->partition);
    else
        field(view->pager, "partition", BYTES("chosen by the key"));
    field(view->pager, "key", bytes_present(send->key) ? send->key : BYTES("(null)"));
    field(view->pager, "value", bytes_of(text_size(send->size, size)));
    pager_printf(view->pager, send->is_exact ? ROLE_STATUS_OK : ROLE_STATUS_INFO, "%s: %s",
                 send->is_exact ? "byte for byte" : "not byte for byte", send->why ? send->why : "");
    header_lines(view->pager, send->headers, send->header_count);
}

static void
build(const struct app *app, struct view_of_event *view)
{
    int64_t now = app_now(app);
    pager_begin(view->pager);
    error_section(view);
    attempts_section(view);
    if (!view->is_beside)
        payload_section(view, view->pager);
    record_section(view);
    origin_section(view, now);
    decision_section(view);
    send_section(view);
    pager_end(view->pager);

    pager_begin(view->payload);
    if (view->is_beside)
        payload_section(view, view->payload);
    pager_end(view->payload);
}

static void
step(struct app *app, struct view_of_event *view, bool forward)
{
    void *below = app_below(app, &view_events);
    int64_t next;
    if (!below || !events_step(app, below, view->id, forward, &next)) {
        app_say(app, SAY_INFO,
                forward ? "this is the last event of the list" : "this is the first event of the list");
        return;
    }
    view->id = next;
    pager_top(view->pager);
    pager_top(view->payload);
    ask(app, view);
}

static bool
search_accepted(struct app *app, void *state, struct bytes text)
{
    struct view_of_event *view = state;
    struct err err = {0};
    struct pager *pager = view->has_focus_beside ? view->payload : view->pager;
    if (pager_search(pager, text, &err))
        return true;
    app_prompt_error(app, &err);
    return false;
}

static void
copy_chosen(struct app *app, void *state, size_t index)
{
    struct view_of_event *view = state;
    const char *text;
    struct bytes value;
    if (view->is_there && event_copy_choice(&view->detail.event, index, app_frame(app), &text, &value))
        app_copy(app, value, text);
}

static void
ask_copy(struct app *app, const struct view_of_event *view)
{
    struct menu_item items[CHOICES];
    size_t count = 0;
    struct bytes value;
    memset(items, 0, sizeof items);
    while (view->is_there && count < CHOICES &&
           event_copy_choice(&view->detail.event, count, app_frame(app), &items[count].text, &value))
        count++;
    if (count)
        app_menu(app, &(struct menu_request){
                          .title = "Copy", .items = items, .count = count, .chosen = copy_chosen});
}

// Here the event on the screen is what an action is about, never a selection that is out of sight.
static void
decide_here(struct app *app, struct view_of_event *view, enum operation_action action)
{
    char id[TEXT_SHORT];
    struct decide_words words = {
        .what = arena_printf(app_frame(app), "this view: id %s", text_count(view->id, id))};
    decide_ids(app, &view->decide, action, &view->id, 1, &words);
}

static void
show_as(const struct app *app, struct view_of_event *view, enum payload_form form)
{
    view->form = view->form == form ? PAYLOAD_PRETTY : form;
    if (view->is_there)
        build(app, view);
}

static bool
event_handle(struct app *app, void *state, enum action action)
{
    struct view_of_event *view = state;
    enum operation_action decision;
    if (action == DO_UNDO && decide_undo(app, &view->decide))
        return true;
    if (decide_action(action, &decision)) {
        decide_here(app, view, decision);
        return true;
    }
    if (pager_handle(view->has_focus_beside ? view->payload : view->pager, action))
        return true;
    switch (action) {
    case DO_NEXT_EVENT:
    case DO_PREVIOUS_EVENT:
        step(app, view, action == DO_NEXT_EVENT);
        return true;
    case DO_NEXT_PANE:
        view->has_focus_beside = view->is_beside && !view->has_focus_beside;
        return true;
    case DO_RAW:
        show_as(app, view, PAYLOAD_AS_IS);
        return true;
    case DO_HEX:
        show_as(app, view, PAYLOAD_HEX);
        return true;
    case DO_TREE:
        show_as(app, view, PAYLOAD_TREE);
        return true;
    case DO_SEARCH:
        app_prompt(app,
                   &(struct prompt_request){.label = "/", .history = "search", .accepted = search_accepted});
        return true;
    case DO_WHY:
        view->why_number = why_ask(app, view->id);
        return true;
    case DO_COPY:
        ask_copy(app, view);
        return true;
    case DO_COPY_ID:
        app_copy(app, bytes_of(arena_printf(app_frame(app), "%" PRId64, view->id)), "id");
        return true;
    case DO_REFRESH:
        ask(app, view);
        return false; // the app also looks at the database
    default:
        return false;
    }
}

static bool
event_receive(struct app *app, void *state, struct reply *reply)
{
    struct view_of_event *view = state;
    if (decide_receive(app, &view->decide, reply) || why_receive(app, view->why_number, reply))
        return true;
    if (reply->kind == REPLY_NEWS)
        ask(app, view);
    if (!reply->number || reply->number != view->number)
        return false;
    if (reply->kind == REPLY_ERROR) {
        view->err = reply->err;
        if (view->is_there)
            app_say_err(app, &reply->err);
        return true;
    }
    arena_release(&view->arena);
    arena_adopt(&view->arena, &reply->arena);
    view->detail = reply->detail;
    view->is_there = true;
    build(app, view);
    return true;
}

static void
event_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct view_of_event *view = state;
    bool is_beside = areas->body.cols >= BESIDE_FROM_COLS;
    if (is_beside != view->is_beside) {
        view->is_beside = is_beside;
        view->has_focus_beside = false;
        if (view->is_there)
            build(app, view);
    }
    struct area left = areas->body;
    if (is_beside) {
        struct area right = area_take_right(&left, areas->body.cols / 2);
        area_take_left(&right, 2);
        pager_layout(view->payload, right);
    }
    pager_layout(view->pager, left);
}

static void
event_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct view_of_event *view = state;
    const struct pager *focused = view->has_focus_beside ? view->payload : view->pager;
    char words[64];
    if (areas->line.rows > 0) {
        int col = areas->line.col + 1;
        int limit = areas->line.col + areas->line.cols - 14;
        const char *section = pager_section_at(focused);
        if (section)
            chip_draw(canvas, areas->line.row, &col, limit, ROLE_STATUS, bytes_of(section));
        if (*pager_search_words(focused, words))
            chip_draw(canvas, areas->line.row, &col, limit, ROLE_FILTER, bytes_of(words));
        canvas_styled(canvas, areas->line.row, areas->line.col, areas->line.cols - 1,
                      bytes_of(pager_position(focused, words)),
                      &(struct canvas_style){.role = ROLE_STATUS, .at_right = true});
    }
    if (!view->is_there) {
        canvas_text(canvas, areas->body.row, areas->body.col + 1, areas->body.cols - 1,
                    err_is_set(&view->err) ? bytes_of(view->err.text) : BYTES("reading…"), ROLE_DIM);
        return;
    }
    struct area left = areas->body;
    if (view->is_beside) {
        struct area right = area_take_right(&left, areas->body.cols / 2);
        canvas_vline(canvas, right.row, right.col, right.rows, ROLE_BORDER);
        area_take_left(&right, 2);
        pager_draw(view->payload, canvas, right);
    }
    pager_draw(view->pager, canvas, left);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
event_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    char id[TEXT_SHORT];
    if (i > 0)
        return false;
    strbuf_add_text(out, text_count(((const struct view_of_event *)state)->id, id));
    return true;
}

static void *
event_open(struct app *app, const void *argument)
{
    const struct event_argument *given = argument;
    struct view_of_event *view = alloc_bytes(sizeof *view);
    view->id = given->id;
    view->pager = pager_create();
    view->payload = pager_create();
    pager_set_ascii(view->pager, app_config(app)->is_ascii);
    pager_set_ascii(view->payload, app_config(app)->is_ascii);
    ask(app, view);
    return view;
}

static void
event_close(struct app *app, void *state)
{
    (void)app;
    struct view_of_event *view = state;
    decide_release(&view->decide);
    pager_destroy(view->pager);
    pager_destroy(view->payload);
    arena_release(&view->arena);
    free(view);
}

const struct view view_event = {
    .name = "event",
    .context = CONTEXT_VIEW_event,
    .footer = footer,
    .open = event_open,
    .close = event_close,
    .handle = event_handle,
    .receive = event_receive,
    .crumb = event_crumb,
    .draw = event_draw,
    .layout = event_layout,
};
