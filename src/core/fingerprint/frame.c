#include "core/fingerprint/frame.h"

#include <string.h>

#include "core/fingerprint/trace.h"
#include "core/fingerprint/word.h"
#include "core/fingerprint/rules.h"

// A frame taken apart; names are views of its line.
struct frame {
    struct bytes module; // a file's name without its ending; absent where the function is qualified
    struct bytes function;
    struct bytes file; // whole, for the list of libraries; absent where the language prints none
};

static bool
has(struct bytes text, const char *needle)
{
    return bytes_find(text, bytes_of(needle), 0) != SIZE_MAX;
}

static struct bytes
up_to(struct bytes text, const char *needle)
{
    size_t at = bytes_find(text, bytes_of(needle), 0);
    return at == SIZE_MAX ? text : bytes_slice(text, 0, at);
}

// "/app/orders/service.py" → "service"
static struct bytes
stem(struct bytes file)
{
    size_t from = file.len;
    while (from > 0 && file.data[from - 1] != '/' && file.data[from - 1] != '\\')
        from--;
    struct bytes name = bytes_slice(file, from, file.len);
    return up_to(name, ".");
}

// File "/app/orders/service.py", line 12, in reserve
static struct frame
read_python(struct bytes line)
{
    struct bytes rest = bytes_slice(line, sizeof "File \"" - 1, line.len);
    struct frame frame = {.file = up_to(rest, "\"")};
    size_t in = bytes_find_last(rest, BYTES(", in "));
    frame.module = stem(frame.file);
    frame.function = in == SIZE_MAX ? BYTES("") : bytes_slice(rest, in + 5, rest.len);
    return frame;
}

// #0 /var/www/app/Order.php(42): App\Order->total(Object(App\Item))
static struct frame
read_php(struct bytes line)
{
    size_t blank = bytes_find(line, BYTES(" "), 0);
    struct bytes rest = blank == SIZE_MAX ? line : bytes_slice(line, blank + 1, line.len);
    size_t colon = bytes_find(rest, BYTES(": "), 0);
    struct frame frame = {.file = colon == SIZE_MAX ? rest : bytes_slice(rest, 0, colon)};
    frame.function = colon == SIZE_MAX ? BYTES("") : up_to(bytes_slice(rest, colon + 2, rest.len), "(");
    return frame;
}

// from /app/models/order.rb:12:in `total'
static struct frame
read_ruby(struct bytes line)
{
    struct bytes rest = bytes_starts(line, "from ") ? bytes_slice(line, 5, line.len) : line;
    struct frame frame = {.file = up_to(rest, ":")};
    size_t in = bytes_find(rest, BYTES(":in "), 0);
    struct bytes name = in == SIZE_MAX ? BYTES("") : bytes_slice(rest, in + 5, rest.len);
    frame.module = stem(frame.file);
    frame.function = up_to(name, "'");
    return frame;
}

// (ledger 0.4.1) lib/ledger/parser.ex:12: Ledger.Parser.parse_line/2, or a call with its arguments, or
// anonymous fn/1 in Ledger.Parser.parse/1
static struct frame
read_elixir(struct bytes line)
{
    size_t colon = bytes_find(line, BYTES(": "), 0);
    struct bytes call = colon == SIZE_MAX ? BYTES("") : bytes_slice(line, colon + 2, line.len);
    size_t in = bytes_find(call, BYTES(" in "), 0);
    if (in != SIZE_MAX)
        call = bytes_slice(call, in + 4, call.len);
    return (struct frame){.function = up_to(up_to(call, "("), "/"), .file = up_to(line, ": ")};
}

// at Order.total [as sum] (/app/order.js:1:2); at async /app/order.js:1:2
static struct frame
read_node(struct bytes rest)
{
    struct frame frame = {.function = BYTES("")};
    size_t open = bytes_find_last(rest, BYTES(" ("));
    struct bytes place = rest;
    if (open != SIZE_MAX) {
        frame.function = up_to(bytes_slice(rest, 0, open), " [");
        place = bytes_slice(rest, open + 2, rest.len);
    }
    if (bytes_starts(frame.function, "async "))
        frame.function = bytes_slice(frame.function, 6, frame.function.len);
    frame.file = place;
    frame.module = stem(place);
    return frame;
}

// at com.acme.Order.total(Order.java:1); at App.Order.Total(Int32 id) in /src/Order.cs:line 1
static struct frame
read_qualified(struct bytes rest)
{
    struct frame frame = {.function = up_to(rest, "(")};
    if (has(frame.function, "$$Lambda") || has(frame.function, "$Proxy"))
        return (struct frame){.function = BYTES("")};
    size_t slash = bytes_find_last(frame.function, BYTES("/")); // app//, java.base/
    if (slash != SIZE_MAX)
        frame.function = bytes_slice(frame.function, slash + 1, frame.function.len);
    return frame;
}

static struct frame
read_at(struct bytes rest)
{
    bool has_place = has(rest, " (") || bytes_starts(rest, "/") || bytes_starts(rest, "file:") ||
                     bytes_starts(rest, "async ") || bytes_starts(rest, "node:");
    bool is_node = has_place && !has(rest, ") in ");
    return is_node ? read_node(rest) : read_qualified(rest);
}

// main.(*Desk).Reserve(0xc000012345, 0x1), its file on the next line
static struct frame
read_go(struct bytes line, struct bytes next)
{
    struct frame frame = {.function = line, .file = bytes_trim(next)};
    size_t open = bytes_find_last(line, BYTES("("));
    if (open != SIZE_MAX && open > 0 && bytes_ends(line, ")"))
        frame.function = bytes_slice(line, 0, open);
    if (bytes_starts(line, "panic(") || bytes_starts(line, "goroutine "))
        frame.function = BYTES("");
    return frame;
}

static bool
is_library(const struct frame *frame)
{
    static const char *const prefixes[] = {
#define LIBRARY(prefix) prefix,
#define LIBRARY_PATH(part)
#define LIBRARY_APP(prefix)
#include "core/fingerprint/library.def"
#undef LIBRARY
#undef LIBRARY_PATH
#undef LIBRARY_APP
    };
    static const char *const parts[] = {
#define LIBRARY(prefix)
#define LIBRARY_PATH(part) part,
#define LIBRARY_APP(prefix)
#include "core/fingerprint/library.def"
#undef LIBRARY
#undef LIBRARY_PATH
#undef LIBRARY_APP
    };
    static const char *const apps[] = {
#define LIBRARY(prefix)
#define LIBRARY_PATH(part)
#define LIBRARY_APP(prefix) prefix,
#include "core/fingerprint/library.def"
#undef LIBRARY
#undef LIBRARY_PATH
#undef LIBRARY_APP
    };
    for (size_t i = 0; bytes_starts(frame->file, "(") && i < sizeof apps / sizeof apps[0]; i++) {
        if (bytes_starts(frame->file, apps[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (frame->function.len > 0 && prefixes[i][0] == frame->function.data[0] &&
            bytes_starts(frame->function, prefixes[i]))
            return true;
    }
    for (size_t i = 0; bytes_present(frame->file) && i < sizeof parts / sizeof parts[0]; i++) {
        if (has(frame->file, parts[i]))
            return true;
    }
    return false;
}

// The operators' own prefixes precede the list of libraries.
static bool
is_own(const struct group_rules *rules, const struct frame *frame)
{
    return group_rules_is_own(rules, frame->function) || group_rules_is_own(rules, frame->file);
}

struct line_reader {
    struct bytes text;
    size_t at;
};

static bool
next_line(struct line_reader *reader, struct bytes *line)
{
    if (reader->at >= reader->text.len)
        return false;
    const char *from = reader->text.data + reader->at;
    const char *newline = memchr(from, '\n', reader->text.len - reader->at);
    size_t len = newline == NULL ? reader->text.len - reader->at : (size_t)(newline - from);
    *line = bytes_trim((struct bytes){from, len});
    reader->at += len + 1;
    return true;
}

// 3: worker::label::render, its file on the next line
static bool
is_rust(struct bytes line, struct bytes next)
{
    size_t colon = bytes_find(line, BYTES(": "), 0);
    return colon != SIZE_MAX && colon > 0 && word_digits(bytes_slice(line, 0, colon)) == colon &&
           bytes_starts(next, "at ");
}

static struct frame
read_rust(struct bytes line, struct bytes next)
{
    size_t colon = bytes_find(line, BYTES(": "), 0);
    struct frame frame = {.function = bytes_slice(line, colon + 2, line.len),
                          .file = bytes_slice(next, 3, next.len)};
    size_t hash = bytes_find_last(frame.function, BYTES("::h"));
    if (hash != SIZE_MAX && frame.function.len - hash == sizeof "::h0123456789abcdef" - 1)
        frame.function.len = hash;
    return frame;
}

// The frame on this line, if there is one with a function or a file.
static bool
read_frame(struct line_reader *reader, struct bytes line, struct frame *frame)
{
    *frame = (struct frame){.function = BYTES("")};
    if (bytes_starts(line, "File \"")) {
        *frame = read_python(line);
    } else if (bytes_starts(line, "#")) {
        *frame = read_php(line);
    } else if (bytes_starts(line, "at ")) {
        *frame = read_at(bytes_slice(line, 3, line.len));
    } else if ((bytes_starts(line, "(") || bytes_starts(line, "lib/")) &&
               (has(line, ".ex") || has(line, ".erl:"))) {
        *frame = read_elixir(line);
    } else if (bytes_starts(line, "from ") || has(line, ":in `") || has(line, ":in '")) {
        *frame = read_ruby(line);
    } else {
        struct line_reader ahead = *reader;
        struct bytes next = BYTES_ABSENT;
        if (next_line(&ahead, &next) && bytes_starts(next, "/") && has(next, ".go:")) {
            *frame = read_go(line, next);
            reader->at = ahead.at;
        } else if (is_rust(line, next)) {
            *frame = read_rust(line, next);
            reader->at = ahead.at;
        } else if (has(line, "(")) { // .NET in another language: "em App.Order.Total(…)"
            size_t blank = bytes_find(line, BYTES(" "), 0);
            *frame = read_qualified(bytes_slice(line, blank == SIZE_MAX ? 0 : blank + 1, line.len));
        }
    }
    return frame->function.len > 0 || frame->module.len > 0;
}

// Generated parts

// Behind `$12` or `$$Enhancer…`, what compilers and proxies add; or `at` itself.
static size_t
skip_generated(struct bytes name, size_t at)
{
    static const char *const inserted[] = {"lambda$", "$anonfun$", "access$"};
    for (size_t i = 0; i < sizeof inserted / sizeof inserted[0]; i++) {
        if (bytes_starts(bytes_slice(name, at, name.len), inserted[i]))
            return at + strlen(inserted[i]);
    }
    if (name.data[at] == '<') { // <Total>d__5, <>c__DisplayClass5_0
        return at + 1;
    }
    if (name.data[at] == '>') {
        while (at < name.len && name.data[at] != '.')
            at++;
        return at;
    }
    if (name.data[at] != '$')
        return at;
    if (at + 1 < name.len && name.data[at + 1] == '$') {
        while (at < name.len && name.data[at] != '.')
            at++;
        return at;
    }
    size_t end = at + 1;
    while (end < name.len && word_is_digit(name.data[end]))
        end++;
    bool is_number = end > at + 1 && (end == name.len || word_is_one_of(name.data[end], "$."));
    return is_number ? end : at;
}

static size_t
append_clean(char *out, size_t len, struct bytes name)
{
    size_t at = 0;
    while (at < name.len && len < FRAME_TEXT_MAX) {
        size_t behind = skip_generated(name, at);
        if (behind != at) {
            at = behind;
            continue;
        }
        bool is_doubled = name.data[at] == '.' && (len == 0 || out[len - 1] == '.');
        if (!is_doubled)
            out[len++] = name.data[at];
        at++;
    }
    static const char step[] = ".MoveNext";
    if (len > sizeof step - 1 && memcmp(out + len - (sizeof step - 1), step, sizeof step - 1) == 0)
        len -= sizeof step - 1;
    return len;
}

static size_t
write_frame(const struct frame *frame, char out[FRAME_TEXT_MAX])
{
    size_t len = 0;
    if (frame->module.len > 0)
        len = append_clean(out, len, frame->module);
    if (len > 0 && frame->function.len > 0 && len < FRAME_TEXT_MAX)
        out[len++] = '.';
    return append_clean(out, len, frame->function);
}

size_t
frame_own(struct bytes frames, bool is_newest_last, const struct group_rules *rules, char out[FRAME_TEXT_MAX])
{
    struct line_reader reader = {.text = frames};
    struct bytes line = BYTES_ABSENT;
    struct frame best = {.function = BYTES("")};
    bool is_found = false;
    for (unsigned i = 0; bytes_present(frames) && i < FRAMES_MAX && next_line(&reader, &line); i++) {
        struct frame frame;
        if (is_newest_last && !bytes_starts(line, "File \""))
            continue; // Python prints the source of a frame below it
        if (!read_frame(&reader, line, &frame) || (is_library(&frame) && !is_own(rules, &frame)))
            continue;
        best = frame;
        is_found = true;
        if (!is_newest_last)
            break;
    }
    return is_found ? write_frame(&best, out) : 0;
}

bool
frame_is_shared(struct bytes frames)
{
    struct bytes trimmed = bytes_trim(frames);
    size_t newline = bytes_find_last(trimmed, BYTES("\n"));
    struct bytes last = bytes_trim(bytes_slice(trimmed, newline == SIZE_MAX ? 0 : newline, trimmed.len));
    return bytes_starts(last, "... ");
}
