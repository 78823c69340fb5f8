// What sets events apart. Counting reads the whole table, so it has a lane (async/lane) that lives for one
// question, and nothing else waits for it.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "search/apart.h"

struct apart_job {
    struct reader *reader; // of it: the settings and the mailbox of replies
    uint64_t number;
    struct lane *lane;
    struct search_apart search;
    int64_t *ids;
};

static bool
is_stopped(struct err *err)
{
    err_clear(err);
    return err_set(err, ERR_CANCELLED, "stopped · r compare again");
}

// Two replies: what the samples say, then the same with all events counted. Counting so many events that
// their ids cannot be sent fails; then the samples are the answer.
static bool
compare(struct lane *lane, struct apart_job *job, struct reply *last)
{
    struct store *store = lane_connection(lane);
    struct apart *apart = NULL;
    struct apart_answer *answer = &last->figures.apart.answer;
    int64_t began = clock_mono();
    if (!store_connect(store, &last->err) ||
        !search_apart_sample(store, &job->search, &apart, &last->arena, answer, &last->err))
        return false;
    last->figures.apart.read_us = clock_mono() - began;

    struct reply *first = reply_create(REPLY_APART, job->number);
    apart_rank(apart, &first->arena, &first->figures.apart.answer);
    first->figures.apart.read_us = last->figures.apart.read_us;
    session_reply(&job->reader->session, first);
    apart_destroy(apart);
    for (size_t from = 0; from < answer->row_count; from += APART_COUNTED) {
        if (!search_apart_count(store, &job->search, answer, from, &last->figures.apart.here,
                                &last->figures.apart.there, &last->err)) {
            if (last->err.kind != ERR_DATA)
                return false;
            err_clear(&last->err);
            return true;
        }
        last->figures.apart.is_counted = true;
    }
    return true;
}

static void
compare_beside(struct lane *lane, void *given)
{
    struct apart_job *job = given;
    struct reply *reply = reply_create(REPLY_APART, job->number);
    if (!compare(lane, job, reply)) {
        reply->kind = REPLY_ERROR;
        if (!lane_is_wanted(lane))
            (void)!is_stopped(&reply->err);
    }
    reply->is_last = true;
    session_reply(&job->reader->session, reply);
}

// A question that was cancelled before it began is answered too.
static void
drop_comparison(void *given)
{
    const struct apart_job *job = given;
    struct err err = {0};
    (void)!is_stopped(&err);
    session_error(&job->reader->session, job->number, &err);
}

void
reader_apart_release(struct reader *reader)
{
    struct apart_job *job = reader->apart;
    if (!job)
        return;
    lane_destroy(job->lane);
    search_apart_release(&job->search);
    free(job->ids);
    free(job);
    reader->apart = NULL;
}

void
reader_apart_request(struct reader *reader, const struct request *request)
{
    reader_apart_release(reader);
    struct apart_job *job = alloc_bytes(sizeof *job);
    job->reader = reader;
    job->number = request->number;
    job->ids = alloc_array(request->id_count + 1, sizeof *job->ids);
    memcpy(job->ids, request->ids, request->id_count * sizeof *job->ids);
    const struct store_settings *settings = &reader->session.settings->store;
    job->search = (struct search_apart){
        .sides = {.ids = job->ids, .id_count = request->id_count, .against = request->apart.against},
        .rules = settings->group_rules,
        .sample = request->apart.sample,
        .leaves_out = search_apart_defined(request->list.filter)};
    reader->apart = job;
    job->lane = lane_create(&(struct lane_settings){.name = "apart",
                                                    .work = compare_beside,
                                                    .connection = store_create(settings),
                                                    .interrupt = store_lane_interrupt,
                                                    .close = store_lane_close,
                                                    .jobs = 1,
                                                    .drop_job = drop_comparison});
    (void)!lane_give(job->lane, job, 0);
}

void
reader_apart_cancel(struct reader *reader, uint64_t number)
{
    if (reader->apart && reader->apart->number == number)
        lane_stop(reader->apart->lane);
}
