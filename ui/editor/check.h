// check: whether the document is JSON, in slices, and where it is not.
//
// The first error is the one that core/json reports (json_check). Behind an error the reader takes up again
// where a person would (a comma that is missing, a string that its line ends, an unquoted word), so that
// further errors are found; one mistake may still cause two.
#ifndef REDRIVE_UI_EDITOR_CHECK_H
#define REDRIVE_UI_EDITOR_CHECK_H

#include "core/json/json.h"
#include "ui/editor/editor.h"

#define CHECK_ERRORS 1000      // so many are kept; behind the last of them none is known
#define CHECK_WARNINGS 1000    // so many are kept
#define CHECK_WARNED (4 << 20) // a longer document has no warnings

enum check_state {
    CHECK_OFF,     // a text
    CHECK_RUNNING, // call editor_check again; the findings are those of the last check, moved with edits
    CHECK_VALID,
    CHECK_INVALID,
};
// Goes on for about `bytes` of the document: 256 KiB take 1 ms to 2 ms. Begins again at an edit,
// not at the beginning, and soon behind it mostly knows the rest.
enum check_state editor_check(struct editor *editor, size_t bytes);
// The state without going on.
enum check_state editor_check_state(const struct editor *editor);

struct check_finding {
    size_t at, len; // a warning's token or escape; len 0 for an error
    bool is_warning;
    enum json_risk risk;  // of a warning
    const char *expected; // of an error: "a comma or }", as json_scan's; NULL for a warning
};
// The number of errors known, and the i-th in order of place.
size_t editor_errors(const struct editor *editor);
struct check_finding editor_error(const struct editor *editor, size_t i);

// Finds what other readers change or refuse (json_warnings), after CHECK_VALID or CHECK_INVALID (then up to
// the first error). Reads the whole document and sorts its names: 10 ms to 50 ms for 1 MB, so for a pause of
// a second in typing. Until then the warnings of the last time move with the edits. false: they are up to
// date.
bool editor_find_warnings(struct editor *editor);
size_t editor_warnings(const struct editor *editor); // at most CHECK_WARNINGS are kept and counted here
struct check_finding editor_warning(const struct editor *editor, size_t i);

// The next error (or, where there is none, warning) behind `at`, or the last before it, going round at the
// ends. false: there are neither.
bool editor_next_finding(const struct editor *editor, size_t at, bool is_forward,
                         struct check_finding *finding);
// The first error of a line, else its first warning: the gutter mark, and the sentence under the line. false:
// the line has neither.
bool editor_finding_of_line(struct editor *editor, size_t line, struct check_finding *finding);

// "line 12, column 23: expected a comma or }", or a warning's sentence with its place. Returns out.
#define CHECK_SENTENCE 240
const char *editor_finding_sentence(struct editor *editor, const struct check_finding *finding,
                                    char out[CHECK_SENTENCE]);

#endif
