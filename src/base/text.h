// text: numbers, ages and untrusted bytes as people read them.
#ifndef REDRIVE_BASE_TEXT_H
#define REDRIVE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

#define TEXT_SHORT 32 // enough for every text_… result below

// "1,204,000". Returns out.
const char *text_count(int64_t n, char out[TEXT_SHORT]);
// An age of that many microseconds as "4s", "3m", "2h", "1d", "5w"; negative ages are "0s".
const char *text_age(int64_t us, char out[TEXT_SHORT]);
// The age of `at`, in the same form, and "<1m" below a minute. Measured from the middle of the minute of
// `now`, so at most half a minute off: all ages on a screen change together at the start of a minute, and an
// idle screen is not drawn in between.
const char *text_ago(int64_t at, int64_t now, char out[TEXT_SHORT]);
// A mean duration as "0.4s", "3.5m", "2.0h", "1.2d".
const char *text_seconds(double seconds, char out[TEXT_SHORT]);
// "1.2 kB", "2.0 MB".
const char *text_size(uint64_t bytes, char out[TEXT_SHORT]);

// "500ms", "10s", "2m", "3h", "7d"; a bare number is seconds. Result in microseconds.
bool text_parse_duration(struct bytes text, int64_t *us, struct err *err) MUST_CHECK;
// "512kB", "256MB", "2GB" (powers of 1024); a bare number is bytes.
bool text_parse_size(struct bytes text, int64_t *bytes, struct err *err) MUST_CHECK;
// A whole decimal number, nothing behind it.
bool text_parse_int(struct bytes text, int64_t *n, struct err *err) MUST_CHECK;

// Appends untrusted bytes, harmless for a terminal: characters that utf8_printable refuses become escapes
// (`\e` `\n` `\x9b` `<U+202E>`), and so do combining marks beyond four on one base; invalid bytes become
// \xNN. With `lines` newlines and tabs stay.
void text_visible(struct strbuf *out, struct bytes untrusted, bool lines);
// Appends text as one word of a POSIX shell, in single quotes where it has special characters.
void text_shell(struct strbuf *out, struct bytes text);

// The word nearest to `word` among `count` words (Damerau-Levenshtein ≤ 2 or a prefix), or NULL: "did you
// mean …".
const char *text_suggest(const char *word, const char *const *words, size_t count);

#endif
