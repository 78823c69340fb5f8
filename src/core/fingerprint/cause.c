#include "core/fingerprint/cause.h"

#include <string.h>

#include "core/fingerprint/class.h"
#include "core/fingerprint/trace.h"
#include "core/fingerprint/word.h"

#define MESSAGE_MAX 16384 // of a message, beyond which no cause is looked for

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
        if (p - text.data >= 9 && (memcmp(p - 8, "aused by", 8) == 0 || memcmp(p - 9, "### Cause", 9) == 0 ||
                                   memcmp(p - 7, "` value", 7) == 0))
            return true;
    }
    return false;
}

// A search for markers in a text, and then in what is left of it: a marker that the whole does not hold is
// not looked for again, which keeps long chains cheap.
struct marker_search {
    size_t behind;   // where the cause begins that was found last
    uint32_t absent; // a bit for each row of the markers
};

// The place of the last of all markers; SIZE_MAX where the text holds none.
static size_t
find_marker(struct bytes text, struct marker_search *search)
{
    static const struct marker_row markers[] = {
#define WRAPPER_CLASS(name)
#define WRAPPER_TEXT(pattern)
#define WRAPPER_MARKER(text) {text, sizeof(text) - 1},
#define PLAIN_CLASS(name)
#include "core/fingerprint/wrapper.def"
#undef WRAPPER_CLASS
#undef WRAPPER_TEXT
#undef WRAPPER_MARKER
#undef PLAIN_CLASS
    };
    _Static_assert(sizeof markers / sizeof markers[0] <= 32, "a marker has a bit");
    size_t last = SIZE_MAX;
    if (text.len == 0 || !may_hold_marker(text))
        return SIZE_MAX;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        if ((search->absent >> i & 1) != 0)
            continue;
        struct bytes marker = {markers[i].text, markers[i].len};
        size_t at = bytes_find_last(text, marker);
        search->absent |= (uint32_t)(at == SIZE_MAX) << i;
        if (at != SIZE_MAX && at + marker.len < text.len && (last == SIZE_MAX || at > last)) {
            last = at;
            search->behind = at + marker.len;
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
        while (from > 0 && at - from < CLASS_NAME_MAX &&
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

// The outer text itself, without the cause that it names at its end.
static struct bytes
own_part(struct bytes text)
{
    struct marker_search search = {0};
    for (unsigned i = 0; i < CAUSE_DEPTH && text.len <= MESSAGE_MAX; i++) {
        size_t at = text.len > 0 ? find_marker(text, &search) : SIZE_MAX;
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
    struct marker_search search = {0};
    size_t at = rest.len <= MESSAGE_MAX ? find_marker(rest, &search) : SIZE_MAX;
    while (at != SIZE_MAX && chain->count < CAUSE_DEPTH - 2) {
        struct cause_link inner = cause_split(bytes_slice(rest, search.behind, rest.len));
        inner.frames = frames;
        if (inner.text.len > 0 || bytes_present(inner.class_name)) {
            push(chain, inner);
            frames = BYTES_ABSENT;
        }
        rest = bytes_trim(bytes_slice(rest, 0, at));
        at = rest.len > 0 ? find_marker(rest, &search) : SIZE_MAX;
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
        struct bytes rest = class_skip_preface(bytes_slice(head, at, head.len));
        size_t len = 0;
        size_t behind = 0;
        if (class_begins(rest, &len, &behind))
            return rest;
        at = next;
    }
    return head;
}

// Ruby's newest frame stands before the text: both are parts of one trace.
static struct bytes
frames_with_head(struct bytes head, struct bytes frames)
{
    if (!bytes_present(frames))
        return head;
    return (struct bytes){head.data, (size_t)(frames.data - head.data) + frames.len};
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
    link.frames = class_is_ruby_place(head) ? frames_with_head(head, section->frames) : section->frames;
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
