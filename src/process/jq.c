#include "process/jq.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "core/json/json.h"
#include "process/child.h"
#include "process/jq_worker.h"

enum {
    START = 5000000, // added for what the process is asked first
    LOOK_US = 100000,
    END_WAIT = 100000,
    MOST_ENDED = 10, // processes in a row that end or are ended without an answer
};

struct jq_process {
    struct jq_limits limits;
    struct child child;
    char *programs[JQ_PROGRAMS]; // that the process has compiled; NULL: none
    size_t next_slot;
    size_t served;      // by this process
    int ended;          // processes since the last result
    struct strbuf talk; // a request, then its answer
};

struct jq_process *
jq_process_create(const struct jq_limits *limits)
{
    struct jq_process *process = alloc_bytes(sizeof *process);
    process->limits = *limits;
    return process;
}

static void
jq_end(struct jq_process *process, int64_t deadline)
{
    child_end(&process->child, deadline);
    for (size_t i = 0; i < JQ_PROGRAMS; i++) {
        free(process->programs[i]);
        process->programs[i] = NULL;
    }
    process->served = 0;
}

void
jq_process_destroy(struct jq_process *process)
{
    if (!process)
        return;
    jq_end(process, clock_mono() + END_WAIT);
    strbuf_release(&process->talk);
    free(process);
}

static bool
jq_begin(struct jq_process *process, struct err *err)
{
    if (process->child.pid != 0)
        return true;
    char memory[24];
    snprintf(memory, sizeof memory, "%" PRId64, process->limits.memory);
    const char *const argv[] = {"redrive", JQ_WORKER, memory, NULL};
    // The executable that runs, even where another one was installed in its place meanwhile.
    const struct child_program program = {.path = "/proc/self/exe", .argv = argv};
    return child_start(&process->child, &program, err) || err_context(err, "jq");
}

// --- one request and its answer ---

enum talk { TALK_DONE, TALK_LATE, TALK_UNWANTED, TALK_ENDED };

// Writes the request from process->talk, then reads the answer into it.
static enum talk
transfer(struct jq_process *process, size_t *sent, struct bytes request, struct strbuf *heard)
{
    size_t count;
    while (*sent < request.len &&
           child_write(&process->child, bytes_slice(request, *sent, request.len), &count) == CHILD_DONE)
        *sent += count;
    enum child_transfer state;
    char portion[65536];
    while ((state = child_read(&process->child, portion, sizeof portion, &count)) == CHILD_DONE) {
        strbuf_add(heard, (struct bytes){portion, count});
        struct jq_frame frame;
        if (heard->len < sizeof frame)
            continue;
        memcpy(&frame, heard->data, sizeof frame);
        if (frame.len > JQ_PAYLOAD_BYTES || heard->len > sizeof frame + frame.len || *sent < request.len)
            return TALK_ENDED;
        if (heard->len == sizeof frame + frame.len)
            return TALK_DONE;
    }
    return state == CHILD_GONE ? TALK_ENDED : TALK_LATE;
}

static enum talk
talk_until(struct jq_process *process, int64_t deadline)
{
    struct strbuf heard = {0};
    struct strbuf request = process->talk;
    struct child *child = &process->child;
    size_t sent = 0;
    enum talk talk;
    while ((talk = transfer(process, &sent, strbuf_bytes(&request), &heard)) == TALK_LATE) {
        int64_t now = clock_mono();
        if (now >= deadline)
            break;
        if (process->limits.is_wanted && !process->limits.is_wanted(process->limits.context)) {
            talk = TALK_UNWANTED;
            break;
        }
        int64_t wait = deadline - now < LOOK_US ? deadline - now : LOOK_US;
        struct pollfd files[] = {{.fd = child->out, .events = POLLIN},
                                 {.fd = child->err, .events = POLLIN},
                                 {.fd = sent < request.len ? child->in : -1, .events = POLLOUT}};
        poll(files, sizeof files / sizeof *files, (int)((wait + 999) / 1000));
        child_listen(child);
    }
    strbuf_release(&request);
    process->talk = heard;
    return talk;
}

static bool
say_ended(struct jq_process *process, struct err *err)
{
    const struct child *child = &process->child;
    if (child->is_known && WIFEXITED(child->status) && WEXITSTATUS(child->status) == JQ_OUT_OF_MEMORY)
        return err_set(err, ERR_DATA, "jq needs more than %" PRId64 " MB of memory",
                       process->limits.memory >> 20);
    struct strbuf how = {0};
    child_describe(child, &how);
    err_set(err, ERR_DATA, "jq's process %s", strbuf_text(&how));
    strbuf_release(&how);
    return false;
}

// Gives one frame and takes one. False: there is no answer, and no process any more.
static bool
talk_once(struct jq_process *process, const struct jq_frame *frame, struct bytes b, struct jq_frame *got,
          struct err *err)
{
    if (process->ended >= MOST_ENDED)
        return err_set(err, ERR_DATA, "jq was given up: its process ended %d times in a row without a result",
                       process->ended);
    if (!jq_begin(process, err))
        return false;
    strbuf_reset(&process->talk);
    strbuf_add(&process->talk, (struct bytes){(const char *)frame, sizeof *frame});
    strbuf_add(&process->talk, b);
    int64_t now = clock_mono();
    switch (talk_until(process, now + process->limits.time + (process->served == 0 ? START : 0))) {
    case TALK_DONE:
        process->served++;
        if (frame->kind == JQ_RUN)
            process->ended = 0;
        memcpy(got, process->talk.data, sizeof *got);
        return true;
    case TALK_UNWANTED:
        jq_end(process, 0);
        return err_set(err, ERR_CANCELLED, "jq was cancelled");
    case TALK_LATE:
        process->ended++;
        jq_end(process, 0);
        return err_set(err, ERR_DATA, "jq has no result within %" PRId64 " ms", process->limits.time / 1000);
    case TALK_ENDED:
        break;
    }
    process->ended++;
    jq_end(process, clock_mono() + END_WAIT);
    return say_ended(process, err);
}

static struct bytes
body(const struct jq_process *process)
{
    struct bytes all = strbuf_bytes(&process->talk);
    return bytes_slice(all, sizeof(struct jq_frame), all.len);
}

// --- programs ---

// The slot of the program, compiled in the process that runs now.
static bool
compile(struct jq_process *process, const char *program, uint32_t *slot, struct err *err)
{
    for (uint32_t i = 0; i < JQ_PROGRAMS; i++)
        if (process->programs[i] && strcmp(process->programs[i], program) == 0) {
            *slot = i;
            return true;
        }
    struct bytes text = bytes_of(program);
    if (text.len > JQ_PROGRAM_BYTES)
        return err_set(err, ERR_USAGE, "the jq program is longer than %d kB", JQ_PROGRAM_BYTES >> 10);
    if (!utf8_valid(text))
        return err_set(err, ERR_USAGE, "the jq program is not UTF-8");
    *slot = (uint32_t)(process->next_slot++ % JQ_PROGRAMS);
    const struct jq_frame frame = {.kind = JQ_COMPILE, .slot = *slot, .len = (uint32_t)text.len};
    struct jq_frame got;
    free(process->programs[*slot]);
    process->programs[*slot] = NULL;
    if (!talk_once(process, &frame, text, &got, err))
        return false;
    if (got.kind != JQ_DONE)
        return err_set(err, ERR_USAGE, "the jq program is wrong: %.*s", BYTES_ARGS(body(process)));
    process->programs[*slot] = alloc_text(program);
    return true;
}

// Payload absent: only compiles.
static bool
attempt(struct jq_process *process, const char *program, struct bytes payload, struct jq_frame *got,
        struct err *err)
{
    uint32_t slot = 0;
    if (!compile(process, program, &slot, err))
        return false;
    const struct jq_frame frame = {.kind = JQ_RUN, .slot = slot, .len = (uint32_t)payload.len};
    return !bytes_present(payload) || talk_once(process, &frame, payload, got, err);
}

// A process that had served others may have ended because of them, so a fresh one decides.
static bool
ask_jq(struct jq_process *process, const char *program, struct bytes payload, struct jq_frame *got,
       struct err *err)
{
    for (;;) {
        bool is_fresh = process->served == 0;
        struct err why = {0};
        if (attempt(process, program, payload, got, &why))
            return true;
        bool has_ended = process->child.pid == 0 && process->child.is_known;
        if (is_fresh || !has_ended)
            return err_set(err, why.kind, "%s", why.text);
    }
}

bool
jq_process_check(struct jq_process *process, const char *program, struct err *err)
{
    struct jq_frame got;
    process->ended = 0;
    return ask_jq(process, program, BYTES_ABSENT, &got, err);
}

bool
jq_process_run(void *context, const char *program, struct bytes payload, struct strbuf *out, struct err *err)
{
    struct jq_process *process = context;
    struct err why = {0};
    struct jq_frame got = {0};
    if (payload.len > JQ_PAYLOAD_BYTES)
        return err_set(err, ERR_DATA, "the payload is longer than %d MB, the most that jq is given",
                       JQ_PAYLOAD_BYTES >> 20);
    if (!bytes_present(payload) || !utf8_valid(payload) || !json_check(payload, &why))
        return err_set(err, ERR_DATA, "jq takes only JSON: %s",
                       err_is_set(&why) ? why.text : "the payload is not UTF-8");
    if (!ask_jq(process, program, payload, &got, err))
        return false;
    struct bytes result = body(process);
    if (got.kind != JQ_DONE)
        return err_set(err, ERR_DATA, "jq: %.*s", BYTES_ARGS(result));
    if (!utf8_valid(result) || !json_check(result, &why))
        return err_set(err, ERR_DATA, "the result of jq cannot be sent: %s",
                       err_is_set(&why) ? why.text : "it is not UTF-8");
    strbuf_add(out, result);
    return true;
}
