// Reads the text of a recipe.
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/recipe/private.h"

struct parser {
    struct recipe *recipe;
    const char *file;
    int line_number;
    struct bytes line;
    size_t at; // in the line
    size_t capacity;
    struct err *err;
};

static int
column_of(const struct parser *parser, size_t at)
{
    int line;
    int column;
    json_position(parser->line, at, &line, &column);
    return column;
}

static bool
wrong_column(struct parser *parser, int column, const char *expected)
{
    err_set(parser->err, ERR_USAGE, "%s:%d:%d: expected %s", parser->file, parser->line_number, column,
            expected);
    if (parser->err) {
        parser->err->line = parser->line_number;
        parser->err->column = column;
    }
    return false;
}

static bool
wrong(struct parser *parser, size_t at, const char *expected)
{
    return wrong_column(parser, column_of(parser, at), expected);
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void
parse_skip_blanks(struct parser *parser)
{
    while (parser->at < parser->line.len && is_blank(parser->line.data[parser->at]))
        parser->at++;
}

// The end of the line, or a comment behind a blank.
static bool
at_end(const struct parser *parser)
{
    return parser->at == parser->line.len ||
           (parser->line.data[parser->at] == '#' &&
            (parser->at == 0 || is_blank(parser->line.data[parser->at - 1])));
}

static char
parse_peek(const struct parser *parser)
{
    return parser->at < parser->line.len ? parser->line.data[parser->at] : '\0';
}

static struct bytes
parse_take_word(struct parser *parser)
{
    size_t from = parser->at;
    while (parser->at < parser->line.len && !is_blank(parser->line.data[parser->at]))
        parser->at++;
    return bytes_slice(parser->line, from, parser->at - from);
}

// One JSON value at the place, all its bytes.
static bool
take_json(struct parser *parser, struct bytes *json)
{
    struct json_scan scan;
    json_begin(&scan, bytes_slice(parser->line, parser->at, SIZE_MAX));
    struct json_token token;
    do {
        token = json_next(&scan);
        if (token.kind == JSON_ERROR)
            return wrong(parser, parser->at + token.from, scan.expected);
    } while (token.depth > 0 || token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN);
    *json = bytes_slice(parser->line, parser->at, token.from + token.len);
    parser->at += json->len;
    return parser->at == parser->line.len || is_blank(parser->line.data[parser->at]) ||
           wrong(parser, parser->at, "a blank, or the end of the line");
}

// A name: a word, or JSON text.
static bool
parse_take_name(struct parser *parser, struct bytes *name)
{
    if (at_end(parser) || is_blank(parse_peek(parser)))
        return wrong(parser, parser->at, "a name");
    if (parse_peek(parser) != '"') {
        *name = parse_take_word(parser);
        return true;
    }
    struct bytes json;
    if (!take_json(parser, &json))
        return false;
    struct strbuf content = {0};
    (void)json_decode(json, &content);
    *name = arena_copy(&parser->recipe->arena, strbuf_bytes(&content));
    strbuf_release(&content);
    return true;
}

// The end of a path of the payload: the first blank outside of quotes within brackets.
static size_t
path_end(struct bytes line, size_t at)
{
    char quote = '\0';
    for (; at < line.len; at++) {
        char c = line.data[at];
        if (quote && c == '\\')
            at++;
        else if (quote && c == quote)
            quote = '\0';
        else if (!quote && is_blank(c))
            break;
        else if (!quote && (c == '\'' || c == '"') && line.data[at - 1] == '[')
            quote = c;
    }
    return at < line.len ? at : line.len;
}

// The path up to its last [*], if more follows. The text is tried from the end, because a name may hold
// "[*]".
static struct json_path *
holder_of(const struct json_path *path)
{
    struct strbuf text = {0};
    json_path_print(path, NULL, &text);
    struct json_path *holder = NULL;
    struct bytes all = strbuf_bytes(&text);
    bool is_last = true; // [*] is what the path ends in
    for (size_t at = all.len; at >= 3 && json_path_is_pattern(path); at--) {
        if (memcmp(all.data + at - 3, "[*]", 3) != 0 ||
            !json_pattern_parse(&holder, bytes_slice(all, 0, at), NULL))
            continue;
        is_last = at == all.len;
        break;
    }
    strbuf_release(&text);
    if (holder && is_last) {
        json_path_destroy(holder);
        holder = NULL;
    }
    return holder;
}

static bool
take_payload_path(struct parser *parser, struct place *place)
{
    size_t from = parser->at;
    parser->at = path_end(parser->line, from);
    struct err err = {0};
    place->kind = PAYLOAD;
    if (json_pattern_parse(&place->path, bytes_slice(parser->line, from, parser->at - from), &err)) {
        place->holder = holder_of(place->path);
        return true;
    }
    // The sentence of a path ends in what was expected; its column counts from the path.
    const char *expected = strstr(err.text, "expected ");
    return wrong_column(parser, column_of(parser, from) + err.column - 1,
                        expected ? expected + strlen("expected ") : err.text);
}

static const char *
places_text(unsigned places)
{
    switch (places) {
    case PAYLOAD:
        return "a path of the payload such as $.a.b[2]";
    case PAYLOAD | HEADER:
        return "a path such as $.a.b[2] or header:NAME";
    case PAYLOAD | KEY | HEADER | TOPIC:
        return "a path such as $.a.b[2], header:NAME, key or topic";
    case PAYLOAD | KEY | HEADER | PARTITION:
        return "a path such as $.a.b[2], header:NAME, key or partition";
    default:
        return "a path such as $.a.b[2], header:NAME, key, topic or partition";
    }
}

static bool
take_place(struct parser *parser, struct place *place, unsigned places)
{
    static const struct {
        const char *word;
        enum place_kind kind;
    } words[] = {{"key", KEY}, {"topic", TOPIC}, {"partition", PARTITION}};

    parse_skip_blanks(parser);
    size_t from = parser->at;
    struct bytes rest = bytes_slice(parser->line, from, SIZE_MAX);
    if (bytes_starts(rest, "$")) {
        if (!take_payload_path(parser, place))
            return false;
    } else if (bytes_starts(rest, "header:")) {
        parser->at += strlen("header:");
        place->kind = HEADER;
        if (!parse_take_name(parser, &place->name))
            return false;
    } else {
        struct bytes word = parse_take_word(parser);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (bytes_equal_text(word, words[i].word))
                place->kind = words[i].kind;
    }
    place->text = bytes_slice(parser->line, from, parser->at - from);
    if (place->text.len > RECIPE_PATH)
        return wrong(parser, from, "a path of at most 4,096 bytes");
    return (place->kind & places) || wrong(parser, from, places_text(places));
}

static bool
take_operand_json(struct parser *parser, struct operation *operation)
{
    const char *expected;
    size_t from = parser->at;
    if (at_end(parser))
        return wrong(parser, parser->at, "JSON");
    return take_json(parser, &operation->json) &&
           (place_takes(operation->place.kind, operation->json, &expected) || wrong(parser, from, expected));
}

// /…/ at the place, whose first slash was taken. The text up to the next slash without a backslash before it.
static bool
take_slashed(struct parser *parser, struct bytes *text)
{
    size_t from = parser->at;
    while (parser->at < parser->line.len && parse_peek(parser) != '/')
        parser->at += parse_peek(parser) == '\\' ? 2 : 1;
    if (parser->at >= parser->line.len)
        return wrong(parser, parser->line.len, "/");
    *text = bytes_slice(parser->line, from, parser->at - from);
    parser->at++;
    return true;
}

static bool
take_pattern(struct parser *parser, struct operation *operation)
{
    struct bytes text;
    struct err err = {0};
    if (parse_peek(parser) != '/')
        return wrong(parser, parser->at, "/, a regular expression and /");
    size_t from = ++parser->at;
    if (!take_slashed(parser, &text))
        return false;
    if (text.len == 0)
        return wrong(parser, from, "a regular expression");
    if (pattern_compile(&operation->pattern, text, &err))
        return true;
    err_set(parser->err, ERR_USAGE, "%s:%d:%d: %s", parser->file, parser->line_number,
            column_of(parser, from) + err.column - 1, err.text);
    if (parser->err) {
        parser->err->line = parser->line_number;
        parser->err->column = column_of(parser, from) + err.column - 1;
    }
    return false;
}

// The group behind a dollar sign at text[at - 1]: a digit, or digits in braces. Returns the bytes used, 0:
// none.
static size_t
group_number(struct bytes text, size_t at, size_t *group)
{
    bool is_braced = at < text.len && text.data[at] == '{';
    size_t from = at + is_braced;
    size_t end = from;
    *group = 0;
    while (end < text.len && text.data[end] >= '0' && text.data[end] <= '9' &&
           end - from < (is_braced ? 2 : 1))
        *group = *group * 10 + (size_t)(text.data[end++] - '0');
    if (end == from)
        return 0;
    if (is_braced && (end == text.len || text.data[end] != '}'))
        return 0;
    return end + is_braced - at;
}

static void
add_replacement(struct operation *operation, size_t *capacity, struct replacement part)
{
    operation->replacements = alloc_grow(operation->replacements, operation->replacement_count, capacity,
                                         sizeof *operation->replacements);
    operation->replacements[operation->replacement_count++] = part;
}

// The character that a backslash and c stand for, or NUL.
static char
escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '\\' || c == '/' ? c : '\0';
}

// Takes TEXT apart; `from` is where it begins in the line.
static bool
read_replacement(struct parser *parser, struct operation *operation, struct bytes text, size_t from)
{
    size_t capacity = 0;
    struct strbuf literal = {0};
    bool ok = true;
    for (size_t at = 0; ok && at < text.len;) {
        char c = text.data[at];
        char next = at + 1 < text.len ? text.data[at + 1] : '\0';
        if (c == '\\') {
            ok = escaped(next) || wrong(parser, from + at, "an escape: one of \\/ \\\\ \\n \\t");
            strbuf_add_char(&literal, escaped(next));
            at += 2;
        } else if (c == '$' && next != '$') {
            size_t group;
            size_t used = group_number(text, at + 1, &group);
            ok = (used && group <= pattern_group_count(operation->pattern)) ||
                 wrong(parser, from + at, "the number of a group behind $, or $$");
            add_replacement(
                operation, &capacity,
                (struct replacement){arena_copy(&parser->recipe->arena, strbuf_bytes(&literal)), 0});
            add_replacement(operation, &capacity, (struct replacement){BYTES_ABSENT, group});
            strbuf_reset(&literal);
            at += 1 + used;
        } else {
            strbuf_add_char(&literal, c);
            at += c == '$' ? 2 : 1;
        }
    }
    add_replacement(operation, &capacity,
                    (struct replacement){arena_copy(&parser->recipe->arena, strbuf_bytes(&literal)), 0});
    strbuf_release(&literal);
    return ok;
}

static bool
take_replacement(struct parser *parser, struct operation *operation)
{
    struct bytes text;
    if (!take_pattern(parser, operation))
        return false;
    size_t from = parser->at;
    return take_slashed(parser, &text) && read_replacement(parser, operation, text, from);
}

static bool
take_expectation(struct parser *parser, struct operation *operation)
{
    static const struct {
        const char *word;
        enum expectation expectation;
    } words[] = {{"present", EXPECT_PRESENT}, {"absent", EXPECT_ABSENT},   {"number", EXPECT_NUMBER},
                 {"text", EXPECT_TEXT},       {"boolean", EXPECT_BOOLEAN}, {"null", EXPECT_NULL},
                 {"object", EXPECT_OBJECT},   {"array", EXPECT_ARRAY},     {"=", EXPECT_EQUAL},
                 {"~", EXPECT_MATCH}};
    size_t from = parser->at;
    struct bytes word = parse_take_word(parser);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!bytes_equal_text(word, words[i].word))
            continue;
        operation->expectation = words[i].expectation;
        parse_skip_blanks(parser);
        if (operation->expectation == EXPECT_EQUAL)
            return at_end(parser) ? wrong(parser, parser->at, "JSON") : take_json(parser, &operation->json);
        return operation->expectation != EXPECT_MATCH || take_pattern(parser, operation);
    }
    return wrong(parser, from,
                 "present, absent, number, text, boolean, null, object, array, = JSON or ~ /RE/");
}

static size_t
stars(const struct place *place)
{
    return place->path ? json_path_stars(place->path) : 0;
}

// Is `inner` the same path or one below it?
static bool
is_within(const struct place *inner, const struct place *outer)
{
    if (inner->kind != outer->kind)
        return false;
    if (inner->kind != PAYLOAD)
        return bytes_equal(inner->name, outer->name);
    struct strbuf a = {0}, b = {0};
    json_path_print(inner->path, NULL, &a);
    json_path_print(outer->path, NULL, &b);
    bool is_so = bytes_starts(strbuf_bytes(&a), strbuf_text(&b)) &&
                 (a.len == b.len || a.data[b.len] == '.' || a.data[b.len] == '[');
    strbuf_release(&a);
    strbuf_release(&b);
    return is_so;
}

static bool
take_second_path(struct parser *parser, struct operation *operation)
{
    size_t from = parser->at;
    bool moves = operation->kind->apply == recipe_do_move;
    if (!take_place(parser, &operation->to, PLACES_ALL))
        return false;
    if (moves ? stars(&operation->place) != stars(&operation->to)
              : stars(&operation->place) > stars(&operation->to))
        return wrong(parser, from,
                     moves ? "a path with as many [*] as the first one"
                           : "a path with at least as many [*] as the first one");
    if (is_within(&operation->to, &operation->place) && (moves || operation->place.kind != PAYLOAD))
        return wrong(parser, from, "another place: this one is the first path, or within it");
    return true;
}

static bool
take_new_name(struct parser *parser, struct operation *operation)
{
    size_t from = parser->at;
    return parse_take_name(parser, &operation->name) &&
           (operation->name.len <= RECIPE_PATH || wrong(parser, from, "a name of at most 4,096 bytes"));
}

static bool
take_operand(struct parser *parser, struct operation *operation)
{
    switch (operation->kind->arguments) {
    case PATH:
    case PROGRAM:
        return true;
    case PATH_JSON:
        return take_operand_json(parser, operation);
    case PATH_NAME:
        return take_new_name(parser, operation);
    case PATH_PATH:
        return take_second_path(parser, operation);
    case PATH_REPLACEMENT:
        return take_replacement(parser, operation);
    case PATH_EXPECTATION:
        return take_expectation(parser, operation);
    }
    return false;
}

// What a path of these operations may not end in.
static bool
check_end(struct parser *parser, const struct operation *operation, size_t from)
{
    const struct place *place = &operation->place;
    bool moves = operation->kind->apply == recipe_do_remove || operation->kind->apply == recipe_do_move;
    if (operation->kind->apply == recipe_do_unwrap && json_path_is_pattern(place->path))
        return wrong(parser, from, "a path without [*]: one text becomes the payload");
    if (moves && bytes_equal_text(place->text, "$"))
        return wrong(parser, from, "a path within the payload: $ cannot be removed");
    if (operation->kind->apply != recipe_do_rename || place->kind != PAYLOAD)
        return true;
    char last = place->text.data[place->text.len - 1];
    char before = place->text.len > 1 ? place->text.data[place->text.len - 2] : '\0';
    bool is_name = last == ']' ? before == '\'' || before == '"' : place->text.len > 1;
    return is_name || wrong(parser, from, "a path that ends in a name");
}

static bool
take_program(struct parser *parser, struct operation *operation)
{
    struct bytes rest = bytes_trim(bytes_slice(parser->line, parser->at, SIZE_MAX));
    if (rest.len == 0)
        return wrong(parser, parser->at, "a jq program");
    operation->program = arena_text(&parser->recipe->arena, rest);
    operation->operand = rest;
    parser->at = parser->line.len;
    return true;
}

static bool
take_arguments(struct parser *parser, struct operation *operation)
{
    parse_skip_blanks(parser);
    if (operation->kind->arguments == PROGRAM)
        return take_program(parser, operation);
    size_t from = parser->at;
    if (!take_place(parser, &operation->place, operation->kind->places) ||
        !check_end(parser, operation, from))
        return false;
    parse_skip_blanks(parser);
    from = parser->at;
    if (!take_operand(parser, operation))
        return false;
    operation->operand = bytes_trim(bytes_slice(parser->line, from, parser->at - from));
    parse_skip_blanks(parser);
    return at_end(parser) || wrong(parser, parser->at, "the end of the line, or # and a comment");
}

static bool
unknown_word(struct parser *parser, size_t from, struct bytes word)
{
    const char *words[RECIPE_KINDS];
    size_t count = 0;
    struct strbuf list = {0};
    for (; recipe_kinds[count].word; count++) {
        words[count] = recipe_kinds[count].word;
        strbuf_printf(&list, "%s%s", count ? " " : "one of ", words[count]);
    }
    const char *near =
        text_suggest(arena_text(&parser->recipe->arena, bytes_slice(word, 0, 40)), words, count);
    if (near)
        strbuf_printf(&list, "; did you mean %s?", near);
    wrong(parser, from, strbuf_text(&list));
    strbuf_release(&list);
    return false;
}

static bool
take_line(struct parser *parser)
{
    struct recipe *recipe = parser->recipe;
    parse_skip_blanks(parser);
    if (at_end(parser))
        return true;
    if (recipe->count == RECIPE_OPERATIONS)
        return wrong(parser, parser->at, "the end: a recipe has at most 500 operations");

    size_t from = parser->at;
    struct bytes word = parse_take_word(parser);
    const struct operation_kind *kind = recipe_kinds;
    while (kind->word && !bytes_equal_text(word, kind->word))
        kind++;
    if (!kind->word)
        return unknown_word(parser, from, word);
    recipe->operations =
        alloc_grow(recipe->operations, recipe->count, &parser->capacity, sizeof *recipe->operations);
    struct operation *operation = &recipe->operations[recipe->count++];
    *operation = (struct operation){.kind = kind, .line = parser->line_number};
    return take_arguments(parser, operation);
}

// Lines end in LF or CR LF; a byte order mark before the first is no part of it.
static bool
take_lines(struct parser *parser, struct bytes text)
{
    size_t at = bytes_starts(text, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < text.len) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        parser->line = bytes_slice(text, at, len);
        if (bytes_ends(parser->line, "\r"))
            parser->line.len--;
        parser->at = 0;
        parser->line_number++;
        for (size_t i = 0; i < parser->line.len;) {
            uint32_t point;
            size_t used = utf8_decode(parser->line, i, &point);
            if (point == UTF8_INVALID || (point < 0x20 && point != '\t'))
                return wrong(parser, i, "text in UTF-8 without control characters");
            i += used;
        }
        if (!take_line(parser))
            return false;
        at += len + 1;
    }
    return parser->recipe->count > 0 ||
           err_set(parser->err, ERR_USAGE, "%s holds no operation: expected lines such as set $.a 1",
                   parser->file);
}

bool
recipe_parse(struct recipe **recipe, const char *file, struct bytes text, struct err *err)
{
    if (text.len > RECIPE_BYTES)
        return err_set(err, ERR_USAGE, "%s is too large for a recipe: it may have 1 MB", file);
    struct recipe *made = alloc_bytes(sizeof *made);
    struct parser parser = {.recipe = made, .file = file, .err = err};
    if (!take_lines(&parser, arena_copy(&made->arena, text.data ? text : BYTES("")))) {
        recipe_destroy(made);
        return false;
    }
    *recipe = made;
    return true;
}
