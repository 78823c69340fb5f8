// kafka: shared by the files of this folder. The only header that includes librdkafka; no other folder
// includes it.
#ifndef REDRIVE_BROKER_KAFKA_H
#define REDRIVE_BROKER_KAFKA_H

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "broker/broker.h"
#include "broker/fetch.h"
#include "broker/settings.h"

#define TROUBLE_TEXT 400

// The last failure of a handle's connection, for sentences. Text and kind are written by the thread that
// polls the handle, the certificate's flaw by librdkafka's own threads.
enum trouble_kind {
    TROUBLE_PASSES, // librdkafka retries, which may help
    TROUBLE_TLS,    // the handshake failed
    TROUBLE_LOGIN,  // user, password or mechanism was refused
};
struct trouble {
    char text[TROUBLE_TEXT];
    enum trouble_kind kind;
    atomic_int flaw; // of the certificate, an X509_V_ERR_ of <openssl/x509_vfy.h>; 0: none was found
};
// Notes an error of a connection that librdkafka reported.
void kafka_note_trouble(struct trouble *trouble, rd_kafka_resp_err_t code, const char *reason);

struct watermark {
    char topic[250];
    int32_t partition;
    int64_t low, high;
    int64_t asked_at;  // clock_mono
    int64_t failed_at; // clock_mono of the last failure; 0: it answered
    int32_t leader;    // -1: none
    int64_t led_at;    // clock_mono: the leader was asked for
};

// broker/leaders.h; the times are clock_mono, 0: never.
struct known_leader {
    int32_t id;
    int64_t asked_at; // it is waited for since
    int64_t answered_at, failed_at;
    int64_t took; // µs, its last answer; 0: not known
};

struct known_topic {
    char name[250];
    struct topic topic;
    int64_t asked_at; // clock_mono
};

struct known_ends {
    char topic[250];
    struct strbuf text; // broker/ends.h; "": not asked
    int64_t asked_at;   // clock_mono
};

// The consumer groups that have committed on some topics (broker/consumers.h).
struct known_groups {
    struct strbuf topics; // these, each behind a blank
    struct known_group {
        char name[256];
        char state[32];
    } * rows;
    size_t count, capacity;
    char note[160];   // why some are not among them; "": all are
    int64_t asked_at; // clock_mono; 0: never
};

struct broker {
    struct broker_settings settings;
    rd_kafka_t *handle;   // metadata and admin requests; others than broker.c get it from kafka_admin
    broker_tick_fn *tick; // NULL: nobody
    void *tick_context;
    int64_t unanswered_at; // clock_mono: kafka_ask_all left a question of it without an answer; 0: none
    rd_kafka_t *reader;    // fetches; NULL until needed
    struct trouble trouble;
    struct trouble reader_trouble;
    char cluster_id[64];
    bool lacks_configs; // topic settings cannot be read; each try would take the whole timeout
    struct known_topic *topics;
    size_t topic_count, topic_capacity;
    struct watermark *watermarks;
    size_t watermark_count, watermark_capacity;
    struct known_leader *leaders;
    size_t leader_count, leader_capacity;
    struct known_ends *ends;
    size_t ends_count, ends_capacity;
    struct known_groups groups;
};

// A configuration with the person's settings and those of every handle of ours; NULL with err. `trouble`
// takes connection errors (may be NULL) and must outlive the handle.
rd_kafka_conf_t *kafka_conf(const struct broker_settings *settings, struct trouble *trouble, struct err *err);
// Sets one property of ours; a refusal is a broken invariant.
void kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value);
void kafka_set_number(rd_kafka_conf_t *conf, const char *name, int64_t value);
// Sets a property unless the person did.
void kafka_set_default(rd_kafka_conf_t *conf, const struct broker_settings *settings, const char *name,
                       const char *value);
// Takes conf over.
rd_kafka_t *kafka_handle(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err);

// The kind of error for a code.
enum err_kind kafka_kind(rd_kafka_resp_err_t code);
// Fills err: "<tried>: <what Kafka said>; <what to do>". trouble may be NULL. Always false.
bool kafka_fail(struct err *err, rd_kafka_resp_err_t code, const struct trouble *trouble, const char *tried,
                ...) __attribute__((format(printf, 4, 5)));
// The same for an error object, which is destroyed.
bool kafka_fail_error(struct err *err, rd_kafka_error_t *error, const struct trouble *trouble,
                      const char *tried);

// The handle for metadata and admin requests. It may be another at each call, so nobody keeps it.
rd_kafka_t *kafka_admin(struct broker *broker);

// One answer of an admin request, waited for at most timeout_ms; NULL with err. The caller destroys it. Not
// for requests that go to a group's coordinator: those are for kafka_ask_all.
typedef void kafka_ask_fn(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options,
                          rd_kafka_queue_t *queue);
rd_kafka_event_t *kafka_ask(struct broker *broker, rd_kafka_admin_op_t operation, kafka_ask_fn *ask,
                            const void *request, int timeout_ms, const char *tried, struct err *err);
// Requests of one kind that are all under way together; `take` gets each answer, in any order. The first
// failure ends it.
//
// librdkafka must never be the one who gives up a request to a coordinator. Where its own timeout ends one
// that still waits for a connection, it frees what the request hangs on and keeps a pointer to it; the
// process is aborted when Kafka comes back (`eonce->refcnt > 0`: confluentinc/librdkafka#4605, #3663;
// in 2.0.2, 2.8.0 and 2.14.1). So a request is given the longest timeout that there is, an hour, and only our
// wait for it ends. What was not answered stays with the handle, which a slow connection may still need, for
// UNANSWERED_MOST; then kafka_admin destroys both. That is safe: it gives up the requests in order.
struct kafka_questions {
    rd_kafka_admin_op_t operation;
    kafka_ask_fn *ask;
    const void *const *requests;
    size_t count;
    const char *tried;
    bool takes_unstable; // offsets within an open transaction: the ones before it, not an error
    bool (*take)(void *context, rd_kafka_event_t *event, struct err *err);
    void *context;
};
bool kafka_ask_all(struct broker *broker, const struct kafka_questions *questions, int timeout_ms,
                   struct err *err) MUST_CHECK;
// The same, each over the handle at its place, whose connection carries nothing else: a broker works on one
// request of a connection at a time. A failure leaves questions with the handles: they can only be destroyed
// then, at once.
bool kafka_ask_each(rd_kafka_t *const *handles, const struct kafka_questions *questions, int timeout_ms,
                    struct err *err) MUST_CHECK;
// marker_write_nonces in that way. Other questions about offsets would need handles with a group of their own
// (see broker.c).
bool kafka_write_nonces(rd_kafka_t *const *handles, const char *const *groups, size_t count, int64_t nonce,
                        int timeout_ms, struct err *err) MUST_CHECK;

// A reader of records by coordinates. is_committed: read_committed, else read_uncommitted.
rd_kafka_t *kafka_reader(const struct broker_settings *settings, struct trouble *trouble, bool is_committed,
                         struct err *err);

// One end of each of these partitions, asked of all their leaders at once; on success each has its offset and
// err. All or none: a leader that does not answer fails the call. The timestamps -2 and -1 ask for the first
// offset and for the one behind the last (KIP-79). Nothing is polled: a handle whose records and callbacks
// come by one queue (broker/tail.h) must not be, librdkafka ends the process where rd_kafka_poll meets a
// record.
rd_kafka_resp_err_t kafka_ends(rd_kafka_t *reader, rd_kafka_topic_partition_list_t *partitions, bool is_high,
                               int timeout_ms);
// The offsets that exist in a partition: from *low to before *high, as the reader's isolation.level counts.
// Waits at most timeout_ms, which rd_kafka_query_watermark_offsets does not: it ends with its requests, after
// socket.timeout.ms and two retries.
rd_kafka_resp_err_t kafka_range(rd_kafka_t *reader, const char *topic, int32_t partition, int timeout_ms,
                                int64_t *low, int64_t *high);

// Milliseconds left until `deadline` (clock_mono), 0 … most.
int kafka_wait(int64_t deadline, int most);

#endif
