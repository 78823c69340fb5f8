#include "commands/waiting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/operation_line.h"
#include "commands/cli/output.h"
#include "commands/cli/interrupt.h"
#include "store/operations/operations.h"
#include "store/operations/workers.h"

// --- reading an operation, also when the connection breaks ---

static bool
get_patiently(struct store *store, int64_t no, struct arena *arena, struct operation *operation,
              struct err *err)
{
    for (int attempt = 0;; attempt++) {
        if (operation_get(store, no, arena, operation, err))
            return true;
        if (err->kind != ERR_UNREACHABLE || attempt == 5 || interrupt_is_set())
            return false;
        err_clear(err);
        clock_sleep(store_backoff(attempt));
        struct err again = {0};
        bool is_back = store_reconnect(store, &again);
        if (!is_back && attempt == 5)
            *err = again;
    }
}

// --- how it ended ---

static void
say_outcomes(const struct call *call, struct store *store, int64_t no)
{
    struct arena arena = {0};
    struct outcome *outcomes = NULL;
    size_t count = 0;
    struct err ignored = {0}; // the counts are printed all the same
    if (operation_outcomes(store, no, &arena, &outcomes, &count, &ignored)) {
        for (size_t i = 0; i < count; i++) {
            const struct outcome *outcome = &outcomes[i];
            bool is_news = outcome->state == ITEM_REFUSED || outcome->state == ITEM_SKIPPED ||
                           outcome->state == ITEM_IN_DOUBT;
            char text[TEXT_SHORT];
            if (is_news)
                remark(call, "%s %s: %s (event %" PRId64 "%s)", text_count(outcome->count, text),
                       item_state_name(outcome->state),
                       outcome->reason ? outcome->reason : "no reason was given", outcome->first_event,
                       outcome->count > 1 ? " and others" : "");
        }
    }
    arena_release(&arena);
}

int
waiting_tell(struct call *call, struct store *store, int64_t no, struct err *err)
{
    struct arena arena = {0};
    struct operation operation = {0};
    int status = STATUS_DONE;
    if (!get_patiently(store, no, &arena, &operation, err))
        status = command_status(err);
    else {
        if (operation.refused > 0 || operation.skipped > 0 || operation.in_doubt > 0)
            say_outcomes(call, store, no);
        if (operation.state_note != NULL &&
            (operation.state == OPERATION_HALTED || !operation_state_is_final(operation.state)))
            remark(call, "operation %" PRId64 ": %s", no, operation.state_note);
        status = operation_result(call, &operation, err) ? operation_status(&operation) : command_status(err);
    }
    arena_release(&arena);
    return status;
}

// --- carried out by another worker ---

static void
command_waiting_show(struct progress_line *progress, const struct operation *operation, const char *note)
{
    char tail[200];
    int64_t past = operation->done + operation->refused + operation->skipped + operation->cancelled;
    snprintf(tail, sizeof tail, "%.0f/s  %.150s", operation->rate_now, note != NULL ? note : "");
    progress_show(progress, past, operation->total, tail);
}

// Who could carry it out; NULL: somebody is there. *key tells sentences apart that say the same at two times.
static const char *
absence_sentence(struct store *store, const struct operation *operation, struct arena *arena,
                 const char **key)
{
    struct worker *workers;
    size_t count;
    int64_t silent_for;
    char text[TEXT_SHORT];
    struct err ignored = {0}; // the next look tells
    if (!worker_list(store, arena, &workers, &count, &ignored))
        return NULL;
    switch (workers_attendance(workers, count, operation->action == ACTION_REPROCESS, &silent_for)) {
    case WORKERS_THERE:
        return NULL;
    case WORKERS_SILENT:
        return *key = "silent",
               arena_printf(arena, "no sign of the worker for %s", text_age(silent_for, text));
    case WORKERS_NONE:
        return *key = "no worker is running, so nobody carries it out; start one: redrive work";
    case WORKERS_WITHOUT_BROKERS:
        break;
    }
    return *key = "no running worker has Kafka brokers, so nobody sends it; start one: redrive work -b "
                  "HOST:PORT";
}

// When it begins. That a worker is missing is said before its time comes.
static const char *
later_sentence(struct store *store, const struct operation *operation, struct arena *arena, const char **key)
{
    char text[BEGIN_TEXT];
    const char *absence = absence_sentence(store, operation, arena, key);
    return *key = arena_printf(arena, "begins %s; redrive operation %" PRId64 " cancel calls it back%s%s",
                               begin_words(operation->plan.begin.at, text), operation->no,
                               absence ? "; " : "", absence ? absence : "");
}

// Why nothing happens to the operation now; NULL: nothing stops it.
static const char *
obstacle_sentence(struct store *store, const struct operation *operation, struct arena *arena,
                  const char **key)
{
    switch (operation->state) {
    case OPERATION_FREEZING:
        return *key = "it was never confirmed; cancel it";
    case OPERATION_AWAITING:
        return *key = arena_printf(arena, "somebody else has to run: redrive operation %" PRId64 " approve",
                                   operation->no);
    case OPERATION_PAUSED:
        return *key =
                   arena_printf(arena, "it is paused; redrive operation %" PRId64 " resume", operation->no);
    case OPERATION_FROZEN:
    case OPERATION_RUNNING:
        break;
    case OPERATION_WAITING:
    case OPERATION_HALTED: // the command has ended
    case OPERATION_DONE:
    case OPERATION_CANCELLED:
    case OPERATION_STATE_COUNT:
        return NULL;
    }
    if (operation_begins_later(operation, clock_now()))
        return later_sentence(store, operation, arena, key);
    if (operation->queued == 0)
        return *key = operation->in_doubt ? operation->state_note : NULL;
    if (operation->rate == 0)
        return *key = arena_printf(arena, "its rate is 0; redrive operation %" PRId64 " rate none",
                                   operation->no);
    const char *absence = absence_sentence(store, operation, arena, key);
    return absence ? absence : (*key = operation->state_note);
}

void
waiting_say_obstacle(const struct call *call, struct store *store, const struct operation *operation,
                     char told[WAITING_TOLD])
{
    struct arena arena = {0};
    const char *key = "";
    const char *sentence = obstacle_sentence(store, operation, &arena, &key);
    bool is_news = strncmp(told, sentence ? key : "", WAITING_TOLD - 1) != 0;
    if (is_news)
        remark(call, "operation %" PRId64 ": %s", operation->no, sentence ? sentence : "continues");
    snprintf(told, WAITING_TOLD, "%s", sentence ? key : "");
    arena_release(&arena);
}

// Reads the operation, however long PostgreSQL is away: that says nothing about the operation. False: see
// err, or a signal came.
static bool
get_when_there(const struct call *call, struct store *store, int64_t no, struct arena *arena,
               struct operation *operation, struct progress_line *progress, struct err *err)
{
    bool is_told = false;
    for (int attempt = 0; !interrupt_is_set(); attempt++) {
        struct err failure = {0};
        bool is_there = (attempt == 0 || store_reconnect(store, &failure)) &&
                        operation_get(store, no, arena, operation, &failure);
        if (is_there && is_told)
            remark(call, "PostgreSQL is reachable again");
        if (is_there || failure.kind != ERR_UNREACHABLE) {
            if (!is_there)
                *err = failure;
            return is_there;
        }
        if (attempt == 1) { // a connection that was closed while it was idle is worth no word
            progress_end(progress);
            remark(call, "operation %" PRId64 ": waiting for PostgreSQL: %s", no, failure.text);
            is_told = true;
        }
        for (int64_t end = clock_mono() + store_backoff(attempt); clock_mono() < end && !interrupt_is_set();)
            clock_sleep(US_PER_SECOND / 20);
    }
    return false;
}

int
waiting_for(struct call *call, struct store *store, int64_t no, struct err *err)
{
    struct progress_line progress;
    bool is_over = false;
    interrupt_catch();
    char told[WAITING_TOLD] = "";
    int64_t look_at = 0;
    progress_begin(&progress, call, "waiting");
    while (!is_over && !interrupt_is_set()) {
        struct arena arena = {0};
        struct operation operation = {0};
        bool ok = get_when_there(call, store, no, &arena, &operation, &progress, err);
        if (!ok && !err_is_set(err)) {
            arena_release(&arena);
            break;
        }
        is_over = !ok || operation_state_is_final(operation.state);
        if (ok)
            command_waiting_show(&progress, &operation, operation.state_note);
        if (ok && !is_over && clock_mono() >= look_at) {
            look_at = clock_mono() + US_PER_SECOND;
            progress_end(&progress);
            waiting_say_obstacle(call, store, &operation, told);
        }
        arena_release(&arena);
        if (!ok) {
            progress_end(&progress);
            return command_status(err);
        }
        if (!is_over)
            clock_sleep(US_PER_SECOND / 4);
    }
    progress_end(&progress);
    if (is_over)
        return waiting_tell(call, store, no, err);
    remark(call, "stopped waiting; operation %" PRId64 " continues", no);
    return STATUS_INTERRUPTED;
}

// --- carried out here ---

struct following {
    struct progress_line progress;
    int64_t no;
};

static void
follow(void *context, const struct worker_progress *news)
{
    struct following *following = context;
    if (news->operation != NULL && news->operation->no == following->no)
        command_waiting_show(&following->progress, news->operation, news->note);
    else
        progress_show(&following->progress, 0, 0, news->note);
}

// Who carries out what is left, once the worker of this command has ended.
static bool
is_carried_out(struct store *store, int64_t no)
{
    struct arena arena = {0};
    struct operation operation = {0};
    struct worker *workers;
    size_t count;
    int64_t silent_for;
    struct err ignored = {0}; // what cannot be read is not claimed
    bool is_carried_out = operation_get(store, no, &arena, &operation, &ignored) &&
                          worker_list(store, &arena, &workers, &count, &ignored) &&
                          workers_attendance(workers, count, operation.action == ACTION_REPROCESS,
                                             &silent_for) == WORKERS_THERE;
    arena_release(&arena);
    return is_carried_out;
}

int
waiting_with_worker(struct call *call, struct store *store, const struct worker_settings *settings,
                    struct err *err)
{
    struct following following = {.no = settings->operation};
    progress_begin(&following.progress, call, call->command->name);
    struct worker_settings watched = *settings;
    watched.progress = follow;
    watched.progress_context = &following;
    struct err worker_err = {0};
    bool ok = worker_run(&watched, &worker_err);
    progress_end(&following.progress);
    int status = waiting_tell(call, store, settings->operation, err);
    if (ok)
        return status;
    *err = worker_err; // why it cannot be read now is no news
    if (err->kind == ERR_CANCELLED)
        err_set(err, ERR_CANCELLED, "interrupted");
    char text[sizeof err->text];
    snprintf(text, sizeof text, "%s", err->text);
    bool continues = is_carried_out(store, settings->operation);
    snprintf(err->text, sizeof err->text,
             "%.500s; operation %" PRId64 " %s, redrive operation %" PRId64 " cancel ends it", text,
             settings->operation,
             continues ? "continues: another worker is running"
                       : "waits for the next worker: redrive work continues it",
             settings->operation);
    return command_status(err);
}
