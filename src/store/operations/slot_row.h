// slot_row: a slot and its unfinished chunk as columns of a statement, for the files that read them.
#ifndef REDRIVE_STORE_OPERATIONS_SLOT_ROW_H
#define REDRIVE_STORE_OPERATIONS_SLOT_ROW_H

#include "store/operations/ledger.h"
#include "store/pg.h"

// Of `redrive.slot s`; they stand first.
#define SLOT_COLUMNS                                                                                         \
    "s.no, s.generation, s.fence, s.cluster, s.txn_id, s.finished_seq, s.finished_id::text, "                \
    "s.is_provisioned, s.marker_at, redrive.slot_is_old(s)"
enum { SLOT_COLUMN_COUNT = 10 };
// Of `redrive.chunk c`, right after them.
#define SLOT_UNFINISHED_COLUMNS                                                                              \
    ", c.id::text, c.seq, c.operation_no, c.events, c.state = 'in doubt', c.created_at"
enum { SLOT_UNFINISHED_COLUMN_COUNT = 6 };
#define SLOT_UNFINISHED_JOIN                                                                                 \
    " LEFT JOIN redrive.chunk c ON c.cluster = s.cluster AND c.slot = s.no AND c.state IN ('claimed', 'in "  \
    "doubt')"

void slot_row_read(const PGresult *r, int row, struct slot *slot);
void slot_row_read_unfinished(const PGresult *r, int row, struct chunk *chunk);

#endif
