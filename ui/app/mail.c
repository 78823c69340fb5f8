// Sends requests to the backend and hands each reply to the view that asked.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/app/private.h"
#include "ui/app/texts.h"

enum answering {
    ANSWER_NONE,           // nobody answers these
    ANSWER_EACH,           // the outcome of a change: each one is wanted
    ANSWER_NEWEST,         // asked for again, the older answer is of no use
    ANSWER_NEWEST_OR_STOP, // likewise, and long: the person may stop it
};

static enum answering
answering(enum request_kind kind)
{
    switch (kind) {
    case REQUEST_OPERATIONS_END:
    case REQUEST_CANCEL:
    case REQUEST_RECONNECT:
    case REQUEST_REFRESH:
    case REQUEST_PAUSE:
    case REQUEST_PRESENCE:
        return ANSWER_NONE;
    case REQUEST_STEER:
    case REQUEST_DECIDE:
    case REQUEST_AS_COPY:
    case REQUEST_ADOPT_COUNT:
    case REQUEST_ADOPT:
    case REQUEST_CONFIRM:
    case REQUEST_CATEGORY:
    case REQUEST_CARE:
    case REQUEST_MARK:
    case REQUEST_ALERT:
    case REQUEST_CORRECT:
    case REQUEST_RECIPE_SAVE:
        return ANSWER_EACH;
    case REQUEST_LIST:
    case REQUEST_COLLECT:
    case REQUEST_APART:
    case REQUEST_STATS:
    case REQUEST_RECIPE_TRY:
    case REQUEST_EXPORT:
    case REQUEST_CONNECT:
        return ANSWER_NEWEST_OR_STOP;
    case REQUEST_GROUPS:
    case REQUEST_FACETS:
    case REQUEST_VALUES:
    case REQUEST_ROWS:
    case REQUEST_RECENT:
    case REQUEST_EVENT:
    case REQUEST_ORIGINAL:
    case REQUEST_SHAPE:
    case REQUEST_RECORD:
    case REQUEST_WHY:
    case REQUEST_OPERATIONS:
    case REQUEST_OPERATION:
    case REQUEST_STOP:
    case REQUEST_PREVIEW:
    case REQUEST_NEWER:
    case REQUEST_AUDIT:
    case REQUEST_MONITOR:
    case REQUEST_RECIPES:
    case REQUEST_RECIPE_FILE:
    case REQUEST_KINDS: // their number
        break;
    }
    return ANSWER_NEWEST;
}

static bool
replaces_older(enum request_kind kind)
{
    return answering(kind) != ANSWER_EACH;
}

static void
drop_expected(struct app *app, size_t i)
{
    memmove(app->mail.expected + i, app->mail.expected + i + 1,
            (app->mail.expected_count - i - 1) * sizeof *app->mail.expected);
    app->mail.expected_count--;
}

static struct expected *
find_expected(const struct app *app, uint64_t number)
{
    for (size_t i = 0; i < app->mail.expected_count; i++)
        if (app->mail.expected[i].number == number)
            return &app->mail.expected[i];
    return NULL;
}

void
app_forget_asker(struct app *app, const struct instance *asker)
{
    for (size_t i = app->mail.expected_count; i-- > 0;)
        if (app->mail.expected[i].asker == asker)
            drop_expected(app, i);
}

static void
expect(struct app *app, const struct request *request, struct instance *asker)
{
    for (size_t i = app->mail.expected_count; i-- > 0;)
        if (app->mail.expected[i].asker == asker && app->mail.expected[i].kind == request->kind &&
            replaces_older(request->kind))
            drop_expected(app, i);
    app->mail.expected = alloc_grow(app->mail.expected, app->mail.expected_count,
                                    &app->mail.expected_capacity, sizeof *app->mail.expected);
    app->mail.expected[app->mail.expected_count++] =
        (struct expected){.number = request->number, .kind = request->kind, .asker = asker};
}

// Gives away what the mailbox has room for, in order.
static void
flush_unsent(struct app *app)
{
    size_t sent = 0;
    while (sent < app->mail.unsent_count && mailbox_put(app->config->requests, app->mail.unsent[sent], 0))
        sent++;
    if (sent == 0)
        return;
    memmove(app->mail.unsent, app->mail.unsent + sent,
            (app->mail.unsent_count - sent) * sizeof(struct request *));
    app->mail.unsent_count -= sent;
}

static uint64_t
send_for(struct app *app, struct request *request, struct instance *asker)
{
    uint64_t number = request->number = ++app->mail.last_number;
    if (!app->config->requests) {
        request_destroy(request);
        return number;
    }
    if (answering(request->kind) != ANSWER_NONE)
        expect(app, request, asker);
    app->mail.unsent = alloc_grow(app->mail.unsent, app->mail.unsent_count, &app->mail.unsent_capacity,
                                  sizeof(struct request *));
    app->mail.unsent[app->mail.unsent_count++] = request;
    flush_unsent(app);
    return number;
}

uint64_t
app_send(struct app *app, struct request *request)
{
    return send_for(app, request, app->stacks.caller ? app->stacks.caller : app_top(app));
}

uint64_t
app_send_own(struct app *app, struct request *request)
{
    return send_for(app, request, NULL);
}

void
app_mark(struct app *app, struct bytes text)
{
    const char *why_not;
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return;
    }
    struct request *request = request_create(REQUEST_MARK);
    request->reason = alloc_text(arena_text(app_frame(app), text));
    (void)app_send_own(app, request);
}

void
app_alert(struct app *app, struct bytes rule, bool is_silence, int64_t length)
{
    const char *why_not;
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return;
    }
    struct request *request = request_create(REQUEST_ALERT);
    request->alert = (struct alert_asked){
        .rule = alloc_text(arena_text(app_frame(app), rule)), .is_silence = is_silence, .length = length};
    (void)app_send_own(app, request);
}

void
app_tell_presence(struct app *app)
{
    const struct instance *top = app_top(app);
    uint64_t group = 0;
    bool has_group = top->view->group && top->view->group(top->state, &group);
    if (!app->config->tells_presence ||
        (app->mail.presence.view == top->view && app->mail.presence.has_group == has_group &&
         app->mail.presence.group == group))
        return;
    app->mail.presence.view = top->view;
    app->mail.presence.has_group = has_group;
    app->mail.presence.group = group;
    struct request *request = request_create(REQUEST_PRESENCE);
    request->reason = alloc_text(top->view->name);
    request->groups.has_group = has_group;
    request->groups.group = group;
    (void)app_send_own(app, request);
}

static bool
is_awaiting(const struct app *app, enum answering how)
{
    for (size_t i = 0; i < app->mail.expected_count; i++)
        if (!app->mail.expected[i].is_answered && answering(app->mail.expected[i].kind) == how &&
            app->mail.expected[i].kind != REQUEST_LIST)
            return true;
    return false;
}

bool
app_is_collecting(const struct app *app)
{
    return is_awaiting(app, ANSWER_NEWEST_OR_STOP);
}

bool
app_is_confirming(const struct app *app)
{
    return is_awaiting(app, ANSWER_EACH);
}

void
app_post(struct app *app, enum request_kind kind, bool is_on)
{
    struct request *request = request_create(kind);
    request->is_on = is_on;
    (void)app_send(app, request);
}

void
app_cancel(struct app *app, uint64_t number)
{
    const struct expected *expected = find_expected(app, number);
    if (!expected || expected->is_answered)
        return;
    struct request *request = request_create(REQUEST_CANCEL);
    request->target = number;
    (void)app_send(app, request);
}

bool
app_cancel_all(struct app *app, bool *goes_on)
{
    bool had_some = false;
    *goes_on = false;
    for (size_t i = 0; i < app->mail.expected_count; i++) {
        if (app->mail.expected[i].is_answered)
            continue;
        bool stops = answering(app->mail.expected[i].kind) == ANSWER_NEWEST_OR_STOP;
        had_some = had_some || stops;
        *goes_on = *goes_on || !stops;
        if (stops)
            app_cancel(app, app->mail.expected[i].number);
    }
    return had_some;
}

bool
app_is_waiting(const struct app *app, uint64_t number)
{
    const struct expected *expected = find_expected(app, number);
    return expected && !expected->is_answered;
}

bool
app_is_asking(const struct app *app, const struct instance *asker)
{
    for (size_t i = 0; i < app->mail.expected_count; i++)
        if (app->mail.expected[i].asker == asker && !app->mail.expected[i].is_answered)
            return true;
    return false;
}

bool
app_has_outstanding(const struct app *app)
{
    for (size_t i = 0; i < app->mail.expected_count; i++)
        if (!app->mail.expected[i].is_answered)
            return true;
    return app->mail.unsent_count > 0 || (app->config->replies && !mailbox_is_empty(app->config->replies));
}

// A receive of a view; whether it used the reply up.
static bool
deliver(struct app *app, struct instance *instance, struct reply *reply)
{
    bool is_used = false;
    if (instance->view->receive)
        AS_CALLER(app, instance, is_used = instance->view->receive(app, instance->state, reply));
    if (is_used)
        app_redraw(app);
    return is_used;
}

// News reach every open view; a status is kept, for all of them to look at, and so is what people say.
static void
deliver_news(struct app *app, struct reply *reply)
{
    if (reply->kind == REPLY_STATUS) {
        struct app_message newest;
        bool is_back = reply->status.link == LINK_LIVE && app_status(app)->link == LINK_LOST;
        if (is_back && app_message(app, 0, &newest) && strcmp(newest.text, MSG_NO_CHANGES_OFFLINE) == 0)
            app->messages.line = LINE_EMPTY;
        reply_destroy(app->mail.status);
        app->mail.status = reply;
        app_redraw(app);
    }
    if (reply->kind == REPLY_PEOPLE) {
        reply_destroy(app->mail.people);
        app->mail.people = reply;
        app_redraw(app);
    }
    for (int place = 1; place <= PLACES; place++)
        for (int i = 0; i < app->stacks.places[place].depth; i++)
            (void)deliver(app, app->stacks.places[place].views[i], reply);
    if (reply->kind == REPLY_NEWS && reply->news.sentence && reply->news.operation)
        app_say_end(app, &reply->news);
    else if (reply->kind == REPLY_NEWS && reply->news.sentence)
        app_say(app, SAY_OK, "%s", reply->news.sentence);
    if (reply->kind == REPLY_ERROR)
        app_say_err(app, &reply->err);
    if (reply->kind != REPLY_STATUS && reply->kind != REPLY_PEOPLE)
        reply_destroy(reply);
}

// A page may be full without being the last that could be asked for; it answers all the same.
static bool
is_answer(const struct reply *reply)
{
    return reply->is_last || reply->kind == REPLY_ERROR || reply->kind == REPLY_AUDIT;
}

static void
deliver_answer(struct app *app, struct reply *reply)
{
    struct expected *expected = find_expected(app, reply->number);
    if (!expected) { // replaced by a newer request, or its view is closed
        reply_destroy(reply);
        return;
    }
    struct instance *asker = expected->asker;
    if (asker)
        asker->was_answered = true;
    bool is_over = is_answer(reply) && !replaces_older(expected->kind);
    expected->is_answered |= is_answer(reply);
    if (is_over)
        drop_expected(app, (size_t)(expected - app->mail.expected));
    bool is_used = asker && deliver(app, asker, reply);
    if (!asker && reply->number == app->change.number) {
        app_connected(app, reply);
    } else if (reply->kind == REPLY_MARKED || reply->kind == REPLY_ALERT) {
        app_say(app, SAY_OK, reply->kind == REPLY_MARKED ? MSG_MARKED : MSG_ALERT_NOTED);
        (void)deliver(app, app_top(app), reply);
    } else if (!is_used && reply->kind == REPLY_ERROR) {
        app_say_err(app, &reply->err);
    }
    reply_destroy(reply);
}

bool
app_receive(struct app *app, int64_t budget_us)
{
    if (!app->config->replies)
        return false;
    if (app->mail.unsent_count)
        flush_unsent(app);
    int64_t until = clock_mono() + budget_us;
    bool had_some = false;
    struct reply *reply;
    while ((reply = mailbox_take(app->config->replies, 0))) {
        had_some = true;
        app->now = clock_now();
        if (reply->number == 0)
            deliver_news(app, reply);
        else
            deliver_answer(app, reply);
        if (clock_mono() >= until)
            break;
    }
    return had_some;
}
