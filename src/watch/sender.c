#include "watch/sender.h"

#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "notify/delivery.h"
#include "store/watch/notices.h"

static const int64_t REST = US_PER_SECOND;
// Longer than a delivery takes, so that no other sender has the same notice meanwhile.
static const int64_t LEASE = 30 * US_PER_SECOND;

struct sender {
    struct lane *lane;
    const struct alert_destination *destinations;
    size_t count;
    const char **names; // of the destinations
    bool *is_failing;   // of each: that it fails was logged
    int64_t *dropped;   // of each: so many were logged; -1: none looked yet
    char holder[UUID_SIZE];
};

static bool
sender_is_wanted(void *lane)
{
    return lane_is_wanted(lane);
}

static size_t
destination_of(const struct sender *sender, const struct alert_notice *notice)
{
    size_t i = 0;
    while (strcmp(sender->names[i], notice->destination) != 0)
        i++;
    return i;
}

// That a destination takes nothing is told once when it begins, and once when it is over.
static void
sender_tell(struct sender *sender, size_t i, const struct alert_notice *notice, const struct err *failure)
{
    bool is_failing = err_is_set(failure);
    if (!is_failing)
        log_line(LOG_INFO, notice->is_firing ? "alert sent" : "resolved alert sent",
                 LOG_TEXT("alert", notice->rule), LOG_TEXT("destination", sender->names[i]));
    else if (!sender->is_failing[i])
        log_line(LOG_WARN, "alert not sent, trying again", LOG_TEXT("alert", notice->rule),
                 LOG_TEXT("destination", sender->names[i]), LOG_TEXT("why", failure->text));
    sender->is_failing[i] = is_failing;
}

static void
tell_dropped(struct sender *sender, size_t i, int64_t dropped)
{
    if (sender->dropped[i] >= 0 && dropped > sender->dropped[i])
        log_line(LOG_ERROR, "alerts were dropped, because their destination did not take them",
                 LOG_TEXT("destination", sender->names[i]), LOG_INT("dropped", dropped - sender->dropped[i]));
    sender->dropped[i] = dropped;
}

// *is_idle: nothing is due.
static bool
send_next(struct sender *sender, struct lane *lane, bool *is_idle, struct err *err)
{
    struct store *store = lane_connection(lane);
    struct notice_queue queue = {
        .holder = sender->holder, .destinations = sender->names, .count = sender->count, .lease = LEASE};
    struct arena arena = {0};
    struct alert_notice notice;
    struct err failure = {0};
    int64_t dropped;
    bool is_found = false;
    bool ok = notice_claim(store, &queue, &arena, &notice, &is_found, &dropped, err);
    *is_idle = !is_found;
    if (ok && is_found) {
        size_t i = destination_of(sender, &notice);
        tell_dropped(sender, i, dropped);
        bool is_sent = delivery_make(&sender->destinations[i], &notice, sender_is_wanted, lane, &failure);
        if (failure.kind != ERR_CANCELLED) { // else this process ends, and the lease lapses
            sender_tell(sender, i, &notice, &failure);
            ok = is_sent ? notice_sent(store, &queue, notice.no, err)
                         : notice_failed(store, &queue, notice.no, failure.text, err);
        }
    }
    arena_release(&arena);
    return ok;
}

static void
send_notices(struct lane *lane, void *job)
{
    struct sender *sender = job;
    int failed = 0;
    int64_t wait;
    do {
        struct err err = {0};
        bool is_idle = true;
        bool ok = store_connect(lane_connection(lane), &err) && send_next(sender, lane, &is_idle, &err);
        if (!ok && failed == 0 && lane_is_wanted(lane))
            log_line(LOG_WARN, "alerts are not sent", LOG_TEXT("why", err.text));
        else if (ok && failed > 0)
            log_line(LOG_INFO, "alerts are sent again", LOG_INT("failed", failed));
        wait = !ok ? store_backoff(failed) : is_idle ? REST : 0;
        failed = ok ? 0 : failed + 1;
    } while (lane_sleep(lane, wait));
}

struct sender *
sender_start(const struct store_settings *settings, const struct alert_destination *destinations,
             size_t count)
{
    if (count == 0)
        return NULL;
    struct sender *sender = alloc_bytes(sizeof *sender);
    *sender = (struct sender){.destinations = destinations,
                              .count = count,
                              .names = alloc_array(count, sizeof *sender->names),
                              .is_failing = alloc_array(count, sizeof *sender->is_failing),
                              .dropped = alloc_array(count, sizeof *sender->dropped)};
    for (size_t i = 0; i < count; i++) {
        sender->names[i] = destinations[i].name;
        sender->dropped[i] = -1;
    }
    uuid_make(sender->holder);
    sender->lane = lane_create(&(struct lane_settings){.name = "sender",
                                                       .work = send_notices,
                                                       .connection = store_create(settings),
                                                       .interrupt = store_lane_interrupt,
                                                       .close = store_lane_close,
                                                       .jobs = 1});
    (void)!lane_give(sender->lane, sender, 0);
    return sender;
}

void
sender_stop(struct sender *sender)
{
    if (!sender)
        return;
    lane_destroy(sender->lane);
    free(sender->names);
    free(sender->is_failing);
    free(sender->dropped);
    free(sender);
}
