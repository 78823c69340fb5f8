// Which causes only wrap others, and which texts name nothing: the tables behind the choice of the root
// cause.
#include "core/fingerprint_cause.h"

#include <string.h>

#include "core/fingerprint_index.h"
#include "core/fingerprint_word.h"

#define BLANK_MAX 128 // no row of fingerprint_blank.def is longer

// Wrappers

// `pattern` in small letters, with * at its ends only.
static bool
text_matches(struct bytes text, const char *pattern)
{
    size_t len = strlen(pattern);
    bool is_open_start = pattern[0] == '*';
    bool is_open_end = len > 1 && pattern[len - 1] == '*';
    pattern += is_open_start;
    len -= (size_t)is_open_start + is_open_end;
    if (len > text.len || (!is_open_start && !is_open_end && len != text.len))
        return false;
    size_t first = is_open_start && !is_open_end ? text.len - len : 0;
    size_t last = is_open_start ? text.len - len : 0;
    for (size_t at = first; at <= last; at++) {
        size_t i = 0;
        while (i < len && word_fold(text.data[at + i]) == pattern[i])
            i++;
        if (i == len)
            return true;
    }
    return false;
}

static bool
is_wrapper_class(struct bytes class_name)
{
    static const char *const names[] = {
#define WRAPPER_CLASS(name) name,
#define WRAPPER_TEXT(pattern)
#define WRAPPER_MARKER(text)
#include "core/fingerprint_wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
    };
    size_t from = class_name.len;
    while (from > 0 && (word_is_alnum(class_name.data[from - 1]) || class_name.data[from - 1] == '_'))
        from--;
    struct bytes last = bytes_slice(class_name, from, class_name.len);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_equal_text(last, names[i]))
            return true;
    }
    return false;
}

// java.lang.RuntimeException: java.net.ConnectException: Connection refused
static bool
repeats(const struct cause_link *link, const struct cause_link *inner)
{
    struct bytes text = link->text;
    if (bytes_equal(text, inner->text))
        return true;
    if (bytes_present(inner->class_name) && text.len >= inner->class_name.len &&
        memcmp(text.data, inner->class_name.data, inner->class_name.len) == 0)
        return true;
    return false;
}

bool
cause_is_wrapper(const struct cause_link *link, const struct cause_link *inner)
{
    static const char *const patterns[] = {
#define WRAPPER_CLASS(name)
#define WRAPPER_TEXT(pattern) pattern,
#define WRAPPER_MARKER(text)
#include "core/fingerprint_wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
    };
    if (link->text.len == 0 || repeats(link, inner) || is_wrapper_class(link->class_name))
        return true;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (text_matches(link->text, patterns[i]))
            return true;
    }
    return false;
}

// Texts that name nothing

#define BUG CAUSE_BLANK_BUG
#define IO CAUSE_BLANK_IO
static const struct index_row blanks[] = {
#define BLANK(kind, text) {text, kind},
#include "core/fingerprint_blank.def"
#undef BLANK
};
#undef BUG
#undef IO

static struct text_index blank_index;

INDEX_CONSTRUCTOR
index_blanks(void)
{
    index_build(&blank_index, blanks, sizeof blanks / sizeof blanks[0]);
}

enum cause_naming
cause_naming(struct bytes canonical)
{
    struct bytes text = bytes_trim(canonical);
    if (text.len == 0 || bytes_equal_text(text, "*"))
        return CAUSE_BLANK_BUG;
    return text.len < BLANK_MAX ? (enum cause_naming)index_find(&blank_index, text) : CAUSE_NAMES;
}
