#include "rollup/maintenance.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "rollup/maintainer.h"

static const int64_t BEGIN_AFTER = US_PER_SECOND / 40;

struct keeping {
    struct keeper *keeper;
    struct mailbox *end; // closed when it has to end
    struct thread *thread;
};

static void
keep_sums(void *context)
{
    struct keeping *keeping = context;
    (void)!mailbox_take(keeping->end, BEGIN_AFTER);
    for (int64_t wait = 0; wait != INT64_MAX && !mailbox_is_closed(keeping->end);) {
        wait = keeper_step(keeping->keeper);
        if (wait > 0 && wait != INT64_MAX)
            (void)!mailbox_take(keeping->end, wait);
    }
}

struct keeping *
keeping_start(const struct store_settings *settings)
{
    struct keeping *keeping = alloc_bytes(sizeof *keeping);
    keeping->keeper = keeper_create(settings);
    keeping->end = mailbox_create(1);
    keeping->thread = thread_start(keep_sums, keeping, "keeper");
    return keeping;
}

void
keeping_end(struct keeping *keeping)
{
    if (!keeping)
        return;
    mailbox_close(keeping->end);
    keeper_interrupt(keeping->keeper);
}

void
keeping_stop(struct keeping *keeping)
{
    if (!keeping)
        return;
    keeping_end(keeping);
    thread_join(keeping->thread);
    keeper_destroy(keeping->keeper);
    mailbox_destroy(keeping->end, NULL);
    free(keeping);
}
