// apart_private: what was learnt of each field, shared by the files of this room only.
#ifndef REDRIVE_CORE_APART_PRIVATE_H
#define REDRIVE_CORE_APART_PRIVATE_H

#include "core/apart/apart.h"

#define APART_NONE UINT32_MAX

// A value of a field of one event.
struct apart_seen {
    uint32_t event;
    uint32_t text;   // its index among the texts of the field; APART_NONE: too long to be one
    uint32_t length; // of a text, in characters
    enum apart_kind kind;
    double number; // of a number or time
};

struct apart_text {
    struct apart_value value; // in the arena
    uint64_t hash;
    uint32_t here, there; // events
    uint32_t event;       // the last one that was counted
};

struct apart_field {
    enum apart_what what;
    struct bytes name; // in the arena; absent: the what says all
    uint64_t hash;
    struct apart_seen *seen; // by event
    size_t seen_count, seen_capacity;
    struct apart_text *texts;
    size_t text_count, text_capacity;
    uint32_t *buckets; // of texts, open addressing; APART_NONE: free
    size_t bucket_count;
    uint32_t names; // of the members of an object
    unsigned kinds; // set of 1 << enum apart_kind
};

struct apart_event {
    int64_t id, created_at;
    uint64_t group;
    bool is_here;
};

struct apart {
    unsigned leaves_out;
    const struct group_rules *rules;
    struct arena arena;
    struct apart_event *events;
    size_t count, capacity, here;
    struct apart_field *fields;
    size_t field_count, field_capacity;
    uint32_t *buckets; // of fields
    size_t bucket_count;
    bool is_cut;
    uint64_t *sides;             // while rows are ranked: a bit for each event that is here
    struct strbuf path, scratch; // while an event is read
};

// The field of that name, made where it is missing; NULL: a limit forbids it. Valid until the next field is
// made.
struct apart_field *apart_field_need(struct apart *apart, enum apart_what what, struct bytes name);
const struct apart_field *apart_field_find(const struct apart *apart, enum apart_what what,
                                           struct bytes name);
// The event that is being read has this value. A text longer than a value may be is known by its length only.
void apart_see(struct apart *apart, struct apart_field *field, enum apart_kind kind, struct bytes text);
void apart_see_time(struct apart *apart, struct apart_field *field, int64_t instant);

// payload.c
void apart_read_payload(struct apart *apart, struct bytes payload);
// message.c: masked words and the own frame.
void apart_read_message(struct apart *apart, const struct event *event);

// --- ask.c: one question on all events ---

// A bit for each event.
struct apart_bits {
    uint64_t *words;
    size_t count;
    uint32_t here, there; // that are set
};
size_t apart_words(const struct apart *apart); // of a set of bits
// Answers the question; bits->words has room.
void apart_ask(const struct apart *apart, const struct apart_field *field,
               const struct apart_question *question, struct apart_bits *bits);
// The length of what a text that hardly repeats begins with; 0: nothing that is worth asking for.
size_t apart_beginning(struct bytes text);

bool apart_is_one_group(const struct apart *apart); // all events here

// --- gain.c ---

// Bits an event, of a question that is true of `here` of `all_here` events and `there` of `all_there`.
double apart_gain(uint32_t here, uint32_t all_here, uint32_t there, uint32_t all_there);
double apart_entropy(uint32_t here, uint32_t there); // H(side)

// --- question.c ---

// The best question about a field, with its limits in the arena, and its score; false: none.
bool apart_best(const struct apart *apart, const struct apart_field *field, struct arena *arena,
                struct apart_question *best, double *score);

#endif
