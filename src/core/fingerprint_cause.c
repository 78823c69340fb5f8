#include "core/fingerprint_cause.h"

#include <string.h>

#include "core/fingerprint_trace.h"
#include "core/fingerprint_word.h"

#define CLASS_MAX 200
#define BLANK_MAX 128     // no row of fingerprint_blank.def is longer
#define MESSAGE_MAX 16384 // of a message, beyond which no cause is looked for

// Classes

static bool
has_class_ending(struct bytes word)
{
    static const char *const endings[] = {"Exception", "Error",     "Fault",     "Failure", "Timeout",
                                          "Throwable", "Interrupt", "Violation", "Exit",    "Iteration",
                                          "Refused",   "Invalid",   "NotFound",  "Warning"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (bytes_ends(word, endings[i]))
            return true;
    }
    return false;
}

// The length of the class name that `text` begins with, by its form alone; 0 where none does.
static size_t
class_length(struct bytes text)
{
    size_t end = 0;
    size_t part = 0; // where the last part of a qualified name begins
    unsigned digits = 0;
    while (end < text.len && end < CLASS_MAX) {
        char c = text.data[end];
        bool is_pair =
            c == ':' && end + 2 < text.len && text.data[end + 1] == ':' && word_is_letter(text.data[end + 2]);
        if (is_pair || c == '.' || c == '\\') {
            end += is_pair ? 2 : 1;
            part = end;
            continue;
        }
        if (!word_is_alnum(c) && c != '_' && c != '$' && c != '`')
            break;
        digits += word_is_digit(c);
        end++;
    }
    char next = end < text.len ? text.data[end] : '\n';
    if (!word_is_one_of(next, ":\n\r ") ||
        (next == ' ' && !(end + 1 < text.len && word_is_one_of(text.data[end + 1], "([-"))))
        return 0;
    while (part < end && text.data[part] == '_')
        part++;
    if (end <= part || end >= CLASS_MAX || (word_kind(text.data[part]) & KIND_UPPER) == 0 || digits > 6)
        return 0;
    struct bytes name = bytes_slice(text, 0, end);
    if (!word_is_letter(name.data[0]) && name.data[0] != '_' && name.data[0] != '\\')
        return 0;
    bool is_camel = false;
    for (size_t i = part; i < end; i++)
        is_camel |= (word_kind(text.data[i]) & KIND_LOWER) != 0;
    bool is_errno = bytes_starts(name, "Errno::");
    if (!is_camel && !is_errno)
        return 0;
    return part > 1 || has_class_ending(name) ? end : 0;
}

// Where the text begins behind a class name of `len` bytes: behind ":", "(0x80131904):", "[ERR_X]:" or at the
// end; 0 where something else stands there, so that it was no class.
static size_t
behind_class(struct bytes text, size_t len)
{
    size_t at = len;
    if (at + 1 < text.len && text.data[at] == ' ' && (text.data[at + 1] == '(' || text.data[at + 1] == '[')) {
        const char *close = memchr(text.data + at, text.data[at + 1] == '(' ? ')' : ']',
                                   text.len - at < 48 ? text.len - at : 48);
        if (close == NULL)
            return 0;
        at = (size_t)(close - text.data) + 1;
    }
    if (at == text.len || text.data[at] == '\n' || text.data[at] == '\r')
        return at;
    if (text.data[at] != ':')
        return 0;
    at++;
    if (at < text.len && (word_kind(text.data[at]) & KIND_BLANK) == 0)
        return 0;
    return at;
}

static struct bytes
skip_preface(struct bytes text)
{
    static const char *const prefaces[] = {
        "Unhandled exception. ",
        "Unhandled Exception: ",
        "Uncaught exception: ",
        "PHP Fatal error:  Uncaught ",
        "Fatal error: Uncaught ",
        "Uncaught ",
        "panic: ",
        "Error: Uncaught ",
        "(Inner Exception #0) ",
        "[object Error] ",
    };
    if (bytes_starts(text, "panic: ")) { // Go tells the signal on a line of its own
        size_t newline = bytes_find(text, BYTES("\n"), 0);
        return bytes_trim(bytes_slice(text, 7, newline == SIZE_MAX ? text.len : newline - 7));
    }
    char first = text.len > 0 ? text.data[0] : ' ';
    if (!word_is_one_of(first, "UPFpE([\\"))
        return text;
    if (bytes_starts(text, "Exception in thread ")) {
        size_t quote = bytes_find(text, BYTES("\" "), 0);
        return quote == SIZE_MAX ? text : bytes_trim(bytes_slice(text, quote + 2, text.len));
    }
    for (size_t i = 0; i < sizeof prefaces / sizeof prefaces[0]; i++) {
        if (bytes_starts(text, prefaces[i]))
            return bytes_trim(bytes_slice(text, strlen(prefaces[i]), text.len));
    }
    return text;
}

// app/order.rb:12:in …: a line number before the first blank.
static bool
is_ruby_place(struct bytes text)
{
    size_t at = 0;
    while (at < text.len && (word_kind(text.data[at]) & KIND_BLANK) == 0 && text.data[at] != ':')
        at++;
    return at + 1 < text.len && text.data[at] == ':' && word_is_digit(text.data[at + 1]);
}

// Ruby's newest frame stands before the text: both are parts of one trace.
static struct bytes
frames_with_head(struct bytes head, struct bytes frames)
{
    if (!bytes_present(frames))
        return head;
    return (struct bytes){head.data, (size_t)(frames.data - head.data) + frames.len};
}

// Ruby's first line: app/order.rb:12:in `total': undefined method … (NoMethodError)
static bool
split_ruby(struct bytes text, struct cause_link *link)
{
    if (!is_ruby_place(text))
        return false;
    const char *newline = memchr(text.data, '\n', text.len);
    struct bytes line = bytes_slice(text, 0, newline == NULL ? text.len : (size_t)(newline - text.data));
    size_t in = bytes_find(line, BYTES(":in "), 0);
    if (in == SIZE_MAX || in == 0 || !word_is_digit(line.data[in - 1]))
        return false;
    size_t behind = bytes_find(line, BYTES("': "), in);
    if (behind == SIZE_MAX)
        return false;

    link->text = bytes_trim(bytes_slice(line, behind + 3, line.len));
    size_t open = bytes_find_last(link->text, BYTES(" ("));
    if (open != SIZE_MAX && bytes_ends(link->text, ")")) {
        link->class_name = bytes_slice(link->text, open + 2, link->text.len - open - 3);
        link->text.len = open;
    }
    return true;
}

// Python's repr: KeyError('email'), ValueError("no such rate"). The text is what stands in the brackets.
static bool
split_repr(struct bytes text, struct cause_link *link)
{
    if (!bytes_ends(text, ")"))
        return false;
    size_t open = 0;
    while (open < text.len && (word_is_alnum(text.data[open]) || word_is_one_of(text.data[open], "._")))
        open++;
    struct bytes name = bytes_slice(text, 0, open);
    if (open == 0 || text.data[open] != '(' || class_length(name) != open || !has_class_ending(name))
        return false;

    struct bytes inner = bytes_slice(text, open + 1, text.len - open - 2);
    char quote = inner.len > 1 ? inner.data[0] : ' ';
    bool is_quoted = (quote == '\'' || quote == '"') && inner.data[inner.len - 1] == quote;
    if (is_quoted && !bytes_ends(name, "KeyError"))
        inner = bytes_slice(inner, 1, inner.len - 2);
    link->class_name = name;
    link->text = inner;
    return true;
}

struct cause_link
cause_split(struct bytes text)
{
    struct cause_link link = {.class_name = BYTES_ABSENT, .text = bytes_trim(text), .frames = BYTES_ABSENT};
    if (link.text.len == 0 || split_ruby(link.text, &link) || split_repr(link.text, &link))
        return link;
    link.text = skip_preface(link.text);
    // A class that stands before another one says only that it wrapped it.
    for (unsigned i = 0; i < CAUSE_DEPTH; i++) {
        size_t len = class_length(link.text);
        size_t behind = len == 0 ? 0 : behind_class(link.text, len);
        if (behind == 0)
            break;
        link.class_name = bytes_slice(link.text, 0, len);
        link.text = bytes_trim(bytes_slice(link.text, behind, link.text.len));
    }
    return link;
}

// A message by itself

struct marker_row {
    const char *text;
    size_t len;
};

// Most messages hold no marker; this looks at no more than the characters around `;`, `>` and `:`.
static bool
may_hold_marker(struct bytes text)
{
    const char *end = text.data + text.len;
    for (const char *p = memchr(text.data, ';', text.len); p != NULL;
         p = memchr(p + 1, ';', (size_t)(end - p - 1))) {
        bool is_nested = end - p > 2 && p[2] == 'n';
        if (is_nested || (p > text.data && word_is_one_of(p[-1], "dnr")))
            return true;
    }
    for (const char *p = memchr(text.data, '>', text.len); p != NULL;
         p = memchr(p + 1, '>', (size_t)(end - p - 1))) {
        if (p - text.data >= 3 && memcmp(p - 3, "---", 3) == 0)
            return true;
    }
    for (const char *p = memchr(text.data, ':', text.len); p != NULL;
         p = memchr(p + 1, ':', (size_t)(end - p - 1))) {
        if (p - text.data >= 9 && (memcmp(p - 8, "aused by", 8) == 0 || memcmp(p - 9, "### Cause", 9) == 0))
            return true;
    }
    return false;
}

// Of all markers the one that stands last; SIZE_MAX where none does. *behind is where the cause begins.
static size_t
find_marker(struct bytes text, size_t *behind)
{
    static const struct marker_row markers[] = {
#define WRAPPER_CLASS(name)
#define WRAPPER_TEXT(pattern)
#define WRAPPER_MARKER(text) {text, sizeof(text) - 1},
#include "core/fingerprint_wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
    };
    size_t last = SIZE_MAX;
    if (text.len == 0 || !may_hold_marker(text))
        return SIZE_MAX;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        struct bytes marker = {markers[i].text, markers[i].len};
        size_t at = bytes_find_last(text, marker);
        if (at != SIZE_MAX && at + marker.len < text.len && (last == SIZE_MAX || at > last)) {
            last = at;
            *behind = at + marker.len;
        }
    }
    return last;
}

// Within a sentence: "Failed to send: org.acme.TimeoutException: Topic x not present". The last class that
// has text behind it.
static size_t
find_inner_class(struct bytes text)
{
    size_t last = SIZE_MAX;
    const char *end = text.data + text.len;
    for (const char *p = memchr(text.data, ':', text.len); p != NULL;
         p = memchr(p + 1, ':', (size_t)(end - p - 1))) {
        size_t at = (size_t)(p - text.data);
        if (at + 2 >= text.len || p[1] != ' ' || at < 6 || (p[-1] != 'n' && p[-1] != 'r'))
            continue;
        size_t from = at;
        while (from > 0 && at - from < CLASS_MAX &&
               (word_is_alnum(text.data[from - 1]) || word_is_one_of(text.data[from - 1], "._$")))
            from--;
        struct bytes name = bytes_slice(text, from, at - from);
        bool is_compound =
            name.len > sizeof "Exception" - 1 && (bytes_ends(name, "Exception") || bytes_ends(name, "Error"));
        if (from > 0 && text.data[from - 1] == ' ' && is_compound && class_length(name) == name.len)
            last = from;
    }
    return last;
}

// What of an outer text is its own: without the cause it goes on to name.
static struct bytes
own_part(struct bytes text)
{
    size_t behind = 0;
    for (unsigned i = 0; i < CAUSE_DEPTH && text.len <= MESSAGE_MAX; i++) {
        size_t at = text.len > 0 ? find_marker(text, &behind) : SIZE_MAX;
        if (at == SIZE_MAX)
            break;
        text = bytes_trim(bytes_slice(text, 0, at));
    }
    return text;
}

static bool
push(struct cause_chain *chain, struct cause_link link)
{
    if (chain->count == CAUSE_DEPTH) {
        chain->is_cut = true;
        return false;
    }
    chain->links[chain->count++] = link;
    return true;
}

// Pushes the causes a message names, innermost first, then the message's own part with what `link` knows of
// it.
static void
push_message(struct cause_chain *chain, struct cause_link link)
{
    struct bytes frames = link.frames;
    struct bytes rest = link.text;
    size_t behind = 0;
    size_t at = rest.len <= MESSAGE_MAX ? find_marker(rest, &behind) : SIZE_MAX;
    while (at != SIZE_MAX && chain->count < CAUSE_DEPTH - 2) {
        struct cause_link inner = cause_split(bytes_slice(rest, behind, rest.len));
        inner.frames = frames;
        if (inner.text.len > 0 || bytes_present(inner.class_name)) {
            push(chain, inner);
            frames = BYTES_ABSENT;
        }
        rest = bytes_trim(bytes_slice(rest, 0, at));
        at = rest.len > 0 ? find_marker(rest, &behind) : SIZE_MAX;
    }

    bool is_innermost = chain->count == 0;
    size_t inner = is_innermost && rest.len <= MESSAGE_MAX ? find_inner_class(rest) : SIZE_MAX;
    if (inner != SIZE_MAX) {
        struct cause_link cause = cause_split(bytes_slice(rest, inner, rest.len));
        cause.frames = frames;
        push(chain, cause);
        frames = BYTES_ABSENT;
        rest = bytes_trim(bytes_slice(rest, 0, inner));
    }
    link.text = rest;
    link.frames = frames;
    if (rest.len > 0 || bytes_present(link.class_name) || chain->count == 0)
        push(chain, link);
}

// Traces

// PHP: "SQLSTATE[23000]: … in /app/Order.php:12", whose place is no part of the text.
static struct bytes
without_php_place(struct bytes text)
{
    size_t in = bytes_find_last(text, BYTES(" in /"));
    if (in == SIZE_MAX || bytes_find(text, BYTES(".php:"), in) == SIZE_MAX)
        return text;
    return bytes_slice(text, 0, in);
}

// .NET puts the chain before the frames: A: text ---> B: text. The frames are those of the last.
static bool
push_dotnet(struct cause_chain *chain, struct bytes head, struct bytes frames)
{
    size_t at = bytes_find_last(head, BYTES("---> "));
    if (at == SIZE_MAX)
        return false;
    while (at != SIZE_MAX && chain->count < CAUSE_DEPTH - 1) {
        struct cause_link link = cause_split(bytes_slice(head, at + 5, head.len));
        link.frames = chain->count == 0 ? frames : BYTES_ABSENT;
        push(chain, link);
        head = bytes_trim(bytes_slice(head, 0, at));
        at = bytes_find_last(head, BYTES("---> "));
    }
    push(chain, cause_split(head));
    return true;
}

// The head of a trace may carry a line of the logger before the exception: the first line that begins with a
// class counts.
static struct bytes
skip_log_lines(struct bytes head)
{
    for (size_t at = 0; at < head.len && at < MESSAGE_MAX;) {
        const char *newline = memchr(head.data + at, '\n', head.len - at);
        size_t next = newline == NULL ? head.len : (size_t)(newline - head.data) + 1;
        struct bytes rest = skip_preface(bytes_slice(head, at, head.len));
        size_t len = class_length(rest);
        if (len != 0 && behind_class(rest, len) != 0)
            return rest;
        at = next;
    }
    return head;
}

static void
push_section(struct cause_chain *chain, const struct trace *trace, const struct trace_section *section,
             bool is_head, const struct fingerprint_input *input)
{
    if (is_head && section->text.len == 0) { // only frames were kept; the text is the message
        struct cause_link link = cause_split(input->message);
        if (!bytes_present(link.class_name))
            link.class_name = input->error_class;
        link.frames = section->frames;
        push_message(chain, link);
        return;
    }
    struct bytes head = is_head ? skip_log_lines(section->text) : section->text;
    if (trace->order == TRACE_INNERMOST_LAST && chain->count == 0 &&
        push_dotnet(chain, head, section->frames))
        return;
    struct cause_link link = cause_split(head);
    if (trace->order == TRACE_INNERMOST_FIRST)
        link.text = without_php_place(link.text);
    if (trace->order == TRACE_PYTHON &&
        !bytes_present(link.class_name)) { // any name before the colon is a class there
        size_t end = 0;
        while (end < head.len && (word_is_alnum(head.data[end]) || word_is_one_of(head.data[end], "._")))
            end++;
        if (end > 0 && (end == head.len || head.data[end] == ':')) {
            link.class_name = bytes_slice(head, 0, end);
            link.text = bytes_trim(bytes_slice(head, end + (end < head.len), head.len));
        }
    }
    if (is_head && !bytes_present(link.class_name))
        link.class_name = input->error_class;
    link.frames = is_ruby_place(head) ? frames_with_head(head, section->frames) : section->frames;
    if (chain->count == 0) {
        push_message(chain, link);
        return;
    }
    link.text = own_part(link.text);
    push(chain, link);
}

static void
push_trace(struct cause_chain *chain, const struct trace *trace, const struct fingerprint_input *input)
{
    unsigned count = trace->count;
    if (trace->order == TRACE_INNERMOST_FIRST) {
        for (unsigned i = 0; i < count; i++)
            push_section(chain, trace, &trace->sections[i], i == 0, input);
        return;
    }
    unsigned root = count - 1;
    if (trace->order == TRACE_PYTHON) {
        while (root > 0 && trace->sections[root].is_after_direct_cause)
            root--;
        for (unsigned i = root; i < count; i++)
            push_section(chain, trace, &trace->sections[i], false, input);
        return;
    }
    for (unsigned i = count; i > 0; i--)
        push_section(chain, trace, &trace->sections[i - 1], i == 1, input);
}

// A class that came beside the message is the message's; one the message itself begins with was wrapped by
// it.
static void
push_plain(struct cause_chain *chain, const struct fingerprint_input *input)
{
    bool has_text = bytes_present(input->message) || bytes_present(input->stack);
    struct bytes text = input->message.len > 0 ? input->message : input->stack;
    struct cause_link link = cause_split(has_text && text.len > 0 ? text : BYTES(""));
    bool is_given = input->error_class.len > 0;
    bool is_wrapped =
        is_given && bytes_present(link.class_name) && !bytes_equal(link.class_name, input->error_class);
    if (is_given && !bytes_present(link.class_name))
        link.class_name = input->error_class;
    push_message(chain, link);
    if (is_wrapped)
        push(chain, (struct cause_link){.class_name = input->error_class, .text = BYTES("")});
}

void
cause_read(const struct fingerprint_input *input, struct cause_chain *chain)
{
    chain->count = 0;
    chain->is_newest_last = false;
    chain->is_cut = false;
    struct trace trace;
    bool has_trace = trace_read(input->stack, &trace);
    if (!has_trace && input->message.len > 0 && memchr(input->message.data, '\n', input->message.len) != NULL)
        has_trace = trace_read(input->message, &trace);
    if (has_trace) {
        push_trace(chain, &trace, input);
        chain->is_newest_last = trace.order == TRACE_PYTHON;
        chain->is_cut |= trace.is_cut;
    }
    if (chain->count == 0)
        push_plain(chain, input);
}

// Wrappers

static char
fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

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
        while (i < len && fold(text.data[at + i]) == pattern[i])
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

struct blank_row {
    const char *text;
    enum cause_naming naming;
};

#define BUG CAUSE_BLANK_BUG
#define IO CAUSE_BLANK_IO
static const struct blank_row blanks[] = {
#define BLANK(kind, text) {text, kind},
#include "core/fingerprint_blank.def"
#undef BLANK
};
#undef BUG
#undef IO

enum cause_naming
cause_naming(struct bytes canonical)
{
    char folded[BLANK_MAX];
    struct bytes text = bytes_trim(canonical);
    if (text.len == 0 || bytes_equal_text(text, "*"))
        return CAUSE_BLANK_BUG;
    if (text.len >= BLANK_MAX)
        return CAUSE_NAMES;
    for (size_t i = 0; i < text.len; i++)
        folded[i] = fold(text.data[i]);
    folded[text.len] = '\0';

    size_t low = 0;
    size_t high = sizeof blanks / sizeof blanks[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(folded, blanks[middle].text);
        if (order == 0)
            return blanks[middle].naming;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return CAUSE_NAMES;
}
