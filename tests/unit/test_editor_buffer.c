// The bytes of an edited document, its lines, characters and cells, compared with a plain text that is
// counted from its beginning each time.
#include "ui/editor/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/utf8.h"
#include "core/json/json.h"
#include "editor_fixture.h"
#include "ui/canvas/canvas.h"

static void
same_bytes(struct buffer *buffer, struct bytes text)
{
    struct strbuf scratch = {0};
    struct bytes is = buffer_slice(buffer, 0, SIZE_MAX, &scratch);
    assert_int_equal(buffer_len(buffer), text.len);
    assert_int_equal(is.len, text.len);
    assert_memory_equal(is.data, text.data, text.len);
    strbuf_release(&scratch);
}

// Where the line of `at` begins and ends, in the naive way.
static size_t
naive_start(struct bytes text, size_t at)
{
    while (at > 0 && text.data[at - 1] != '\n')
        at--;
    return at;
}

static size_t
naive_end(struct bytes text, size_t at)
{
    size_t end = bytes_find(text, BYTES("\n"), at);
    if (end == SIZE_MAX)
        return text.len;
    return end > naive_start(text, at) && text.data[end - 1] == '\r' ? end - 1 : end;
}

static size_t
naive_line(struct bytes text, size_t at)
{
    size_t line = 0;
    for (size_t i = 0; i < at; i++)
        line += text.data[i] == '\n';
    return line;
}

static bool
is_point_start(struct bytes text, size_t at)
{
    size_t i = naive_start(text, at);
    uint32_t point;
    while (i < at)
        i += utf8_decode(text, i, &point);
    return i == at;
}

static void
same_lines(struct buffer *buffer, struct bytes text, size_t at)
{
    size_t line = naive_line(text, at);
    assert_int_equal(buffer_lines(buffer), naive_line(text, text.len) + 1);
    assert_int_equal(buffer_line_at(buffer, at), line);
    assert_int_equal(buffer_line_start(buffer, line), naive_start(text, at));
    assert_int_equal(buffer_line_end(buffer, line), naive_end(text, at));
}

// A position at the beginning of a code point: cells as the canvas draws them, and back.
static void
same_cells(struct buffer *buffer, struct bytes text, size_t at)
{
    size_t start = naive_start(text, at);
    if (!is_point_start(text, at) || at > naive_end(text, at))
        return;
    struct bytes before = bytes_slice(text, start, at - start);
    size_t cells = (size_t)text_cells(before, false);
    assert_int_equal(buffer_cell_at(buffer, at), cells);

    size_t line;
    size_t column;
    int plain_line;
    int plain_column;
    buffer_position(buffer, at, &line, &column);
    json_position(text, at, &plain_line, &plain_column);
    assert_int_equal(line, plain_line);
    assert_int_equal(column, plain_column);
    assert_int_equal(buffer_at_position(buffer, line, column), at);

    size_t cell;
    size_t back = buffer_at_cell(buffer, buffer_line_at(buffer, at), cells, &cell);
    // Marks have no cell of their own, so the way back may end behind them.
    assert_true(back >= at || at == naive_end(text, at));
    assert_int_equal(cell, cells);
    assert_int_equal((size_t)text_cells(bytes_slice(text, start, back - start), false), cells);
}

// Going right from the beginning meets the end, going left the same places, and each is a character of its
// own.
static void
same_characters(struct buffer *buffer, size_t from, size_t count)
{
    size_t at = buffer_character(buffer, from);
    for (size_t i = 0; i < count && at < buffer_len(buffer); i++) {
        size_t next = buffer_next(buffer, at);
        assert_true(next > at);
        assert_int_equal(buffer_previous(buffer, next), at);
        for (size_t inside = at; inside < next; inside++)
            assert_int_equal(buffer_character(buffer, inside), at);
        at = next;
    }
}

static void
random_edits(uint64_t seed, size_t pieces, int edits)
{
    struct dice dice = {seed};
    struct strbuf text = {0};
    struct strbuf typed = {0};
    random_text(&dice, pieces, &text);
    struct buffer *buffer = buffer_create(strbuf_bytes(&text));
    size_t place = 0;
    for (int i = 0; i < edits; i++) {
        // Mostly near the last edit, as a person does; sometimes elsewhere, sometimes a lot.
        if (dice_roll(&dice, 8) == 0 || place > text.len)
            place = dice_roll(&dice, text.len + 1);
        size_t most = dice_roll(&dice, 50) == 0 ? text.len - place : 6;
        size_t len = dice_roll(&dice, (most < text.len - place ? most : text.len - place) + 1);
        strbuf_reset(&typed);
        random_text(&dice, dice_roll(&dice, dice_roll(&dice, 60) == 0 ? pieces : 4), &typed);
        buffer_splice(buffer, place, len, strbuf_bytes(&typed));
        strbuf_splice(&text, place, len, strbuf_bytes(&typed));
        struct bytes now = strbuf_bytes(&text);
        same_lines(buffer, now, dice_roll(&dice, text.len + 1));
        same_cells(buffer, now, dice_roll(&dice, text.len + 1));
        same_characters(buffer, place, 4);
        same_cells(buffer, now, place + typed.len);
        place += typed.len;
    }
    same_bytes(buffer, strbuf_bytes(&text));
    same_characters(buffer, 0, SIZE_MAX);
    assert_true(bytes_equal(buffer_text(buffer), strbuf_bytes(&text)));
    buffer_destroy(buffer);
    strbuf_release(&text);
    strbuf_release(&typed);
}

static void
edits_are_those_of_a_plain_text(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        random_edits(seed, 50, 200);
    for (uint64_t seed = 41; seed <= 46; seed++)
        random_edits(seed, 6000, 150);
}

// One line, so that its cells lie in many blocks.
static void
a_long_line_is_counted_in_blocks(void **state)
{
    (void)state;
    struct dice dice = {7};
    struct strbuf text = {0};
    for (int i = 0; i < 20000; i++) {
        size_t from = text.len;
        random_text(&dice, 1, &text);
        for (size_t j = from; j < text.len; j++)
            text.data[j] = text.data[j] == '\n' ? 'n' : text.data[j];
    }
    struct buffer *buffer = buffer_create(strbuf_bytes(&text));
    for (int i = 0; i < 60; i++) {
        size_t at = dice_roll(&dice, text.len + 1);
        same_cells(buffer, strbuf_bytes(&text), at);
        buffer_splice(buffer, at, 0, BYTES("\u0301日"));
        strbuf_splice(&text, at, 0, BYTES("\u0301日"));
        same_cells(buffer, strbuf_bytes(&text), dice_roll(&dice, text.len + 1));
    }
    buffer_destroy(buffer);
    strbuf_release(&text);
}

// An edit changes what its neighbours are drawn as, also where a block of counts ends between them.
static void
neighbours_are_counted_again(void **state)
{
    (void)state;
    enum { PAIRS = 1000, LEN = 5 };
    for (size_t pad = 0; pad < LEN; pad++) {
        struct strbuf text = {0};
        for (size_t i = 0; i < pad; i++)
            strbuf_add_char(&text, '.');
        for (int i = 0; i < PAIRS; i++)
            strbuf_add_text(&text, "日\u0301");
        size_t end = text.len;
        for (size_t i = 0; i < 2 * pad; i++)
            strbuf_add_char(&text, '.'); // so that each byte of a pair comes to lie at the end of a block
        struct buffer *buffer = buffer_create(strbuf_bytes(&text));
        size_t cells = 3 * pad + 2 * PAIRS;
        for (size_t at = pad; at < end; at += LEN) {
            // The mark stands alone then: \x01 and <U+0301>.
            buffer_splice(buffer, at, 3, BYTES("\x01"));
            assert_int_equal(buffer_cell_at(buffer, text.len - 2), cells + 10);
            buffer_splice(buffer, at, 1, BYTES("日"));
            assert_int_equal(buffer_cell_at(buffer, text.len), cells);
            // Two bytes that are no character: \xe6\x97 and the mark.
            buffer_splice(buffer, at + 2, 1, BYTES(""));
            assert_int_equal(buffer_cell_at(buffer, text.len - 1), cells + 14);
            buffer_splice(buffer, at + 2, 0, BYTES("\xa5"));
            assert_int_equal(buffer_cell_at(buffer, text.len), cells);
        }
        buffer_destroy(buffer);
        strbuf_release(&text);
    }
}

static void
lines_end_as_they_do(void **state)
{
    (void)state;
    struct buffer *buffer = buffer_create(BYTES("a\r\n\r\n\nb"));
    assert_int_equal(buffer_lines(buffer), 4);
    assert_int_equal(buffer_line_end(buffer, 0), 1);
    assert_int_equal(buffer_line_start(buffer, 1), 3);
    assert_int_equal(buffer_line_end(buffer, 1), 3);
    assert_int_equal(buffer_line_end(buffer, 2), 5);
    assert_int_equal(buffer_line_end(buffer, 3), 7);
    assert_int_equal(buffer_line_start(buffer, 4), 7);
    assert_int_equal(buffer_next(buffer, 1), 3);
    assert_int_equal(buffer_previous(buffer, 3), 1);
    assert_int_equal(buffer_character(buffer, 2), 1);
    buffer_splice(buffer, 7, 0, BYTES("\n"));
    assert_int_equal(buffer_lines(buffer), 5);
    assert_int_equal(buffer_line_start(buffer, 4), 8);
    assert_int_equal(buffer_line_end(buffer, 4), 8);
    buffer_destroy(buffer);

    buffer = buffer_create(BYTES(""));
    assert_int_equal(buffer_lines(buffer), 1);
    assert_int_equal(buffer_line_end(buffer, 0), 0);
    assert_int_equal(buffer_cell_at(buffer, 0), 0);
    assert_int_equal(buffer_next(buffer, 0), 0);
    assert_int_equal(buffer_text(buffer).len, 0);
    buffer_destroy(buffer);
}

static void
memory_shrinks_with_the_document(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 100000; i++)
        strbuf_add_text(&text, "0123456789");
    struct buffer *buffer = buffer_create(strbuf_bytes(&text));
    assert_true(buffer_memory(buffer) < text.len + text.len / 4 + 16384);
    buffer_splice(buffer, 1000, 900000, BYTES(""));
    assert_true(buffer_memory(buffer) < 100000 + 100000 / 4 + 16384);
    buffer_splice(buffer, 500, 0, strbuf_bytes(&text));
    assert_true(buffer_memory(buffer) < 1100000 + 1100000 / 4 + 16384);
    buffer_destroy(buffer);
    strbuf_release(&text);
}

// What a terminal cannot show is an escape in the canvas, with other widths in ASCII.
static void
cells_are_those_of_the_canvas(void **state)
{
    (void)state;
    const struct bytes texts[] = {BYTES("plain"),
                                  BYTES("日本é"),
                                  BYTES("e\u0301\u0301\u0301\u0301\u0301\u0301x"),
                                  BYTES("\u0301lone"),
                                  BYTES("\x80\xff\xe6\x97"),
                                  BYTES("\x1b[0m\t\0\x7f\r."),
                                  BYTES("\xe2\x80\xae\u200b\U000e0001\U0001f600\u202c"),
                                  BYTES("\t\u0301"),
                                  BYTES("日\u0301\u200b\u0301"),
                                  BYTES("\U0010ffff\U000f0000")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int is_ascii = 0; is_ascii < 2; is_ascii++) {
            struct buffer *buffer = buffer_create(texts[i]);
            buffer_set_ascii(buffer, is_ascii);
            assert_int_equal(buffer_cell_at(buffer, texts[i].len), text_cells(texts[i], is_ascii));
            buffer_destroy(buffer);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_as_they_do),          cmocka_unit_test(memory_shrinks_with_the_document),
        cmocka_unit_test(cells_are_those_of_the_canvas), cmocka_unit_test(edits_are_those_of_a_plain_text),
        cmocka_unit_test(neighbours_are_counted_again),  cmocka_unit_test(a_long_line_is_counted_in_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
