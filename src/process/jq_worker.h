// jq_worker: the process behind process/jq.h. Home of libjq.
//
// main hands over to it before anything else is done. Requests come on standard input, answers go to standard
// output, each a struct jq_frame and `len` bytes. It ends with its standard input.
#ifndef REDRIVE_PROCESS_JQ_WORKER_H
#define REDRIVE_PROCESS_JQ_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#define JQ_WORKER "--jq-worker" // the first argument; the second is the limit of memory in bytes
enum {
    JQ_PROGRAMS = 8,       // compiled ones that are kept
    JQ_OUT_OF_MEMORY = 77, // exit status
};

enum jq_frame_kind {
    JQ_COMPILE, // request: the program, into a slot; answer JQ_DONE or JQ_WRONG
    JQ_RUN,     // request: a payload, for the program in a slot; answer JQ_DONE or JQ_FAILED
    JQ_DONE,    // the result
    JQ_WRONG,   // it is no program: why
    JQ_FAILED,  // it fails on this payload: why
};

// In the byte order of the machine: both ends are the same executable.
struct jq_frame {
    uint32_t kind;
    uint32_t slot;
    uint32_t len;
};

// Are these the arguments of a worker?
bool jq_worker_is_meant(int argc, char **argv);
// Serves until the end; returns the exit status.
int jq_worker_run(char **argv);

#endif
