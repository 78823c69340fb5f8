#include "ui/views/care.h"

#include "base/clock.h"
#include "core/event.h"

static const char *
note_of(const struct group_care *care)
{
    return care->note.text ? care->note.text : "";
}

const char *
care_words(const struct group_care *care, struct moments moments, int64_t events, struct arena *arena)
{
    const char *words = "";
    char at[TEXT_SHORT], until[TIME_TEXT];
    if (!care)
        return words;
    if (care_is_snoozed(care, moments.now, events))
        words = arena_printf(arena, "waits until %s, by %s   ",
                             until_text(care->snooze.until, moments.now, until), care->snooze.who);
    if (care_is_taken(care, moments.now))
        return arena_printf(arena, "%staken by %s %s, until %s%s%s", words, care->taken.who,
                            moment_phrase(moments, care->taken.at, at),
                            until_text(care->taken.until, moments.now, until), *note_of(care) ? ": " : "",
                            note_of(care));
    if (care->note.text)
        return arena_printf(arena, "%snote by %s %s: %s", words, care->note.who,
                            moment_phrase(moments, care->note.at, at), note_of(care));
    return words;
}

const char *
care_mark(const struct group_care *care, int64_t now, int64_t events, struct arena *arena)
{
    char until[TIME_TEXT];
    if (!care)
        return NULL;
    if (care_is_snoozed(care, now, events))
        return arena_printf(arena, "until %s", until_text(care->snooze.until, now, until));
    if (care_is_taken(care, now))
        return arena_printf(arena, "@%s", care->taken.who);
    return care->note.text ? "note" : NULL;
}

void
care_line(struct app *app, struct dialog *dialog, const char *group)
{
    uint64_t low, high;
    if (!group_parse(bytes_of(group), &low, &high) || low != high)
        return;
    const char *words = care_words(people_care(app_people(app), low), app_moments(app), 0, app_frame(app));
    if (*words)
        dialog_line(dialog, ROLE_STATUS_WARN, "%s", words);
    const struct people *people = app_people(app);
    for (size_t i = 0; i < people->here_count; i++)
        if (people->here[i].has_group && people->here[i].group == low && !people->here[i].is_this)
            dialog_line(dialog, ROLE_STATUS_WARN, "%s is at this group now", people->here[i].who);
}

void
care_show_people(struct app *app)
{
    const struct people *people = app_people(app);
    struct dialog *dialog = app_dialog(app, &(struct dialog_request){.title = "Who is here"});
    for (size_t i = 0; i < people->here_count; i++) {
        const struct presence *presence = &people->here[i];
        char key[GROUP_TEXT];
        dialog_line(dialog, presence->is_this ? ROLE_DIM : ROLE_DIALOG, "%s at %s: %s%s%s%s", presence->who,
                    presence->host, presence->place, presence->has_group ? " of group " : "",
                    presence->has_group ? group_text(presence->group, key) : "",
                    presence->is_this ? " (this screen)" : "");
    }
    if (!people->here_count)
        dialog_line(dialog, ROLE_DIM, "nobody who may change something");
}

const char *
care_event_advice(struct app *app, const struct event *event, struct arena *arena)
{
    const struct runbook_subject subject = {.group = event->group,
                                            .category = event->category,
                                            .error_class = event->error_class,
                                            .message = event->error_message,
                                            .event_type = event->event_type,
                                            .topic = event->topic};
    const struct advice *advice = runbook_find(app_config(app)->runbook, &subject);
    return advice ? advice_words(advice, arena) : NULL;
}
