// sent_places: where Kafka keeps the records of a delivered chunk, sorted into the rows of struct sent_places
// (store/operations/ledger.h). Pure.
#ifndef REDRIVE_PUBLISH_SENT_PLACES_H
#define REDRIVE_PUBLISH_SENT_PLACES_H

#include "publish/chunk.h"

// From the reports of a flight that is still SENDING. Records whose offset no report told are left out, and
// so are those further from the first of their row than an int32_t reaches. `places` is empty before.
void sent_places_make(struct sent_places *places, const struct flight *flight);

#endif
