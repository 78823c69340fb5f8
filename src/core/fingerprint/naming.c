// Causes that only wrap others, and texts that do not name the problem: tables for the choice of the root
// cause.
#include "core/fingerprint/cause.h"

#include <string.h>

#include "core/fingerprint/index.h"
#include "core/fingerprint/word.h"

#define BLANK_MAX 128 // no row of blank.def is longer

// Wrappers

static bool
stands_at(struct bytes text, size_t at, struct bytes lower)
{
    size_t i = 0;
    while (i < lower.len && word_fold(text.data[at + i]) == lower.data[i])
        i++;
    return i == lower.len;
}

static const char *
rarest_letter(struct bytes lower)
{
    for (const char *letter = "qxzjkvwybpgfmucdlhrsnioate"; *letter != '\0'; letter++) {
        const char *at = memchr(lower.data, *letter, lower.len);
        if (at != NULL)
            return at;
    }
    return lower.data;
}

// Looked for around its rarest letter, which most texts do not hold.
static bool
stands_within(struct bytes text, struct bytes lower)
{
    const char *rare = rarest_letter(lower);
    const char either[] = {*rare, *rare >= 'a' && *rare <= 'z' ? (char)(*rare - 'a' + 'A') : *rare};
    const char *end = text.data + text.len;
    size_t before = (size_t)(rare - lower.data);
    for (size_t i = 0; i < sizeof either; i++) {
        for (const char *p = memchr(text.data, either[i], text.len); p != NULL;
             p = memchr(p + 1, either[i], (size_t)(end - p - 1))) {
            size_t at = (size_t)(p - text.data);
            if (at >= before && at - before <= text.len - lower.len && stands_at(text, at - before, lower))
                return true;
        }
    }
    return false;
}

// `pattern` in small letters, with * at its ends only.
static bool
text_matches(struct bytes text, struct bytes pattern)
{
    bool is_open_start = pattern.data[0] == '*';
    bool is_open_end = pattern.data[pattern.len - 1] == '*';
    struct bytes lower = {pattern.data + is_open_start, pattern.len - is_open_start - is_open_end};
    if (lower.len > text.len || (!is_open_start && !is_open_end && lower.len != text.len))
        return false;
    if (is_open_start && is_open_end)
        return stands_within(text, lower);
    return stands_at(text, is_open_start ? text.len - lower.len : 0, lower);
}

static bool
is_wrapper_class(struct bytes class_name)
{
    static const struct bytes names[] = {
#define WRAPPER_CLASS(name) {name, sizeof(name) - 1},
#define WRAPPER_TEXT(pattern)
#define WRAPPER_MARKER(text)
#define PLAIN_CLASS(name)
#include "core/fingerprint/wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
#undef PLAIN_CLASS
    };
    size_t from = class_name.len;
    while (from > 0 && (word_is_alnum(class_name.data[from - 1]) || class_name.data[from - 1] == '_'))
        from--;
    struct bytes last = bytes_slice(class_name, from, class_name.len);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_equal(last, names[i]))
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
    static const struct bytes patterns[] = {
#define WRAPPER_CLASS(name)
#define WRAPPER_TEXT(pattern) {pattern, sizeof(pattern) - 1},
#define WRAPPER_MARKER(text)
#define PLAIN_CLASS(name)
#include "core/fingerprint/wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
#undef PLAIN_CLASS
    };
    if (link->text.len == 0 || repeats(link, inner) || is_wrapper_class(link->class_name))
        return true;
    char first = word_fold(link->text.data[0]);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        bool may_match = patterns[i].data[0] == first || patterns[i].data[0] == '*';
        if (may_match && text_matches(link->text, patterns[i]))
            return true;
    }
    return false;
}

bool
cause_is_plain(struct bytes class_name)
{
    static const struct bytes names[] = {
#define WRAPPER_CLASS(name)
#define WRAPPER_TEXT(pattern)
#define WRAPPER_MARKER(text)
#define PLAIN_CLASS(name) {name, sizeof(name) - 1},
#include "core/fingerprint/wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
#undef PLAIN_CLASS
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_equal(class_name, names[i]))
            return true;
    }
    return false;
}

// Texts that name nothing

#define BUG CAUSE_BLANK_BUG
#define IO CAUSE_BLANK_IO
static const struct index_row blanks[] = {
#define BLANK(kind, text) {text, kind},
#include "core/fingerprint/blank.def"
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
