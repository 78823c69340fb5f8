#include "ui/views/decide/decide.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/uuid.h"
#include "core/filter/filter.h"
#include "ui/app/operation_words.h"
#include "ui/views/care.h"
#include "ui/views/decide/fields.h"
#include "ui/views/decide/texts.h"
#include "ui/views/events/events.h"

static const struct decide_verb {
    enum action action;
    enum operation_action operation;
    const char *title;
    const char *effect; // NULL: the dialog says where they are sent
    bool is_danger;
} verbs[] = {
    {DO_REPROCESS, ACTION_REPROCESS, "Reprocess", NULL, true},
    {DO_RESOLVE, ACTION_RESOLVE, "Resolve", "closes as resolved; nothing is sent; u undoes it", false},
    {DO_DISCARD, ACTION_DISCARD, "Discard", "discards; nothing is sent; u undoes it", false},
    {DO_RESTORE, ACTION_RESTORE, "Restore", "makes pending again", false},
    {DO_NONE, ACTION_CORRECT, "Apply recipe", MSG_APPLY_EFFECT, false},
};
static const struct decide_verb revert_verb = {DO_NONE, ACTION_CORRECT, "Undo recipe", NULL, false};

// A correct without a recipe undoes another.
static bool
is_revert(const struct decide *decide)
{
    return decide->action == ACTION_CORRECT && decide->undoes;
}

static const struct decide_verb *
verb_of(const struct decide *decide)
{
    enum operation_action operation = decide->action;
    if (is_revert(decide))
        return &revert_verb;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].operation == operation)
            return &verbs[i];
    return &verbs[0];
}

bool
decide_begins(enum action action)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].action == action && action != DO_NONE) // a recipe is applied by its own view
            return true;
    return false;
}

enum operation_action
decide_operation(enum action action)
{
    size_t i = 0;
    while (verbs[i].action != action)
        i++;
    return verbs[i].operation;
}

static void
decide_forget(struct decide *decide)
{
    free(decide->ids);
    decide->ids = NULL;
    decide->left_out_count = 0;
    decide->count = 0;
    decide->capacity = 0;
    decide->list_number = 0;
    decide->preview_number = 0;
    decide->dialog = NULL;
    decide_newer_release(&decide->newer);
    decide->is_open = false;
}

void
decide_release(struct decide *decide)
{
    decide_forget(decide);
    strbuf_release(&decide->what);
    strbuf_release(&decide->filter);
    strbuf_release(&decide->correct.recipe);
    strbuf_release(&decide->correct.would);
    strbuf_release(&decide->advice);
}

static void
take_words(struct strbuf *to, const char *words)
{
    strbuf_reset(to);
    if (words)
        strbuf_add_text(to, words);
}

// Can a decision begin now? Says why not.
static bool
decide_begin(struct app *app, struct decide *decide, enum operation_action action,
             const struct decide_words *words)
{
    const char *why_not = NULL;
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return false;
    }
    decide_forget(decide);
    decide->is_open = true;
    decide->action = action;
    decide->hidden = words->hidden;
    decide->hides_by_filter = words->shown_by != NULL;
    decide->undoes = words->undoes;
    decide->is_routed = decide->is_target_routed = false;
    decide->restores_resolved = words->restores_resolved;
    decide->correct.refused_by_check = words->refused_by_check;
    take_words(&decide->what, words->what);
    take_words(&decide->filter, words->filter);
    take_words(&decide->correct.recipe, words->recipe);
    take_words(&decide->correct.would, words->would);
    take_words(&decide->advice, words->advice);
    decide->is_named =
        quarantine_is_named(false, words->filter) || quarantine_is_named(false, words->shown_by);
    snprintf(decide->group, sizeof decide->group, "%s", words->group ? words->group : "");
    const char *of_group = words->of_group ? words->of_group : words->group;
    snprintf(decide->of_group, sizeof decide->of_group, "%s", of_group ? of_group : "");
    return true;
}

// "2,114 events of SocketTimeoutException", "10 selected events, 7 hidden by the filter", "…, none of them in
// this list"
static const char *
scope(const struct decide *decide, struct arena *arena)
{
    char count[TEXT_SHORT];
    char hidden[TEXT_SHORT];
    const char *events = decide->count == 1 ? "event" : "events";
    text_count((int64_t)decide->count, count);
    if (decide->what.len)
        return arena_printf(arena, MSG_SCOPE_OF, count, events, strbuf_text(&decide->what));
    const char *selected = arena_printf(arena, MSG_SCOPE_SELECTED, count, events);
    if (!decide->hidden)
        return selected;
    if (decide->hidden >= decide->count)
        return arena_printf(arena, MSG_SCOPE_UNSEEN, selected);
    return arena_printf(arena, decide->hides_by_filter ? MSG_SCOPE_HIDDEN : MSG_SCOPE_ELSEWHERE, selected,
                        text_count((int64_t)decide->hidden, hidden));
}

// Events that nobody sees are what one does not mean to decide about.
static enum role
scope_role(const struct decide *decide)
{
    return decide->hidden && decide->hidden >= decide->count ? ROLE_DIALOG_DANGER : ROLE_STRONG;
}

// The same as a command; the dialog adds what its fields hold.
static void
twin(const struct decide *decide, struct strbuf *command)
{
    if (is_revert(decide)) {
        strbuf_printf(command, "redrive correct --undo %" PRId64, decide->undoes);
        return;
    }
    strbuf_printf(command, "redrive %s%s%s", action_name(decide->action),
                  decide->action == ACTION_CORRECT ? " --recipe FILE" : "",
                  decide->restores_resolved ? " --status resolved" : "");
    if (decide->action == ACTION_RESTORE && decide->undoes) {
        strbuf_printf(command, " --operation %" PRId64, decide->undoes);
        return;
    }
    if (decide->count == 1 && !decide->newer.all) {
        strbuf_printf(command, " --id %" PRId64 "%s", decide->ids[0], decide_newer_option(&decide->newer));
        return;
    }
    if (!*decide->group && !decide->filter.len)
        strbuf_add_text(command, " --id - < ids");
    if (*decide->group)
        strbuf_printf(command, " --group %s", decide->group);
    if (decide->filter.len) {
        strbuf_add_text(command, " --filter ");
        text_shell(command, strbuf_bytes(&decide->filter));
    }
    strbuf_add_text(command, decide_newer_option(&decide->newer));
}

static void
stop_preview(struct app *app, struct decide *decide)
{
    if (!decide->preview_number)
        return;
    app_cancel(app, decide->preview_number);
    decide->stopped_number = decide->preview_number;
}

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct decide *decide = state;
    stop_preview(app, decide);
    struct request *request = request_create(REQUEST_CONFIRM);
    struct operation_request *confirm = &request->confirm;
    confirm->action = decide->action;
    confirm->rate = RATE_UNLIMITED;
    confirm->undoes = decide->undoes;
    confirm->takes_quarantined = decide->is_named;
    confirm->restores_resolved = decide->restores_resolved;
    memcpy(confirm->key, decide->key, sizeof confirm->key);

    request->ids = decide->ids;
    request->id_count = decide->count;
    decide->ids = NULL;
    decide_fields_take(app_config(app), dialog, request);
    struct arena arena = {0};
    request->texts.scope = alloc_text(scope(decide, &arena));
    arena_release(&arena);
    if (decide->filter.len)
        request->texts.filter = alloc_text(strbuf_text(&decide->filter));
    if (decide->action == ACTION_CORRECT && !decide->undoes)
        request->recipe.text = alloc_text(strbuf_text(&decide->correct.recipe));
    memcpy(request->texts.group, decide->group, sizeof request->texts.group);

    char count[TEXT_SHORT];
    app_say(app, SAY_INFO, MSG_SUBMITTING, action_name(decide->action),
            text_count((int64_t)decide->count, count), decide->count == 1 ? "" : "s");
    decide_forget(decide);
    decide->confirm_number = app_send(app, request);
}

static void
cancelled(struct app *app, void *state)
{
    struct decide *decide = state;
    stop_preview(app, decide);
    app_say(app, SAY_INFO, MSG_DECISION_CANCELLED);
    decide_forget(decide);
}

static void
ask_preview(struct app *app, struct decide *decide)
{
    decide->risks = (struct decide_risks){0};
    struct request *preview = request_create(REQUEST_PREVIEW);
    preview->action = decide->action;
    preview->is_on = decide->restores_resolved;
    memcpy(preview->texts.group, decide->group, sizeof preview->texts.group);
    preview->ids = alloc_array(decide->count, sizeof *preview->ids);
    memcpy(preview->ids, decide->ids, decide->count * sizeof *preview->ids);
    preview->id_count = decide->count;
    struct bytes to = decide->action == ACTION_REPROCESS ? decide_fields_topic(decide->dialog) : BYTES("");
    if (to.len)
        preview->texts.target_topic = strndup(to.data, to.len);
    decide->preview_number = app_send(app, preview);
}

// Another target: it is counted again what goes where.
static void
count_again(struct app *app, struct decide *decide)
{
    stop_preview(app, decide);
    dialog_set_waiting(decide->dialog, true);
    ask_preview(app, decide);
}

static void
edited(struct app *app, void *state)
{
    struct decide *decide = state;
    if (decide->action != ACTION_REPROCESS || !decide->dialog)
        return;
    decide->is_target_routed = false;
    count_again(app, decide);
}

// Their lines stand behind all others.
static void
describe_newer(struct app *app, struct decide *decide)
{
    struct strbuf command = {0};
    twin(decide, &command);
    dialog_set_command(decide->dialog, strbuf_text(&command));
    strbuf_release(&command);
    decide_newer_describe(&decide->newer, decide->dialog, app_now(app));
}

static void
describe_risks(struct app *app, struct decide *decide, const char *why)
{
    decide_risks_describe(&decide->risks, decide->dialog, why);
    decide->newer.lines = dialog_lines(decide->dialog);
    describe_newer(app, decide);
}

// Looks; then leaves out, or takes back.
static void
check_newer(struct app *app, struct decide *decide)
{
    struct decide_newer *newer = &decide->newer;
    if (decide_newer_toggle(newer, &decide->ids, &decide->count)) {
        if (dialog_request(decide->dialog)->typed_count > 0)
            dialog_set_count(decide->dialog, (int64_t)decide->count);
        count_again(app, decide);
        return;
    }
    if (newer->found.stale_count)
        app_say(app, SAY_WARN, MSG_NEWER_ALL);
    newer->trouble[0] = '\0';
    newer->is_asked = true;
    if (!decide->preview_number)
        decide_newer_look(app, newer, decide->ids, decide->count);
    if (newer->lines)
        describe_newer(app, decide);
}

// Nothing is changed: the list is there to look at, and to choose from.
static void
view_newer(struct app *app, struct decide *decide)
{
    const struct newer *found = &decide->newer.found;
    size_t count = found->stale_count;
    if (count == 0)
        return;
    int64_t *ids = alloc_array(count, sizeof *ids);
    memcpy(ids, found->stale, count * sizeof *ids);
    stop_preview(app, decide);
    app_dialog_close(app);
    decide_forget(decide);
    app_say(app, SAY_INFO, MSG_DECISION_CANCELLED);
    app_open(app, &view_events,
             &(struct events_argument){.query = {.source = LIST_IDS, .ids = ids, .id_count = count},
                                       .title = MSG_NEWER_TITLE});
    free(ids);
}

static void
acted(struct app *app, void *state, enum action action)
{
    struct decide *decide = state;
    if (decide->action != ACTION_REPROCESS || !decide->dialog)
        return;
    if (action == DO_CHECK_NEWER)
        check_newer(app, decide);
    else if (action == DO_VIEW_NEWER)
        view_newer(app, decide);
}

static void
open_dialog(struct app *app, struct decide *decide)
{
    const struct decide_verb *verb = verb_of(decide);
    decide->count = ids_normalise(decide->ids, decide->count);
    uuid_make(decide->key);

    struct arena arena = {0};
    struct strbuf command = {0};
    twin(decide, &command);
    struct dialog_request request = {
        .title = verb->title,
        .confirm = verb->title,
        .is_danger = verb->is_danger,
        .typed_count = app_typed_count(app, (int64_t)decide->count),
        .command = strbuf_text(&command),
        .confirmed = confirmed,
        .cancelled = cancelled,
        .edited = edited,
        .acted = acted,
    };
    request.field_count =
        decide_fields(app_config(app), decide->action, is_revert(decide), decide->correct.refused_by_check,
                      decide->count, &arena, request.fields);
    decide->dialog = app_dialog(app, &request);
    strbuf_release(&command);
    dialog_line(decide->dialog, scope_role(decide), "%s", scope(decide, &arena));
    care_line(app, decide->dialog, decide->of_group);
    dialog_line(decide->dialog, ROLE_DIM, MSG_CHECKING);
    dialog_set_waiting(decide->dialog, true);
    arena_release(&arena);

    ask_preview(app, decide);
}

void
decide_ids(struct app *app, struct decide *decide, enum operation_action action, const int64_t *ids,
           size_t count, const struct decide_words *words)
{
    if (count == 0) {
        app_say(app, SAY_WARN, MSG_NOTHING_HERE_TO, action_name(action));
        return;
    }
    if (!decide_begin(app, decide, action, words))
        return;
    decide->ids = alloc_array(count, sizeof *ids);
    memcpy(decide->ids, ids, count * sizeof *ids);
    decide->count = count;
    decide->is_named |= quarantine_is_named(count == 1, NULL);
    open_dialog(app, decide);
}

void
decide_list(struct app *app, struct decide *decide, enum operation_action action,
            const struct list_query *query, const struct decide_words *words)
{
    if (!decide_begin(app, decide, action, words))
        return;
    struct request *request = request_create(REQUEST_COLLECT);
    request->list = list_query_copy(query);
    app_say(app, SAY_INFO, MSG_COLLECTING, strbuf_text(&decide->what));
    decide->list_number = app_send(app, request);
}

bool
decide_selection(struct app *app, struct decide *decide, enum operation_action action, const int64_t *shown,
                 size_t shown_count, const struct decide_words *words)
{
    const struct selection *selection = app_selection(app);
    if (selection->count == 0)
        return false;
    struct decide_words selected = *words;
    selected.what = NULL;
    selected.group = NULL;
    selected.filter = NULL;
    selected.hidden = shown ? selection_hidden(selection, shown, shown_count) : 0;
    decide_ids(app, decide, action, selection->ids, selection->count, &selected);
    return true;
}

static void
decide_add_ids(struct decide *decide, const int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        decide->ids = alloc_grow(decide->ids, decide->count, &decide->capacity, sizeof *decide->ids);
        decide->ids[decide->count++] = ids[i];
    }
}

static void
receive_list(struct app *app, struct decide *decide, const struct reply *reply)
{
    if (reply->list.is_new_available)
        return; // later than the list, so not part of the decision
    if (reply->list.is_first)
        decide->count = 0;
    decide_add_ids(decide, reply->list.ids, reply->list.count);
    if (!reply->is_last)
        return;
    decide->list_number = 0;
    char undecided[TEXT_SHORT];
    if (reply->list.undecided)
        strbuf_printf(&decide->what, MSG_UNDECIDED_LEFT_OUT, text_count(reply->list.undecided, undecided));
    if (decide->count == 0) {
        if (is_revert(decide))
            app_say(app, SAY_INFO, MSG_NOTHING_TO_REVERT, decide->undoes);
        else
            app_say(app, SAY_WARN, MSG_NOTHING_LEFT_IN, action_name(decide->action),
                    strbuf_text(&decide->what));
        decide_forget(decide);
        return;
    }
    // Whoever answers another question would confirm one that they have not read.
    if (app_has_dialog(app)) {
        app_say(app, SAY_WARN, MSG_ASKED_ELSEWHERE, action_name(decide->action), strbuf_text(&decide->what));
        decide_forget(decide);
        return;
    }
    open_dialog(app, decide);
}

enum { TARGETS_SHOWN = 4 };

// What the payload is, where it is not as the table holds it.
static void
describe_payload(const struct decide *decide, const struct preview *preview)
{
    char count[TEXT_SHORT];
    struct strbuf line = {0};
    if (preview->revised)
        strbuf_printf(&line, MSG_PAYLOAD_CORRECTED, text_count(preview->revised, count));
    if (preview->raw)
        strbuf_printf(&line, "%s" MSG_PAYLOAD_ORIGINAL, line.len ? ", " : "",
                      text_count(preview->raw, count));
    if (line.len)
        dialog_line(decide->dialog, ROLE_DIALOG, MSG_PAYLOAD, strbuf_text(&line));
    strbuf_release(&line);
}

// Whether Kafka was asked about the topics, and how long ago: " · topics asked 4m ago".
static const char *
asked(struct app *app, const struct preview *preview, struct arena *arena)
{
    char age[TEXT_SHORT];
    int64_t oldest = INT64_MAX;
    size_t unknown = 0;
    for (size_t i = 0; i < preview->topic_count; i++) {
        const struct preview_topic *topic = &preview->topics[i];
        unknown += !topic->is_asked && !topic->refusal;
        if (topic->is_asked && topic->asked_at < oldest)
            oldest = topic->asked_at;
    }
    if (unknown)
        return MSG_TOPICS_NOT_ASKED;
    if (oldest == INT64_MAX)
        return "";
    int64_t passed = app_now(app) - oldest;
    return passed < 60 * US_PER_SECOND ? MSG_TOPICS_ASKED
                                       : arena_printf(arena, MSG_TOPICS_ASKED_AGO, text_age(passed, age));
}

// All groups that read a topic get these events, not only the one that failed.
static void
describe_readers(struct app *app, const struct decide *decide, const struct preview *preview)
{
    struct arena arena = {0};
    for (size_t i = 0; i < preview->reader_count; i++) {
        const char *sentence =
            consumers_sentence_among(preview->readers, preview->reader_count, i, app_now(app), &arena);
        if (sentence)
            dialog_line(decide->dialog, ROLE_DIALOG, "     %s", sentence);
    }
    arena_release(&arena);
}

// What is undone of the dead letters, and which headers go out.
static void
describe_letters(struct dialog *dialog, const struct preview_letters *letters)
{
    if (letters->letters == 0)
        return;
    if (*letters->formats)
        dialog_line(dialog, ROLE_DIALOG, MSG_LETTERS, letters->events, letters->formats);
    dialog_line(dialog, ROLE_DIALOG, MSG_HEADERS_KEPT, *letters->kept ? letters->kept : "none");
    dialog_line(dialog, ROLE_DIALOG, MSG_HEADERS_DROPPED, *letters->dropped ? letters->dropped : "none");
    dialog_line(dialog, ROLE_DIALOG, MSG_HEADERS_ADDED, letters->added);
    dialog_line(dialog, letters->exact == letters->events ? ROLE_STATUS_OK : ROLE_DIALOG, MSG_EXACT_OF,
                letters->exact, letters->events, letters->why_inexact ? ": " : "",
                letters->why_inexact ? letters->why_inexact : "");
    if (letters->unsure)
        dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_LETTERS_UNSURE, letters->unsure, letters->why_unsure);
}

static void
describe_topics(struct app *app, const struct decide *decide, const struct preview *preview)
{
    struct strbuf line = {0};
    struct arena arena = {0};
    char count[TEXT_SHORT];
    size_t targets = 0;
    const char *why = NULL;
    for (size_t i = 0; i < preview->topic_count; i++) {
        if (preview->topics[i].refusal)
            continue;
        if (targets++ < TARGETS_SHOWN)
            strbuf_printf(&line, "%s%s (%s)", line.len ? "  " : "", preview->topics[i].topic,
                          text_count(preview->topics[i].count, count));
        why = why ? why : preview->topics[i].why;
    }
    if (targets > TARGETS_SHOWN)
        strbuf_printf(&line, "  and %zu more", targets - TARGETS_SHOWN);
    const struct status *status = app_status(app);
    const char *words = *status->promise_words ? status->promise_words : MSG_NOT_PROBED;
    dialog_line(decide->dialog, ROLE_DIALOG, "to   %s", targets ? strbuf_text(&line) : MSG_NO_TARGET);
    if (decide->is_target_routed)
        dialog_line(decide->dialog, ROLE_DIALOG, MSG_TARGET_ROUTED);
    else if (why)
        dialog_line(decide->dialog, ROLE_DIALOG, MSG_TARGET_WHY, why);
    describe_readers(app, decide, preview);
    for (size_t i = 0; i < preview->topic_count; i++) {
        if (preview->topics[i].refusal)
            dialog_line(decide->dialog, ROLE_DIALOG_DANGER, MSG_TARGET_REFUSED,
                        text_count(preview->topics[i].count, count), preview->topics[i].refusal);
    }
    dialog_line(decide->dialog, status->promise == PROMISE_EXACTLY_ONCE ? ROLE_STATUS_OK : ROLE_STATUS_WARN,
                "     %s%s", words, asked(app, preview, &arena));
    describe_payload(decide, preview);
    describe_letters(decide->dialog, &preview->letters);
    strbuf_release(&line);
    arena_release(&arena);
}

static void
describe_quarantine(const struct app *app, const struct decide *decide, const struct preview *preview)
{
    char count[TEXT_SHORT];
    if (decide->left_out_count)
        dialog_line(decide->dialog, ROLE_DIALOG_DANGER, MSG_QUARANTINE_LEFT_OUT,
                    text_count((int64_t)decide->left_out_count, count),
                    app_config(app)->decision.max_replays);
    else if (preview->quarantine.events)
        dialog_line(decide->dialog, ROLE_DIALOG_DANGER, MSG_QUARANTINE_INCLUDED,
                    text_count(preview->quarantine.events, count), app_config(app)->decision.max_replays);
}

// A bulk reprocess leaves out events in quarantine unless they were named. True: fewer are left.
static bool
leave_out(struct decide *decide, const struct preview *preview)
{
    if (decide->action != ACTION_REPROCESS || decide->is_named || preview->quarantine.id_count == 0)
        return false;
    size_t kept =
        ids_without(decide->ids, decide->count, preview->quarantine.ids, preview->quarantine.id_count);
    decide->left_out_count += decide->count - kept;
    bool is_fewer = kept < decide->count;
    decide->count = kept;
    if (dialog_request(decide->dialog)->typed_count > 0)
        dialog_set_count(decide->dialog, (int64_t)kept);
    return is_fewer;
}

// The setting consumers names one topic for all of them: that is filled in as the target, to be edited. True:
// it is counted again with it.
static bool
fill_in_target(struct app *app, struct decide *decide, const struct preview *preview)
{
    if (!preview->routed || decide->is_routed || decide_fields_topic(decide->dialog).len)
        return false;
    decide->is_routed = decide->is_target_routed = true;
    decide_fields_set_topic(decide->dialog, preview->routed);
    count_again(app, decide);
    return true;
}

// Events that this operation will skip.
static void
describe_skipped(const struct decide *decide, const struct preview *preview)
{
    char count[TEXT_SHORT];
    bool is_one = preview->closed == 1;
    if (preview->closed && decide->action == ACTION_RESTORE)
        dialog_line(decide->dialog, ROLE_DIALOG_DANGER, MSG_NOT_TO_RESTORE,
                    text_count(preview->closed, count), is_one ? "is" : "are", is_one ? "was" : "were");
    else if (preview->closed)
        dialog_line(decide->dialog, ROLE_DIALOG_DANGER, MSG_CLOSED_MEANWHILE,
                    text_count(preview->closed, count), is_one ? "was" : "were");
    if (preview->busy)
        dialog_line(decide->dialog, ROLE_DIALOG_DANGER, MSG_BUSY_ELSEWHERE, text_count(preview->busy, count),
                    preview->busy == 1 ? "is" : "are",
                    preview->busy_with ? preview->busy_with : "another operation");
}

// How it went the last time some of these events were sent.
static void
describe_last(const struct app *app, struct dialog *dialog, const struct operation *last)
{
    char ago[TEXT_SHORT];
    struct arena arena = {0};
    bool is_bad = outcomes_of(last).severity >= OUTCOME_RETURNED;
    int64_t at = last->started_at != TIME_ABSENT ? last->started_at : last->created_at;
    dialog_line(dialog, is_bad ? ROLE_DIALOG_DANGER : ROLE_DIALOG, MSG_LAST_TIME,
                moment_phrase(app_moments(app), at, ago), last->requested_by, last->no,
                operation_standing(last, &arena));
    arena_release(&arena);
}

// What will be done, and to which of them it will not.
static void
describe_effect(struct app *app, const struct decide *decide, const struct preview *preview)
{
    struct dialog *dialog = decide->dialog;
    if (decide->action == ACTION_REPROCESS)
        describe_topics(app, decide, preview);
    else if (is_revert(decide))
        dialog_line(dialog, ROLE_DIALOG, MSG_REVERT_EFFECT, decide->undoes);
    else
        dialog_line(dialog, ROLE_DIALOG, "%s", verb_of(decide)->effect);
    if (decide->action == ACTION_CORRECT && !is_revert(decide))
        dialog_line(dialog, ROLE_DIALOG, MSG_APPLY_SENDS);
    if (decide->correct.would.len)
        dialog_line(dialog, ROLE_DIALOG, "%s", strbuf_text(&decide->correct.would));
    describe_skipped(decide, preview);
}

// From now on it can be confirmed: exactly the events that were counted.
static void
describe_counts(struct app *app, struct decide *decide, const struct preview *preview)
{
    struct dialog *dialog = decide->dialog;
    struct arena arena = {0};
    dialog_clear(dialog);
    dialog_set_waiting(dialog, false);
    dialog_line(dialog, scope_role(decide), "%s", scope(decide, &arena));
    care_line(app, dialog, decide->of_group);
    if (decide->advice.len)
        dialog_line(dialog, ROLE_STATUS_INFO, "%s", strbuf_text(&decide->advice));
    // Where none is left, that alone is said.
    if (preview->open > 0 || preview->busy > 0 || decide->count == 0)
        describe_effect(app, decide, preview);
    if (preview->last)
        describe_last(app, dialog, preview->last);
    if (decide->action == ACTION_REPROCESS)
        describe_quarantine(app, decide, preview);
    decide->risks.lines = dialog_lines(dialog);
    if (decide->count == 0)
        dialog_refuse(dialog, MSG_ALL_QUARANTINED);
    else if (preview->open == 0 && !preview->busy && decide->action == ACTION_RESTORE)
        dialog_refuse(dialog, MSG_NONE_TO_RESTORE);
    else if (preview->open == 0)
        dialog_refuse(dialog, arena_printf(&arena, preview->busy ? MSG_ALL_BUSY : MSG_ALL_CLOSED,
                                           action_name(decide->action)));
    arena_release(&arena);
}

// Every event of the discard is pending again or closed otherwise: nothing to ask.
static void
say_undone(struct app *app, struct decide *decide)
{
    int64_t discard = decide->undoes;
    stop_preview(app, decide);
    app_dialog_close(app);
    if (decide->action == ACTION_CORRECT)
        app_say(app, SAY_INFO, MSG_NOTHING_TO_REVERT, discard);
    else
        app_say(app, SAY_INFO, MSG_NOTHING_TO_RESTORE, discard);
    decide_forget(decide);
}

static void
receive_preview(struct app *app, struct decide *decide, const struct reply *reply)
{
    const struct preview *preview = &reply->preview;
    bool has_counts = (preview->known & 1u << PREVIEW_COUNTS) != 0;
    if (decide->undoes && has_counts && preview->open == 0 && preview->busy == 0) {
        say_undone(app, decide);
        return;
    }
    if (has_counts && leave_out(decide, preview) && decide->count > 0) {
        ask_preview(app, decide); // the counts of the rest
        return;
    }
    if (has_counts && decide->action == ACTION_REPROCESS && fill_in_target(app, decide, preview))
        return;
    if (reply->is_last)
        decide->preview_number = 0;
    if (has_counts)
        describe_counts(app, decide, preview);
    if (decide->action != ACTION_REPROCESS)
        return;
    decide_risks_add(&decide->risks, preview);
    decide->newer.is_asked |= has_counts && preview->checks_newer;
    describe_risks(app, decide, NULL);
    if (reply->is_last)
        decide_newer_look(app, &decide->newer, decide->ids, decide->count);
}

// Other operations had every one of its events first.
static void
say_skipped(struct app *app, const struct operation *operation, const struct reply *reply)
{
    char count[TEXT_SHORT];
    const char *does = operation->action == ACTION_REPROCESS ? "send" : action_name(operation->action);
    const struct outcome *most = reply->operations.outcome_count ? reply->operations.outcomes : NULL;
    if (most && most->reason && most->count == operation->skipped)
        app_say(app, SAY_WARN, MSG_ALL_SKIPPED_WHY, operation->no, does,
                text_count(operation->skipped, count), most->reason);
    else
        app_say(app, SAY_WARN, MSG_ALL_SKIPPED, operation->no, does, text_count(operation->skipped, count));
}

static void
say_confirmed(struct app *app, struct decide *decide, const struct reply *reply)
{
    const struct operation *operation = reply->operations.count ? &reply->operations.list[0] : NULL;
    bool is_void = operation && operation->total > 0 && operation->skipped == operation->total;
    struct app_deed deed = {.operation = operation ? operation->no : reply->news.operation,
                            .action = decide->action,
                            .until = operation ? operation->send_after : TIME_ABSENT};
    if (!is_void) // else there is nothing to undo
        app_did(app, &deed);
    if (is_void) {
        say_skipped(app, operation, reply);
    } else if (operation && operation->state == OPERATION_AWAITING) {
        app_say(app, SAY_WARN, MSG_NEEDS_APPROVAL, operation->no);
    } else if (operation && operation_begins_later(operation, app_now(app))) {
        char text[BEGIN_TEXT];
        app_say_about(app, SAY_OK, operation->no, TIME_ABSENT, MSG_BEGINS_LATER, operation->no,
                      begin_words(operation->plan.begin.at, text));
    } else if (operation && operation->send_after != TIME_ABSENT && app_now(app) < operation->send_after) {
        app_say_about(app, SAY_OK, operation->no, operation->send_after,
                      operation->action == ACTION_CORRECT ? MSG_CORRECTING_SOON : MSG_SENDING_SOON,
                      operation->no);
    } else {
        bool is_undone_by_u = decide->action != ACTION_RESTORE && !is_revert(decide);
        app_say_about(app, SAY_OK, reply->news.operation, TIME_ABSENT,
                      is_undone_by_u ? MSG_QUEUED_UNDO : MSG_QUEUED, reply->news.operation);
    }
}

void
decide_undo_operation(struct app *app, struct decide *decide, int64_t no, enum operation_action action)
{
    bool is_recipe = action == ACTION_CORRECT;
    struct list_query query = {.source = LIST_OPERATION,
                               .operation = no,
                               .is_corrected = is_recipe, // where its own revisions are still the newest
                               .item_states = is_recipe ? 0 : 1u << ITEM_DONE};
    struct decide_words words = {.what = arena_printf(app_frame(app), "operation %" PRId64, no),
                                 .restores_resolved = action == ACTION_RESOLVE,
                                 .undoes = no};
    decide_list(app, decide, is_recipe ? ACTION_CORRECT : ACTION_RESTORE, &query, &words);
}

// Refused by the database where anything of it was carried out.
static void
undo_unsent(struct app *app, struct decide *decide, int64_t no)
{
    struct request *request = request_create(REQUEST_STEER);
    request->operation = no;
    request->steering.steer = STEER_UNDO;
    app_did(app, &(struct app_deed){0}); // once, whatever the answer is
    decide->undo_number = app_send(app, request);
}

void
decide_undo(struct app *app, struct decide *decide)
{
    char count[TEXT_SHORT];
    struct app_deed deed = app_deed(app);
    // A decision ends the history of its selection, so a step that can be undone came after it.
    if (selection_undo(app_selection(app))) {
        app_say(app, SAY_INFO, MSG_SELECTION_UNDONE, text_count((int64_t)app_selection(app)->count, count));
        return;
    }
    bool has_begun = deed.until == TIME_ABSENT || app_now(app) >= deed.until;
    if (deed.operation && (deed.action == ACTION_REPROCESS || !has_begun)) {
        undo_unsent(app, decide, deed.operation);
        return;
    }
    switch (deed.operation ? deed.action : ACTION_COUNT) {
    case ACTION_DISCARD:
    case ACTION_RESOLVE:
    case ACTION_CORRECT:
        decide_undo_operation(app, decide, deed.operation, deed.action);
        break;
    case ACTION_REPROCESS:
    case ACTION_RESTORE:
        app_say(app, SAY_INFO, MSG_NO_UNDO_OF, deed.operation, action_name(deed.action));
        break;
    case ACTION_COUNT:
        app_say(app, SAY_INFO, MSG_NOTHING_TO_UNDO);
        break;
    }
}

bool
decide_receive(struct app *app, struct decide *decide, struct reply *reply)
{
    if (!reply->number)
        return false;
    if (reply->number == decide->stopped_number)
        return true;
    if (reply->number == decide->undo_number) {
        decide->undo_number = 0;
        if (reply->kind == REPLY_STEERED)
            app_say(app, SAY_OK, "%s", reply->news.sentence);
        else
            app_say_err(app, &reply->err);
        return true;
    }
    if (reply->number == decide->list_number) {
        if (reply->kind == REPLY_LIST) {
            receive_list(app, decide, reply);
        } else {
            app_say_err(app, &reply->err);
            decide_forget(decide);
        }
        return true;
    }
    if (reply->number == decide->preview_number) {
        if (reply->kind == REPLY_PREVIEW) {
            receive_preview(app, decide, reply);
        } else if (decide->risks.found.known) {
            decide->preview_number = 0;
            describe_risks(app, decide, reply->err.text);
        } else {
            app_dialog_close(app);
            app_say_err(app, &reply->err);
            decide_forget(decide);
        }
        return true;
    }
    if (reply->number == decide->newer.number) {
        decide_newer_take(app, &decide->newer, reply);
        if (!decide->preview_number)
            decide_newer_look(app, &decide->newer, decide->ids, decide->count);
        if (decide->newer.lines)
            describe_newer(app, decide);
        return true;
    }
    if (reply->number == decide->confirm_number) {
        char done[TEXT_SHORT];
        char of[TEXT_SHORT];
        if (reply->kind == REPLY_PROGRESS) {
            app_say(app, SAY_INFO, MSG_SELECTING, text_count(reply->news.done, done),
                    text_count(reply->news.of, of));
        } else if (reply->kind == REPLY_CONFIRMED) {
            decide->confirm_number = 0;
            selection_end(app_selection(app));
            say_confirmed(app, decide, reply);
        } else {
            decide->confirm_number = 0;
            app_say_err(app, &reply->err);
        }
        return true;
    }
    return false;
}

bool
decide_cancel(struct app *app, struct decide *decide)
{
    if (!decide->list_number)
        return false;
    app_cancel(app, decide->list_number);
    decide_forget(decide);
    app_say(app, SAY_INFO, MSG_COLLECTING_STOPPED);
    return true;
}
