#include "process/judge.h"

#include <stddef.h>

bool
judge_is_on(const struct judge *judge)
{
    return judge->child.pid != 0;
}

bool
judge_start(struct judge *judge, const char *command, int64_t memory, struct err *err)
{
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct child_program program = {.path = argv[0], .argv = argv, .memory = memory};
    judge->has_answered = false;
    judge->is_asked = false;
    judge->is_deaf = false;
    strbuf_reset(&judge->answer);
    return child_start(&judge->child, &program, err);
}

void
judge_ask(struct judge *judge, struct bytes line, int64_t deadline)
{
    strbuf_reset(&judge->answer);
    judge->is_asked = true;
    judge->asked = line.len;
    judge->rest = line;
    judge->deadline = deadline;
}

// A judge that has closed its standard input may still answer: only its standard output tells that it is
// gone.
static void
write_rest(struct judge *judge)
{
    size_t count;
    enum child_transfer transfer = CHILD_DONE;
    while (judge->rest.len > 0 && !judge->is_deaf &&
           (transfer = child_write(&judge->child, judge->rest, &count)) == CHILD_DONE)
        judge->rest = bytes_slice(judge->rest, count, judge->rest.len);
    if (transfer == CHILD_GONE)
        judge->is_deaf = true;
}

static enum judge_progress
fall_out_of_step(struct judge *judge, const char *fault)
{
    judge->fault = fault;
    return JUDGE_OUT_OF_STEP;
}

static enum judge_progress
read_answer(struct judge *judge)
{
    char said[8192];
    size_t count;
    enum child_transfer transfer;
    while ((transfer = child_read(&judge->child, said, sizeof said, &count)) == CHILD_DONE) {
        if (!judge->is_asked)
            return fall_out_of_step(judge, "it says something that it was not asked for");
        if (judge->rest.len > 0 || child_unread(&judge->child) > 0)
            return fall_out_of_step(judge, "it answers before it has read the whole line");
        strbuf_add(&judge->answer, (struct bytes){said, count});
        size_t end = bytes_find(strbuf_bytes(&judge->answer), BYTES("\n"), judge->answer.len - count);
        if (end != SIZE_MAX && end + 1 < judge->answer.len)
            return fall_out_of_step(judge, "it answers more than one line");
        if (end == SIZE_MAX && judge->answer.len > JUDGE_ANSWER)
            return fall_out_of_step(judge, "its answer is longer than 64 kB");
        if (end != SIZE_MAX) {
            strbuf_splice(&judge->answer, end, 1, BYTES(""));
            judge->has_answered = true;
            return JUDGE_ANSWERED;
        }
    }
    return transfer == CHILD_GONE ? JUDGE_DIED : JUDGE_WAITS;
}

enum judge_progress
judge_go_on(struct judge *judge, int64_t now)
{
    child_listen(&judge->child);
    write_rest(judge);
    enum judge_progress progress = read_answer(judge);
    if (progress == JUDGE_WAITS && judge->is_asked && now >= judge->deadline)
        progress = JUDGE_LATE;
    if (progress != JUDGE_WAITS) {
        judge->has_read = child_unread(&judge->child) + judge->rest.len < judge->asked;
        judge->is_asked = false;
        judge->rest = BYTES_ABSENT;
    }
    return progress;
}

void
judge_poll(const struct judge *judge, struct pollfd *files)
{
    bool is_on = judge_is_on(judge);
    files[0] = (struct pollfd){.fd = is_on ? judge->child.out : -1, .events = POLLIN};
    files[1] = (struct pollfd){.fd = is_on ? judge->child.err : -1, .events = POLLIN};
    // A standard input that was closed by the judge is always ready, and nothing can be done with it.
    files[2] = (struct pollfd){.fd = is_on && judge->rest.len > 0 && !judge->is_deaf ? judge->child.in : -1,
                               .events = POLLOUT};
}

void
judge_end(struct judge *judge, int64_t deadline)
{
    child_end(&judge->child, deadline);
    judge->is_asked = false;
    judge->rest = BYTES_ABSENT;
}

void
judge_release(struct judge *judge)
{
    strbuf_release(&judge->answer);
}
