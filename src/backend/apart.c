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

// What is known so far: the samples' answer, with the first `counted` rows counted as in `known`.
static void
reply_so_far(struct apart_job *job, struct apart *apart, const struct apart_reply *known, size_t counted)
{
    struct reply *reply = reply_create(REPLY_APART, job->number);
    struct apart_reply *so_far = &reply->figures.apart;
    apart_rank(apart, &reply->arena, &so_far->answer);
    so_far->read_us = known->read_us;
    so_far->is_counted = counted > 0;
    so_far->here = known->here;
    so_far->there = known->there;
    for (size_t i = 0; i < counted && i < so_far->answer.row_count; i++) {
        struct apart_row *row = &so_far->answer.rows[i];
        const struct apart_row *counted_row = &known->answer.rows[i];
        row->is_exact = counted_row->is_exact;
        row->all_here = counted_row->all_here;
        row->all_there = counted_row->all_there;
    }
    session_reply(&job->reader->session, reply);
}

// Replies with what the samples say, then with each part of the rows that is counted, those shown first.
// Counting so many events that their ids cannot be sent fails; then the samples are the answer.
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

    struct apart_reply *known = &last->figures.apart;
    reply_so_far(job, apart, known, 0);
    bool ok = true;
    for (size_t from = 0; ok && from < answer->row_count; from += APART_COUNTED) {
        ok = search_apart_count(store, &job->search, answer, from, &known->here, &known->there, &last->err);
        known->is_counted |= ok;
        if (ok && from + APART_COUNTED < answer->row_count)
            reply_so_far(job, apart, known, from + APART_COUNTED);
    }
    apart_destroy(apart);
    if (!ok && last->err.kind != ERR_DATA)
        return false;
    err_clear(&last->err);
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
