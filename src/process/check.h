// check: asks the team's own programs whether a consumer would take an event.
//
// A row of the setting `checks` names a command for the events of a type or a topic:
//
//     type  Order*       /usr/local/bin/check-orders --strict
//     topic payments.*   java -jar /opt/payments/check.jar
//
// `type` or `topic`, a pattern of the shell (* ? […]) without blanks, and the rest of the row as a command
// for /bin/sh. The first row that matches decides; an event that no row matches is not checked. The command
// is started once and reads a line of JSON an event (process/question.h). It answers each with one line on
// its standard output, flushed: `ok`, or the reason why the consumer would refuse the event. It ends when its
// standard input does.
//
// A command runs in as many processes at once as it is allowed, each asked one event at a time. It is started
// when it is first needed, and again after it has ended. An event on which it ends is asked once more. A
// check that keeps ending or does not keep to one line an answer is given up: then each of its events is
// CHECK_FAILED with the reason. Answers that came before that from a check that is out of step may be about
// other events; checks_trouble tells.
//
// The time for an answer runs while a call of checks_ask or checks_answer looks at the processes.
//
// One thread creates, uses and destroys a struct checks: the processes end with that thread. Only the calls
// with a time wait, and no longer than that time and a tenth of a second for each process that ends.
#ifndef REDRIVE_PROCESS_CHECK_H
#define REDRIVE_PROCESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "process/question.h"

struct checks;

#define CHECK_START 10000000 // of check_limits, as the setting check_time promises

struct check_limits {
    int64_t time;     // for an answer, in microseconds
    int64_t start;    // added to that for the first answer of a process
    int64_t memory;   // most writable memory of each process, in bytes; 0: no limit
    size_t processes; // at once, of one row; 0: as many as processors
};

enum check_verdict {
    CHECK_NONE,    // no row matches the event
    CHECK_OK,      // the consumer would take it
    CHECK_REFUSED, // it would not: `reason` is the check's own
    CHECK_FAILED,  // there is no answer: `reason` says why
};

struct check_answer {
    int64_t id; // of the question
    enum check_verdict verdict;
    // UTF-8 without NUL, one line of at most 500 bytes; NULL of CHECK_NONE and CHECK_OK. Valid until the next
    // call of checks_answer.
    const char *reason;
};

// `rows` as the setting has them, one a line; NULL or "": none. Starts nothing. A bad row is ERR_USAGE with
// its line.
struct checks *checks_create(const char *rows, const struct check_limits *limits, struct err *err);
// Forgets what was asked and ends all processes, within half a second. NULL is fine.
void checks_destroy(struct checks *checks);

// The row that checks such an event, for people; NULL: none does.
const char *checks_row(const struct checks *checks, struct bytes type, struct bytes topic);

// Asks about one event; nothing of the question is borrowed. False: 4,096 questions or 64 MB are waiting, so
// that an answer must be taken first. Does not wait.
bool checks_ask(struct checks *checks, const struct question *question);
// The answer to the oldest question. Waits up to wait_us (0: not at all, negative: until it is there, which
// the limits of time and of restarts bound). False: nothing was asked, or it is not there yet. A caller that
// may be cancelled waits in short steps, and destroys.
bool checks_answer(struct checks *checks, struct check_answer *answer, int64_t wait_us);
size_t checks_waiting(const struct checks *checks); // questions whose answer was not taken yet

// Why a check was given up, NULL: none was.
const char *checks_trouble(const struct checks *checks);

#endif
