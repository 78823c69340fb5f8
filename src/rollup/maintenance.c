#include "rollup/maintenance.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "rollup/maintainer.h"

static const int64_t BEGIN_AFTER = US_PER_SECOND / 40;

struct maintenance {
    struct maintainer *maintainer;
    struct mailbox *end; // closed when it has to end
    struct thread *thread;
};

static void
maintain(void *context)
{
    struct maintenance *maintenance = context;
    (void)!mailbox_take(maintenance->end, BEGIN_AFTER);
    for (int64_t wait = 0; wait != INT64_MAX && !mailbox_is_closed(maintenance->end);) {
        wait = maintainer_step(maintenance->maintainer);
        if (wait > 0 && wait != INT64_MAX)
            (void)!mailbox_take(maintenance->end, wait);
    }
}

struct maintenance *
maintenance_start(const struct store_settings *settings)
{
    struct maintenance *maintenance = alloc_bytes(sizeof *maintenance);
    maintenance->maintainer = maintainer_create(settings);
    maintenance->end = mailbox_create(1);
    maintenance->thread = thread_start(maintain, maintenance, "keeper");
    return maintenance;
}

void
maintenance_end(struct maintenance *maintenance)
{
    if (!maintenance)
        return;
    mailbox_close(maintenance->end);
    maintainer_interrupt(maintenance->maintainer);
}

void
maintenance_stop(struct maintenance *maintenance)
{
    if (!maintenance)
        return;
    maintenance_end(maintenance);
    thread_join(maintenance->thread);
    maintainer_destroy(maintenance->maintainer);
    mailbox_destroy(maintenance->end, NULL);
    free(maintenance);
}
