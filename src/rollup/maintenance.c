#include "rollup/maintenance.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "rollup/maintainer.h"

static const int64_t BEGIN_AFTER = US_PER_SECOND / 40;

struct maintenance {
    struct lane *lane; // the maintainer is its connection, and its only job
};

static void
maintain(struct lane *lane, void *job)
{
    struct maintainer *maintainer = job;
    for (int64_t wait = BEGIN_AFTER; wait != INT64_MAX && lane_sleep(lane, wait);)
        wait = maintainer_step(maintainer);
}

static void
interrupt_maintainer(void *maintainer)
{
    maintainer_interrupt(maintainer);
}

static void
close_maintainer(void *maintainer)
{
    maintainer_destroy(maintainer);
}

struct maintenance *
maintenance_start(const struct store_settings *settings)
{
    struct maintenance *maintenance = alloc_bytes(sizeof *maintenance);
    struct maintainer *maintainer = maintainer_create(settings);
    maintenance->lane = lane_create(&(struct lane_settings){.name = "maintainer",
                                                            .work = maintain,
                                                            .connection = maintainer,
                                                            .interrupt = interrupt_maintainer,
                                                            .close = close_maintainer,
                                                            .jobs = 1});
    (void)!lane_give(maintenance->lane, maintainer, 0);
    return maintenance;
}

void
maintenance_end(struct maintenance *maintenance)
{
    if (maintenance)
        lane_stop(maintenance->lane);
}

void
maintenance_stop(struct maintenance *maintenance)
{
    if (!maintenance)
        return;
    lane_destroy(maintenance->lane);
    free(maintenance);
}
