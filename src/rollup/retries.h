// retries: how often something has failed in a row. It knows no clock of its own: `now` is clock_mono.
#ifndef REDRIVE_ROLLUP_RETRIES_H
#define REDRIVE_ROLLUP_RETRIES_H

#include <stdint.h>

#define RETRIES_CALM (60 * INT64_C(1000000)) // µs without a failure: then the next one is a first one

struct retries {
    int count;
    int64_t failed_at; // clock_mono
};

// It has failed: the how-maniest time, from 0 (store_backoff). A success between two failures is no
// recovery: where a disk is full, some steps work and the next does not.
int retries_note(struct retries *retries, int64_t now);

#endif
