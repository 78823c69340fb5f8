// query: the only place where statements are built. Every other statement is a constant.
//
// A query consists of pieces, and a piece is a literal in the source: no text from outside can become SQL.
// Values are named parameters. A piece refers to the value named "limit" as `:limit`; the query numbers the
// parameters in the order in which they were added. `:"events"` and `::int8` stay as they are.
//
//     struct query query = {0};
//     query_add(&query, PIECE("SELECT e.id FROM :\"events\" e WHERE e.id > :after"));
//     param_int8(query_param(&query, "after"), after);
//     pg_ask(store, FOR_READING, query_text(&query), &query.params, &result, err);
//     query_release(&query);
//
// A value that no piece uses is sent all the same. A name without a value is a bug: query_text stops the
// program.
#ifndef REDRIVE_STORE_QUERY_H
#define REDRIVE_STORE_QUERY_H

#include "base/strbuf.h"
#include "store/pg.h"

struct query_piece {
    const char *sql; // a literal; NULL: nothing
};
// The empty literals let the compiler refuse anything but a literal. PIECE_ROW is for members of a table.
#define PIECE_ROW(literal)                                                                                   \
    {                                                                                                        \
        "" literal ""                                                                                        \
    }
#define PIECE(literal) ((struct query_piece)PIECE_ROW(literal))

struct query {
    struct strbuf pieces; // as they were added
    struct strbuf text;   // with numbers for names; set by query_text
    struct params params;
    const char *names[PARAMS_MAX]; // of the parameters, in their order
};

void query_add(struct query *query, struct query_piece piece);
// Names the next parameter and returns the parameters, to which the caller adds one value. A name is a
// literal, used once.
struct params *query_param(struct query *query, const char *name);
// NUL-terminated; valid as long as the query.
const char *query_text(struct query *query);
void query_release(struct query *query);

#endif
