// Names of keys, the decoder of a terminal's bytes, and keymap files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/utf8.h"
#include "ui/term/input.h"
#include "ui/keymap/keymap.h"

static void
names_of_keys_are_read_and_written(void **state)
{
    // what is written, and how it is printed
    static const char *const rows[][2] = {
        {"a", "a"},           {"A", "A"},
        {"<C-d>", "<C-d>"},   {"<C-D>", "<C-d>"},
        {"<A-m>", "<A-m>"},   {"<M-m>", "<A-m>"},
        {"<S-Up>", "<S-Up>"}, {"<F5>", "<F5>"},
        {"<f20>", "<F20>"},   {"<lt>", "<lt>"},
        {"<gt>", "<gt>"},     {"|", "|"},
        {"\\", "\\"},         {"<C-Bslash>", "<C-\\>"},
        {"gg", "gg"},         {"<C-x><C-s>", "<C-x><C-s>"},
        {"<CR>", "<Enter>"},  {"<Space>", "<Space>"},
        {" ", "<Space>"},     {"<C-Space>", "<C-Space>"},
        {"ä", "ä"},           {"<C-A-Left>", "<C-A-Left>"},
        {"<", "<lt>"},        {"<S-Tab>", "<S-Tab>"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct key_sequence sequence;
        struct err err = {0};
        if (!key_parse_sequence(bytes_of(rows[i][0]), &sequence, &err))
            fail_msg("%s: %s", rows[i][0], err.text);
        struct strbuf text = {0};
        key_print_sequence(&sequence, &text);
        assert_string_equal(strbuf_text(&text), rows[i][1]);
        strbuf_release(&text);
    }
}

// Longer than one event: in parts, and nothing of it is a key.
static void
a_long_paste_is_never_keys(void **state)
{
    enum { PIECE = 4096 };
    (void)state;
    struct strbuf sent = {0}, got = {0};
    struct input input = {0};
    struct input_event event = {0};
    int parts = 0, keys = 0;
    strbuf_add_text(&sent, "\033[200~");
    while (sent.len < 3500000)
        strbuf_add_text(&sent, "D\303\274\x13\r");
    size_t text = sent.len - 6;
    strbuf_add_text(&sent, "\033[201~k");
    for (size_t at = 0; at < sent.len; at += PIECE) {
        input_feed(&input, bytes_slice(strbuf_bytes(&sent), at, PIECE));
        while (input_next(&input, false, &event)) {
            parts += event.kind == INPUT_PASTE;
            keys += event.kind == INPUT_KEY;
            if (event.kind == INPUT_PASTE)
                strbuf_add(&got, event.paste);
            if (event.kind == INPUT_PASTE)
                assert_true(utf8_valid(event.paste));
        }
    }
    assert_int_equal(parts, 4);
    assert_int_equal(keys, 1);
    assert_int_equal(event.kind, INPUT_KEY);
    assert_true(bytes_equal(strbuf_bytes(&got), bytes_slice(strbuf_bytes(&sent), 6, text)));

    // One whose end never comes is over when nothing more comes.
    input_feed(&input, bytes_slice(strbuf_bytes(&sent), 0, 1100000));
    while (input_next(&input, false, &event))
        ;
    assert_true(input_is_pasting(&input));
    assert_true(input_next(&input, true, &event));
    assert_false(input_is_pasting(&input));
    input_release(&input);
    strbuf_release(&sent);
    strbuf_release(&got);
}

static void
impossible_keys_are_refused_with_the_reason(void **state)
{
    static const char *const rows[][2] = {
        {"<S-a>", "cannot be distinguished from the character itself"},
        {"<C-i>", "is the same to a terminal as <Tab>"},
        {"<C-m>", "<Enter>"},
        {"<C-[>", "<Esc>"},
        {"<C-h>", "<BS>"},
        {"<C-1>", "no terminal sends"},
        {"<A-[>", "begins a sequence"},
        {"<F21>", "names no key"},
        {"<Foo>", "names no key"},
        {"<C-a", "without its >"},
        {"", "empty"},
        {"abcde", "longer than 4"},
        {"\033", "printable"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct key_sequence sequence;
        struct err err = {0};
        assert_false(key_parse_sequence(bytes_of(rows[i][0]), &sequence, &err));
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], err.text);
    }
}

static void
print_event(const struct input_event *event, struct strbuf *out)
{
    switch (event->kind) {
    case INPUT_KEY:
        key_print(event->key, out);
        break;
    case INPUT_PASTE:
        strbuf_printf(out, "{%.*s}", BYTES_ARGS(event->paste));
        break;
    case INPUT_BACKGROUND:
        strbuf_add_text(out, event->is_light ? "(light)" : "(dark)");
        break;
    case INPUT_MOUSE:
        strbuf_printf(out, "(%d %d,%d)", (int)event->button, event->row, event->col);
        break;
    }
}

// What the bytes come to: keys by name, {…} for a paste, ! where something is incomplete.
static void
decode(const char *bytes, size_t len, bool is_late, struct strbuf *out)
{
    struct input input = {0};
    struct input_event event;
    input_feed(&input, (struct bytes){bytes, len});
    while (input_next(&input, is_late, &event))
        print_event(&event, out);
    if (input_delay(&input) >= 0)
        strbuf_add_char(out, '!');
    input_release(&input);
}

static const struct {
    const char *bytes;
    size_t len;
    const char *keys;
} sequences[] = {
#define ROW(bytes, keys)                                                                                     \
    {                                                                                                        \
        bytes, sizeof bytes - 1, keys                                                                        \
    }
    ROW("jk", "jk"),
    ROW("\x04\x00\x1c\x7f\b\r\n\t", "<C-d><C-Space><C-\\><BS><BS><Enter><Enter><Tab>"),
    ROW("\033[A\033OB\033[1;5C\033[1;2D", "<Up><Down><C-Right><S-Left>"),
    ROW("\033[5~\033[6~\033[2~\033[3;3~\033[H\033[4~", "<PgUp><PgDn><Ins><A-Del><Home><End>"),
    ROW("\033OP\033[15~\033[[A\033[[E\033[24~\033[1;2P", "<F1><F5><F1><F5><F12><S-F1>"),
    ROW("\033[Z", "<S-Tab>"),
    ROW("\033x\033\r\033\177\033\xc3\xa4", "<A-x><A-Enter><A-BS><A-ä>"),
    ROW("\033\033[A", "<A-Up>"),
    ROW("\033\033x", "<Esc><A-x>"),
    ROW("ä漢", "ä漢"),
    ROW("\xff\x9b"
        "a\xed\xa0\x80"
        "b",
        "ab"),
    // NOLINTNEXTLINE(misc-misleading-bidirectional)
    ROW("\u202e\ue000q", "q"),
    ROW("\033[27;5;13~j", "j"),
    ROW("\033[1;1Rj\033[?62;4cj\033[>0;1cj\033[13;2uj", "jjjj"),
    ROW("\033]11;rgb:00/00/00\033\\j\033]0;x\aj", "(dark)jj"),
    ROW("\033]11;rgb:ffff/ffff/ffff\aj\033]11;rgb:fd/f6/e3\a", "(light)j(light)"),
    ROW("\033]11;rgb:0000/2b2b/3636\033\\", "(dark)"),
    ROW("\033]11;rgb:ff/ff\aj\033]11;rgb:/f/f\aj\033]11;rgb:fffff/0/0\aj\033]11;rgb:f/f/f/f\aj", "jjjj"),
    ROW("\033]10;rgb:ff/ff/ff\aj\033]11;?\aj\033[?62;22cj", "jjj"),
    ROW("\033P1$r0m\033\\j\033_x\033\\j\033^x\033\\j\033Xx\033\\j", "jjjj"),
    ROW("\033[200~RDq\r\nx\033[201~j", "{RDq\r\nx}j"),
    ROW("\033[200~a\033[31mb\033[201~", "{a\033[31mb}"),
    ROW("\033[<0;5;3M\033[<0;5;3m\033[<64;1;1Mj", "(0 2,4)(1 0,0)j"),
    ROW("\033[M !!j", "j"),
    ROW("\033[12\rj", "<Enter>j"),
    ROW("\033Pjj\x07j\033]jj\033[Aj\033Xj\rj", "<C-g>j<Up>j<Enter>j"),
    ROW("\033", "!"),
    ROW("a\033[", "a!"),
    ROW("\033[200~ab", "!"),
    ROW("\xe6\xbc", "!"),
#undef ROW
};

static void
bytes_become_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        struct strbuf keys = {0};
        decode(sequences[i].bytes, sequences[i].len, false, &keys);
        if (strcmp(strbuf_text(&keys), sequences[i].keys) != 0)
            fail_msg("row %zu: %s instead of %s", i, strbuf_text(&keys), sequences[i].keys);
        strbuf_release(&keys);
    }
}

static void
what_stays_incomplete_is_settled(void **state)
{
    static const char *const rows[][2] = {
        {"\033", "<Esc>"}, {"\033\033", "<Esc><Esc>"}, {"\033[", ""},           {"\033[1;", ""},
        {"\033O", ""},     {"\033]0;abc", ""},         {"\033[200~ab", "{ab}"}, {"\xe6\xbc", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf keys = {0};
        decode(rows[i][0], strlen(rows[i][0]), true, &keys);
        assert_string_equal(strbuf_text(&keys), rows[i][1]);
        strbuf_release(&keys);
    }
}

// A slow link cuts anywhere; the keys are the same.
static void
pieces_come_to_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        struct input input = {0};
        struct strbuf keys = {0};
        struct input_event event;
        for (size_t at = 0; at < sequences[i].len; at++) {
            input_feed(&input, (struct bytes){sequences[i].bytes + at, 1});
            while (input_next(&input, false, &event))
                print_event(&event, &keys);
        }
        strbuf_add_text(&keys, input_delay(&input) >= 0 ? "!" : "");
        assert_string_equal(strbuf_text(&keys), sequences[i].keys);
        strbuf_release(&keys);
        input_release(&input);
    }
}

static const char *const shipped[] = {"default", "emacs", "mc", "vi"};

static void
shipped_maps_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct strbuf warnings = {0}, missing = {0};
        struct err err = {0};
        struct keymap *keymap = keymap_load(shipped[i], NULL, &warnings, &err);
        if (!keymap)
            fail_msg("%s: %s", shipped[i], err.text);
        assert_string_equal(strbuf_text(&warnings), "");
        keymap_missing(keymap, &missing);
        assert_string_equal(strbuf_text(&missing), "");
        keymap_destroy(keymap);
        strbuf_release(&warnings);
        strbuf_release(&missing);
    }
}

// A slip of the finger must change nothing: no lower-case letter and no Ctrl chord starts a change.
static void
changing_keys_are_shifted(void **state)
{
    (void)state;
    struct keymap *keymap = keymap_load("default", NULL, NULL, NULL);
    for (int c = 0; c < CONTEXT_COUNT; c++) {
        for (int a = DO_NONE + 1; a < DO_COUNT; a++) {
            struct key_sequence keys;
            if (action_row((enum action)a)->effect != EFFECT_CHANGES || c == CONTEXT_DIALOG)
                continue;
            for (size_t i = 0; keymap_keys(keymap, (enum context)c, (enum action)a, i, &keys); i++) {
                assert_int_equal(keys.count, 1);
                if (keys.keys[0] < 'A' || keys.keys[0] > 'Z')
                    fail_msg("%s in %s", action_row((enum action)a)->word, context_name((enum context)c));
            }
        }
    }
    keymap_destroy(keymap);
}

// Multiplexers, consoles and flow control take some keys: those are never the only ones of an action.
static void
unsure_keys_are_never_alone(void **state)
{
    static const char *const unsure[] = {"<C-a>", "<C-b>",  "<C-s>",    "<C-q>", "<F1>", "<F10>",
                                         "<F11>", "<S-Up>", "<S-Down>", "<Esc>", "~",    "<Del>"};
    (void)state;
    struct keymap *keymap = keymap_load("default", NULL, NULL, NULL);
    for (int c = 0; c < CONTEXT_PROMPT; c++) {
        for (int a = DO_NONE + 1; a < DO_COUNT; a++) {
            struct key_sequence first, second;
            bool is_extra = a == DO_EXTEND_DOWN || a == DO_EXTEND_UP; // v and a movement do the same
            if (is_extra || !keymap_keys(keymap, (enum context)c, (enum action)a, 0, &first) ||
                keymap_keys(keymap, (enum context)c, (enum action)a, 1, &second))
                continue;
            struct strbuf text = {0};
            key_print_sequence(&first, &text);
            for (size_t i = 0; i < sizeof unsure / sizeof *unsure; i++)
                if (strcmp(strbuf_text(&text), unsure[i]) == 0)
                    fail_msg("%s is the only key of %s", unsure[i], action_row((enum action)a)->word);
            strbuf_release(&text);
        }
    }
    keymap_destroy(keymap);
}

// A person's folder with one keymap in it.
struct folder {
    char path[64];
    struct ui_places places;
};

static void
write_map(struct folder *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/keymaps", folder->path);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/keymaps/%s.keymap", folder->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int
make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    snprintf(folder->path, sizeof folder->path, "/tmp/redrive-keymap-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    folder->places.config_home = folder->path;
    *state = folder;
    return 0;
}

static int
remove_folder(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"mine", "default", "other"};
    char path[200];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/keymaps/%s.keymap", folder->path, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/keymaps", folder->path);
    (void)rmdir(path);
    (void)rmdir(folder->path);
    free(folder);
    return 0;
}

static void
assert_key(const struct keymap *keymap, enum context context, const char *keys, enum action expected)
{
    struct key_sequence sequence;
    enum action action = DO_NONE;
    assert_true(key_parse_sequence(bytes_of(keys), &sequence, NULL));
    enum keymap_answer answer = keymap_find(keymap, context, &sequence, &action);
    assert_int_equal(answer == KEYMAP_ACTION ? action : DO_NONE, expected);
}

static void
a_file_overrides_what_it_includes(void **state)
{
    struct folder *folder = *state;
    write_map(folder, "mine",
              "include(\"default.keymap\")\n"
              "# a comment\n"
              "list {\n"
              "    reprocess  = {\"a\"}\n"
              "    half-down += {\"<C-v>\", \"gd\"}\n"
              "    discard    = {}\n"
              "}\n"
              "groups { open = {\"o\"} }\n");
    struct strbuf warnings = {0}, dump = {0};
    struct err err = {0};
    struct keymap *keymap = keymap_load("mine", &folder->places, &warnings, &err);
    if (!keymap)
        fail_msg("%s", err.text);
    assert_key(keymap, CONTEXT_LIST, "a", DO_REPROCESS);
    assert_key(keymap, CONTEXT_VIEW_events, "a", DO_REPROCESS);
    assert_key(keymap, CONTEXT_LIST, "R", DO_NONE);
    assert_key(keymap, CONTEXT_TEXT, "R", DO_REPROCESS);
    assert_key(keymap, CONTEXT_LIST, "D", DO_NONE);
    assert_key(keymap, CONTEXT_LIST, "<C-d>", DO_HALF_DOWN);
    assert_key(keymap, CONTEXT_LIST, "gd", DO_HALF_DOWN);
    assert_key(keymap, CONTEXT_VIEW_groups, "o", DO_OPEN);
    assert_key(keymap, CONTEXT_VIEW_events, "o", DO_SORT);
    assert_key(keymap, CONTEXT_PROMPT, "a", DO_NONE);
    char path[200];
    snprintf(path, sizeof path, "%s/keymaps/mine.keymap:4: a now does reprocess in list; it did select-group",
             folder->path);
    assert_non_null(strstr(strbuf_text(&warnings), path));

    // What is dumped can be read again and is the same.
    keymap_dump(keymap, &dump);
    write_map(folder, "other", strbuf_text(&dump));
    struct keymap *again = keymap_load("other", &folder->places, NULL, &err);
    if (!again)
        fail_msg("%s", err.text);
    assert_key(again, CONTEXT_LIST, "a", DO_REPROCESS);
    assert_key(again, CONTEXT_LIST, "\\", DO_FILTER);
    assert_key(again, CONTEXT_LIST, "\"", DO_SHOW_SELECTED);
    assert_key(again, CONTEXT_LIST, "D", DO_NONE);
    keymap_destroy(again);
    keymap_destroy(keymap);
    strbuf_release(&warnings);
    strbuf_release(&dump);
}

static void
a_map_may_include_its_namesake(void **state)
{
    struct folder *folder = *state;
    write_map(folder, "default", "include(\"default.keymap\")\nlist { open += {\"E\"} }\n");
    struct keymap *keymap = keymap_load("default", &folder->places, NULL, NULL);
    assert_non_null(keymap);
    assert_key(keymap, CONTEXT_LIST, "E", DO_OPEN);
    assert_key(keymap, CONTEXT_LIST, "<Enter>", DO_OPEN);
    keymap_destroy(keymap);
}

static void
mistakes_name_their_line(void **state)
{
    static const struct {
        const char *text;
        const char *said;
    } rows[] = {
        {"list {\n  reproces = {\"R\"}\n}\n",
         "mine.keymap:2: there is no action \"reproces\"; did you mean reprocess?"},
        {"# a\n# b\nlists {\n}\n", "mine.keymap:3: there is no section \"lists\"; did you mean list?"},
        {"prompt {\n discard = {\"D\"}\n}\n", "mine.keymap:2: discard has no meaning in prompt"},
        {"list {\n open = {\"x\"}\n sort = {\"x\"}\n}\n",
         "mine.keymap:3: x does open in list already, by line 2"},
        {"list {\n # c\n open = {\"<C-i>\"}\n}\n", "mine.keymap:3: <C-i> is the same"},
        {"list {\n open = {\"a\"\n", "the file ends too early"},
        {"include(\"nope\")\n", "mine.keymap:1: there is no keymap \"nope\""},
        {"include(\"mine\")\n", "there is no keymap \"mine\""},
        {"unbound = {\"nope\"}\n", "there is no action \"nope\""},
    };
    struct folder *folder = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        write_map(folder, "mine", rows[i].text);
        assert_null(keymap_load("mine", &folder->places, NULL, &err));
        if (!strstr(err.text, rows[i].said))
            fail_msg("row %zu: %s", i, err.text);
    }
    struct err err = {0};
    assert_null(keymap_load("emcas", &folder->places, NULL, &err));
    assert_non_null(strstr(err.text, "did you mean emacs?"));
    assert_null(keymap_load("/nowhere/x", NULL, NULL, &err));
}

static void
hidden_sequences_are_reported(void **state)
{
    struct folder *folder = *state;
    struct strbuf warnings = {0};
    write_map(folder, "mine",
              "include(\"default\")\nlist { open += {\"g\"} }\nglobal { quit = {} back = {} }\n");
    struct keymap *keymap = keymap_load("mine", &folder->places, &warnings, NULL);
    assert_non_null(keymap);
    assert_non_null(strstr(strbuf_text(&warnings), "gg cannot be reached in list"));
    assert_non_null(strstr(strbuf_text(&warnings), "no key leaves the program"));
    keymap_destroy(keymap);
    strbuf_release(&warnings);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_keys_are_read_and_written),
        cmocka_unit_test(impossible_keys_are_refused_with_the_reason),
        cmocka_unit_test(a_long_paste_is_never_keys),
        cmocka_unit_test(bytes_become_keys),
        cmocka_unit_test(what_stays_incomplete_is_settled),
        cmocka_unit_test(pieces_come_to_the_same),
        cmocka_unit_test(shipped_maps_are_complete),
        cmocka_unit_test(changing_keys_are_shifted),
        cmocka_unit_test(unsure_keys_are_never_alone),
        cmocka_unit_test_setup_teardown(a_file_overrides_what_it_includes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_map_may_include_its_namesake, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(mistakes_name_their_line, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(hidden_sequences_are_reported, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("keymap", tests, NULL, NULL);
}
