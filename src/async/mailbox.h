// mailbox: a bounded queue of pointers between two threads, with a file descriptor to poll. Own lock; nothing
// else is shared.
#ifndef REDRIVE_ASYNC_MAILBOX_H
#define REDRIVE_ASYNC_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mailbox;

struct mailbox *mailbox_create(size_t capacity);
// Messages still inside are given to `drop` (may be NULL).
void mailbox_destroy(struct mailbox *mailbox, void (*drop)(void *message));

// Gives the message away. Full: waits up to wait_us (negative: for ever) for room; false: still full or
// closed, the giver keeps it.
bool mailbox_put(struct mailbox *mailbox, void *message, int64_t wait_us);
// Takes the oldest; waits up to wait_us (0: not at all, negative: for ever). NULL: none, or closed and empty.
void *mailbox_take(struct mailbox *mailbox, int64_t wait_us);
bool mailbox_is_empty(struct mailbox *mailbox);
// No more puts; takers get what is inside, then NULL at once.
void mailbox_close(struct mailbox *mailbox);
bool mailbox_is_closed(struct mailbox *mailbox);

// Readable while something is inside.
int mailbox_fd(const struct mailbox *mailbox);

#endif
