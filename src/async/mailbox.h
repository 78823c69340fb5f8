// mailbox: a bounded queue of pointers between threads, with a file descriptor to poll. It has a lock of its
// own and shares nothing else. Any thread may call any function but mailbox_destroy, which comes after all
// others.
#ifndef REDRIVE_ASYNC_MAILBOX_H
#define REDRIVE_ASYNC_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mailbox;

struct mailbox *mailbox_create(size_t capacity);
// Calls `drop` (may be NULL) with each message that is still inside. NULL is fine.
void mailbox_destroy(struct mailbox *mailbox, void (*drop)(void *message));

// Gives the message away. Full: waits up to wait_us (negative: for ever) for room; false: still full, or
// closed, and the caller keeps the message.
bool mailbox_put(struct mailbox *mailbox, void *message, int64_t wait_us);
// The oldest message; waits up to wait_us (0: not at all, negative: for ever). NULL: none, or closed and
// empty.
void *mailbox_take(struct mailbox *mailbox, int64_t wait_us);
bool mailbox_is_empty(struct mailbox *mailbox);
// Is such a message inside? The lock is held during the calls.
bool mailbox_has(struct mailbox *mailbox, bool (*is_it)(const void *message));
// From now on puts fail. Takers get the messages inside, then NULL at once.
void mailbox_close(struct mailbox *mailbox);
bool mailbox_is_closed(struct mailbox *mailbox);

// Readable exactly while a message is inside.
int mailbox_fd(const struct mailbox *mailbox);

#endif
