// mending: the demo's orders that are wrong themselves lie in Kafka, each with its row in PostgreSQL, and the
// demo's consumer, which fails what is still wrong, listens.
#ifndef REDRIVE_TESTS_ACCEPTANCE_MENDING_H
#define REDRIVE_TESTS_ACCEPTANCE_MENDING_H

#include "tests/acceptance/programs.h"
#include "tests/broker/kafka_world.h"

// Events are counted from the first one that is wrong.
enum {
    MENDING_CLOSED = 300, // before them, of the same type, as they should be
    MENDING_COMMAS = 200, // events 1 … 200: each amount is text with a decimal comma, "17,90"
    MENDING_MISSING = 20, // events 201 … 220: the address has no postal_code
    MENDING_ALL = MENDING_COMMAS + MENDING_MISSING
};

struct mending {
    struct world world;
    char topic[64];
    struct running consumer; // says how many it consumed, and how many failed again
};

void mending_begin(struct mending *mending);
void mending_end(struct mending *mending);

// What somebody types into an address without a postal_code, behind its bracket.
#define MENDING_TYPED "\"postal_code\":\"00000-000\",  "

struct mended {
    int64_t rows; // events 1 … rows were sent; above MENDING_ALL, one of the first kind that came back
    int64_t uncorrected; // sent as it was; 0: none
    int64_t by_hand;     // whose address was completed by hand, the others' by a recipe; 0: none
};
// Each event was sent once, and lies in Kafka as its original with nothing changed but what was wrong: what
// is expected is made without any code of the program.
void mending_check_bytes(struct mending *mending, const struct mended *how);

#endif
