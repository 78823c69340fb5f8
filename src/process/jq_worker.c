#include "process/jq_worker.h"

#include <jq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "process/jq.h"

enum { MESSAGE = 500 };

// Slots hold compiled programs, NULL: none.
struct jq_worker {
    jq_state *programs[JQ_PROGRAMS];
    char *request; // the bytes of the frame, and a NUL
    size_t room;
    struct strbuf message; // of the first error
};

// --- limits ---

static void
end_for_memory(const char *sentence)
{
    (void)sentence;
    _exit(JQ_OUT_OF_MEMORY);
}

static void
on_no_memory(void *nothing)
{
    (void)nothing;
    _exit(JQ_OUT_OF_MEMORY);
}

// The pages of address space this process has now: what the libraries take is not the program's.
static int64_t
pages_now(void)
{
    char line[64] = "";
    FILE *stream = fopen("/proc/self/statm", "re");
    if (stream) {
        if (!fgets(line, sizeof line, stream))
            line[0] = '\0';
        fclose(stream);
    }
    return strtoll(line, NULL, 10);
}

static void
set_limits(int64_t memory)
{
    rlim_t space = (rlim_t)(pages_now() * sysconf(_SC_PAGESIZE) + memory);
    if (memory > 0)
        setrlimit(RLIMIT_AS, &(struct rlimit){space, space});
    // The three pipes are open: import, include and whatever else opens a file or a socket fail from here on.
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){STDERR_FILENO + 1, STDERR_FILENO + 1});
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    alloc_on_failure(end_for_memory);
}

// --- what jq says ---

// Errors are texts, or values of any kind that a program has thrown.
static void
say(struct strbuf *out, jv message)
{
    if (jv_get_kind(message) != JV_KIND_STRING)
        message = jv_dump_string(message, 0);
    struct bytes text = {jv_string_value(message), (size_t)jv_string_length_bytes(jv_copy(message))};
    if (bytes_starts(text, "jq: error: "))
        text = bytes_slice(text, strlen("jq: error: "), text.len);
    // Behind the first line stands the program, behind these words the payload.
    text = bytes_slice(text, 0, bytes_find(text, BYTES("\n"), 0));
    text = bytes_slice(text, 0, bytes_find(text, BYTES(" (while parsing '"), 0));
    if (bytes_ends(text, ":"))
        text.len--;
    text_visible(out, bytes_slice(text, 0, MESSAGE), false);
    jv_free(message);
}

static void
on_error(void *data, jv message)
{
    struct jq_worker *worker = data;
    if (worker->message.len == 0)
        say(&worker->message, message);
    else
        jv_free(message);
}

static void
on_debug(void *nothing, jv message)
{
    (void)nothing;
    jv_free(message);
}

// --- requests ---

static void
answer(enum jq_frame_kind kind, struct bytes b)
{
    struct jq_frame frame = {.kind = kind, .len = (uint32_t)b.len};
    if (fwrite(&frame, sizeof frame, 1, stdout) != 1 || fwrite(b.data, 1, b.len, stdout) != b.len ||
        fflush(stdout) != 0)
        exit(1);
}

static bool
worker_compile(struct jq_worker *worker, uint32_t slot)
{
    jq_teardown(&worker->programs[slot]);
    jq_state *program = jq_init();
    if (!program)
        end_for_memory(NULL);
    jq_set_error_cb(program, on_error, worker);
    jq_set_debug_cb(program, on_debug, NULL);
    jq_set_nomem_handler(program, on_no_memory, NULL);
    // Without these import finds no list of folders and stops the process.
    jq_set_attr(program, jv_string("JQ_LIBRARY_PATH"), jv_array());
    jq_set_attr(program, jv_string("JQ_ORIGIN"), jv_string("/"));
    jq_set_attr(program, jv_string("PROGRAM_ORIGIN"), jv_string("/"));
    if (jq_compile(program, worker->request)) {
        worker->programs[slot] = program;
        return true;
    }
    jq_teardown(&program);
    return false;
}

// One more value than is wanted is one too many.
static bool
take_one(struct jq_worker *worker, jq_state *program, jv *result)
{
    *result = jq_next(program);
    jv next = jv_is_valid(*result) ? jq_next(program) : jv_copy(*result);
    const char *fault = NULL;
    if (jq_halted(program))
        fault = "it halted";
    else if (jv_is_valid(next))
        fault = "it gave more than one result";
    else if (jv_invalid_has_msg(jv_copy(next)))
        say(&worker->message, jv_invalid_get_msg(jv_copy(next)));
    else if (!jv_is_valid(*result))
        fault = "it gave 0 results";
    if (fault)
        strbuf_add_text(&worker->message, fault);
    jv_free(next);
    return worker->message.len == 0;
}

static bool
run_program(struct jq_worker *worker, jq_state *program, size_t len, struct strbuf *out)
{
    jv payload = jv_parse_sized(worker->request, (int)len);
    if (!jv_is_valid(payload)) {
        jv why = jv_invalid_get_msg(payload);
        say(&worker->message, why);
        return false;
    }
    jq_start(program, payload, 0);
    jv result;
    bool is_good = take_one(worker, program, &result);
    if (is_good) {
        jv text = jv_dump_string(result, 0);
        strbuf_add(out, (struct bytes){jv_string_value(text), (size_t)jv_string_length_bytes(jv_copy(text))});
        jv_free(text);
    } else {
        jv_free(result);
    }
    if (out->len > JQ_PAYLOAD_BYTES) {
        strbuf_printf(&worker->message, "its result is longer than %d MB", JQ_PAYLOAD_BYTES >> 20);
        is_good = false;
    }
    return is_good;
}

static void
serve(struct jq_worker *worker, const struct jq_frame *frame)
{
    struct strbuf out = {0};
    strbuf_reset(&worker->message);
    bool is_program = frame->kind == JQ_COMPILE;
    bool is_good = is_program ? worker_compile(worker, frame->slot)
                              : worker->programs[frame->slot] &&
                                    run_program(worker, worker->programs[frame->slot], frame->len, &out);
    if (is_good)
        answer(JQ_DONE, strbuf_bytes(&out));
    else
        answer(is_program ? JQ_WRONG : JQ_FAILED, strbuf_bytes(&worker->message));
    strbuf_release(&out);
}

static bool
read_request(struct jq_worker *worker, struct jq_frame *frame)
{
    if (fread(frame, sizeof *frame, 1, stdin) != 1 || frame->slot >= JQ_PROGRAMS ||
        frame->len > JQ_PAYLOAD_BYTES)
        return false;
    if (frame->len >= worker->room) {
        worker->room = (size_t)frame->len + 1;
        free(worker->request);
        worker->request = alloc_bytes(worker->room);
    }
    worker->request[frame->len] = '\0';
    return fread(worker->request, 1, frame->len, stdin) == frame->len;
}

bool
jq_worker_is_meant(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], JQ_WORKER) == 0;
}

int
jq_worker_run(char **argv)
{
    static char *nothing[] = {NULL};
    struct jq_worker worker = {0};
    struct jq_frame frame;
    // What jq calls env and $ENV may hold secrets, and HOME would let it read ~/.jq.
    environ = nothing;
    set_limits(strtoll(argv[2], NULL, 10));
    while (read_request(&worker, &frame))
        serve(&worker, &frame);
    for (size_t i = 0; i < JQ_PROGRAMS; i++)
        jq_teardown(&worker.programs[i]);
    strbuf_release(&worker.message);
    free(worker.request);
    return 0;
}
