// jq: runs a jq program over payloads, in a process of ours with limits on time and memory.
//
// A payload goes in as JSON, and exactly one value comes out, as JSON without white space. Members of objects
// keep their order: a changed one stays in its place, a new one comes last. What jq does not keep: of
// duplicate names the last value, in the place of the first; the spelling of numbers and escapes; depending
// on its version (1.6) every digit of a number beyond 17. Whoever offers jq says so.
//
// The process is the same executable with JQ_WORKER as its argument (process/jq_worker.h). It sees no
// environment, can open no file and no connection, and ends with the thread that started it. It is started
// when it is first needed and serves many programs and payloads.
#ifndef REDRIVE_PROCESS_JQ_H
#define REDRIVE_PROCESS_JQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

enum {
    JQ_PROGRAM_BYTES = 64 << 10,
    JQ_PAYLOAD_BYTES = 64 << 20, // of a payload and of a result
};

struct jq_process;

struct jq_limits {
    int64_t time;   // for one payload, in microseconds
    int64_t memory; // that the process may take in addition to what it has at its start, in bytes
    // Asked ten times a second while jq works; false ends the wait with ERR_CANCELLED. May be NULL.
    bool (*is_wanted)(void *context);
    void *context;
};

// Starts nothing. Created, used and destroyed by one thread; more threads take one each.
struct jq_process *jq_process_create(const struct jq_limits *limits);
void jq_process_destroy(struct jq_process *process); // NULL is fine

// Is it a program? ERR_USAGE with jq's own message; what was compiled is kept for jq_process_run.
bool jq_process_check(struct jq_process *process, const char *program, struct err *err) MUST_CHECK;

// Appends what the program makes of the payload. `process` is a struct jq_process *; the form is that of a
// recipe's callback. ERR_USAGE: no program. ERR_DATA: no JSON goes in, not exactly one value of JSON comes
// out, the program fails, or it passes a limit; err says which, and `out` is as before. Waits at most for the
// limit of time for the program and for the payload, and five seconds more where the process has to be
// started. After ten processes in a row that gave no result nothing is tried until the next jq_process_check.
bool jq_process_run(void *process, const char *program, struct bytes payload, struct strbuf *out,
                    struct err *err) MUST_CHECK;

#endif
