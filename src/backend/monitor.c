// What the monitor shows of now: the backlog as it is counted here, some hundred rows of the trend that a
// maintainer of the rollup wrote, the newest operations, who carries them out, alerts, how far redrive
// ingest is behind, and how many of all messages become dead letters. And marks and what people do about
// alerts.
#include "core/monitor.h"

#include "backend/reader.h"
#include "backend/writer.h"
#include "base/clock.h"
#include "store/ingest/letter_topics.h"
#include "store/operations/ledger.h"
#include "store/operations/workers.h"
#include "store/rollup/trend.h"
#include "store/watch/alerts.h"
#include "store/watch/policies.h"
#include "store/watch/written.h"

enum { OPERATIONS = 200 };

static bool
read_letter_topics(struct reader *reader, struct arena *arena, struct monitor *monitor, struct err *err)
{
    if (!letter_topics_list(reader->session.store, arena, &monitor->letter_topics,
                            &monitor->letter_topic_count, err))
        return false;
    monitor->letters_per_second = letters_per_second(reader->letters_seen, monitor->letter_topics,
                                                     monitor->letter_topic_count, clock_mono());
    return true;
}

static bool
read_schema(struct reader *reader, enum trend_span span, struct arena *arena, struct monitor *monitor,
            struct err *err)
{
    struct store *store = reader->session.store;
    return trend_read(store, span, arena, &monitor->trend, err) &&
           operation_list(store, 0, OPERATIONS, arena, &monitor->operations, &monitor->operation_count,
                          err) &&
           worker_list(store, arena, &monitor->workers, &monitor->worker_count, err) &&
           slots_count(store, &monitor->slots, err) && alerts_read(store, arena, &monitor->alerts, err) &&
           policies_list(store, arena, &monitor->policies, &monitor->policy_count, err) &&
           read_letter_topics(reader, arena, monitor, err) &&
           written_read(store, trend_span_length(span), arena, &monitor->shares, err);
}

static bool
read_pending(struct reader *reader, struct arena *arena, struct monitor_pending *pending, struct err *err)
{
    const struct counts *counts = &reader->counts;
    if (!counts->backlog)
        return true;
    if (counts->has_rollup && !counts->is_counting && !reader_rollup_all_hours(reader, err))
        return false;
    monitor_count(counts->backlog, !counts->has_rollup || counts->has_all_hours, clock_now(), arena, pending);
    return true;
}

void
reader_monitor_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct store *store = reader->session.store;
    struct reply *reply = reply_create(REPLY_MONITOR, request->number);
    reply->figures.monitor.trend.span = request->span;
    if ((store_info(store)->schema_version > 0 &&
         !read_schema(reader, request->span, &reply->arena, &reply->figures.monitor, &err)) ||
        !read_pending(reader, &reply->arena, &reply->figures.monitor.pending, &err)) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
}

void
writer_mark_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    if (!trend_set_mark(session->store, request->reason, &err)) {
        session_failed(session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_MARKED, request->number);
    reply->is_last = true;
    session_reply(session, reply);
}

void
writer_alert_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    const struct alert_asked *asked = &request->alert;
    bool ok = asked->is_silence ? alert_silence(session->store, asked->rule, asked->length, NULL, &err)
                                : alert_acknowledge(session->store, asked->rule, NULL, &err);
    if (!ok) {
        session_failed(session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_ALERT, request->number);
    reply->is_last = true;
    session_reply(session, reply);
}
