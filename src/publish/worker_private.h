// worker_private: what the files of the worker share: worker.c has the loop, publishers.c the publishers and
// their Kafka, endpoints.c binds both to PostgreSQL and Kafka.
#ifndef REDRIVE_PUBLISH_WORKER_PRIVATE_H
#define REDRIVE_PUBLISH_WORKER_PRIVATE_H

#include "broker/broker.h"
#include "broker/fetch.h"
#include "core/worker.h"
#include "publish/pace.h"
#include "publish/publisher.h"
#include "publish/setback.h"
#include "publish/turn.h"
#include "publish/newer.h"
#include "publish/worker.h"
#include "store/store.h"

#define WORKER_SLOTS 3    // chunks in flight at the same time
#define WORKER_HOLDERS 2  // of which so many have their events in memory
#define LOOK_EVERY 500000 // µs, for new work when there is none

struct lane;
struct work;

// What the publisher's tables are bound to: those of the worker itself, and of each publisher.
struct endpoints {
    const struct broker_settings *broker_settings;
    struct store *store;
    struct broker *broker; // NULL: not connected
    bool knows_cluster;    // it has answered: the cluster, and what it promises
    struct cluster cluster;
    char worker[128];
    char turn_group[64]; // of the turns' marker
    fetch_tick_fn *tick; // called while original records are read, or a lane connects; NULL: nobody
    void *tick_context;

    // Of a publisher's only: the call that its lane makes now, which owns `store` until it is done.
    struct lane *lane;
    void (*call)(void *argument);
    void *argument;
    bool is_running;
    struct err failure; // to connect
};

extern const struct publisher_ledger endpoints_ledger;
extern const struct publisher_broker endpoints_broker;
extern const struct publisher_world endpoints_world;

// Connects to Kafka and finds out what the cluster promises: from PostgreSQL where it was tried within a day,
// else by trying. May take some seconds. On failure only a connection that is under way is kept: a slow one
// is up by the next call.
bool endpoints_connect(struct endpoints *endpoints, struct err *err) MUST_CHECK;
// This host's clock beside PostgreSQL's: ERR_DATA where nothing may be published (publisher_check_clock).
bool endpoints_check_clock(struct endpoints *endpoints, struct err *err) MUST_CHECK;
void endpoints_close(struct endpoints *endpoints); // Kafka's half

// Endpoints of one publisher: a lane with a connection to PostgreSQL of its own, for long calls; Kafka is
// that of `shared`, which outlives it. The lane connects by itself, which may take ten round trips: those of
// several publishers connect at the same time.
void endpoints_open_lane(struct endpoints *own, const struct endpoints *shared,
                         const struct store_settings *settings);
// Waits until it has connected; once, before the first other call. The caller closes it where it failed, too.
bool endpoints_await_lane(struct endpoints *own, struct err *err) MUST_CHECK;
// Waits for the call in flight. Endpoints that were never opened are fine.
void endpoints_close_lane(struct endpoints *own);
// One asynchronous call, as in struct publisher_world.
void endpoints_start(void *context, void (*call)(void *argument), void *argument);
bool endpoints_is_done(void *context, int wait_ms);
bool
endpoints_is_connected(const struct endpoints *own); // true also while that is not known: a call is in flight

// One publisher of the worker.
struct worker_publisher {
    struct publisher *machine; // NULL: none were made yet
    struct endpoints endpoints;
    bool is_driven;    // on its way, with a chunk in flight, or recovering one
    int64_t operation; // that it was assigned; 0: none
    int64_t queued;    // events that the operation had then
    int64_t refused;   // its tally when it was ready last
    int64_t kafka_at;  // clock_mono: it has waited for Kafka since; 0: it does not
};

// A server that does not answer.
struct outage {
    int64_t since; // clock_mono; 0: there is none
    int attempts;
};

// Why nothing can be carried out now.
enum idle_reason {
    IDLE_NO_WORK,
    IDLE_LATER,     // operations begin at a time that has not come
    IDLE_OBSERVING, // operations wait to see what returns
    IDLE_HELD,      // operations may still be called back
    IDLE_WAITING,   // operations wait for their rate, or for Kafka
};

struct worker_note_text {
    char text[200];
    char reported[200]; // to PostgreSQL
};

// clock_mono: when each of these is to be done next.
struct worker_due {
    int64_t sign, beat, look, recover, doubt, show, index, records, topics, consumers, written, newer, adopt,
        kafka, turn, slow;
};

// clock_mono.
struct worker_last {
    int64_t work_at;    // something was done
    int64_t stepped_at; // a turn or a publisher had its share of the time until then
    int64_t watched_at; // something that was sent lately was not known to be taken
};

// The last look for chunks that other workers left.
struct worker_recovered {
    int64_t at; // clock_mono
    bool has_old_markers;
};

// The search for newer records of some keys.
struct worker_newer {
    struct newer_search *search; // NULL: nobody asks
    int64_t no;                  // of the question
    struct arena arena;
};

// The question how much is written to topics.
struct worker_written {
    struct broker *broker; // of its own, while nothing is published; NULL: none
    bool has_failed;       // the last time
};

// The operation that is carried out: for progress, and to know when it has ended.
struct worker_shown {
    bool is_read;
    struct operation operation;
    struct arena arena;
};

// The worker while it runs.
struct worker_run {
    const struct worker_settings *settings;
    struct plan_settings plan;
    struct arena rules; // of plan.rules
    struct endpoints endpoints;
    struct worker_publisher publishers[WORKER_SLOTS];
    size_t turn;           // the publisher that is given something next
    struct turner *turner; // NULL: no turn is being taken
    bool has_turn;         // taken since PostgreSQL was away last; before it nothing is published
    struct paces paces;
    struct meter meter;
    size_t limit; // of a chunk, adapted to how long they take
    struct setbacks setbacks;

    struct worker_note_text note;
    struct worker_due due;
    struct worker_last last;
    struct worker_recovered recovered;
    struct worker_newer newer;
    struct worker_written written;

    struct outage store, kafka;
    struct outage refusals; // by a PostgreSQL that answers
    struct err trouble;     // the last one

    enum idle_reason idle;
    int64_t operation; // in flight; 0: none
    struct worker_shown shown;
};

// worker.c
void worker_note(struct worker_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool worker_is_foreground(const struct worker_run *run);
// In the foreground, and what began to fail at `since` has failed for longer than the settings' patience, or
// this one (µs) where they say none.
bool worker_gives_up(const struct worker_run *run, int64_t since, int64_t patience);
bool worker_must_stop(const struct worker_run *run); // a signal came
// Tells PostgreSQL that it lives and what it does, without waiting for its turn. False: the worker ends with
// err.
bool worker_give_sign(struct worker_run *run, struct err *err) MUST_CHECK;
// The same where it is due, for calls to Kafka that may take long: a worker without a sign counts as gone. A
// fetch_tick_fn, context is the run; always true, since what was not read for want of a sign would be
// refused. What PostgreSQL says to it the worker's round meets again.
bool worker_sign_meanwhile(void *context);
// A failed call to PostgreSQL outside of the publishers. False: the worker ends with err.
bool worker_store_failed(struct worker_run *run, const struct err *failure, struct err *err) MUST_CHECK;

// µs that a turn or the publishers get now: as many as the worker's questions took since they had some. Each
// question costs a round trip, and a chunk needs many steps.
int64_t worker_share(const struct worker_run *run);

// worker_setbacks.c. A failure of Kafka as a sentence that names Kafka first, whatever Kafka's client said;
// others as they are.
void worker_name_failure(const struct err *failure, struct err *named);
// What the log calls it: a clock that is wrong is neither server's.
const char *worker_failure_line(const struct err *failure);
// A step of at most `limit` events of this operation failed, and the connection is there.
// False: somebody waits in the foreground, and it has failed too often.
bool worker_set_back(struct worker_run *run, int64_t operation, size_t limit, const struct err *failure,
                     struct err *err) MUST_CHECK;
// None of its `queued` events could be had. False: as above.
bool worker_set_back_empty(struct worker_run *run, int64_t operation, int64_t queued,
                           struct err *err) MUST_CHECK;
// The operations that wait now, at most SETBACKS.
size_t worker_set_back_list(const struct worker_run *run, int64_t *operations);
// Writes into an operation's row why it waits, where that is news. False: the worker ends with err.
bool worker_tell_setbacks(struct worker_run *run, struct err *err) MUST_CHECK;

// worker_records.c: requests for original records, twice a second. False: the worker ends with err.
bool worker_keep_records(struct worker_run *run, struct err *err) MUST_CHECK;

// worker_topics.c: what Kafka says of topics that somebody asks for, twice a second. False: the worker ends
// with err.
bool worker_ask_topics(struct worker_run *run, struct err *err) MUST_CHECK;
// worker_consumers.c: who has read what was sent. False: the worker ends with err.
bool worker_look_at_consumers(struct worker_run *run, struct err *err) MUST_CHECK;
// Once more where a worker in the foreground has ended a reprocess: nobody may be there to ask later.
bool worker_look_last(struct worker_run *run, struct err *err) MUST_CHECK;

// worker_written.c: how much is written to topics. False: the worker ends with err.
bool worker_ask_written(struct worker_run *run, struct err *err) MUST_CHECK;
void worker_written_close(struct worker_run *run);

// worker_newer.c: whether Kafka has newer records of keys (publish/newer.h), for those who ask; a slice of
// it. False: the worker ends with err.
bool worker_find_newer(struct worker_run *run, struct err *err) MUST_CHECK;
bool worker_newer_is_read(const struct worker_run *run); // now
void worker_newer_drop(struct worker_run *run);          // another worker begins again

// worker_adopt.c: what an administrator asks of a worker about a stopped database (publish/adopt.h).
// Does what is asked for now, twice a second. False: the worker ends with err.
bool worker_adopt(struct worker_run *run, struct err *err) MUST_CHECK;
// For a worker that has to stop: does that and nothing else as long as somebody asks, or is about to confirm.
// True: the stop is over, and the worker goes on.
bool worker_adopt_stopped(struct worker_run *run);

// worker_turn.c: the worker's turn (publish/turn.h).
// Takes one where none was taken. *is_there: publishers may start; else ask again. False: see err;
// ERR_STOPPED: nothing may be published.
bool worker_turn_take(struct worker_run *run, bool *is_there, struct err *err) MUST_CHECK;
// The next publisher needs a new one. What is in flight is left to recovery: the turn would fence it.
void worker_turn_lose(struct worker_run *run);
// Kafka forgets a turn after offsets.retention.minutes, so one is taken again every day.
bool worker_turn_keep(struct worker_run *run, struct err *err) MUST_CHECK;

// publishers.c; false always means that the worker ends with err.
size_t worker_most(const struct worker_run *run); // events in a chunk
// Is there a Kafka to publish to now? Connects where that is due.
bool worker_need_kafka(struct worker_run *run, bool *is_there, struct err *err) MUST_CHECK;
// Gives the operation's next events to the publisher whose turn it is. *wait: 0, or the µs that its rate does
// not allow any.
bool worker_publish(struct worker_run *run, const struct work *work, int64_t *wait,
                    struct err *err) MUST_CHECK;
// One step of each publisher that is on its way.
bool worker_publish_step(struct worker_run *run, struct err *err) MUST_CHECK;
bool worker_is_publishing(const struct worker_run *run); // any publisher
bool worker_has_free_publisher(struct worker_run *run);  // `turn` is one that could be given something now
// Chunks that other workers left. *is_wanted: one is being recovered.
bool worker_recover(struct worker_run *run, bool *is_wanted, struct err *err) MUST_CHECK;
bool worker_refresh(struct worker_run *run, bool *is_wanted,
                    struct err *err) MUST_CHECK; // an idle slot's marker
bool worker_keep_slots(struct worker_run *run, struct err *err) MUST_CHECK;
bool worker_let_go(struct worker_run *run, struct err *err) MUST_CHECK;
void worker_finish_all(struct worker_run *run);
void worker_log_tally(const struct worker_run *run);
void worker_drop_publishers(struct worker_run *run);

#endif
