#include "ui/editor/syntax_scan.h"

#include "base/utf8.h"
#include "ui/editor/buffer_private.h"

// How far a number is.
enum number_phase {
    NUMBER_MINUS,
    NUMBER_ZERO,
    NUMBER_WHOLE,
    NUMBER_POINT,
    NUMBER_FRACTION,
    NUMBER_E,
    NUMBER_SIGN,
    NUMBER_EXPONENT,
};

// What a number that ends in a phase lacks.
static const char *const number_lacks[] = {
    [NUMBER_MINUS] = "a digit",
    [NUMBER_POINT] = "a digit after the point",
    [NUMBER_E] = "a digit of the exponent",
    [NUMBER_SIGN] = "a digit of the exponent",
    [NUMBER_EXPONENT] = NULL,
};

void
scan_begin(struct syntax_scan *scan)
{
    scan->head = (struct scan_head){.value = SIZE_MAX};
}

static bool
in_object(const struct syntax_scan *scan)
{
    return scan->head.depth > 0 && (scan->levels[scan->head.depth - 1].open & SCAN_OBJECT);
}

static struct scan_level *
innermost(struct syntax_scan *scan)
{
    return &scan->levels[scan->head.depth - 1];
}

static void
scan_after_value(struct syntax_scan *scan)
{
    scan->head.state = scan->head.depth ? SCAN_COMMA_OR_END : SCAN_DONE;
}

static const char *
expected_in(const struct syntax_scan *scan)
{
    switch (scan->head.state) {
    case SCAN_VALUE:
    case SCAN_VALUE_OR_END:
        break;
    case SCAN_NAME:
        return "a name in quotes";
    case SCAN_NAME_OR_END:
        return "a name in quotes, or }";
    case SCAN_COLON:
        return "a colon";
    case SCAN_COMMA_OR_END:
        return in_object(scan) ? "a comma or }" : "a comma or ]";
    case SCAN_DONE:
        return "nothing more after the value";
    }
    return "a value";
}

const char *
scan_missing(const struct syntax_scan *scan)
{
    const struct scan_head *head = &scan->head;
    if (head->token == SCAN_STRING)
        return "the quote that ends the string";
    if (head->token == SCAN_NUMBER && number_lacks[head->phase])
        return number_lacks[head->phase];
    bool is_whole = head->depth == 0 && (head->token == SCAN_NUMBER || head->state == SCAN_DONE);
    if (is_whole || head->token == SCAN_REST)
        return NULL;
    return head->state == SCAN_NAME_OR_END ? "a name in quotes" : expected_in(scan);
}

static bool
scan_is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool
scan_is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static unsigned char
byte_at(const struct buffer *buffer, size_t at)
{
    return at < buffer->len ? buffer_at(buffer, at) : '\0';
}

static bool
scan_is_hex(unsigned char c)
{
    return scan_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

// --- within tokens ---

static void
piece_take(struct syntax_scan *scan, struct syntax_piece *piece, enum syntax_class class, size_t len)
{
    piece->from = scan->head.at;
    piece->len = len;
    piece->class = class;
    scan->head.at += len;
}

static void
piece_wrong(struct syntax_scan *scan, struct syntax_piece *piece, const char *expected, size_t len)
{
    piece_take(scan, piece, SYNTAX_ERROR, len);
    piece->expected = expected;
}

static void
end_string(struct syntax_scan *scan)
{
    scan->head.token = SCAN_BETWEEN;
    if (scan->head.is_name)
        scan->head.state = SCAN_COLON;
    else
        scan_after_value(scan);
}

static void
string_escape(struct syntax_scan *scan, const struct buffer *buffer, struct syntax_piece *piece)
{
    size_t at = scan->head.at;
    unsigned char c = byte_at(buffer, at + 1);
    bool is_long = c == 'u';
    for (size_t i = 2; is_long && i < 6; i++)
        is_long = scan_is_hex(byte_at(buffer, at + i));
    if (is_long || (c && strchr("\"\\/bfnrt", c)))
        piece_take(scan, piece, SYNTAX_ESCAPE, is_long ? 6 : 2);
    else
        piece_wrong(scan, piece, "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                    c >= 0x20 && c < 0x7F ? 2 : 1);
}

// A byte of a string that is no plain character.
static void
string_special(struct syntax_scan *scan, const struct buffer *buffer, struct syntax_piece *piece)
{
    unsigned char c = buffer_at(buffer, scan->head.at);
    if (c == '\\') {
        string_escape(scan, buffer, piece);
    } else if (c < 0x20) {
        // The line ends a string whose quote is missing.
        bool ends_line = c == '\n' || c == '\r';
        piece_wrong(scan, piece, "an escape such as \\n: a control character is not allowed in a string",
                    !ends_line);
        if (ends_line)
            end_string(scan);
    } else {
        piece_wrong(scan, piece, "UTF-8", 1);
    }
}

// The length of the character at `at` in a string; 0: a special one.
static size_t
plain_character(const struct buffer *buffer, size_t at)
{
    unsigned char c = buffer_at(buffer, at);
    if (c < 0x80)
        return c >= 0x20 && c != '\\' && c != '"';
    char near[4];
    size_t count = 0;
    for (; count < sizeof near && at + count < buffer->len; count++)
        near[count] = (char)buffer_at(buffer, at + count);
    uint32_t point;
    size_t len = utf8_decode((struct bytes){near, count}, 0, &point);
    return point == UTF8_INVALID ? 0 : len;
}

// Fast over what most strings consist of.
static size_t
plain_run(const struct buffer *buffer, size_t at, size_t limit)
{
    struct bytes run = bytes_slice(buffer_run(buffer, at), 0, limit - at);
    size_t i = 0;
    while (i < run.len) {
        unsigned char c = (unsigned char)run.data[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80)
            break;
        i++;
    }
    return i;
}

static void
string_piece(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    size_t at = scan->head.at;
    piece->kind = scan->head.is_name ? JSON_NAME : JSON_STRING;
    size_t end = piece->begins ? at + 1 : at;
    while (end < limit) {
        size_t len = plain_run(buffer, end, limit);
        if (len == 0)
            len = plain_character(buffer, end);
        if (len == 0)
            break;
        end += len;
    }
    bool is_closed = end < limit && buffer_at(buffer, end) == '"';
    if (end == at && !is_closed) {
        string_special(scan, buffer, piece);
        return;
    }
    piece_take(scan, piece, scan->head.is_name ? SYNTAX_NAME : SYNTAX_STRING, end + is_closed - at);
    if (is_closed)
        end_string(scan);
}

// The phase behind one more character, or -1: it does not belong to the number.
static int
number_step(int phase, unsigned char c)
{
    bool is_exponent = c == 'e' || c == 'E';
    switch ((enum number_phase)phase) {
    case NUMBER_MINUS:
        return c == '0' ? NUMBER_ZERO : scan_is_digit(c) ? NUMBER_WHOLE : -1;
    case NUMBER_ZERO:
        return c == '.' ? NUMBER_POINT : is_exponent ? NUMBER_E : -1;
    case NUMBER_WHOLE:
        return scan_is_digit(c) ? NUMBER_WHOLE : c == '.' ? NUMBER_POINT : is_exponent ? NUMBER_E : -1;
    case NUMBER_POINT:
        return scan_is_digit(c) ? NUMBER_FRACTION : -1;
    case NUMBER_FRACTION:
        return scan_is_digit(c) ? NUMBER_FRACTION : is_exponent ? NUMBER_E : -1;
    case NUMBER_E:
        return scan_is_digit(c) ? NUMBER_EXPONENT : c == '+' || c == '-' ? NUMBER_SIGN : -1;
    case NUMBER_SIGN:
    case NUMBER_EXPONENT:
        return scan_is_digit(c) ? NUMBER_EXPONENT : -1;
    }
    return -1;
}

// false: the number ended before, with nothing to say.
static bool
number_piece(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    size_t end = head->at;
    piece->kind = JSON_NUMBER;
    for (; end < limit; end++) {
        int phase = number_step(head->phase, buffer_at(buffer, end));
        if (phase < 0)
            break;
        head->phase = phase;
    }
    if (end > head->at || end >= limit) {
        piece_take(scan, piece, SYNTAX_NUMBER, end - head->at);
        return true;
    }
    if (head->phase == NUMBER_ZERO && scan_is_digit(buffer_at(buffer, end))) {
        head->phase = NUMBER_WHOLE;
        piece_wrong(scan, piece, "no digit after a leading 0", 1);
        return true;
    }
    head->token = SCAN_BETWEEN;
    scan_after_value(scan);
    if (!number_lacks[head->phase])
        return false;
    piece->kind = JSON_ERROR;
    piece_wrong(scan, piece, number_lacks[head->phase], 0);
    head->is_recovering = true;
    return true;
}

static bool
ends_junk(unsigned char c)
{
    return scan_is_space(c) || (c && strchr("{}[]:,\"", c));
}

// Words that are not JSON end at a blank or a token; what stands in single quotes ends with them or its line.
static bool
junk_piece(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    bool is_quoted = head->token == SCAN_QUOTED;
    size_t end = piece->begins ? head->at + 1 : head->at;
    bool is_over = false;
    for (; end < limit && !is_over; end++) {
        unsigned char c = buffer_at(buffer, end);
        is_over = is_quoted ? c == '\n' || c == '\r' : ends_junk(c);
        if (is_over)
            break;
        if (is_quoted && c == '\'') {
            is_over = true;
            end++;
            break;
        }
    }
    piece->kind = JSON_ERROR;
    piece_take(scan, piece, SYNTAX_ERROR, end - head->at);
    if (is_over)
        head->token = SCAN_BETWEEN;
    return piece->len > 0;
}

// --- between tokens ---

// Says what was expected, once for what does not fit in a row. `is_lost`: the next token cannot be relied on.
static void
complain(struct syntax_scan *scan, struct syntax_piece *piece, bool is_lost)
{
    if (!scan->head.is_recovering)
        piece->expected = expected_in(scan);
    scan->head.is_recovering = is_lost;
}

static void
begin_value(struct syntax_scan *scan)
{
    struct scan_head *head = &scan->head;
    // A comma is missing.
    if (head->state == SCAN_COMMA_OR_END && !in_object(scan))
        innermost(scan)->place++;
    head->value = head->at;
    head->path_depth = head->depth;
}

static bool
wants_value(const struct syntax_scan *scan)
{
    return scan->head.state == SCAN_VALUE || scan->head.state == SCAN_VALUE_OR_END;
}

static void
take_begin(struct syntax_scan *scan, struct syntax_piece *piece, bool is_object)
{
    struct scan_head *head = &scan->head;
    if (head->depth == JSON_DEPTH) {
        piece->kind = JSON_ERROR;
        if (wants_value(scan))
            piece->expected = "less nesting: it is more than 512 levels deep";
        else
            complain(scan, piece, true);
        head->token = SCAN_REST;
        piece_take(scan, piece, SYNTAX_ERROR, 1);
        return;
    }
    if (!wants_value(scan))
        complain(scan, piece, false);
    begin_value(scan);
    piece->kind = is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
    scan->levels[head->depth++] = (struct scan_level){
        .open = (uint32_t)head->at | (is_object ? SCAN_OBJECT : 0), .place = is_object ? SCAN_NONE : 0};
    head->state = is_object ? SCAN_NAME_OR_END : SCAN_VALUE_OR_END;
    piece_take(scan, piece, piece->expected ? SYNTAX_ERROR : SYNTAX_PUNCTUATION, 1);
}

// The depth outside the innermost container of this kind, or -1.
static int
depth_outside(const struct syntax_scan *scan, bool is_object)
{
    for (int depth = scan->head.depth; depth > 0; depth--) {
        if (!(scan->levels[depth - 1].open & SCAN_OBJECT) == !is_object)
            return depth - 1;
    }
    return -1;
}

static void
take_end(struct syntax_scan *scan, struct syntax_piece *piece, bool is_object)
{
    struct scan_head *head = &scan->head;
    int depth = depth_outside(scan, is_object);
    bool may_end = head->state == SCAN_VALUE_OR_END || head->state == SCAN_NAME_OR_END ||
                   head->state == SCAN_COMMA_OR_END;
    if (depth != head->depth - 1 || depth < 0 || !may_end)
        complain(scan, piece, depth < 0);
    if (depth < 0) {
        piece->kind = JSON_ERROR;
        piece_take(scan, piece, SYNTAX_ERROR, 1);
        return;
    }
    head->value = scan->levels[depth].open & ~SCAN_OBJECT;
    head->depth = head->path_depth = depth;
    if (head->lowest > depth)
        head->lowest = depth;
    piece->kind = is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
    piece->depth = depth;
    piece_take(scan, piece, piece->expected ? SYNTAX_ERROR : SYNTAX_PUNCTUATION, 1);
    scan_after_value(scan);
}

static void
take_comma(struct syntax_scan *scan, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    bool fits = head->state == SCAN_COMMA_OR_END;
    if (!fits)
        complain(scan, piece, head->depth == 0);
    piece->kind = head->depth ? JSON_COMMA : JSON_ERROR;
    if (head->depth) {
        head->path_depth = head->depth;
        head->state = in_object(scan) ? SCAN_NAME : SCAN_VALUE;
        if (!in_object(scan)) {
            innermost(scan)->place++;
            head->value = SIZE_MAX;
        }
    }
    piece_take(scan, piece, fits ? SYNTAX_PUNCTUATION : SYNTAX_ERROR, 1);
}

static void
take_colon(struct syntax_scan *scan, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    bool fits = head->state == SCAN_COLON;
    bool is_used = in_object(scan);
    if (!fits)
        complain(scan, piece, !is_used);
    piece->kind = is_used ? JSON_COLON : JSON_ERROR;
    if (is_used) {
        head->path_depth = head->depth;
        head->state = SCAN_VALUE;
    }
    piece_take(scan, piece, fits ? SYNTAX_PUNCTUATION : SYNTAX_ERROR, 1);
}

static void
take_quote(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    bool is_name = head->state == SCAN_NAME || head->state == SCAN_NAME_OR_END;
    if (!is_name && !wants_value(scan)) {
        complain(scan, piece, false);
        is_name = head->state == SCAN_COMMA_OR_END && in_object(scan);
    }
    if (is_name) {
        innermost(scan)->place = (uint32_t)head->at;
        head->value = SIZE_MAX;
        head->path_depth = head->depth;
    } else {
        begin_value(scan);
    }
    head->is_name = is_name;
    head->token = SCAN_STRING;
    string_piece(scan, buffer, limit, piece);
}

static bool
is_byte_order_mark(const struct buffer *buffer, size_t at)
{
    return at == 0 && byte_at(buffer, 0) == 0xEF && byte_at(buffer, 1) == 0xBB && byte_at(buffer, 2) == 0xBF;
}

static void
take_junk(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    complain(scan, piece, true);
    if (piece->expected && is_byte_order_mark(buffer, head->at))
        piece->expected = "a value: an invisible byte order mark (EF BB BF) precedes it";
    switch (head->state) {
    case SCAN_VALUE:
    case SCAN_VALUE_OR_END:
        begin_value(scan);
        scan_after_value(scan);
        break;
    case SCAN_NAME:
    case SCAN_NAME_OR_END:
        head->state = SCAN_COLON;
        break;
    case SCAN_COLON:
    case SCAN_COMMA_OR_END:
    case SCAN_DONE:
        break;
    }
    head->token = buffer_at(buffer, head->at) == '\'' ? SCAN_QUOTED : SCAN_JUNK;
    (void)junk_piece(scan, buffer, limit, piece);
}

static const struct {
    const char *word;
    enum json_kind kind;
} literals[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};

// The length of the literal at `at`, or 0.
static size_t
literal_length(const struct buffer *buffer, size_t at, enum json_kind *kind)
{
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        size_t len = 0;
        while (literals[i].word[len] && byte_at(buffer, at + len) == (unsigned char)literals[i].word[len])
            len++;
        *kind = literals[i].kind;
        if (!literals[i].word[len])
            return len;
    }
    return 0;
}

// A number, a literal, or what is neither.
static void
take_scalar(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    unsigned char c = buffer_at(buffer, head->at);
    enum json_kind kind = JSON_NUMBER;
    size_t len = c == '-' || scan_is_digit(c) ? 1 : literal_length(buffer, head->at, &kind);
    bool is_name = head->state == SCAN_NAME || head->state == SCAN_NAME_OR_END ||
                   (head->state == SCAN_COMMA_OR_END && in_object(scan));
    if (len == 0 || is_name) {
        take_junk(scan, buffer, limit, piece);
        return;
    }
    if (!wants_value(scan))
        complain(scan, piece, false);
    else
        head->is_recovering = false;
    begin_value(scan);
    piece->kind = kind;
    if (kind != JSON_NUMBER) {
        piece_take(scan, piece, SYNTAX_LITERAL, len);
        scan_after_value(scan);
        return;
    }
    head->token = SCAN_NUMBER;
    head->phase = c == '-' ? NUMBER_MINUS : c == '0' ? NUMBER_ZERO : NUMBER_WHOLE;
    piece_take(scan, piece, SYNTAX_NUMBER, 1);
}

// true: the piece lies within a token that began before.
static bool
take_within(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    switch (scan->head.token) {
    case SCAN_BETWEEN:
        return false;
    case SCAN_STRING:
        string_piece(scan, buffer, limit, piece);
        return true;
    case SCAN_NUMBER:
        return number_piece(scan, buffer, limit, piece);
    case SCAN_JUNK:
    case SCAN_QUOTED:
        return junk_piece(scan, buffer, limit, piece);
    case SCAN_REST:
        piece->kind = JSON_ERROR;
        piece_take(scan, piece, SYNTAX_ERROR, limit - scan->head.at);
        return true;
    }
    return false;
}

static void
take_token(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    unsigned char c = buffer_at(buffer, scan->head.at);
    switch (c) {
    case '{':
    case '[':
        take_begin(scan, piece, c == '{');
        break;
    case '}':
    case ']':
        take_end(scan, piece, c == '}');
        break;
    case ',':
        take_comma(scan, piece);
        break;
    case ':':
        take_colon(scan, piece);
        break;
    case '"':
        take_quote(scan, buffer, limit, piece);
        break;
    default:
        take_scalar(scan, buffer, limit, piece);
        return;
    }
    if (piece->kind != JSON_ERROR && !piece->expected)
        scan->head.is_recovering = false;
}

bool
scan_next(struct syntax_scan *scan, const struct buffer *buffer, size_t limit, struct syntax_piece *piece)
{
    struct scan_head *head = &scan->head;
    if (limit > buffer->len)
        limit = buffer->len;
    if (head->at >= limit)
        return false;
    *piece = (struct syntax_piece){.depth = head->depth};
    if (take_within(scan, buffer, limit, piece))
        return true;
    while (head->at < limit && scan_is_space(buffer_at(buffer, head->at)))
        head->at++;
    if (head->at >= limit)
        return false;
    *piece = (struct syntax_piece){.depth = head->depth, .begins = true};
    take_token(scan, buffer, limit, piece);
    return true;
}

bool
scan_is_value(const struct syntax_piece *piece)
{
    switch (piece->kind) {
    case JSON_OBJECT_BEGIN:
    case JSON_ARRAY_BEGIN:
    case JSON_STRING:
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return piece->begins;
    case JSON_END:
    case JSON_ERROR:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_NAME:
    case JSON_COLON:
    case JSON_COMMA:
        break;
    }
    return false;
}
