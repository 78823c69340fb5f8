// writers: learns from records which stacks tell only where a dead letter was written.
//
// A consumer may take its own stack at the place where it writes a dead letter. Such a stack is the same
// under many different messages, so it identifies nothing, and all its causes would be one group. No single
// record shows that, and a key is a function of one record, so what is learned becomes a row of the
// operators' rules (rules.h): `writer = { "com.acme.Dlq.send" }`. Rules are part of the version behind a key;
// all machines that share them agree.
#ifndef REDRIVE_CORE_FINGERPRINT_WRITERS_H
#define REDRIVE_CORE_FINGERPRINT_WRITERS_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "core/fingerprint/fingerprint.h"

#define WRITERS_MESSAGES 5 // so many different messages under one stack make it a writer's

struct writer_survey;

struct writer_found {
    const char *frame; // the newest own frame of the stack; belongs to the survey
    uint64_t records;
    unsigned messages; // different ones, counted up to 99
};

struct writer_survey *writer_survey_create(void);
void writer_survey_destroy(struct writer_survey *survey); // NULL is fine
// Looks at one record. Records whose rules name the writer already add nothing.
void writer_survey_add(struct writer_survey *survey, const struct fingerprint_input *input);
// The writers, those of most records first; *count of them. Valid until the next call.
const struct writer_found *writer_survey_found(struct writer_survey *survey, size_t *count);

#endif
