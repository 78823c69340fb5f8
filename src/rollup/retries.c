#include "rollup/retries.h"

int
retries_note(struct retries *retries, int64_t now)
{
    if (now - retries->failed_at > RETRIES_CALM)
        retries->count = 0;
    retries->failed_at = now;
    return retries->count++;
}
