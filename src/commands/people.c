// take, note, release, snooze: what people say about a group.
#include "store/people/people.h"

#include <inttypes.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/people_line.h"
#include "core/event.h"

struct people_call {
    struct call *call;
    struct store *store;
    struct arena arena;
    uint64_t group;
    char key[GROUP_TEXT];
    int64_t length; // µs
    int64_t events; // of the group, where that is known
};

static bool
people_read_group(struct people_call *people, size_t most_args, struct err *err)
{
    const struct call *call = people->call;
    uint64_t last;
    if (call->arg_count < 1)
        return err_set(err, ERR_USAGE, "redrive %s needs a group: %s", call->command->name,
                       call->command->args);
    if (call->arg_count > most_args)
        return err_set(err, ERR_USAGE, "expected redrive %s %s, one group a call; \"%s\" is left over",
                       call->command->name, call->command->args, call->args[most_args]);
    if (!group_parse(bytes_of(call->args[0]), &people->group, &last) || people->group != last)
        return err_set(err, ERR_USAGE,
                       "\"%s\" is no group's key: its 16 digits are needed, as redrive groups prints them",
                       call->args[0]);
    group_text(people->group, people->key);
    return true;
}

// The group as it is now: with --json an object, else nothing.
static bool
people_print(struct people_call *people, struct err *err)
{
    struct people all = {0};
    if (!people->call->options.general.json)
        return true;
    return people_read(people->store, &people->arena, &all, err) &&
           people_line_print_json(people->group, people_care(&all, people->group), people->events,
                                  store_info(people->store)->zone_us, err);
}

// Checks the arguments, connects, acts, and prints what is now.
static int
people_run(struct call *call, size_t most_args, bool (*check)(struct people_call *people, struct err *err),
           bool (*act)(struct people_call *people, struct err *err), struct err *err)
{
    struct people_call people = {.call = call};
    bool ok = people_read_group(&people, most_args, err) && (!check || check(&people, err)) &&
              command_store(call, STORE_WRITE, &people.store, err) && act(&people, err) &&
              people_print(&people, err);
    store_close(people.store);
    arena_release(&people.arena);
    return ok ? STATUS_DONE : command_status(err);
}

// --- take ---

static bool
take_check(struct people_call *people, struct err *err)
{
    const char *until = people->call->options.command.until;
    people->length = TAKE_LENGTH;
    return !until || until_parse(bytes_of(until), clock_now(), &people->length, err);
}

static bool
take_act(struct people_call *people, struct err *err)
{
    const char *before;
    char time[TIME_TEXT];
    if (!group_take(people->store, people->group, people->length, people->call->options.command.note,
                    &people->arena, &before, err))
        return false;
    const char *until = time_local(clock_now() + people->length, time);
    if (before && strcmp(before, store_info(people->store)->user) != 0)
        remark(people->call, "group %s is yours until %s; %s had it", people->key, until, before);
    else
        remark(people->call, "group %s is yours until %s", people->key, until);
    return true;
}

int
command_take(struct call *call, struct err *err)
{
    return people_run(call, 1, take_check, take_act, err);
}

// --- note ---

static bool
note_act(struct people_call *people, struct err *err)
{
    struct strbuf text = {0};
    for (size_t i = 1; i < people->call->arg_count; i++)
        strbuf_printf(&text, "%s%s", i > 1 ? " " : "", people->call->args[i]);
    bool ok = group_note(people->store, people->group, strbuf_text(&text), err);
    if (ok)
        remark(people->call, text.len ? "noted about group %s" : "group %s has no note now", people->key);
    strbuf_release(&text);
    return ok;
}

int
command_note(struct call *call, struct err *err)
{
    return people_run(call, SIZE_MAX, NULL, note_act, err);
}

// --- release ---

static bool
release_act(struct people_call *people, struct err *err)
{
    if (!group_release(people->store, people->group, err))
        return false;
    remark(people->call, "group %s is free", people->key);
    return true;
}

int
command_release(struct call *call, struct err *err)
{
    return people_run(call, 1, NULL, release_act, err);
}

// --- snooze ---

static bool
snooze_check(struct people_call *people, struct err *err)
{
    const struct call *call = people->call;
    const char *until = call->options.command.until;
    if (call->options.command.note)
        return err_set(err, ERR_USAGE, "--note goes with take; redrive note GROUP TEXT sets a note");
    if (until && call->arg_count > 1)
        return err_set(err, ERR_USAGE, "redrive snooze takes one time: GROUP WHEN, or GROUP --until WHEN");
    until = call->arg_count > 1 ? call->args[1] : until;
    if (!until)
        return err_set(err, ERR_USAGE, "a snooze needs an end: redrive snooze GROUP --until 4h");
    return strcmp(until, "0") == 0 || until_parse(bytes_of(until), clock_now(), &people->length, err);
}

static bool
snooze_act(struct people_call *people, struct err *err)
{
    char time[TIME_TEXT], count[TEXT_SHORT];
    if (!people_events(people->store, people->group, &people->events, err))
        return false;
    int64_t above = snooze_above(people->events);
    if (!group_snooze(people->store, people->group, people->length, people->events ? above : 0, err))
        return false;
    if (people->length == 0)
        remark(people->call, "group %s waits no longer", people->key);
    else if (people->events)
        remark(people->call, "group %s waits until %s, or until it has more than %s events", people->key,
               time_local(clock_now() + people->length, time), text_count(above, count));
    else
        remark(people->call, "group %s waits until %s", people->key,
               time_local(clock_now() + people->length, time));
    return true;
}

int
command_snooze(struct call *call, struct err *err)
{
    return people_run(call, 2, snooze_check, snooze_act, err);
}
