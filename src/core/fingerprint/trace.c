#include "core/fingerprint/trace.h"

#include <string.h>

#include "core/fingerprint/word.h"

#define NESTING_MAX 64 // blanks before a line that still count

enum line_kind {
    LINE_TEXT,
    LINE_BLANK,
    LINE_FRAME,
    LINE_CAUSE,      // a new exception begins behind the marker
    LINE_SUPPRESSED, // one begins that does not matter
    LINE_PHP_NEXT,
    LINE_NOISE, // belongs to no text: "Stack trace:", "goroutine 1 [running]:"
    LINE_INNER_END,
    LINE_TRACEBACK,
    LINE_DIRECT_CAUSE,
    LINE_DURING,
};

struct trace_line {
    enum line_kind kind;
    size_t from; // of the line
    size_t text; // behind its blanks and marker
    size_t to;   // without newline and carriage return
    size_t next; // of the line behind
    unsigned indent;
};

static inline bool
starts_at(struct bytes text, size_t at, size_t to, const char *prefix)
{
    size_t len = strlen(prefix);
    return to - at >= len && memcmp(text.data + at, prefix, len) == 0;
}

static inline bool
has(struct bytes text, size_t at, size_t to, const char *needle)
{
    return memmem(text.data + at, to - at, needle, strlen(needle)) != NULL;
}

// "at com.acme.Foo.bar(Foo.java:1)", "at App.Foo.Bar(Int32 id) in /src/Foo.cs:line 1", "at fn (file.js:1:2)",
// "at /app/index.js:1:2"; not Jackson's "at [Source: …", not prose ("at least one").
static bool
is_at_frame(struct bytes text, size_t at, size_t to)
{
    if (at >= to || text.data[at] == '[')
        return false;
    if (text.data[at] == '/' || text.data[at] == '<' || starts_at(text, at, to, "async ") ||
        starts_at(text, at, to, "new ") || starts_at(text, at, to, "file:") ||
        starts_at(text, at, to, "node:"))
        return true;
    size_t end = at;
    while (end < to && (word_kind(text.data[end]) & KIND_BLANK) == 0 && text.data[end] != '(')
        end++;
    if (end < to && text.data[end] == '(')
        return true;
    // `fn (file.js:1:2)`, `fn [as alias] (file.js:1:2)`; a cut line
    return (end < to && has(text, end, to, "(") && has(text, end, to, ":")) ||
           (end == to && has(text, at, to, "."));
}

static bool
is_local_frame(struct bytes text, size_t at, size_t to)
{
    // .NET's "at" as other languages of the runtime have it.
    static const char *const words[] = {
        "em ", "en ", "bei ", "\xC3\xA0 ", "\xEC\x9C\x84\xEC\xB9\x98: ", "\xEC\x97\x90\xEC\x84\x9C "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (starts_at(text, at, to, words[i]))
            return has(text, at, to, "(") && has(text, at, to, ".");
    }
    return false;
}

static bool
is_ruby_frame(struct bytes text, size_t at, size_t to)
{
    size_t place = bytes_find(bytes_slice(text, at, to - at), BYTES(":in "), 0);
    if (place == SIZE_MAX || at + place + 4 >= to)
        return false;
    char quote = text.data[at + place + 4];
    return place > 0 && word_is_digit(text.data[at + place - 1]) && (quote == '`' || quote == '\'');
}

// (ledger 0.4.1) lib/ledger/parser.ex:12: Ledger.Parser.parse_line/2
static bool
is_elixir_frame(struct bytes text, size_t at, size_t to)
{
    static const char *const endings[] = {".ex:", ".exs:", ".erl:"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const char *place = memmem(text.data + at, to - at, endings[i], strlen(endings[i]));
        size_t number = place == NULL ? to : (size_t)(place - text.data) + strlen(endings[i]);
        if (number < to && word_is_digit(text.data[number]))
            return has(text, number, to, ": ");
    }
    return false;
}

// 2: tracker::geofence::contains
static bool
is_rust_frame(struct bytes text, size_t at, size_t to)
{
    size_t end = at;
    while (end < to && word_is_digit(text.data[end]))
        end++;
    return end > at && starts_at(text, end, to, ": ") &&
           (has(text, end, to, "::") || starts_at(text, end, to, ": rust_"));
}

static bool
is_more(struct bytes text, size_t at, size_t to)
{
    return starts_at(text, at, to, "... ") && at + 4 < to && word_is_digit(text.data[at + 4]);
}

static enum line_kind
kind_of_indented(struct bytes text, size_t at, size_t to)
{
    if (starts_at(text, at, to, "File \"") || is_local_frame(text, at, to))
        return LINE_FRAME;
    if (starts_at(text, at, to, "from ") && is_ruby_frame(text, at + 5, to))
        return LINE_FRAME;
    if (text.data[at] == '/' && has(text, at, to, ".go:"))
        return LINE_FRAME;
    if ((text.data[at] == '(' || starts_at(text, at, to, "lib/")) && is_elixir_frame(text, at, to))
        return LINE_FRAME;
    if (is_rust_frame(text, at, to))
        return LINE_FRAME;
    if (starts_at(text, at, to, "--- End of inner exception"))
        return LINE_INNER_END;
    return LINE_TEXT;
}

// The prefix of a line, and the offset of its own text.
struct line_start {
    const char *text;
    enum line_kind kind;
    bool skips; // the text stands behind it
};

static const struct line_start line_starts[] = {
    {"Caused by: ", LINE_CAUSE, true},
    {"[cause]: ", LINE_CAUSE, true},
    {"[errors]: ", LINE_CAUSE, true},
    {"Suppressed: ", LINE_SUPPRESSED, false},
    {"Stack trace:", LINE_NOISE, false},
    {"stack backtrace:", LINE_NOISE, false},
    {"Wrapped by: ", LINE_SUPPRESSED, false}, // printed from the root outward: what wraps does not matter
    {"Traceback (most recent call last)", LINE_TRACEBACK, false},
    {"The above exception was the direct cause", LINE_DIRECT_CAUSE, false},
    {"During handling of the above exception", LINE_DURING, false},
};

static const struct line_start *
find_start(struct bytes text, const struct trace_line *line)
{
    for (size_t i = 0; i < sizeof line_starts / sizeof line_starts[0]; i++) {
        const struct line_start *start = &line_starts[i];
        if (start->text[0] == text.data[line->text] && starts_at(text, line->text, line->to, start->text))
            return start;
    }
    return NULL;
}

static bool
is_frame(struct bytes text, size_t at, size_t to)
{
    switch (text.data[at]) {
    case 'a':
        return starts_at(text, at, to, "at ") && is_at_frame(text, at + 3, to);
    case '#':
        return at + 2 < to && word_is_digit(text.data[at + 1]);
    case 'g':
        return starts_at(text, at, to, "goroutine ") && text.data[to - 1] == ':';
    case '.':
        return is_more(text, at, to);
    default:
        return false;
    }
}

static enum line_kind
kind_of(struct bytes text, struct trace_line *line)
{
    if (line->text == line->to)
        return LINE_BLANK;
    if (is_frame(text, line->text, line->to))
        return LINE_FRAME;
    const struct line_start *start = find_start(text, line);
    if (start != NULL) {
        line->text += start->skips ? strlen(start->text) : 0;
        return start->kind;
    }
    if (line->indent > 0)
        return kind_of_indented(text, line->text, line->to);
    if (!starts_at(text, line->text, line->to, "Next "))
        return LINE_TEXT;
    line->text += strlen("Next ");
    return LINE_PHP_NEXT;
}

static struct trace_line
trace_read_line(struct bytes text, size_t from)
{
    const char *newline = memchr(text.data + from, '\n', text.len - from);
    struct trace_line line = {.from = from, .to = newline == NULL ? text.len : (size_t)(newline - text.data)};
    line.next = newline == NULL ? text.len : line.to + 1;
    while (line.to > from && (text.data[line.to - 1] == '\r' || text.data[line.to - 1] == ' '))
        line.to--;
    line.text = from;
    while (line.text < line.to && (text.data[line.text] == ' ' || text.data[line.text] == '\t'))
        line.text++;
    line.indent = line.text - from > NESTING_MAX ? NESTING_MAX : (unsigned)(line.text - from);
    line.kind = kind_of(text, &line);
    return line;
}

struct trace_reader {
    struct bytes text;
    struct trace *trace;
    unsigned first;     // the ring's oldest section
    size_t text_from;   // the section that is open
    size_t text_to;     // SIZE_MAX until its text ends
    size_t frames_from; // SIZE_MAX while none was seen
    size_t frames_to;   // SIZE_MAX while frames go on
    unsigned indent;    // of the exceptions that matter; deeper ones hang on a suppressed one
    bool is_suppressed; // frames and texts belong to a suppressed exception
    bool in_traceback;  // Python: frames first, the text behind them
    bool is_direct;     // Python: the next section was caused by the one before
    bool is_structured; // a frame or a cause was seen
    size_t previous;    // where the line before began
};

// "  at …" among the frames of an exception whose frames have begun: whatever it is, it changes nothing.
static bool
is_further_frame(const struct trace_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    size_t from = at;
    if (reader->frames_from == SIZE_MAX || reader->in_traceback)
        return false;
    while (from < text.len && (text.data[from] == ' ' || text.data[from] == '\t'))
        from++;
    return from > at && starts_at(text, from, text.len, "at ");
}

static size_t
behind_line(struct bytes text, size_t at)
{
    const char *newline = memchr(text.data + at, '\n', text.len - at);
    return newline == NULL ? text.len : (size_t)(newline - text.data) + 1;
}

static void
open_section(struct trace_reader *reader, size_t text_from)
{
    reader->text_from = text_from;
    reader->text_to = SIZE_MAX;
    reader->frames_from = SIZE_MAX;
    reader->frames_to = SIZE_MAX;
    reader->is_suppressed = false;
    reader->in_traceback = false;
}

static void
close_section(struct trace_reader *reader, size_t at)
{
    struct trace *trace = reader->trace;
    size_t text_to = reader->text_to == SIZE_MAX ? at : reader->text_to;
    size_t frames_to = reader->frames_to == SIZE_MAX ? at : reader->frames_to;
    struct trace_section section = {
        .text = bytes_trim(bytes_slice(reader->text, reader->text_from, text_to - reader->text_from)),
        .is_after_direct_cause = reader->is_direct,
    };
    if (reader->frames_from != SIZE_MAX)
        section.frames = bytes_slice(reader->text, reader->frames_from, frames_to - reader->frames_from);
    if (section.text.len == 0 && !bytes_present(section.frames))
        return;
    reader->is_direct = false;

    if (trace->count < TRACE_SECTIONS) {
        trace->sections[trace->count++] = section;
        return;
    }
    trace->is_cut = true;
    if (trace->order == TRACE_INNERMOST_FIRST)
        return;
    trace->sections[reader->first] = section;
    reader->first = (reader->first + 1) % TRACE_SECTIONS;
}

static void
take_frame(struct trace_reader *reader, const struct trace_line *line)
{
    bool is_go = reader->text.data[line->text] == '/'; // its function stands on the line before
    size_t from = is_go ? reader->previous : line->from;
    reader->is_structured = true;
    if (reader->is_suppressed || reader->frames_from != SIZE_MAX)
        return;
    if (reader->text_to == SIZE_MAX && !reader->in_traceback)
        reader->text_to = from < reader->text_from ? reader->text_from : from;
    reader->frames_from = from;
    if (reader->text.data[line->text] == '#')
        reader->trace->order = TRACE_INNERMOST_FIRST;
}

static void
take_cause(struct trace_reader *reader, const struct trace_line *line)
{
    // Below a suppressed exception, or deeper than the causes before: not of this chain.
    if (reader->is_suppressed && line->indent > reader->indent)
        return;
    reader->is_structured = true;
    close_section(reader, line->from);
    open_section(reader, line->text);
    reader->indent = line->indent;
}

static void
take_traceback(struct trace_reader *reader, const struct trace_line *line)
{
    reader->is_structured = true;
    if (reader->trace->order == TRACE_PYTHON)
        close_section(reader, line->from);
    else
        reader->is_direct = false; // what stands before the first traceback is a log line
    reader->trace->order = TRACE_PYTHON;
    open_section(reader, line->next);
    reader->in_traceback = true;
    reader->frames_from = line->next;
}

static void
trace_take_text(struct trace_reader *reader, const struct trace_line *line)
{
    if (reader->in_traceback && line->indent == 0) { // Python: `Class: text` behind the frames
        reader->in_traceback = false;
        reader->text_from = line->from;
        reader->frames_to = line->from;
        return;
    }
    bool is_ruby =
        line->indent == 0 && reader->frames_from != SIZE_MAX && !reader->is_suppressed &&
        is_ruby_frame(reader->text, line->from, line->to) &&
        (has(reader->text, line->from, line->to, "': ") || has(reader->text, line->from, line->to, "`: "));
    if (is_ruby)
        take_cause(reader, line);
}

static void
end_text(struct trace_reader *reader, size_t at)
{
    if (reader->text_to == SIZE_MAX)
        reader->text_to = at;
}

static void
take_line(struct trace_reader *reader, const struct trace_line *line)
{
    switch (line->kind) {
    case LINE_FRAME:
        take_frame(reader, line);
        break;
    case LINE_CAUSE:
        take_cause(reader, line);
        break;
    case LINE_PHP_NEXT:
        if (reader->trace->order == TRACE_INNERMOST_FIRST)
            take_cause(reader, line);
        break;
    case LINE_SUPPRESSED:
        end_text(reader, line->from);
        if (reader->frames_to == SIZE_MAX && reader->frames_from != SIZE_MAX)
            reader->frames_to = line->from;
        reader->is_suppressed = true;
        break;
    case LINE_INNER_END:
        reader->is_structured = true;
        if (reader->frames_to == SIZE_MAX && reader->frames_from != SIZE_MAX)
            reader->frames_to = line->from;
        break;
    case LINE_TRACEBACK:
        take_traceback(reader, line);
        break;
    case LINE_DIRECT_CAUSE:
    case LINE_DURING:
        end_text(reader, line->from);
        close_section(reader, line->from);
        open_section(reader, line->next);
        reader->is_direct = line->kind == LINE_DIRECT_CAUSE;
        break;
    case LINE_NOISE:
        end_text(reader, line->from);
        break;
    case LINE_TEXT:
        trace_take_text(reader, line);
        break;
    case LINE_BLANK:
        break;
    }
}

// The ring is turned so that the oldest section comes first.
static void
unroll(struct trace *trace, unsigned first)
{
    struct trace_section sections[TRACE_SECTIONS] = {0};
    for (unsigned i = 0; i < trace->count; i++)
        sections[i] = trace->sections[(first + i) % TRACE_SECTIONS];
    memcpy(trace->sections, sections, trace->count * sizeof sections[0]);
}

bool
trace_read(struct bytes text, struct trace *trace)
{
    trace->count = 0;
    trace->order = TRACE_INNERMOST_LAST;
    trace->is_cut = false;
    if (text.len == 0)
        return false;

    struct trace_reader reader = {.text = text, .trace = trace, .is_direct = false};
    open_section(&reader, 0);
    for (size_t at = 0; at < text.len;) {
        size_t next;
        if (is_further_frame(&reader, at)) {
            next = behind_line(text, at);
        } else {
            struct trace_line line = trace_read_line(text, at);
            take_line(&reader, &line);
            next = line.next;
        }
        reader.previous = at;
        at = next;
    }
    close_section(&reader, text.len);
    if (reader.first > 0)
        unroll(trace, reader.first);
    return reader.is_structured && trace->count > 0;
}
