// judge: one process of a check, which is asked one event at a time. Private to process/check.c.
//
// A judge that is not asked says nothing. One that speaks before it has the whole question, says more than a
// line, or says something between questions is out of step: from then on nobody knows which event an answer
// is about.
#ifndef REDRIVE_PROCESS_JUDGE_H
#define REDRIVE_PROCESS_JUDGE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "process/child.h"

enum { JUDGE_ANSWER = 65536, JUDGE_FILES = 3 };

enum judge_progress {
    JUDGE_WAITS,       // idle, or the answer is not there yet
    JUDGE_ANSWERED,    // `answer` holds it, without the line end; the judge is idle
    JUDGE_DIED,        // it has ended, or has closed its standard output
    JUDGE_LATE,        // no answer in time
    JUDGE_OUT_OF_STEP, // `fault` says how
};

// Zero-initialise.
struct judge {
    struct child child;
    bool is_asked;
    bool has_answered; // since it was started
    bool is_deaf;      // it has closed its standard input
    bool has_read;     // some of what it was asked last, when it died
    size_t asked;      // bytes of the question
    struct bytes rest; // of it, not yet written; borrowed
    struct strbuf answer;
    int64_t deadline; // clock_mono
    const char *fault;
};

bool judge_is_on(const struct judge *judge); // started, and not ended since
// Starts `command` by /bin/sh, with that much memory for each of its processes.
bool judge_start(struct judge *judge, const char *command, int64_t memory, struct err *err) MUST_CHECK;
// Only while nothing is asked. The line is borrowed until there is progress.
void judge_ask(struct judge *judge, struct bytes line, int64_t deadline);
// Transfers what can be transferred now. After anything but JUDGE_WAITS nothing is asked any more; after
// the last three the caller ends the judge.
enum judge_progress judge_go_on(struct judge *judge, int64_t now);
// What to wait for: always JUDGE_FILES rows.
void judge_poll(const struct judge *judge, struct pollfd *files);
// Ends the process as child_end does; the judge can be started again.
void judge_end(struct judge *judge, int64_t deadline);
void judge_release(struct judge *judge); // of one that has ended

#endif
