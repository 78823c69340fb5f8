// change_parts: one change of chosen events on its way from the options to its operation: chosen
// (change_choose.c), told (change_describe.c), confirmed (change_confirm.c), frozen and carried out
// (change.c).
#ifndef REDRIVE_COMMANDS_CHANGE_PARTS_H
#define REDRIVE_COMMANDS_CHANGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/strbuf.h"
#include "commands/cli/command.h"
#include "commands/recipe_use.h"
#include "core/operation.h"
#include "publish/forecast.h"
#include "publish/newer.h"
#include "publish/plan.h"
#include "store/operations/operations.h"

struct change {
    struct call *call;
    struct store *store;
    enum operation_action action;
    int64_t *ids; // ascending; heap
    size_t count;
    struct arena arena;
    struct change_ahead *ahead; // change_ahead.h; NULL: nothing is read ahead
    struct preview preview;
    struct newer newer;            // of a reprocess, where it was looked for
    struct forecast forecast;      // of it
    struct plan_settings sends;    // likewise
    struct broker_settings broker; // of a reprocess
    struct send_plan plan;         // of a reprocess
    struct recipe_use recipe;      // of a correct, or of a reprocess that asks the check
    bool is_told;                  // that Kafka was not asked
    bool restores_resolved;        // of a restore
    bool waits_for_others;         // no brokers here: another worker, alive now, will carry it out
};

// What the options say. Of an undo, or of a restore of an operation: its number; 0: it is none.
int64_t change_undone(const struct change *change);
int64_t change_restored(const struct change *change);
bool change_sends_corrected(const struct change *change);   // a recipe, then a reprocess
bool change_asks_check(const struct change *change);        // a reprocess that asks the team's check
bool change_is_forced(const struct change *change);         // although the check refuses
bool change_is_detached(const struct change *change);       // no command stays for it
bool change_names_quarantined(const struct change *change); // its ids or its filter do

// Do the options go together? ERR_USAGE otherwise.
bool change_check_options(const struct change *change, struct err *err);
// When it begins, and how a reprocess is sent, or in which steps a recipe is applied.
bool change_read_plan(struct change *change, struct err *err);
// Once it is known how many events there are: that decides whether it halts by itself.
void change_complete_plan(struct change *change);

// Fills ids and count; none: ERR_NOT_FOUND.
bool change_choose(struct change *change, struct err *err);
// Fills the preview, where a person sees it before the change.
bool change_look_ahead(struct change *change, struct err *err);
void change_end_forecast(struct change *change);
// Leave events out and say so; none is left: ERR_NOT_FOUND. What a person sees is then made again.
bool change_leave_quarantined(struct change *change, struct err *err); // that returned too often
bool change_leave_stale(struct change *change, struct err *err);       // whose key has newer records
bool change_leave_barred(struct change *change, struct err *err);      // that the team's check refuses

// One sentence of all that a person should know before it happens.
void change_describe(const struct change *change, struct strbuf *out);
// Confirmed by --yes, --confirm or at the terminal? ERR_DENIED otherwise.
bool change_confirm(const struct change *change, struct err *err);
// Refuses, before anything is frozen, a reprocess that no worker could carry out; --detach allows it.
bool change_find_publisher(struct change *change, struct err *err);

#endif
