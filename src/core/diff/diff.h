// diff: how two texts differ, by line, and by word within lines that changed. For the dialog that saves a
// payload and for `show --diff`. Formatting both sides alike beforehand is the caller's business.
//
// A line ends behind its line end; a last line without one differs from the same line with one. The method is
// that of Myers ("An O(ND) Difference Algorithm and Its Variations", 1986) in linear memory. Lines that the
// other text does not have are set aside first. Work is bounded: a part that would take too long is cut in
// two where the search had come furthest, which may give more changes than necessary; and when the work of
// the whole is used up (DIFF_WORK), what is left counts as replaced. Either way the changes are right.
#ifndef REDRIVE_CORE_DIFF_DIFF_H
#define REDRIVE_CORE_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"

#define DIFF_WORK 30000000 // steps: some tenths of a second

// Lines [a, a + a_count) of the first text are replaced by [b, b + b_count) of the second. Lines count from
// 0; one of the counts may be 0, not both. Changes do not touch one another.
struct diff_change {
    size_t a, a_count;
    size_t b, b_count;
};

struct diff_text {
    struct bytes text; // the caller's
    size_t line_count;
    size_t *lines; // offsets; line_count + 1 offsets, the last is the length
};

struct diff {
    struct diff_text a, b;
    size_t change_count;
    struct diff_change *changes; // in order
    bool is_rough;               // the work was used up
};

// Both texts outlive the diff. `work` is DIFF_WORK, or less in tests.
struct diff *diff_create(struct bytes a, struct bytes b, uint64_t work);
void diff_destroy(struct diff *diff);
struct bytes diff_line(const struct diff_text *text, size_t line); // with its line end

// Changes so near to one another that they are shown together, with lines around them.
struct diff_hunk {
    size_t a, a_count; // lines shown
    size_t b, b_count;
    size_t first_change, change_count;
};
// The next hunk with `context` equal lines around its changes, in *hunk, which is zeroed before the first
// call. false: there are no more.
bool diff_next_hunk(const struct diff *diff, size_t context, struct diff_hunk *hunk);

// A row of two lines side by side. In unified form the a of all rows of a change come before their b.
#define DIFF_NO_LINE SIZE_MAX
struct diff_row {
    size_t a, b;     // lines, or DIFF_NO_LINE
    bool is_changed; // else both are the same
};
// The *count rows of a hunk, for the caller to free. Lines of a change that are like one another
// share a row (in changes of up to DIFF_PAIRED lines a side; of larger ones the first with the first,
// and so on).
#define DIFF_PAIRED 200
struct diff_row *diff_rows(const struct diff *diff, const struct diff_hunk *hunk, size_t *count);

// A part of a line that is not in the other one.
struct diff_range {
    size_t from, len; // bytes of the line
};
#define DIFF_RANGES 32 // of a line; more are joined
// Which words of two lines differ. A word is a run of letters, digits, _ . + and -; or blanks; or one other
// character. Lines that have little in common differ as wholes. Returns nothing for equal lines.
struct diff_words {
    struct diff_range a[DIFF_RANGES], b[DIFF_RANGES];
    size_t a_count, b_count;
};
void diff_words(struct bytes a, struct bytes b, struct diff_words *words);

// Appends the diff in unified form, as `diff -u` prints it and patch(1) reads it: nothing for equal texts.
// The names are for its first two lines. Texts are copied as they are: untrusted.
void diff_unified(const struct diff *diff, size_t context, const char *a_name, const char *b_name,
                  struct strbuf *out);

#endif
