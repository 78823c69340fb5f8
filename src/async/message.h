// message: requests of the screen and replies of the backend, the only thing that the two share.
//
// The UI thread makes a request and gives it to the backend's mailbox; the backend frees it. The backend
// makes a reply and gives it to the UI's mailbox; the UI frees it (reply_destroy) after the view has taken
// what it needs. Everything a reply points to is in its arena or owned by it. The app numbers requests. A
// reply carries the number that it answers, 0 for news that no request asked for. A long answer is several
// replies with one number; is_last marks the end.
#ifndef REDRIVE_ASYNC_MESSAGE_H
#define REDRIVE_ASYNC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/apart/apart.h"
#include "core/backlog/backlog.h"
#include "core/envelope/envelope.h"
#include "core/event.h"
#include "core/export_form.h"
#include "core/fingerprint/fingerprint.h"
#include "core/history.h"
#include "core/newer.h"
#include "core/doubt.h"
#include "core/outcomes.h"
#include "core/people.h"
#include "core/revision.h"
#include "core/recipe/trial.h"
#include "core/category_overrides.h"
#include "core/schema/decoded.h"
#include "core/shape/shape.h"
#include "core/monitor.h"
#include "core/stats.h"
#include "core/stop.h"
#include "core/worker.h"

enum request_kind {
    REQUEST_GROUPS,  // pivot (path: of PIVOT_PATH), group (within), rank, is_on (near-equal ones as one, for
                     // PIVOT_ERROR of all), list.filter (only matching events count): answered at once and
                     // after each change, until another REQUEST_GROUPS
    REQUEST_LIST,    // the ids of a list: list; answered in pages; replaces the REQUEST_LIST before
    REQUEST_COLLECT, // like REQUEST_LIST, beside it: ids for a selection or an action; answered by
                     // REPLY_LIST; undecided events are counted and left out
    REQUEST_FACETS,  // ids: counts of their types, topics, sources, categories
    REQUEST_VALUES,  // what the filter line completes: values of fields, and paths of payloads
    REQUEST_ROWS,    // ids: rows for the window of a list, texts cut to 1 KiB; path: with at_path
    REQUEST_RECENT, // list: the newest events of a group (none with a filter), and the last decision about it
    REQUEST_EVENT,  // id: everything about one event; is_on: its payload up to 64 MiB instead of 4
    REQUEST_ORIGINAL,   // id: its payload as it was received: REPLY_EVENT with id and payload alone
    REQUEST_WHY,        // id: why it is in its group
    REQUEST_OPERATIONS, // the list: answered at once and after each change, until REQUEST_OPERATIONS_END
    REQUEST_OPERATIONS_END,
    REQUEST_OPERATION,   // operation: one with outcomes, and after each change, until REQUEST_OPERATIONS_END
    REQUEST_STEER,       // operation, steer, rate, reason
    REQUEST_DECIDE,      // operation, verdict, reason: a chunk or slot in doubt; answered by REPLY_STEERED
    REQUEST_STOP,        // why nothing may be published, and what a decision would touch
    REQUEST_AS_COPY,     // stop, reason: this database is a copy; answered by REPLY_STEERED; ERR_CONFLICT
                         // where something else is stopped by now
    REQUEST_ADOPT_COUNT, // a worker is to count what Kafka proves; answered by REPLY_STOP, with the counts
                         // where they came within some seconds
    REQUEST_ADOPT,       // stop (its counts of Kafka), reason: this database is the true one; answered by
                         // REPLY_STEERED; ERR_CONFLICT as above
    REQUEST_PREVIEW,     // action, ids (ascending, each once): figures of the dialog; answered part by part,
                         // preview.known names the parts
    REQUEST_NEWER,    // ids with id 0: asks the workers whether Kafka has newer records of their keys; then
                      // id, the question's: answered within a third of a second with what is known, until
                      // that is over
    REQUEST_CONFIRM,  // operation_request in `confirm`
    REQUEST_CATEGORY, // group, set, reason
    REQUEST_PRESENCE, // reason: what the screen shows; has_group, group: of this group alone
    REQUEST_CARE,     // group, care: what a person says about it; answered by REPLY_CARE
    REQUEST_SHAPE,    // id: what payloads of its type have in common, from a sample
    REQUEST_RECORD,   // id: asks the workers for the original record; again until it is there
    REQUEST_CORRECT,  // id, correct, reason: a revision; REPLY_CORRECTED, or REPLY_REFUSED; ERR_CONFLICT
                      // where somebody was faster
    REQUEST_AUDIT,    // operation (0: all), before: one page of rows
    REQUEST_APART, // ids (ascending, each once), apart, list.filter (what defines them): first from samples,
                   // then counted; replaces the REQUEST_APART before
    REQUEST_STATS, // the five analyses of the table; replaces the REQUEST_STATS before
    REQUEST_MONITOR,     // span: everything of the monitor, as of now
    REQUEST_MARK,        // reason: its text; on the time axis of every chart, now
    REQUEST_ALERT,       // alert: silence or acknowledge one
    REQUEST_RECIPE_TRY,  // recipe.text, ids: a dry run; REPLY_RECIPE while it runs and at its end; replaces
                         // the REQUEST_RECIPE_TRY before; a mistake in the recipe is an error with its place
    REQUEST_RECIPES,     // the saved recipes
    REQUEST_RECIPE_FILE, // recipe.name is a file: REPLY_RECIPES with it alone
    REQUEST_RECIPE_SAVE, // recipe.name, recipe.text (NULL: forget it), reason: answered by REPLY_RECIPES
    REQUEST_EXPORT,      // ids, exported: writes them to a file, or through a command; REPLY_EXPORT while it
                         // runs and at its end. One at a time: ERR_CONFLICT
    REQUEST_CONNECT,     // connection: is it there, and can it be used instead of this one? REPLY_CONNECTED
    REQUEST_CANCEL,      // cancels the request with number `target`; it ends with ERR_CANCELLED
    REQUEST_RECONNECT,   // now, instead of after the back-off
    REQUEST_REFRESH,     // look at the database now
    REQUEST_PAUSE, // is_on: hold news about the backlog back (the display is paused), or let it flow again
    REQUEST_KINDS,
};

// The events of a list.
enum list_source {
    LIST_PENDING,   // of the backlog: pivot + value (value NULL: all)
    LIST_CLOSED,    // resolved, discarded or all: by `statuses`
    LIST_OPERATION, // items of an operation in `item_states`
    LIST_IDS,       // these ids, as far as they are in the table
};
enum list_order {
    ORDER_WHEN,
    ORDER_ID,
    ORDER_TYPE,
    ORDER_KEY,
    ORDER_TRY,
    ORDER_ERROR,
    ORDER_PATH,
    ORDER_COUNT
};
struct list_query {
    enum list_source source;
    enum pivot pivot;
    char value[GROUPS_TEXT]; // "" with has_value: events without one; by error: keys, with commas between
    bool has_value;
    unsigned statuses;
    int64_t operation;
    unsigned item_states;
    char *reason; // LIST_OPERATION: only items with it; heap, owned by the request; NULL: whatever they have
    bool is_corrected; // LIST_OPERATION: instead, those whose correction by it still holds and was not sent
    int64_t *ids;      // LIST_IDS: ascending; heap, owned by the request
    size_t id_count;
    char *filter; // heap, owned by the request; NULL or "": none. A status: term in it overrides source.
    // Where path_filter is bytes_hash of the filter, it can only match events whose value at this path of the
    // payload has this key (core/backlog/path_values), as was read last. Of another filter nothing is known.
    char *path; // heap, owned by the request; NULL: nothing is known
    uint64_t path_key, path_filter;
    enum list_order order; // pending events alone have others than ORDER_WHEN
    char *order_path;      // ORDER_PATH: of the payload; heap, owned by the request
    bool oldest_first;     // ORDER_WHEN; of the others: reversed
    bool is_checked;       // each row is looked at: what was closed before the counts know of it is left out
};

// How many events have a value: "type", "order.created", 28010.
struct facet {
    const char *field; // of the filter language
    const char *value; // NULL: absent in the table
    int64_t count;
};

// A revision to be written. Everything it points to is in its arena.
struct correct_request {
    int32_t parent; // the revision that it was made from
    bool is_forced; // a person overrules the team's check, which is not asked; the reason says why
    struct correction parts;
    struct arena arena;
};

// What events are compared with.
struct apart_asked {
    enum apart_against against;
    size_t sample; // events of each side that are read; 0: as many as usual
};

// Texts on the heap, owned by the request.
struct recipe_asked {
    char *text; // also of a REQUEST_CONFIRM for ACTION_CORRECT
    char *name;
};

// Where events are exported to. Texts on the heap, owned by the request.
struct export_asked {
    char *file; // its form is that of its name; or
    bool replaces;
    char *command; // for /bin/sh, in a session without a terminal; gets them in this form
    enum export_form form;
};
enum { EXPORT_OUTPUT = 512 << 10 }; // bytes of what a command says that are kept

// The category that a group gets.
struct category_asked {
    bool is_given; // false: by the rules
    enum category category;
};

// What a confirmed operation is about, in words; heap.
struct confirm_texts {
    char *scope, *filter, *target_topic;
    char group[GROUP_TEXT]; // its key; "": none
};

// What a person says about a group.
enum care_verb { CARE_TAKE, CARE_NOTE, CARE_RELEASE, CARE_SNOOZE };
struct care_asked {
    enum care_verb verb;
    int64_t length; // µs, of TAKE and SNOOZE; 0: it waits no longer
    int64_t above;  // of SNOOZE
    char *note;     // of TAKE (NULL: the one that is there stays) and NOTE; heap, owned by the request
};

// What a person does about an alert.
struct alert_asked {
    char *rule; // heap, owned by the request
    bool is_silence;
    int64_t length; // µs; 0: no longer
};

// REQUEST_GROUPS; the group also of requests about one.
struct groups_asked {
    enum pivot pivot;
    enum group_rank rank; // of more groups than a reply carries, the first in this order
    bool is_reversed;     // likewise
    bool has_group;       // within `group`
    uint64_t group;
};

// What a person decides about an operation, a doubt or a stop.
struct steer_asked {
    enum steer steer;
    int32_t rate;
    struct doubt_verdict verdict;
    struct stop_seen stop;
};

struct request {
    enum request_kind kind;
    uint64_t number;
    uint64_t target;
    int64_t id;
    int64_t *ids; // heap, owned by the request
    size_t id_count;
    char *path; // of a payload, or a column of dead letters; heap, owned by the request
    struct groups_asked groups;
    struct category_asked set; // REQUEST_CATEGORY
    struct list_query list;
    int64_t operation;
    struct steer_asked steering;
    enum operation_action action;
    int64_t before;
    enum trend_span span; // REQUEST_MONITOR
    size_t connection;    // REQUEST_CONNECT: of those that the screen command has
    bool is_on;
    struct correct_request correct;
    char *reason; // heap, owned by the request
    // REQUEST_CONFIRM; its ids are `ids`, its texts are heap, owned by the request.
    struct operation_request confirm;
    struct confirm_texts texts;
    struct recipe_asked recipe;
    struct export_asked exported;
    struct apart_asked apart;
    struct alert_asked alert;
    struct care_asked care;
};

enum reply_kind {
    REPLY_STATUS, // number 0: connection, worker, promise, arrivals: the header of the screen
    REPLY_GROUPS,
    REPLY_LIST,
    REPLY_FACETS, // of REQUEST_VALUES too; there the field of a path is "$"
    REPLY_ROWS,
    REPLY_RECENT,
    REPLY_EVENT,
    REPLY_WHY,
    REPLY_OPERATIONS,
    REPLY_OPERATION,
    REPLY_STEERED,
    REPLY_STOP,
    REPLY_PREVIEW,
    REPLY_NEWER,     // `newer`; take it with the arena
    REPLY_PROGRESS,  // of a REQUEST_CONFIRM: done of total written
    REPLY_CONFIRMED, // the operation exists
    REPLY_CATEGORY,  // the category was set or cleared
    REPLY_CARE,      // it is written down
    REPLY_PEOPLE,    // number 0: what people say about groups, all of it
    REPLY_SHAPE,     // `shape`
    REPLY_RECORD,    // news: is it there (ask for the event), can somebody read it, why it cannot be had
    REPLY_CORRECTED, // the revision was written
    REPLY_CHECKING,  // of a REQUEST_CORRECT: the team's check is waited for; until then it can be cancelled
    REPLY_REFUSED,   // of a REQUEST_CORRECT: the check refuses it, so nothing was written
    REPLY_AUDIT,
    REPLY_APART,
    REPLY_STATS,
    REPLY_MONITOR,
    REPLY_MARKED, // the mark is set
    REPLY_ALERT,  // the alert is silenced or acknowledged
    REPLY_RECIPE,
    REPLY_RECIPES,
    REPLY_EXPORT,
    REPLY_CONNECTED, // the other connection can be used
    REPLY_CHANGED, // number 0: somebody wrote the rows of these pending events (ids; NULL: too many to name)
    REPLY_NEWS,    // number 0: a sentence about something that ended
    REPLY_ERROR,   // of the request with this number: err
};

enum link_state { LINK_CONNECTING, LINK_LIVE, LINK_LOST };

struct workers_seen {
    int count, idle, publishing;
    int silent; // seconds without a sign of any of them; 0: they are there
    char note[200];
};

struct status {
    enum link_state link;
    char host[256], database[128], user[128];
    char table[200];   // of dead letters, where the database has several; "": it is the only one
    char trouble[300]; // LINK_LOST: why
    int64_t as_of;     // the time of the figures
    int64_t retry_at;  // clock_mono of the next attempt, with LINK_LOST
    bool is_read_only;
    bool has_schema;  // false: reading works, changing needs `redrive migrate`
    int64_t pending;  // exact, by the database
    bool is_counting; // the first scan still runs
    int64_t scanned;  // events, by that scan
    int64_t behind;   // pending events that no group counts yet; 0: exact
    double per_minute;
    uint32_t spark[GROUP_SPARK];
    struct workers_seen worker;
    enum promise promise;
    char promise_words[200];
    char stop[300];           // nothing is published before an administrator decides: why; "": it is
    struct operation running; // for the line of the header; no 0: none. Texts are in the reply's arena.
    int64_t last_closed_at;
    char last_closed_by[64];
    int alerts_firing;    // that nobody silenced or acknowledged
    int64_t letters_left; // that redrive ingest has not taken in yet
};

// The record a reprocess would send.
struct would_send {
    const char *topic; // NULL with `refusal`
    int32_t partition; // -1: by key
    struct bytes key;
    struct event_header *headers;
    uint32_t header_count;
    uint32_t kept_count;          // so many are the original's, the others are added
    struct event_header *dropped; // of the failure
    uint32_t dropped_count;
    const char *topic_why; // how its name was found; NULL: it is the row's own, or a person named it
    uint64_t size;
    bool is_exact;          // byte for byte what was received
    const char *why;        // the source of the bytes, and why they are exact or not
    bool is_received_exact; // the same of the payload as it is edited, before anything of it is undone
    const char *received_why;
    const char *refusal; // why the record cannot be sent, or NULL
};

// What the dead letter of an event says; views of the event, or in the reply's arena.
struct dead_letter {
    bool is_there; // it has a format, or was taken in from a topic
    struct envelope envelope;
    const char *unsure;    // why nothing of it is undone; NULL: it is, or there is nothing to undo
    const char *schema;    // which schema of a registry the value was written with; NULL: none
    const char *place;     // where it was read: "orders-dlq, partition 0, offset 17"; NULL: the row's payload
    struct bytes original; // what became of the original that it points at, in words; absent: it does not
    struct bytes data, metadata; // apart from the control fields; absent: the format has no such parts
    struct decoded decoded;      // its value, where that is no JSON
};

struct event_detail {
    struct event event; // NARROW, ERROR, STACK, RAW, GROUP; payload up to 4 or 64 MiB
    struct revision *revisions;
    size_t revision_count;
    struct decision *decisions;
    size_t decision_count;
    struct event *attempts; // all rows of the event's failures, oldest first, this one among them
    size_t attempt_count;
    struct letter_attempt *letters; // further dead letters of it, oldest first
    size_t letter_count;
    struct dead_letter letter;
    struct would_send would_send;
};

// Why an event is in its group. Texts are in the reply's arena; rules live as long as the settings.
struct explanation {
    struct fingerprint print;
    const char *rules_version; // of the key: core/fingerprint/rules.h
    enum category category;
    enum category by_rules;    // the category by the rules
    const char *category_rule; // the rule that gives it
    bool is_overridden;        // somebody set the category:
    struct override override;
};

// Of groups with a filter, whose list counts the matches alone.
struct groups_matched {
    bool is_on;
    bool is_whole;          // else events are still looked at, and the counts grow,
    bool is_stopped;        // or a person stopped that:
    int64_t scanned, total; // events
    int64_t undecided;      // neither counted nor ruled out
    int64_t events;         // of all groups, and their number, without the filter
    size_t groups;
};

struct groups_reply {
    struct group_list list;
    struct groups_matched matched;
    struct group_list parts; // the groups inside merged ones
    enum pivot pivot;
};

struct list_reply {
    int64_t *ids; // to append, in list order; heap, owned by the reply; take it by setting it to NULL
    size_t count;
    bool
        is_first; // forget the ids before; also where the backend replaces a list by id, once times are known
    bool is_by_id;     // not in order of time: the highest id first, or with oldest_first the lowest
    bool is_beginning; // some events in their order; the list begins anew once it is known of all
    int64_t scanned, undecided;
    int64_t total;         // the events it is chosen from; below 0: nobody counted them
    bool is_new_available; // the list could grow: "+12 new, r"; count then counts them and ids is NULL
    bool is_unconfirmed; // found by texts that others wrote down: good to look at; what is to be acted on is
                         // collected
};

struct facets_reply {
    struct facet *list; // field by field, the most frequent first
    size_t count;
    int64_t uncounted; // ids that are not pending any more
};

struct rows_reply {
    struct event *events; // deleted events are left out
    size_t count;
};

// Of a group.
struct recent_reply {
    struct event *events; // newest first, texts cut
    size_t count;
    const struct operation *decision; // of people, about the group or its newest events; NULL: none is known
};
enum { RECENT_EVENTS = 5 };

struct operations_reply {
    struct operation *list;
    size_t count;
    struct outcome *outcomes;
    size_t outcome_count;
    struct returned *returns; // REPLY_OPERATION
    size_t return_count;
    struct doubt *doubts; // REPLY_OPERATION: its chunks; REPLY_OPERATIONS: all chunks, and slots
    size_t doubt_count;
};

struct audit_reply {
    struct audit_row *rows;
    size_t count;
};

struct recipes_reply {
    struct saved_recipe *list; // by name
    size_t count;
};

struct newer_reply {
    int64_t question;
    bool has_worker; // one that can ask Kafka lives
    struct newer found;
};

struct apart_reply {
    struct apart_answer answer;
    bool is_counted;     // else from the samples alone:
    int64_t here, there; // events of both sides
    int64_t read_us;     // how long the sample took
};

struct export_reply {
    int64_t written, of;      // events
    int64_t gone, unreadable; // deleted meanwhile; written without a text that cannot be read
    struct bytes output;      // what the command said since the reply before
    bool is_output_cut;       // it said more than is kept
    bool has_stopped_reading; // it did not want all events
    const char *ended;        // at the end: "ended with status 3"; NULL of a file
    int status;               // its exit status; -1: it has none
};

struct news_reply {
    int64_t operation;              // REPLY_CONFIRMED, REPLY_STEERED, REPLY_NEWS of an operation that ended
    enum outcome_severity severity; // of that end
    int64_t done, of;               // REPLY_PROGRESS
    int32_t revision;               // REPLY_CORRECTED: its number
    bool has_worker;                // REPLY_RECORD
    bool is_kept;                   // REPLY_RECORD
    const char *sentence; // REPLY_NEWS, REPLY_STEERED, REPLY_RECIPES that answers REQUEST_RECIPE_SAVE,
                          // REPLY_RECORD: why it cannot be had, REPLY_REFUSED: what the check says
};

// REPLY_APART, REPLY_STATS, REPLY_MONITOR: one of them.
struct figures_reply {
    struct apart_reply apart;
    struct stats stats;
    struct monitor monitor;
};

// Which part is filled depends on `kind`; the comment of a part names its kinds.
struct reply {
    enum reply_kind kind;
    uint64_t number;
    bool is_last;
    struct shape *shape; // REPLY_SHAPE; whoever keeps it sets it to NULL
    struct arena arena;
    struct err err; // REPLY_ERROR

    struct status status; // REPLY_STATUS
    struct groups_reply groups;
    struct list_reply list; // REPLY_LIST; the ids also REPLY_CHANGED
    struct facets_reply facets;
    struct rows_reply rows;
    struct recent_reply recent;
    struct event_detail detail;         // REPLY_EVENT
    struct explanation explanation;     // REPLY_WHY
    struct operations_reply operations; // REPLY_OPERATIONS, REPLY_OPERATION, REPLY_CONFIRMED
    struct audit_reply audit;
    struct figures_reply figures;
    struct people people;
    struct preview preview;
    struct newer_reply newer;
    struct export_reply exported;
    struct recipe_trial recipe;   // REPLY_RECIPE; ids are heap, take them by setting them to NULL
    struct recipes_reply recipes; // REPLY_RECIPES
    struct news_reply news;
    struct stop *stop; // REPLY_STOP
};

struct request *request_create(enum request_kind kind);
void request_destroy(struct request *request);
void request_drop(void *request); // for mailbox_destroy
// A query with ids and filter of its own; list_query_release frees them.
struct list_query list_query_copy(const struct list_query *query);
void list_query_release(struct list_query *query);
struct reply *reply_create(enum reply_kind kind, uint64_t number);
void reply_destroy(struct reply *reply);
void reply_drop(void *reply); // likewise

#endif
