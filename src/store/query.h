// query: the one place where a statement is put together. Every other statement is a constant.
//
// A query is made of pieces, and a piece is a literal of the source: nothing that came from outside can
// become SQL. Values are parameters with a name. A piece says `:limit` where it means the value named
// "limit"; the query numbers the parameters in the order in which they were given. `:"events"` and `::int8`
// stay as they are.
//
//     struct query query = {0};
//     query_add(&query, PIECE("SELECT e.id FROM :\"events\" e WHERE e.id > :after"));
//     param_int8(query_param(&query, "after"), after);
//     pg_ask(store, FOR_READING, query_text(&query), &query.params, &result, err);
//     query_release(&query);
//
// A value that no piece asks for is sent all the same. A name that no value was given for stops the program
// when the text is asked for: it is a fault of the source.
#ifndef REDRIVE_STORE_QUERY_H
#define REDRIVE_STORE_QUERY_H

#include "base/strbuf.h"
#include "store/pg.h"

struct query_piece {
    const char *sql; // a literal; NULL: nothing
};
// The empty literals keep out everything that is not a literal. PIECE_ROW is for members of a table.
#define PIECE_ROW(literal)                                                                                   \
    {                                                                                                        \
        "" literal ""                                                                                        \
    }
#define PIECE(literal) ((struct query_piece)PIECE_ROW(literal))

struct query {
    struct strbuf pieces; // as they were added
    struct strbuf text;   // with numbers for names, once query_text was asked for
    struct params params;
    const char *names[PARAMS_MAX]; // of the parameters, in their order
};

void query_add(struct query *query, struct query_piece piece);
// The parameters, to which one value is added next, under this name. A name is a literal, given once.
struct params *query_param(struct query *query, const char *name);
// As long as the query; NUL-terminated.
const char *query_text(struct query *query);
void query_release(struct query *query);

#endif
