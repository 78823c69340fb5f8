// apart: what sets some events apart from others. Learns from two samples, "here" and "there", which fields
// the events have, and finds the question about one field that tells best on which side an event is:
// $.currency = "JPY" is true of 98% here and of 3% there.
//
// Fields are every path of the payload (elements of an array are one path, $.lines[*].sku), headers, the
// record's key, the short columns, the time of creation, the newest own frame of the stack, and the words of
// the error message that its group masks. Ids of rows and events are no fields. What is asked of a field: is
// it one of at most four values; of which type is it; is it missing or there; is its number, time or length
// at least, at most or between; how does it begin.
//
// A question is worth what it tells of the side, its information gain (Quinlan, Induction of Decision Trees,
// 1986):
//
//     gain = H(side) - H(side | answer)    in bits an event
//
// Of many questions the best looks good by chance, most of all in a small sample and of a field with many
// values. So each pays for the choice it was taken from, as in the minimum description length of Fayyad and
// Irani (Multi-Interval Discretization, 1993), where n is the number of events in both samples:
//
//     score = (gain - (log2(alternatives) + log2(n) / 2) / n) / H(side)    at most 1
//
// Alternatives of a value are all different values of the field, of a limit all places where it could lie. An
// id pays log2(n) bits for a value that one event has, and tells less. A row is shown only if it saves
// APART_BITS more than log2 of the number of fields, so that one in a hundred comparisons of equal sets shows
// any; and only if it is true of a tenth of the events more here than there, or of twice the share. The best
// set of values consists of those with the largest share here (Breiman et al., Classification and Regression
// Trees, 1984, theorem 4.5). Values are folded into APART_CLASSES classes: the most frequent of either side,
// and all others.
//
// A number that hardly ever repeats may be an id. Then only powers of ten are limits; none are where it
// grows with time or is called an id. A text that hardly ever repeats is asked only for its beginning up to
// the first digit.
//
// Rows that nearly always have the same answer say the same thing: the best stands for all, and names the
// others. The best row is first. The next is always the one that tells most to somebody who knows any row
// before it, so that a field that only goes along with another does not hide a second cause (Fleuret, Fast
// Binary Feature Selection with Conditional Mutual Information, 2004).
//
// Nothing here reads or waits. Memory is bounded (APART_FIELDS, APART_SEEN). What rows hold comes from events
// and is untrusted: it reaches a terminal through text_visible or canvas_text only.
#ifndef REDRIVE_CORE_APART_APART_H
#define REDRIVE_CORE_APART_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/event.h"

enum {
    APART_LEAST = 8,     // events on each side; of fewer nothing is said
    APART_CLASSES = 12,  // of values, with the others
    APART_VALUES = 4,    // that one question names
    APART_ROWS = 40,     // at most
    APART_SAME = 6,      // names of fields that say the same
    APART_BITS = 7,      // that a row saves at least
    APART_FIELDS = 4096, // that are kept; further ones are left out
    APART_NAMES = 256,   // names of one object that are kept; with more they are data
    APART_SEEN = 32,     // values of a field that are kept of one event
};

// The fields needed of an event (enum event_fields).
#define APART_NEEDS (EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_RAW | EVENT_GROUP)

enum apart_what {
    APART_PATH, // of the payload
    APART_HEADER,
    APART_KEY,
    APART_TYPE,
    APART_SOURCE,
    APART_TOPIC,
    APART_PARTITION,
    APART_RETRIES,
    APART_CREATED,
    APART_FRAME,
    APART_WORD,
    APART_WHATS
};
const char *apart_what_name(enum apart_what what); // "path", "header", … for programs

enum apart_kind { // of a value; a bit each in a set
    APART_TEXT,
    APART_NUMBER,
    APART_BOOLEAN,
    APART_NULL,
    APART_OBJECT,
    APART_ARRAY,
    APART_NOT_JSON, // of the payload itself
    APART_KINDS
};
const char *apart_kind_name(enum apart_kind kind); // "text"

enum apart_test {
    APART_IS,      // one of the values
    APART_IS_KIND, // of this type
    APART_MISSING,
    APART_THERE,
    APART_FROM,    // low or more
    APART_UPTO,    // high or less
    APART_BETWEEN, // low to high, both included
    APART_LONG,    // a text of at least `length` characters
    APART_BEGINS,  // with the first value
};

struct apart_value {
    struct bytes text; // content of a text; of others the token
    enum apart_kind kind;
};

struct apart_question {
    enum apart_what what;
    struct bytes name; // of a path the path, of a header its name; else absent
    enum apart_test test;
    struct apart_value values[APART_VALUES];
    size_t value_count;
    enum apart_kind kind;
    struct bytes low, high;      // of numbers, as an event has them
    int64_t low_time, high_time; // of APART_CREATED: instants
    uint32_t length;
};

// One value of a field, for the preview; the most frequent first. A text absent: all others.
struct apart_class {
    struct apart_value value;
    uint32_t here, there; // events of the samples
};

struct apart_row {
    struct apart_question question;
    double score;         // 0 to 1
    uint32_t here, there; // events of the samples that it is true of
    bool is_exact;        // then the counts of all events are known:
    int64_t all_here, all_there;
    const char *same[APART_SAME]; // what says the same, as apart_subject
    size_t same_count;            // also those without room
    struct apart_class *classes;
    size_t class_count; // 0: too many values to list
};

// What the events are compared with.
enum apart_against {
    APART_OTHERS,   // all other pending events
    APART_RESOLVED, // resolved events of these types
    APART_EARLIER,  // those of the same events that were created before the moment
};

struct apart_answer {
    uint32_t here, there; // events of the samples
    struct apart_row *rows;
    size_t row_count;
    bool is_cut; // the events have more fields than are kept
};

struct apart;
struct group_rules;

// `leaves_out`: a set of 1 << enum apart_what that nobody asks about, since they define the sides. `rules`
// (of the operators, for own frames) may be NULL.
struct apart *apart_create(unsigned leaves_out, const struct group_rules *rules);
void apart_destroy(struct apart *apart); // NULL is fine
// Learns from one event, which has APART_NEEDS.
void apart_add(struct apart *apart, const struct event *event, bool is_here);
// The best questions, best first, into the arena. None with fewer than APART_LEAST events on one side.
void apart_rank(struct apart *apart, struct arena *arena, struct apart_answer *answer);
// On how many events of each side is the answer to this question yes?
void apart_count(const struct apart *apart, const struct apart_question *question, uint32_t *here,
                 uint32_t *there);

// The events of both sides.
void apart_sizes(const struct apart *apart, uint32_t *here, uint32_t *there);

// --- words.c: for people, and the filter ---

// Appends "$.currency", "header region", "created".
void apart_subject(const struct apart_question *question, struct strbuf *out);
// Appends `$.currency = "JPY"`, `$.amount is text`, `created after 11:58:02`. `now`: see time_brief.
// Untrusted.
void apart_sentence(const struct apart_question *question, int64_t now, struct strbuf *out);
// "all", "none", "<1%", "41%", ">99%"; "-" of none.
#define APART_SHARE 8
const char *apart_share(int64_t count, int64_t of, char out[APART_SHARE]);
// Appends a value as apart_sentence writes it.
void apart_value_text(const struct apart_value *value, struct strbuf *out);
// Appends the terms of the filter language that choose the same events; zone_us as in struct filter_context.
// false: the language has none for this question.
bool apart_filter(const struct apart_question *question, int64_t zone_us, struct strbuf *out);

#endif
