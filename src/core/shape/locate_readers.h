// locate_readers: how the parts of error messages are read. Private to the room.
#ifndef REDRIVE_CORE_SHAPE_LOCATE_READERS_H
#define REDRIVE_CORE_SHAPE_LOCATE_READERS_H

#include "core/shape/locate.h"

struct form_reader {
    struct bytes text;
    size_t start;  // of the marker
    size_t marked; // behind the marker
    size_t at;     // behind the text behind the marker
    bool is_missing;
    enum locate_unit unit;
    struct locate_where *where;
    struct arena *arena;
};

// Each reads at `at` and fills a part of *where, which it leaves as it is where the text has another form.
#define LOCATE_READERS(R)                                                                                    \
    R(CHAIN)        /* com.acme.Order["lines"]->java.util.ArrayList[2] */                                    \
    R(PATH)         /* .lines[2].amount  ['lines'][2] */                                                     \
    R(BRACKETS)     /* 2].amount */                                                                          \
    R(POINTER)      /* /lines/2/amount, or as PATH */                                                        \
    R(LOCATION)     /* Order⏎lines.2.amount  Order⏎lines -> 2 -> amount */                               \
    R(LIST)         /* "lines", 2, "amount"] */                                                              \
    R(OWNER)        /* data/lines/2 before the marker; behind it a name */                                   \
    R(FIELD)        /* Order.lines.amount: the first is a type */                                            \
    R(SUBJECT_PATH) /* lines[2].amount before the marker */                                                  \
    R(PARSE_FIELDS) /* lines field: Failed to parse amount field: */                                         \
    R(SUBJECT)      /* data/lines/2/amount  lines[2].amount  amount, before the marker */                    \
    R(NAME)         /* 'amount'  amount  :amount, or up to the quote that the marker begins */               \
    R(NAME_BEFORE)  /* 'amount' before the marker */                                                         \
    R(QUOTED_NAME)  /* 'amount' */                                                                           \
    R(WHOLE)        /* 'amount' and nothing else */                                                          \
    R(WORDS)        /* Postal code can't be blank */                                                         \
    R(VALUE)        /* "10,00" */                                                                            \
    R(LINE)         /* 3, column: 14  3 column 14  3, position 14  3:14 */                                   \
    R(LINE_FROM_0)  /* 0 | BytePositionInLine: 34 */                                                         \
    R(OFFSET)       /* 118 */

#define LOCATE_READER_ENUM(name) READ_##name,
enum locate_reader { LOCATE_READERS(LOCATE_READER_ENUM) READ_COUNT };
#undef LOCATE_READER_ENUM

// false: the text has another form here.
bool locate_read_part(enum locate_reader reader, struct form_reader *form);

#endif
