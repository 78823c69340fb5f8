// Recipes: what each operation does, where it does not apply, and that nothing beside it changes.
#include "core/recipe/recipe.h"
#include "core/recipe/tally.h"

#include <stdlib.h>
#include "core/json/json.h"
#include "core/json/match.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

static struct recipe *
recipe_of(const char *text)
{
    struct recipe *recipe = NULL;
    struct err err = {0};
    if (!recipe_parse(&recipe, "r", bytes_of(text), &err))
        fail_msg("%s\n%s", text, err.text);
    return recipe;
}

// One recipe of the cases and the input it is being tried on.
struct trial {
    struct strbuf text;
    struct recipe *recipe;
    struct strbuf in;
    int line, cases, failures;
};

static void
trial_says(struct trial *trial, const char *said, const char *expected)
{
    trial->cases++;
    if (strstr(said, expected) && (expected[0] != '\1' || strcmp(said, expected) == 0))
        return;
    print_error("apply.txt:%d: %s\n  not %s\n", trial->line, said, expected + (expected[0] == '\1'));
    trial->failures++;
}

static void
trial_check(struct trial *trial, const char *expected)
{
    if (!trial->recipe)
        trial->recipe = recipe_of(strbuf_text(&trial->text));
    struct arena arena = {0};
    struct record_parts in = {.payload = strbuf_bytes(&trial->in), .partition = PARTITION_NONE};
    struct record_parts out, again;
    struct recipe_note note, second;
    enum recipe_outcome outcome = recipe_apply(trial->recipe, &in, NULL, &arena, &out, &note);
    bool is_stable = recipe_is_stable_on(trial->recipe, &out, NULL, &arena, &second);
    bool is_same = recipe_apply(trial->recipe, &out, NULL, &arena, &again, NULL) != RECIPE_CHANGED;
    assert_int_equal(is_stable, is_same);
    assert_int_equal(!is_stable, second.line > 0);

    struct strbuf said = {0}, wanted = {0};
    if (outcome == RECIPE_CHANGED)
        strbuf_printf(&said, "\1%s: %.*s", is_stable ? "out" : "again", BYTES_ARGS(out.payload));
    else if (outcome == RECIPE_UNCHANGED)
        strbuf_add_text(&said, "\1unchanged");
    else
        strbuf_printf(&said, "%s %d %s", recipe_outcome_name(outcome), note.line, note.reason);
    if (outcome != RECIPE_CHANGED)
        assert_true(out.payload.data == in.payload.data);
    strbuf_printf(&wanted, "%s%s", said.data[0] == '\1' ? "\1" : "", expected);
    // The reason is given in part: outcome and line first, then the part.
    const char *part = strchr(expected, ' ');
    part = part ? strchr(part + 1, ' ') : NULL;
    if (said.data[0] != '\1' && part) {
        size_t head = (size_t)(part - expected);
        trial->failures += strncmp(strbuf_text(&said), expected, head) != 0;
        trial_says(trial, strbuf_text(&said), part + 1);
    } else {
        trial_says(trial, strbuf_text(&said), strbuf_text(&wanted));
    }
    strbuf_release(&said);
    strbuf_release(&wanted);
    arena_release(&arena);
}

static void
trial_line(struct trial *trial, const char *line, bool *in_recipe)
{
    if (strncmp(line, "recipe: ", 8) == 0) {
        if (!*in_recipe) {
            strbuf_reset(&trial->text);
            recipe_destroy(trial->recipe);
            trial->recipe = NULL;
        }
        *in_recipe = true;
        strbuf_printf(&trial->text, "%s\n", line + 8);
        return;
    }
    *in_recipe = false;
    if (strncmp(line, "in: ", 4) == 0) {
        strbuf_reset(&trial->in);
        strbuf_add_text(&trial->in, line + 4);
    } else if (line[0] && line[0] != '#') {
        trial_check(trial, line);
    }
}

static void
operations_do_what_the_cases_say(void **state)
{
    (void)state;
    FILE *file = fopen("tests/cases/recipe/apply.txt", "r");
    assert_non_null(file);
    struct trial trial = {0};
    char line[512];
    bool in_recipe = false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        trial.line++;
        trial_line(&trial, line, &in_recipe);
    }
    fclose(file);
    recipe_destroy(trial.recipe);
    strbuf_release(&trial.text);
    strbuf_release(&trial.in);
    assert_int_equal(trial.failures, 0);
    assert_true(trial.cases > 100);
}

static bool
check_wrong(char *text, const char *expected)
{
    struct strbuf lines = {0};
    for (const char *at = text; *at; at++) {
        bool is_end = at[0] == '\\' && at[1] == 'n';
        strbuf_add_char(&lines, is_end ? '\n' : *at);
        at += is_end;
    }
    struct recipe *recipe;
    struct err err = {0};
    bool is_read = recipe_parse(&recipe, "r", strbuf_bytes(&lines), &err);
    bool ok = !is_read && strncmp(err.text, expected, strlen(expected)) == 0;
    // "r:LINE:COLUMN: …", where it is about a place.
    struct strbuf place = {0};
    strbuf_printf(&place, "r:%d:%d:", err.line, err.column);
    ok = ok && (err.line == 0 || strncmp(expected, strbuf_text(&place), place.len) == 0);
    strbuf_release(&place);
    if (!ok)
        print_error("%s: %s (%d:%d)\n  not %s\n", text, is_read ? "was read" : err.text, err.line, err.column,
                    expected);
    if (is_read)
        recipe_destroy(recipe);
    strbuf_release(&lines);
    return ok;
}

static void
mistakes_have_a_line_and_a_column(void **state)
{
    (void)state;
    each_case("tests/cases/recipe/wrong.txt", check_wrong);
    struct recipe *recipe;
    struct err err = {0};
    assert_false(recipe_parse(&recipe, "r", (struct bytes){"set $.a 1\nset $.b\0 1", 21}, &err));
    assert_string_equal(err.text, "r:2:8: expected text in UTF-8 without control characters");
    struct strbuf many = {0};
    for (int i = 0; i <= RECIPE_OPERATIONS; i++)
        strbuf_add_text(&many, "set $.a 1\n");
    err_clear(&err);
    assert_false(recipe_parse(&recipe, "r", strbuf_bytes(&many), &err));
    assert_int_equal(err.line, RECIPE_OPERATIONS + 1);
    strbuf_release(&many);
}

static const char EVERY[] = "\xEF\xBB\xBF# every operation\r\n"
                            "\r\n"
                            "set  $.a   {\"b\": [1, \"# no comment\"]}\t# a comment\r\n"
                            "default header:\"odd name\" {\"base64\":\"/w==\"}\n"
                            "add $.list[*]['a b'] null\n"
                            "remove $.x\n"
                            "rename $.y \"new name\"\n"
                            "copy $.o[*].c $.o[*].l[*].c\n"
                            "move $.m key\n"
                            "to-number $.n\nto-text $.t\nto-boolean $.b\n"
                            "unwrap $.w\n"
                            "replace $.s /a b\\/(c)/$1 \\/ $$/\n"
                            "expect partition absent\nexpect $.q = {\"a\": 1}\nexpect $.r ~ /x # y/ # z\n"
                            "jq .a |= map(. + 1) # jq's own comment";

static void
a_printed_recipe_is_the_same_recipe(void **state)
{
    (void)state;
    struct recipe *recipe = recipe_of(EVERY);
    struct strbuf once = {0}, twice = {0};
    recipe_print(recipe, &once);
    struct recipe *again = recipe_of(strbuf_text(&once));
    recipe_print(again, &twice);
    assert_string_equal(strbuf_text(&once), strbuf_text(&twice));
    assert_string_equal(strbuf_text(&once), "set $.a {\"b\": [1, \"# no comment\"]}\n"
                                            "default header:\"odd name\" {\"base64\":\"/w==\"}\n"
                                            "add $.list[*]['a b'] null\n"
                                            "remove $.x\n"
                                            "rename $.y \"new name\"\n"
                                            "copy $.o[*].c $.o[*].l[*].c\n"
                                            "move $.m key\n"
                                            "to-number $.n\nto-text $.t\nto-boolean $.b\n"
                                            "unwrap $.w\n"
                                            "replace $.s /a b\\/(c)/$1 \\/ $$/\n"
                                            "expect partition absent\nexpect $.q = {\"a\": 1}\n"
                                            "expect $.r ~ /x # y/\n"
                                            "jq .a |= map(. + 1) # jq's own comment\n");
    // Every row of the table occurs, and the twin has the same.
    const char *arguments, *sentence, *word;
    for (size_t i = 0; (word = recipe_word(i, &arguments, &sentence)) != NULL; i++) {
        assert_true(strlen(arguments) > 0 && strlen(sentence) > 0);
        assert_non_null(strstr(strbuf_text(&once), word));
    }
    int line;
    struct recipe *twin = recipe_twin(recipe);
    assert_int_equal(recipe_count(twin), 16);
    strbuf_reset(&twice);
    recipe_print_operation(twin, 0, &word, &line, &twice);
    assert_string_equal(word, "set");
    assert_int_equal(line, 3);
    strbuf_reset(&twice);
    recipe_print(twin, &twice);
    assert_string_equal(strbuf_text(&once), strbuf_text(&twice));
    recipe_destroy(twin);
    recipe_destroy(again);
    recipe_destroy(recipe);
    strbuf_release(&once);
    strbuf_release(&twice);
}

// A record with a key, two headers of one name, one that is not UTF-8, and one without a value.
static const struct event_header HEADERS[] = {
    {{"h", 1}, {"1", 1}}, {{"bin", 3}, {"\xff\x00", 2}}, {{"h", 1}, {"two", 3}}, {{"none", 4}, {NULL, 0}}};

static void
print_record(const struct record_parts *parts, struct strbuf *out)
{
    strbuf_printf(out, "%.*s | ", BYTES_ARGS(parts->payload));
    parts_json(parts->key, out);
    strbuf_printf(out, " %.*s/%d", BYTES_ARGS(parts->topic), parts->partition);
    for (size_t i = 0; i < parts->header_count; i++) {
        strbuf_printf(out, " %.*s=", BYTES_ARGS(parts->headers[i].name));
        parts_json(parts->headers[i].value, out);
    }
}

static const struct {
    const char *recipe, *expected;
} record_rows[] = {
    {"set key \"k2\"", "{\"id\":7} | \"k2\" t/3 h=\"1\" bin={\"base64\":\"/wA=\"} h=\"two\" none=null"},
    {"set key {\"base64\":\"/w==\"}\nremove header:h\nset partition null",
     "{\"id\":7} | {\"base64\":\"/w==\"} t/-1 bin={\"base64\":\"/wA=\"} none=null"},
    {"set header:h \"x\"\nset header:new 5\nremove key\nremove partition",
     "{\"id\":7} | null t/-1 h=\"1\" bin={\"base64\":\"/wA=\"} h=\"x\" none=null new=\"5\""},
    {"rename header:h g\nset topic \"t.2\"\nset header:bin null\nset partition 0",
     "{\"id\":7} | \"k\" t.2/0 g=\"1\" bin=null g=\"two\" none=null"},
    {"add header:h \"three\"\ndefault header:none 1",
     "{\"id\":7} | \"k\" t/3 h=\"1\" bin={\"base64\":\"/wA=\"} h=\"two\" none=null h=\"three\""},
    {"remove key\ncopy $.id key\ncopy header:bin $.bin\ncopy key $.key\ncopy partition header:none",
     "{\"id\":7,\"bin\":{\"base64\":\"/wA=\"},\"key\":\"7\"} | \"7\" t/3 h=\"1\" bin={\"base64\":\"/wA=\"} "
     "h=\"two\" none=\"3\""},
    {"replace topic /$/-retry/\nreplace header:h /w/W/\nreplace key /k/\"/",
     "{\"id\":7} | \"\\\"\" t-retry/3 h=\"1\" bin={\"base64\":\"/wA=\"} h=\"tWo\" none=null"},
    {"move header:h $.h\nexpect header:h absent\nexpect partition = 3.0\nexpect key ~ /^k$/\nexpect "
     "header:none null",
     "{\"id\":7,\"h\":\"two\"} | \"k\" t/3 bin={\"base64\":\"/wA=\"} none=null"},
    {"set header:\"odd \\u00e9\" \"x\"",
     "{\"id\":7} | \"k\" t/3 h=\"1\" bin={\"base64\":\"/wA=\"} h=\"two\" none=null odd é=\"x\""},
    {"remove partition\ncopy header:h partition", "not_applicable"},
    {"copy $.id key", "not_applicable 1 key is already set"},
    {"copy header:h $.s\nreplace $.s /two/\\\\/", "{\"id\":7,\"s\":\"\\\\\"} | \"k\" t/3 h=\"1\" "
                                                  "bin={\"base64\":\"/wA=\"} h=\"two\" none=null"},
    {"set $.s \"\\ud800\"\ncopy $.s header:s", "not_applicable 2 header:s holds text, not \"\\ud800\""},
    {"remove header:x", "not_applicable 1 header:x does not exist"},
    {"rename header:h none", "not_applicable 1 header:none exists already"},
    {"replace header:bin /x/y/", "not_applicable 1 header:bin is not text"},
    {"copy $ header:x", "not_applicable 1 header:x holds text, not {\"id\":7}"},
    {"expect topic = \"u\"", "not_applicable 1 topic is not as expected (= \"u\")"},
    {"replace topic /t//", "invalid 1 \"\" is no name of a topic"},
    {"copy $.id topic\nset key \"k\"",
     "{\"id\":7} | \"k\" 7/3 h=\"1\" bin={\"base64\":\"/wA=\"} h=\"two\" none=null"},
    {"set key \"k\"\nset topic \"t\"\nset header:h \"two\"\nset partition 3\ndefault key 1", "unchanged"},
};

static void
the_record_is_edited_like_the_payload(void **state)
{
    (void)state;
    struct record_parts in = {.payload = BYTES("{\"id\":7}"),
                              .key = BYTES("k"),
                              .topic = BYTES("t"),
                              .partition = 3,
                              .headers = HEADERS,
                              .header_count = 4};
    for (size_t i = 0; i < sizeof record_rows / sizeof record_rows[0]; i++) {
        struct arena arena = {0};
        struct record_parts out;
        struct recipe_note note;
        struct recipe *recipe = recipe_of(record_rows[i].recipe);
        struct strbuf said = {0};
        enum recipe_outcome outcome = recipe_apply(recipe, &in, NULL, &arena, &out, &note);
        if (outcome == RECIPE_CHANGED)
            print_record(&out, &said);
        else if (outcome == RECIPE_UNCHANGED)
            strbuf_add_text(&said, "unchanged");
        else
            strbuf_printf(&said, "%s %d %s", recipe_outcome_name(outcome), note.line, note.reason);
        assert_int_equal(outcome == RECIPE_CHANGED, !parts_equal(&in, &out));
        if (strcmp(record_rows[i].expected, "not_applicable") == 0)
            assert_int_not_equal(outcome, RECIPE_CHANGED);
        else
            assert_string_equal(strbuf_text(&said), record_rows[i].expected);
        strbuf_release(&said);
        recipe_destroy(recipe);
        arena_release(&arena);
    }
}

static void
without_a_payload_only_the_record_is_edited(void **state)
{
    (void)state;
    static const struct {
        struct bytes payload;
        const char *reason;
    } rows[] = {{{NULL, 0}, "there is no payload: the value is null"},
                {{"", 0}, "the payload: this is not JSON: line 1, column 1: expected a value"},
                {{"\x00\x01\xff", 3}, "the payload: this is not JSON: line 1, column 1: expected a value"}};
    static const char *const recipes[] = {"set $.a 1",         "set $ 1",          "default $.a 1",
                                          "add $.a 1",         "remove $.a",       "rename $.a b",
                                          "copy key $.a",      "move $.a key",     "to-text $.a",
                                          "replace $.a /x/y/", "expect $.a absent"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct record_parts in = {.payload = rows[i].payload, .key = BYTES("k"), .topic = BYTES("t")};
        struct record_parts out;
        struct recipe_note note;
        struct arena arena = {0};
        for (size_t j = 0; j < sizeof recipes / sizeof recipes[0]; j++) {
            struct recipe *recipe = recipe_of(recipes[j]);
            assert_int_equal(recipe_apply(recipe, &in, NULL, &arena, &out, &note), RECIPE_NOT_APPLICABLE);
            assert_string_equal(note.reason, rows[i].reason);
            recipe_destroy(recipe);
        }
        struct recipe *recipe = recipe_of("set key \"x\"");
        assert_int_equal(recipe_apply(recipe, &in, NULL, &arena, &out, &note), RECIPE_CHANGED);
        assert_true(out.payload.data == in.payload.data);
        recipe_destroy(recipe);
        arena_release(&arena);
    }
}

// A jq for the tests: its context is what it answers, NULL: it fails.
static bool
fake_jq(void *context, const char *program, struct bytes payload, struct strbuf *out, struct err *err)
{
    assert_string_equal(program, ".a");
    assert_true(payload.len > 0);
    const char *answer = context;
    if (!answer)
        return err_set(err, ERR_DATA, "it took longer than 1s");
    strbuf_add_text(out, answer);
    return true;
}

static void
jq_is_the_hosts(void **state)
{
    (void)state;
    struct recipe *recipe = recipe_of("jq .a");
    struct record_parts in = {.payload = BYTES("{\"a\":[12345678901234567890],\"b\":1,\"b\":2}")};
    struct record_parts out;
    struct recipe_note note;
    struct arena arena = {0};
    struct recipe_host host = {.jq = fake_jq};
    assert_int_equal(recipe_apply(recipe, &in, NULL, &arena, &out, &note), RECIPE_FAILED);
    assert_string_equal(note.reason, "jq cannot be run here; use the other operations");
    assert_int_equal(recipe_apply(recipe, &in, &host, &arena, &out, &note), RECIPE_FAILED);
    assert_string_equal(note.reason, "jq: it took longer than 1s");
    static char good[] = "[1]", two[] = "1\n2", none[] = "\n";
    host.context = good;
    assert_int_equal(recipe_apply(recipe, &in, &host, &arena, &out, &note), RECIPE_CHANGED);
    assert_true(bytes_equal_text(out.payload, "[1]"));
    assert_int_equal(note.warnings, 1u << RECIPE_WARN_JQ_NUMBER | 1u << RECIPE_WARN_JQ_DUPLICATE);
    assert_true(recipe_is_stable_on(recipe, &out, &host, &arena, &note));
    host.context = two;
    assert_int_equal(recipe_apply(recipe, &in, &host, &arena, &out, &note), RECIPE_INVALID);
    assert_string_equal(note.reason,
                        "what jq made: this is not JSON: line 2, column 1: expected nothing more "
                        "after the value");
    host.context = none;
    assert_int_equal(recipe_apply(recipe, &in, &host, &arena, &out, &note), RECIPE_FAILED);
    recipe_destroy(recipe);
    arena_release(&arena);
}

static unsigned
warnings_of(const char *text, const char *payload)
{
    struct recipe *recipe = recipe_of(text);
    struct record_parts in = {.payload = bytes_of(payload)}, out;
    struct recipe_note note;
    struct arena arena = {0};
    assert_int_equal(recipe_apply(recipe, &in, NULL, &arena, &out, &note), RECIPE_CHANGED);
    recipe_destroy(recipe);
    arena_release(&arena);
    return note.warnings;
}

static void
risks_are_in_the_note(void **state)
{
    (void)state;
    assert_int_equal(warnings_of("set $.a 1", "{\"a\":2}"), 0);
    assert_int_equal(warnings_of("set $.a 1", "{\"a\":2,\"a\":3}"), 1u << RECIPE_WARN_DUPLICATE);
    assert_int_equal(warnings_of("to-number $.a", "{\"a\":\"9007199254740993\"}"), 1u << RECIPE_WARN_NUMBER);
    assert_int_equal(warnings_of("to-number $.a", "{\"a\":\"9007199254740992\"}"), 0);
    for (int i = 0; i < RECIPE_WARN_COUNT; i++)
        assert_true(strlen(recipe_warning_sentence((enum recipe_warning)i)) > 0);
    for (int i = 0; i < RECIPE_OUTCOMES; i++)
        assert_true(strlen(recipe_outcome_name((enum recipe_outcome)i)) > 0);
}

// What the recipe replaces in each event, told to a tally.
static bool
levels(const char *text, const char *const *payloads)
{
    struct correct_tally tally = {0};
    for (; *payloads; payloads++) {
        struct recipe *recipe = recipe_of(text);
        struct event_header header = {.name = BYTES("h"), .value = bytes_of(*payloads)};
        struct record_parts in = {.payload = bytes_of(*payloads), .headers = &header, .header_count = 1}, out;
        struct recipe_note note;
        struct arena arena = {0};
        assert_true(recipe_apply(recipe, &in, NULL, &arena, &out, &note) <= RECIPE_UNCHANGED);
        correct_tally_replaced(&tally, note.replaced);
        recipe_destroy(recipe);
        arena_release(&arena);
    }
    return tally.is_levelled;
}

static void
different_values_that_become_one_are_noticed(void **state)
{
    (void)state;
    const char *const differ[] = {"{\"a\":1,\"b\":1}", "{\"a\":2,\"b\":1}", NULL};
    assert_true(levels("set $.a 9", differ));
    assert_true(levels("set $.b 9\nset $.a 9", differ));
    assert_true(levels("set header:h \"x\"", differ));
    assert_false(levels("set $.b 9", differ));
    assert_false(levels("set $.new 9", differ));
    assert_false(levels("default $.a 9", differ));
    assert_false(levels("set header:new \"x\"", differ));
    assert_false(levels("set $.a 1", differ)); // only one of them has another value
    const char *const equal[] = {"{\"a\":[5]}", "{\"a\":[5,5]}", "{\"a\":[5,9]}", NULL};
    assert_false(levels("set $.a[*] 9", equal));
    const char *const lists[] = {"{\"a\":[5,6]}", "{\"a\":[5,7]}", NULL};
    assert_true(levels("set $.a[*] 9", lists));
}

static enum recipe_outcome
outcome_of(const char *text, struct bytes payload, struct recipe_note *note)
{
    struct recipe *recipe = recipe_of(text);
    struct record_parts in = {.payload = payload}, out;
    struct arena arena = {0};
    enum recipe_outcome outcome = recipe_apply(recipe, &in, NULL, &arena, &out, note);
    recipe_destroy(recipe);
    arena_release(&arena);
    return outcome;
}

static void
add_many(struct strbuf *out, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        strbuf_add_text(out, text);
}

static void
limits_end_as_failures(void **state)
{
    (void)state;
    struct recipe_note note;
    struct strbuf text = {0};
    // Too many bytes, too many tokens.
    add_many(&text, "[", 1);
    add_many(&text, "        ", JSON_BYTES / 8);
    add_many(&text, "]", 1);
    assert_int_equal(outcome_of("expect $ array", strbuf_bytes(&text), &note), RECIPE_FAILED);
    strbuf_reset(&text);
    add_many(&text, "[1", 1);
    add_many(&text, ",1", JSON_TOKENS / 2);
    add_many(&text, "]", 1);
    assert_int_equal(outcome_of("expect $ array", strbuf_bytes(&text), &note), RECIPE_FAILED);
    assert_non_null(strstr(note.reason, "500,000 JSON tokens"));

    // A result that is too large: 300 kB in 16 places.
    strbuf_reset(&text);
    add_many(&text, "{\"a\":\"", 1);
    add_many(&text, "0123456789", 30000);
    add_many(&text, "\",\"l\":[{}", 1);
    add_many(&text, ",{}", 15);
    add_many(&text, "]}", 1);
    assert_int_equal(outcome_of("copy $.a $.l[*].a", strbuf_bytes(&text), &note), RECIPE_FAILED);
    assert_int_equal(
        outcome_of("replace $.a /./$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0/", strbuf_bytes(&text), &note),
        RECIPE_FAILED);

    // A result that is too deep.
    strbuf_reset(&text);
    add_many(&text, "{\"d\":", 1);
    add_many(&text, "[", 300);
    add_many(&text, "]", 300);
    add_many(&text, ",\"e\":", 1);
    add_many(&text, "[", 300);
    add_many(&text, "{}", 1);
    add_many(&text, "]", 300);
    add_many(&text, "}", 1);
    struct strbuf path = {0};
    add_many(&path, "remove $.", 1);
    add_many(&path, "abcd", RECIPE_PATH / 4);
    struct recipe *recipe;
    struct err err = {0};
    assert_false(recipe_parse(&recipe, "r", strbuf_bytes(&path), &err));
    assert_string_equal(err.text, "r:1:8: expected a path of at most 4,096 bytes");
    strbuf_reset(&path);
    add_many(&path, "copy $.d $.e", 1);
    add_many(&path, "[0]", 300);
    add_many(&path, ".x", 1);
    assert_int_equal(outcome_of(strbuf_text(&path), strbuf_bytes(&text), &note), RECIPE_INVALID);
    assert_non_null(strstr(note.reason, "512 levels"));

    // An expression that backtracks without end.
    strbuf_reset(&text);
    add_many(&text, "\"", 1);
    add_many(&text, "a", 40);
    add_many(&text, "b\"", 1);
    assert_int_equal(outcome_of("replace $ /^(a+)+$/x/", strbuf_bytes(&text), &note), RECIPE_FAILED);
    assert_string_equal(note.reason, "$: the regular expression ran into its limits");
    assert_int_equal(outcome_of("expect $ ~ /^(a+)+$/", strbuf_bytes(&text), &note), RECIPE_FAILED);
    strbuf_release(&text);
    strbuf_release(&path);
}

// The seconds that a recipe needs for a table of many lines.
static double
seconds_of(const char *text, struct bytes payload, enum recipe_outcome expected)
{
    struct recipe_note note;
    int64_t began = cpu_time();
    enum recipe_outcome outcome = outcome_of(text, payload, &note);
    if (outcome != expected)
        fail_msg("%s: %s, %s", text, recipe_outcome_name(outcome), note.reason);
    // Known before the result was put together.
    if (expected == RECIPE_FAILED)
        assert_string_equal(note.reason, "the result is too large");
    return (double)(cpu_time() - began) / (double)SECOND_SPENT;
}

static void
many_lines_take_linear_time(void **state)
{
    (void)state;
    static const char *const recipes[] = {"to-number $.l[*].a",
                                          "set $.l[*].c 1",
                                          "default $.l[*].c [1]",
                                          "remove $.l[*].a",
                                          "remove $.l[*]",
                                          "rename $.l[*].a c",
                                          "add $.l[*].t 1",
                                          "copy $.l[*].a $.l[*].c",
                                          "copy $.x $.l[*].c",
                                          "move $.l[*].a $.l[*].b.a",
                                          "replace $.l[*].a /1/2/",
                                          "replace $.x /./$0$0/",
                                          "expect $.l[*].a text\nset $.y 1"};
    struct strbuf text = {0};
    add_many(&text, "{\"x\":\"", 1);
    add_many(&text, "0123456789", 10000);
    add_many(&text, "\",\"l\":[{\"a\":\"1\",\"b\":{},\"t\":[]}", 1);
    add_many(&text, ",{\"a\":\"1\",\"b\":{},\"t\":[]}", 19999);
    add_many(&text, "]}", 1);
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        // 20,000 copies of 100 kB are too much.
        bool is_too_much = strcmp(recipes[i], "copy $.x $.l[*].c") == 0;
        double seconds =
            seconds_of(recipes[i], strbuf_bytes(&text), is_too_much ? RECIPE_FAILED : RECIPE_CHANGED);
        if (seconds > 5)
            fail_msg("%s took %.1f s", recipes[i], seconds);
    }
    strbuf_release(&text);
}

static void
tells_whether_it_is_of_the_payload_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_of_payload;
    } rows[] = {{"set $.a 1\nexpect $.b present\njq .c = 1", true},
                {"copy $.a $.b", true},
                {"copy $.a key", false},
                {"move key $.a", false},
                {"expect topic present\nset $.a 1", false},
                {"set $.a 1\nset header:h \"1\"", false},
                {"set partition 1", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct recipe *recipe = recipe_of(rows[i].text);
        assert_int_equal(recipe_is_of_payload(recipe), rows[i].is_of_payload);
        recipe_destroy(recipe);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_do_what_the_cases_say),
        cmocka_unit_test(mistakes_have_a_line_and_a_column),
        cmocka_unit_test(a_printed_recipe_is_the_same_recipe),
        cmocka_unit_test(the_record_is_edited_like_the_payload),
        cmocka_unit_test(without_a_payload_only_the_record_is_edited),
        cmocka_unit_test(jq_is_the_hosts),
        cmocka_unit_test(risks_are_in_the_note),
        cmocka_unit_test(different_values_that_become_one_are_noticed),
        cmocka_unit_test(limits_end_as_failures),
        cmocka_unit_test(many_lines_take_linear_time),
        cmocka_unit_test(tells_whether_it_is_of_the_payload_alone),
    };
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
