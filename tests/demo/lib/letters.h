// letters: dead letters that consumers of the shop write to topics instead of rows, each team in the form of
// its framework. redrive ingest takes them in.
#ifndef REDRIVE_TESTS_DEMO_LETTERS_H
#define REDRIVE_TESTS_DEMO_LETTERS_H

#include "tests/demo/lib/failures.h"

struct demo_letter {
    const char *topic; // of the record that failed
    int partition;
    int64_t offset;
    struct bytes key, value;
    rd_kafka_headers_t *headers; // of that record; borrowed; NULL: none
    const char *type, *error, *stack;
    int retries;
    int64_t created; // of that record, µs of wall time
};
// Whether consumers of this topic write to a topic.
bool demo_has_letters(const char *topic);
// Puts a dead letter into the topic for those of letter->topic. Lost on failure, with a sentence on stderr.
void demo_letter(rd_kafka_t *producer, const struct demo_letter *letter);
// Gives an event the payload that its topic holds: a queue's message has its own id, error and count around
// the data.
void demo_enclose(struct failed_event *event);

#endif
