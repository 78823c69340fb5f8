// apart_counts: on how many events of two sides the answers to some questions (core/apart/apart.h) are yes,
// counted by the server in one pass over the table, without the payloads being sent.
#ifndef REDRIVE_STORE_EVENTS_APART_COUNTS_H
#define REDRIVE_STORE_EVENTS_APART_COUNTS_H

#include "core/apart/apart.h"
#include "store/store.h"

enum { APART_COUNTED = 12 }; // questions at once

// The sides. What is here: the events of `ids` (ascending, each once); with APART_EARLIER those created at
// the moment or later.
struct apart_sides {
    const int64_t *ids;
    size_t id_count;
    enum apart_against against;
    const struct bytes *types; // APART_RESOLVED
    size_t type_count;
    int64_t moment; // an instant
};

struct apart_counts {
    int64_t all_here, all_there;
    struct {
        bool is_counted; // else the server cannot answer this question
        int64_t here, there;
    } rows[APART_COUNTED];
    int64_t *corrected; // ids of the events of both sides whose payload was corrected, left out of all
                        // counts; ascending; heap
    size_t corrected_count;
};
void apart_counts_release(struct apart_counts *counts);

// Counts at most APART_COUNTED questions. Of a word of the message: does the message hold it?
// ERR_LIMIT where the ids lie too far apart to be sent.
bool store_apart_counts(struct store *store, const struct apart_sides *sides,
                        const struct apart_question *const *questions, size_t count,
                        struct apart_counts *counts, struct err *err) MUST_CHECK;

#endif
