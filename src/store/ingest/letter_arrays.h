// letter_arrays: dead letters as arrays, one a column (ingest_take_new in src/store/sql/new_events.sql).
// Private to this folder.
#ifndef REDRIVE_STORE_INGEST_LETTER_ARRAYS_H
#define REDRIVE_STORE_INGEST_LETTER_ARRAYS_H

#include "store/ingest/ingest.h"
#include "store/pg.h"

enum { LETTER_ARRAYS = 30 };

// Types of the schema's own.
struct letter_types {
    Oid header_names, header_values;
};

struct ingest_arrays {
    struct params params; // as many as LETTER_ARRAYS, in the function's order, from p_stretches on
    struct strbuf columns[LETTER_ARRAYS - 3]; // what the params of columns are views of
    int64_t *distinct;                        // the identities, ascending, each once; heap
    size_t distinct_count;
};

// Behind the parameters that are there. The arrays stay until they were sent.
void letter_arrays_share(struct params *params, struct ingest_arrays *arrays,
                         const struct letter_types *types);

#endif
