#include "core/worker.h"

enum attendance
workers_attendance(const struct worker *workers, size_t count, bool needs_kafka, int64_t *silent_for)
{
    *silent_for = INT64_MAX;
    for (size_t i = 0; i < count; i++)
        if ((workers[i].publishes || !needs_kafka) && workers[i].silent_for < *silent_for)
            *silent_for = workers[i].silent_for;
    if (*silent_for == INT64_MAX)
        return count == 0 ? WORKERS_NONE : WORKERS_WITHOUT_BROKERS;
    return *silent_for > WORKER_SILENT ? WORKERS_SILENT : WORKERS_THERE;
}
