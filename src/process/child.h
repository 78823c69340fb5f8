// child: a program that redrive starts and talks to through pipes: the team's own judge (process/check.h) and
// our worker for jq (process/jq.h).
//
// A child is in a session of its own: no terminal, and a process group that ends as a whole. It inherits the
// environment and no open files but its standard input, output and error, which are pipes. It starts with
// default signals, and the kernel ends it when the thread that started it ends. Our ends of the pipes never
// block. What it says on standard error is kept to its last bytes, as the reason of its end. A member of the
// group that leaves it by setsid() of its own is out of reach.
//
// One thread at a time uses a child. Nothing here waits, except child_end, for as long as it says.
#ifndef REDRIVE_PROCESS_CHILD_H
#define REDRIVE_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

enum { CHILD_SAID = 512 };

// Zero-initialise. The descriptors are -1 once they are closed.
struct child {
    pid_t pid;             // 0: not started, or ended
    int in;                // our end of its standard input
    int out;               // of its standard output
    int err;               // of its standard error
    int status;            // as waitpid tells it, after child_end
    bool is_known;         // status is: it ended by itself
    char said[CHILD_SAID]; // the last of its standard error
    size_t said_len;
};

struct child_program {
    const char *path;        // of the executable; PATH is not searched
    const char *const *argv; // ends with NULL
    int64_t memory;          // most writable memory of each process, in bytes (RLIMIT_DATA); 0: no limit
};

// What a transfer through a pipe came to.
enum child_transfer {
    CHILD_DONE,  // some bytes went through
    CHILD_LATER, // none can go through now
    CHILD_GONE,  // the child has closed its end, or is gone
};

// Starts it. A program that cannot be executed ends at once with status 127. ERR_INTERNAL: there is no room
// for another process or pipe.
bool child_start(struct child *child, const struct child_program *program, struct err *err) MUST_CHECK;

// Gives bytes to its standard input; *count receives how many were taken. SIGPIPE reaches nobody.
enum child_transfer child_write(struct child *child, struct bytes b, size_t *count);
// Bytes that were given and that it has not read yet.
size_t child_unread(const struct child *child);
// Takes bytes of its standard output, at most `room`.
enum child_transfer child_read(struct child *child, char *into, size_t room, size_t *count);
// Takes what it has said on standard error.
void child_listen(struct child *child);

// Closes its standard input: a well-behaved program ends by itself then.
void child_finish(struct child *child);
// Ends it with its whole process group: waits until `deadline` (clock_mono; 0: not at all) for it to end by
// itself, then kills. Returns at most a second after the deadline. One that was not started is fine.
void child_end(struct child *child, int64_t deadline);

// Appends how it ended and the last line that it said: `ended with status 3: cannot open x`. After child_end.
void child_describe(const struct child *child, struct strbuf *out);

#endif
