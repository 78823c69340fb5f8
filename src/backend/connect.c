// Another connection is tried on a thread of its own: a server that does not answer takes seconds, and the
// screen goes on with the one it has.
#include "backend/reader.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"

struct connect_job {
    struct reader *reader; // of it: the settings and the mailbox of replies
    uint64_t number;
    size_t connection;
    struct lane *lane;
};

static void
try_beside(struct lane *lane, void *given)
{
    (void)lane;
    const struct connect_job *job = given;
    const struct backend_settings *settings = job->reader->session.settings;
    struct reply *reply = reply_create(REPLY_CONNECTED, job->number);
    if (!settings->try_connection(settings->connections, job->connection, &reply->err))
        reply->kind = REPLY_ERROR;
    reply->is_last = true;
    session_reply(&job->reader->session, reply);
}

void
reader_connect_release(struct reader *reader)
{
    struct connect_job *job = reader->connect;
    if (!job)
        return;
    lane_destroy(job->lane);
    free(job);
    reader->connect = NULL;
}

void
reader_connect_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    if (!reader->session.settings->try_connection) {
        (void)!err_set(&err, ERR_USAGE, "there is no other connection");
        session_error(&reader->session, request->number, &err);
        return;
    }
    reader_connect_release(reader); // nobody waits for the one before
    struct connect_job *job = alloc_bytes(sizeof *job);
    *job =
        (struct connect_job){.reader = reader, .number = request->number, .connection = request->connection};
    reader->connect = job;
    job->lane = lane_create(&(struct lane_settings){.name = "connect", .work = try_beside, .jobs = 1});
    (void)!lane_give(job->lane, job, 0);
}

// The attempt itself ends by its own time limit; its answer comes too late for anybody.
void
reader_connect_cancel(struct reader *reader, uint64_t number)
{
    struct err err = {0};
    if (!reader->connect || reader->connect->number != number)
        return;
    (void)!err_set(&err, ERR_CANCELLED, "stopped; the connection stays as it is");
    session_error(&reader->session, number, &err);
}
