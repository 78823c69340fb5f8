// What a person says about the group under the cursor: who takes care of it, a note, or that it may wait.
#include "ui/views/groups/state.h"

#include <inttypes.h>
#include <string.h>
#include "base/alloc.h"
#include "ui/views/care.h"
#include "ui/views/groups/texts.h"

enum { FIELD_NOTE, FIELD_UNTIL }; // of "take": what is typed at once is the note

const struct group_care *
groups_care(const struct groups *groups, const struct people *people, const struct event_group *group)
{
    return groups->pivot == PIVOT_ERROR && !group->part_count ? people_care(people, group->key) : NULL;
}

static struct bytes
shared(const struct group_share shares[GROUP_TOP])
{
    return shares[0].count && !shares[1].count ? bytes_of(shares[0].name) : (struct bytes){0};
}

const struct advice *
groups_advice(const struct app *app, const struct groups *groups, const struct event_group *group)
{
    if (!group || groups->pivot != PIVOT_ERROR)
        return NULL;
    const struct runbook_subject subject = {.group = group->part_count ? 0 : group->key,
                                            .category = group->category,
                                            .error_class = bytes_of(group->text.error_class),
                                            .message = bytes_of(group->text.sample),
                                            .event_type = shared(group->types),
                                            .topic = shared(group->topics)};
    return runbook_find(app_config(app)->runbook, &subject);
}

bool
groups_waits(const void *app, const struct event_group *group)
{
    const struct group_care *care = people_care(app_people(app), group->key);
    return care && !group->part_count && care_is_snoozed(care, app_now(app), group->count);
}

static void
send_care(struct app *app, struct groups *groups, const struct care_asked *asked)
{
    struct request *request = request_create(REQUEST_CARE);
    request->groups.group = groups->saying.group;
    request->care = *asked;
    groups->saying.verb = asked->verb;
    groups->saying.is_end = asked->verb == CARE_SNOOZE && asked->length == 0;
    groups->saying.number = app_send(app, request);
}

static char *
care_field(const struct dialog *dialog, int field)
{
    struct bytes value = dialog_value(dialog, field);
    return strndup(value.data, value.len);
}

static bool
check_until(struct bytes text, struct err *err)
{
    int64_t length;
    return until_parse(text, clock_now(), &length, err);
}

static bool
check_snooze(struct bytes text, struct err *err)
{
    return bytes_equal(text, BYTES("0")) || check_until(text, err);
}

// Where the clock has passed the time since it was checked, it is one of the next moment.
static int64_t
length_of(const struct dialog *dialog, int field)
{
    int64_t length;
    if (bytes_equal(dialog_value(dialog, field), BYTES("0")))
        return 0;
    return until_parse(dialog_value(dialog, field), clock_now(), &length, NULL) ? length : US_PER_SECOND;
}

static void
take_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    send_care(app, state,
              &(struct care_asked){.verb = CARE_TAKE,
                                   .length = length_of(dialog, FIELD_UNTIL),
                                   .note = care_field(dialog, FIELD_NOTE)});
}

static void
note_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    send_care(app, state, &(struct care_asked){.verb = CARE_NOTE, .note = care_field(dialog, 0)});
}

static void
snooze_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct groups *groups = state;
    send_care(app, groups,
              &(struct care_asked){.verb = CARE_SNOOZE,
                                   .length = length_of(dialog, 0),
                                   .above = snooze_above(groups->saying.events)});
}

// What the group is called, and what is said about it already.
static const struct group_care *
care_begin(struct app *app, const struct groups *groups, struct dialog_request *request, const char *verb,
           bool has_note)
{
    const struct group_care *care = people_care(app_people(app), groups->saying.group);
    request->fields[request->field_count++] = (struct dialog_field){
        .label = "note",
        .option = strcmp(verb, "take") == 0 ? "--note" : NULL,
        .hint = MSG_NOTE_HINT,
        .value = care ? care->note.text : NULL,
    };
    request->field_count -= !has_note;
    request->command = arena_printf(app_frame(app), "redrive %s %016" PRIx64, verb, groups->saying.group);
    return care;
}

static void
care_open(struct app *app, struct groups *groups, const struct dialog_request *request, const char *effect)
{
    char key[GROUP_TEXT];
    const struct event_group *group = groups_cursor(groups);
    const char *title = group_title(group, groups->pivot, app_frame(app));
    struct dialog *dialog = app_dialog(app, request);
    dialog_line(dialog, ROLE_STRONG, "%s", title);
    care_line(app, dialog, group_text(groups->saying.group, key));
    dialog_line(dialog, ROLE_DIALOG, "%s", effect);
}

static void
open_take(struct app *app, struct groups *groups)
{
    struct dialog_request request = {.title = "Take care", .confirm = "Take", .confirmed = take_confirmed};
    (void)care_begin(app, groups, &request, "take", true);
    request.fields[request.field_count++] = (struct dialog_field){.label = "until",
                                                                  .option = "--until",
                                                                  .value = "8h",
                                                                  .hint = MSG_UNTIL_HINT,
                                                                  .is_required = true,
                                                                  .check = check_until};
    care_open(app, groups, &request, MSG_TAKE_EFFECT);
}

static void
open_note(struct app *app, struct groups *groups)
{
    struct dialog_request request = {.title = "Note", .confirm = "Set", .confirmed = note_confirmed};
    (void)care_begin(app, groups, &request, "note", true);
    care_open(app, groups, &request, MSG_NOTE_EFFECT);
}

enum care_choice { CHOICE_TAKE, CHOICE_NOTE, CHOICE_RELEASE, CARE_CHOICES };

static void
care_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    if (!groups_cursor(groups))
        return;
    if (index == CHOICE_RELEASE)
        send_care(app, groups, &(struct care_asked){.verb = CARE_RELEASE});
    else
        (index == CHOICE_NOTE ? open_note : open_take)(app, groups);
}

// The group is fixed now, whatever moves under the dialog. false: there is none, or nothing may be said about
// it, and that was said. These are no changes of events, so their keys are not shifted.
static bool
fix_group(struct app *app, struct groups *groups)
{
    const struct event_group *group = groups_cursor(groups);
    const char *why_not;
    if (!group)
        return false;
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return false;
    }
    if (groups->pivot != PIVOT_ERROR || group->part_count) {
        app_say(app, SAY_WARN, "%s", group->part_count ? MSG_CARE_SINGLE : MSG_CARE_BY_ERROR);
        return false;
    }
    groups->saying = (struct group_saying){.group = group->key, .events = group->count};
    return true;
}

// A group that somebody has asks first what is meant.
bool
groups_ask_take(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    if (!fix_group(app, groups))
        return true;
    const struct group_care *care = people_care(app_people(app), groups->saying.group);
    if (!care_is_taken(care, app_now(app))) {
        open_take(app, groups);
        return true;
    }
    bool is_mine = strcmp(care->taken.who, app_status(app)->user) == 0;
    const struct menu_item items[CARE_CHOICES] = {
        [CHOICE_TAKE] = {.text = is_mine ? MSG_KEEP_LONGER : MSG_TAKE_OVER, .key = 't'},
        [CHOICE_NOTE] = {.text = MSG_EDIT_NOTE, .key = 'n'},
        [CHOICE_RELEASE] = {.text = MSG_RELEASE, .key = 'r'},
    };
    const char *title = arena_printf(app_frame(app), "taken by %s", care->taken.who);
    app_menu(app, &(struct menu_request){
                      .title = title, .items = items, .count = CARE_CHOICES, .chosen = care_chosen});
    return true;
}

bool
groups_ask_snooze(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    char count[TEXT_SHORT];
    if (!fix_group(app, groups))
        return true;
    struct dialog_request request = {
        .title = "Snooze",
        .confirm = "Snooze",
        .fields = {{.label = "until",
                    .option = "--until",
                    .value = "4h",
                    .hint = MSG_SNOOZE_HINT,
                    .is_required = true,
                    .check = check_snooze}},
        .field_count = 1,
        .confirmed = snooze_confirmed,
    };
    (void)care_begin(app, groups, &request, "snooze", false);
    care_open(app, groups, &request,
              arena_printf(app_frame(app), MSG_SNOOZE_EFFECT,
                           text_count(snooze_above(groups->saying.events), count)));
    return true;
}

bool
groups_care_receive(struct app *app, struct groups *groups, const struct reply *reply)
{
    static const char *const said[] = {[CARE_TAKE] = MSG_TAKEN,
                                       [CARE_NOTE] = MSG_NOTED,
                                       [CARE_RELEASE] = MSG_RELEASED,
                                       [CARE_SNOOZE] = MSG_SNOOZED};
    if (!groups->saying.number || reply->number != groups->saying.number)
        return false;
    groups->saying.number = 0;
    if (reply->kind != REPLY_CARE) {
        app_say_err(app, &reply->err);
        return true;
    }
    app_send(app, request_create(REQUEST_REFRESH));
    app_say(app, SAY_OK, "%s", groups->saying.is_end ? MSG_SNOOZE_ENDED : said[groups->saying.verb]);
    return true;
}
