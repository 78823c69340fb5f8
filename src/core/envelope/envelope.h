// envelope: what a consumer, a framework or a broker put around a record when it failed. Pure: a record in,
// its format with the reason, every field that the format has, and what they say together.
//
// formats.def lists the formats in the order in which they are tried; each is a file in formats/, whose
// header names the documentation it was written from. Nothing is rejected: a record that no format knows has
// the format "unknown", and its bytes are the original's. A format's fields may be damaged, missing or
// hostile; such a field has no text, and a note that says why. Serialised Java objects are never opened.
//
// A header may occur several times, since each hop may append its own. The last one tells of the newest
// failure, the first one of the true origin (Spring for Apache Kafka, "Publishing Dead-letter Records").
#ifndef REDRIVE_CORE_ENVELOPE_ENVELOPE_H
#define REDRIVE_CORE_ENVELOPE_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/event.h"

// A record as it was read from its topic; the bytes belong to the caller.
struct envelope_record {
    struct bytes topic;
    int32_t partition;
    int64_t offset;
    int64_t timestamp;       // instant in microseconds; TIME_ABSENT
    struct bytes key, value; // absent is a Kafka null
    const struct event_header *headers;
    size_t header_count;
};

// What a field of a dead letter says; the rows of facts.def.
enum envelope_fact {
    FACT_NONE, // shown, and nothing more
#define FACT(id, name, title, is_origin) FACT_##id,
#include "core/envelope/facts.def"
#undef FACT
    FACT_COUNT,
};
const char *envelope_fact_name(enum envelope_fact fact);  // "error_class", for scripts
const char *envelope_fact_title(enum envelope_fact fact); // "error class"

// A control field as it was found.
struct envelope_field {
    struct bytes name; // of the header, or the path of the member
    bool is_header;
    enum envelope_fact fact;
    bool is_taken;     // the envelope says this
    struct bytes raw;  // the bytes of the header's value, or of the JSON token
    struct bytes text; // as text; absent: null, or not to be read as what it should be
    const char *note;  // why there is no text, or how it was read; NULL: it is text
};

struct envelope_format;
const char *envelope_format_name(const struct envelope_format *format);  // "spring-dlt"
const char *envelope_format_title(const struct envelope_format *format); // "Spring for Apache Kafka, …"
bool envelope_format_is_known(const struct envelope_format *format);     // not "unknown"
// The format of that name, NULL: none. For a topic whose format somebody set by hand.
const struct envelope_format *envelope_format_find(struct bytes name);
// The formats in the order in which they are tried, then "unknown".
const struct envelope_format *envelope_format_at(size_t i); // NULL: behind the last

enum { ENVELOPE_ALSO = 4 };

struct envelope {
    const struct envelope_format *format;
    const char *why;                                   // the reason in words
    const struct envelope_format *also[ENVELOPE_ALSO]; // further formats that would match; NULL behind them
    struct bytes facts[FACT_COUNT];                    // as text; absent: the record does not say
    int64_t numbers[FACT_COUNT];                       // of those that are numbers; times are instants in µs
    bool has_number[FACT_COUNT];
    const char *pointer;           // the record has no copy of the original: where that is, in words
    struct envelope_field *fields; // in the order of the record: headers, then members
    size_t field_count;
};

// Recognises the record's format and decodes it. Everything lives in the arena or is a view of the record.
void envelope_read(const struct envelope_record *record, struct arena *arena, struct envelope *envelope);
// The same by a format that somebody chose.
void envelope_read_as(const struct envelope_format *format, const struct envelope_record *record,
                      struct arena *arena, struct envelope *envelope);

// Appends a predicate of PostgreSQL's jsonpath that is true of every value from which alone, without headers,
// a dead letter is recognised that has nothing to send.
void envelope_unsendable(struct strbuf *out);

#endif
