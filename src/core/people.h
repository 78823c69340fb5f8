// people: what people say about single groups: who takes care of one, notes, and which may wait. Pure; texts
// and lists live in the arena that they were made with.
//
// Whether something still holds is told from its end and a clock, so nothing has to be written when it ends.
#ifndef REDRIVE_CORE_PEOPLE_H
#define REDRIVE_CORE_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct group_care {
    uint64_t group;
    struct {
        const char *who; // NULL: nobody
        int64_t at, until;
    } taken;
    struct {
        const char *text; // NULL: none
        const char *who;
        int64_t at;
    } note;
    struct {
        const char *who; // NULL: it does not wait
        int64_t at, until;
        int64_t above; // with more pending events it waits no longer; 0: however many
    } snooze;
};

// Somebody has a screen open.
struct presence {
    const char *who, *host;
    const char *place; // what it shows: "events"
    bool has_group;    // of this group alone
    uint64_t group;
    bool is_this; // it is this screen
};

struct people {
    struct group_care *cares; // by group, ascending
    size_t care_count;
    struct presence *here; // by who
    size_t here_count;
};

void people_sort(struct people *people);
// NULL: nobody said anything about the group. people may be NULL.
const struct group_care *people_care(const struct people *people, uint64_t group);

// How many screens are open, this one included.
size_t people_here(const struct people *people);

// care may be NULL.
bool care_is_taken(const struct group_care *care, int64_t now);
bool care_is_snoozed(const struct group_care *care, int64_t now, int64_t events);
// More events than these end a snooze of a group that has `events` now: the tenfold.
int64_t snooze_above(int64_t events);

// "14:30", of another day than that of `now` "2026-11-24 14:30", by the clock of this process.
const char *until_text(int64_t until, int64_t now, char out[TIME_TEXT]);
// A length from now on: "2h", or a time: "14:30" is the next one by the clock of this process, a date with a
// time ("2026-11-23 14:30") is that one.
bool until_parse(struct bytes text, int64_t now, int64_t *length, struct err *err) MUST_CHECK;

#endif
