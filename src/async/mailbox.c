#include "async/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t changed; // something was put, taken, or the mailbox closed
    void **ring;            // under lock
    size_t capacity;        // never changes
    size_t first;           // under lock
    size_t count;           // under lock
    bool is_closed;         // under lock
    int fd; // eventfd; written and read under lock, so that it is readable exactly while count > 0
};

struct mailbox *
mailbox_create(size_t capacity)
{
    struct mailbox *mailbox = alloc_bytes(sizeof *mailbox);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&mailbox->lock, NULL);
    pthread_cond_init(&mailbox->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    mailbox->ring = alloc_array(capacity, sizeof *mailbox->ring);
    mailbox->capacity = capacity;
    mailbox->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (mailbox->fd < 0)
        die("no event descriptor could be made (errno %d); raise the limit of open files", errno);
    return mailbox;
}

void
mailbox_destroy(struct mailbox *mailbox, void (*drop)(void *message))
{
    if (!mailbox)
        return;
    for (size_t i = 0; drop && i < mailbox->count; i++)
        drop(mailbox->ring[(mailbox->first + i) % mailbox->capacity]);
    close(mailbox->fd);
    pthread_cond_destroy(&mailbox->changed);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox->ring);
    free(mailbox);
}

// The moment until which to wait, for pthread_cond_timedwait.
static struct timespec
deadline(int64_t wait_us)
{
    int64_t until = clock_mono() + wait_us;
    return (struct timespec){.tv_sec = until / US_PER_SECOND, .tv_nsec = until % US_PER_SECOND * 1000};
}

// Waits for a change; false when the time is over. Called with the lock held.
static bool
await_change(struct mailbox *mailbox, int64_t wait_us, const struct timespec *until)
{
    if (wait_us == 0)
        return false;
    if (wait_us < 0)
        return pthread_cond_wait(&mailbox->changed, &mailbox->lock) == 0;
    return pthread_cond_timedwait(&mailbox->changed, &mailbox->lock, until) == 0;
}

bool
mailbox_put(struct mailbox *mailbox, void *message, int64_t wait_us)
{
    struct timespec until = deadline(wait_us < 0 ? 0 : wait_us);
    pthread_mutex_lock(&mailbox->lock);
    while (!mailbox->is_closed && mailbox->count == mailbox->capacity)
        if (!await_change(mailbox, wait_us, &until))
            break;

    bool has_room = !mailbox->is_closed && mailbox->count < mailbox->capacity;
    if (has_room) {
        mailbox->ring[(mailbox->first + mailbox->count) % mailbox->capacity] = message;
        if (mailbox->count++ == 0)
            (void)!write(mailbox->fd, &(uint64_t){1}, sizeof(uint64_t));
        pthread_cond_broadcast(&mailbox->changed);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return has_room;
}

void *
mailbox_take(struct mailbox *mailbox, int64_t wait_us)
{
    struct timespec until = deadline(wait_us < 0 ? 0 : wait_us);
    pthread_mutex_lock(&mailbox->lock);
    while (!mailbox->is_closed && mailbox->count == 0)
        if (!await_change(mailbox, wait_us, &until))
            break;

    void *message = NULL;
    if (mailbox->count > 0) {
        message = mailbox->ring[mailbox->first];
        mailbox->first = (mailbox->first + 1) % mailbox->capacity;
        if (--mailbox->count == 0) {
            uint64_t drained;
            (void)!read(mailbox->fd, &drained, sizeof drained);
        }
        pthread_cond_broadcast(&mailbox->changed);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return message;
}

bool
mailbox_is_empty(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    bool is_empty = mailbox->count == 0;
    pthread_mutex_unlock(&mailbox->lock);
    return is_empty;
}

bool
mailbox_has(struct mailbox *mailbox, bool (*is_it)(const void *message))
{
    pthread_mutex_lock(&mailbox->lock);
    bool has = false;
    for (size_t i = 0; !has && i < mailbox->count; i++)
        has = is_it(mailbox->ring[(mailbox->first + i) % mailbox->capacity]);
    pthread_mutex_unlock(&mailbox->lock);
    return has;
}

void
mailbox_close(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->is_closed = true;
    pthread_cond_broadcast(&mailbox->changed);
    pthread_mutex_unlock(&mailbox->lock);
}

bool
mailbox_is_closed(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    bool is_closed = mailbox->is_closed;
    pthread_mutex_unlock(&mailbox->lock);
    return is_closed;
}

int
mailbox_fd(const struct mailbox *mailbox)
{
    return mailbox->fd;
}
