#include "core/filter/saved.h"

#include "base/utf8.h"
#include "core/filter/reader.h"

// What stands beside a name.
struct name_place {
    struct bytes before, name, after; // within its word: brackets and an `!`, @name, brackets
    bool is_joined;                   // by or, by not or by an `!`
};

static int
column_of(struct bytes text, size_t at)
{
    int column = 1;
    for (size_t i = 0; i < at; column++) {
        uint32_t point;
        i += utf8_decode(text, i, &point);
    }
    return column;
}

// The end of the word at `at`: what is quoted in it, behind a colon too, may hold blanks.
static size_t
word_end(struct bytes text, size_t at)
{
    char quote = '\0';
    for (bool may_open = true; at < text.len; at++) {
        char c = text.data[at];
        if (quote) {
            at += c == '\\';
            quote = c == quote ? '\0' : quote;
        } else if (filter_is_blank(c)) {
            break;
        } else if (may_open && c == '"') {
            quote = c;
        }
        may_open = c == ':' || c == '=' || c == '~' || c == '!';
    }
    return at < text.len ? at : text.len;
}

static bool
is_word(struct bytes text, size_t at, size_t end, const char *word)
{
    return bytes_equal_text(bytes_slice(text, at, end - at), word);
}

// The brackets around the word at `at`, and the words before and after it.
static struct name_place
place_of(struct bytes text, size_t before_at, size_t at, size_t end)
{
    size_t from = at, to = end;
    while (from < to && (text.data[from] == '(' || text.data[from] == '!'))
        from++;
    while (to > from && text.data[to - 1] == ')')
        to--;
    size_t next = end;
    while (next < text.len && filter_is_blank(text.data[next]))
        next++;
    size_t before_end = word_end(text, before_at);
    struct name_place place = {.before = bytes_slice(text, at, from - at),
                               .name = bytes_slice(text, from, to - from),
                               .after = bytes_slice(text, to, end - to)};
    place.is_joined = bytes_ends(place.before, "!") || is_word(text, next, word_end(text, next), "or") ||
                      (before_at < at && (is_word(text, before_at, before_end, "or") ||
                                          is_word(text, before_at, before_end, "not")));
    return place;
}

static bool
is_choice(struct bytes text)
{
    const struct filter_context context = {0};
    struct filter *filter = NULL;
    bool is = filter_parse(&filter, text, &context, NULL) && filter_is_choice(filter);
    filter_destroy(filter);
    return is;
}

// Expressions without a term cannot be held in brackets, which would be theirs: then in quotes.
static void
add_quoted(struct bytes expression, struct strbuf *out)
{
    strbuf_add_text(out, "error:\"");
    for (size_t i = 0; i < expression.len; i++) {
        bool is_escape = expression.data[i] == '\\' && i + 1 < expression.len;
        if (expression.data[i] == '"')
            strbuf_add_char(out, '\\');
        else if (is_escape)
            strbuf_add_char(out, expression.data[i++]);
        strbuf_add_char(out, expression.data[i]);
    }
    strbuf_add_char(out, '"');
}

// A saved filter that is joined to others, or has an or of its own, is held together.
static void
add_meaning(struct bytes meaning, bool is_joined, struct strbuf *out)
{
    bool has_term = filter_has_term(meaning);
    if (has_term && (is_joined || is_choice(meaning)))
        strbuf_printf(out, "(%.*s)", BYTES_ARGS(meaning));
    else if (is_joined && meaning.len)
        add_quoted(meaning, out);
    else
        strbuf_add(out, meaning);
}

static bool
add_word(struct bytes text, size_t before_at, size_t at, size_t end, const struct notes *saved,
         struct strbuf *out, struct err *err)
{
    const struct name_place place = place_of(text, before_at, at, end);
    struct bytes name = bytes_slice(place.name, 1, SIZE_MAX);
    if (!bytes_starts(place.name, "@") || !notes_is_name(name)) {
        strbuf_add(out, bytes_slice(text, at, end - at));
        return true;
    }
    const char *meaning = notes_find(saved, name);
    if (meaning) {
        strbuf_add(out, place.before);
        add_meaning(bytes_of(meaning), place.is_joined, out);
        strbuf_add(out, place.after);
        return true;
    }
    err_set(err, ERR_USAGE, "there is no saved filter %.*s (in quotes it is text)", BYTES_ARGS(place.name));
    if (err)
        err->column = column_of(text, at + place.before.len);
    return false;
}

bool
filter_expand(struct bytes text, const struct notes *saved, struct strbuf *out, struct err *err)
{
    size_t before_at = 0;
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && filter_is_blank(text.data[end]))
            end++;
        strbuf_add(out, bytes_slice(text, at, end - at));
        at = end;
        end = word_end(text, at);
        if (at < text.len && !add_word(text, before_at, at, end, saved, out, err))
            return false;
        before_at = at;
        at = end;
    }
    return true;
}
