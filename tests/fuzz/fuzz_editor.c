// Any document and any keys: the editor's counts and states stay those of its bytes, and every step is
// undone.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/json/json.h"
#include "ui/editor/check.h"
#include "ui/editor/find.h"
#include "ui/editor/fold.h"
#include "ui/editor/motion.h"
#include "ui/editor/place.h"
#include "ui/editor/private.h"
#include "ui/editor/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEYS_MOST = 200, DOCUMENT_MOST = 4096 };

struct input {
    const uint8_t *data;
    size_t len;
};

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static size_t
take(struct input *input)
{
    if (input->len == 0)
        return 0;
    input->len--;
    return *input->data++;
}

// Up to 15 bytes as they come.
static struct bytes
take_bytes(struct input *input)
{
    size_t len = take(input) % 16;
    len = len < input->len ? len : input->len;
    struct bytes b = {(const char *)input->data, len};
    input->data += len;
    input->len -= len;
    return b;
}

static size_t
take_place(struct input *input, const struct editor *editor)
{
    return (take(input) * 256 + take(input)) % (editor_len(editor) + 1);
}

static void
press_edit(struct editor *editor, struct input *input, int64_t now)
{
    size_t from;
    struct bytes b;
    switch (take(input) % 12) {
    case 0:
        (void)editor_type(editor, take_bytes(input), now);
        break;
    case 1:
        (void)editor_paste(editor, take_bytes(input), now);
        break;
    case 2:
        (void)editor_enter(editor, now);
        break;
    case 3:
        (void)editor_indent(editor, take(input) % 2, now);
        break;
    case 4:
        (void)editor_delete_left(editor, now);
        break;
    case 5:
        (void)editor_delete_right(editor, now);
        break;
    case 6:
        from = take_place(input, editor);
        b = take_bytes(input);
        (void)editor_replace(editor, from, from + take(input) % 64, b, now);
        break;
    case 7:
        (void)(editor_format(editor, now, NULL) || editor_minify(editor, now, NULL));
        break;
    case 8:
        (void)editor_undo(editor);
        break;
    case 9:
        (void)editor_redo(editor);
        break;
    case 10:
        (void)editor_cut_line(editor, now);
        break;
    default:
        (void)editor_put(editor, take(input) % 2, now);
    }
}

static void
press_find(struct editor *editor, struct input *input, int64_t now)
{
    if (!editor_set_search(editor, take_bytes(input), take(input) % 2, NULL))
        return;
    struct find_run run;
    enum find_state state;
    size_t budget = 1 + take(input);
    editor_find_begin(editor, &run, take_place(input, editor), take(input) % 2);
    while ((state = editor_find(editor, &run, budget)) == FIND_MORE)
        continue;
    require(state == FIND_NONE || (run.match.from < run.match.to && run.match.to <= editor_len(editor)));
    struct find_count count;
    do
        count = editor_count_matches(editor, budget);
    while (!count.is_complete);
    require(state == FIND_NONE || count.count > 0 || count.is_limited || !run.is_forward);
    struct find_replace replace = {.to = SIZE_MAX};
    while (take(input) % 4 == 0 &&
           editor_replace_all(editor, &replace, BYTES("\"r\""), budget, now) == FIND_MORE)
        continue;
    find_replace_release(&replace);
}

static void
press_look(struct editor *editor, struct input *input)
{
    struct syntax_span spans[64];
    struct strbuf path = {0};
    size_t place = take_place(input, editor);
    size_t from;
    size_t to;
    (void)editor_check(editor, take(input));
    size_t count = editor_classes(editor, place, place + 200, spans, 64);
    for (size_t i = 0; i < count; i++)
        require(spans[i].len > 0 && (i == 0 || spans[i].from >= spans[i - 1].from + spans[i - 1].len));
    require(count == 0 ||
            (spans[0].from >= place && spans[count - 1].from + spans[count - 1].len <= editor_len(editor)));
    (void)editor_path_at(editor, place, &path);
    if (editor_value_at(editor, place, &from, &to))
        require(from < to && to <= editor_len(editor));
    if (editor_name_at(editor, place, &from, &to))
        require(from < to && to <= editor_len(editor));
    if (path.len && path.len < 1000 && editor_find_nearest(editor, strbuf_bytes(&path), &from, &to, NULL))
        require(from < to && to <= editor_len(editor));
    strbuf_release(&path);
    (void)editor_can_fold(editor, buffer_line_at(editor_buffer(editor), place));
}

static void
press_fold(struct editor *editor, struct input *input)
{
    size_t place = take_place(input, editor);
    if (place % 8 == 0)
        (void)editor_fold_all(editor);
    else
        (void)editor_toggle_fold(editor, place);
    size_t lines = buffer_lines(editor_buffer(editor));
    size_t row = 0;
    for (size_t line = 0; line < lines; line++) {
        if (editor_is_hidden(editor, line))
            continue;
        require(editor_row_of(editor, line) == row && editor_line_of(editor, row) == line);
        row++;
    }
    require(editor_rows(editor) == row);
}

static void
check_place(struct editor *editor)
{
    struct buffer *buffer = editor_buffer(editor);
    size_t cursor = editor_cursor(editor);
    require(cursor <= editor_len(editor) && buffer_character(buffer, cursor) == cursor);
    size_t from;
    size_t to;
    if (editor_selection(editor, &from, &to))
        require(from < to && to <= editor_len(editor));
    size_t line = buffer_line_at(buffer, cursor);
    require(!editor_is_hidden(editor, line));
    require(buffer_line_start(buffer, line) <= cursor && cursor <= buffer_line_end(buffer, line));
}

// What is known of the document is what an editor says that was opened with it.
static void
check_state(struct editor *editor)
{
    struct bytes text = editor_text(editor);
    struct editor *anew = editor_create(text, true);
    struct err err = {0};
    while (editor_check(editor, 64) == CHECK_RUNNING)
        continue;
    while (editor_check(anew, SIZE_MAX) == CHECK_RUNNING)
        continue;
    require(json_check(text, &err) == (editor_check_state(anew) == CHECK_VALID));
    require(editor_errors(editor) == editor_errors(anew));
    for (size_t i = 0; i < editor_errors(anew); i++)
        require(editor_error(editor, i).at == editor_error(anew, i).at);
    if (editor_errors(anew)) {
        size_t line;
        size_t column;
        buffer_position(editor_buffer(anew), editor_error(anew, 0).at, &line, &column);
        require((int)line == err.line && (int)column == err.column);
    }
    size_t lines = buffer_lines(editor_buffer(editor));
    require(lines == buffer_lines(editor_buffer(anew)));
    for (size_t line = 0; line < lines; line++) {
        size_t end = buffer_line_end(editor_buffer(editor), line);
        require(end == buffer_line_end(editor_buffer(anew), line));
        require(buffer_cell_at(editor_buffer(editor), end) == buffer_cell_at(editor_buffer(anew), end));
    }
    editor_destroy(anew);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    size_t len = (take(&input) * 256 + take(&input)) % DOCUMENT_MOST;
    len = len < input.len ? len : input.len;
    struct strbuf first = {0}, last = {0};
    strbuf_add(&first, (struct bytes){(const char *)input.data, len});
    input.data += len;
    input.len -= len;
    struct editor *editor = editor_create(strbuf_bytes(&first), true);
    editor->tree.stride = 1 + take(&input) % 64;

    for (int i = 0; i < KEYS_MOST && input.len > 0; i++) {
        switch (take(&input) % 8) {
        case 0:
            editor_set_cursor(editor, take_place(&input, editor), take(&input) % 2);
            break;
        case 1:
            (void)editor_move(editor, take(&input) % MOTION_COUNT, 1 + take(&input) % 5, take(&input) % 2);
            break;
        case 2:
            press_find(editor, &input, i);
            break;
        case 3:
            press_look(editor, &input);
            break;
        case 4:
            press_fold(editor, &input);
            break;
        default:
            press_edit(editor, &input, i);
        }
        check_place(editor);
    }
    check_state(editor);
    while (editor_redo(editor))
        continue;
    strbuf_add(&last, editor_text(editor));
    while (editor_undo(editor))
        continue;
    require(bytes_equal(editor_text(editor), strbuf_bytes(&first)));
    check_state(editor);
    while (editor_redo(editor))
        continue;
    require(bytes_equal(editor_text(editor), strbuf_bytes(&last)));
    editor_destroy(editor);
    strbuf_release(&first);
    strbuf_release(&last);
    return 0;
}
