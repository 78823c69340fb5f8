// import_line: one line of a file of events: the columns of the contract table as a consumer writes them when
// the database is away, or what `redrive export --form jsonl` writes. Pure.
//
// Names are those of the table, or the same in camelCase (eventId); others are ignored. event_payload is any
// JSON value, or a string that holds an object or a list. A time is a text (with a zone, or in that of the
// table), a number of seconds or milliseconds since 1970, or a list [year, month, day, hour, minute, …].
// A line of export also has the record where that was kept, and the revisions.
#ifndef REDRIVE_CORE_IMPORT_LINE_H
#define REDRIVE_CORE_IMPORT_LINE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

enum import_column {
#define IMPORT_COLUMN(name, camel, kind) IMPORT_##name,
#include "core/import_columns.def"
#undef IMPORT_COLUMN
    IMPORT_COLUMNS
};

struct import_row {
    struct bytes columns[IMPORT_COLUMNS]; // as text, which PostgreSQL reads; absent: NULL
    struct bytes payload;                 // JSON
    // Of a kept record: its bytes, and as JSON its headers and its place; absent: none was kept.
    bool is_exact;
    struct bytes value, key, headers, record;
    struct bytes revisions; // JSON, a list; absent: none
};

// All that is needed of the line, which may be freed then, is copied to the arena. ERR_DATA: it is no such
// line; the sentence begins with what is wrong.
bool import_line_read(struct bytes line, struct arena *arena, struct import_row *row,
                      struct err *err) MUST_CHECK;

#endif
