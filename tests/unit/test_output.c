// What commands write beside their JSON: nothing from outside reaches a terminal as it came, wherever it
// stands.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>
#include "base/log.h"
#include "commands/cli/output.h"

#define HOSTILE                                                                                              \
    "\033]0;owned\007 \033[2J \xc2\x9b"                                                                      \
    "31m \xe2\x80\xae evil \r\n\x7f"

static const struct call call = {.err_is_terminal = true};
static char told[4000];

static FILE *caught;
static int kept = -1;

// From here on what goes to `fd` is caught.
static void
catch_output(int fd)
{
    fflush(NULL);
    kept = dup(fd);
    caught = tmpfile();
    assert_non_null(caught);
    assert_true(dup2(fileno(caught), fd) >= 0);
}

static void
release_output(int fd)
{
    fflush(NULL);
    dup2(kept, fd);
    close(kept);
    rewind(caught);
    told[fread(told, 1, sizeof told - 1, caught)] = '\0';
    fclose(caught);
}

// All of it is there to be read, and none of it works.
static void
assert_harmless(const char *what)
{
    static const char turns[] = {'\xe2', '\x80', '\xae', '\0'}; // U+202E
    static const char *const raw[] = {"\033]", "\007", "\033[2J", "\xc2\x9b", turns, "\x7f", "evil \r"};
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        if (strstr(told, raw[i]))
            fail_msg("%s lets %zu through: %s", what, i, told);
    if (!strstr(told, "owned") || !strstr(told, "evil") ||
        (!strstr(told, "\\e]0;") && !strstr(told, "\\u001b]0;")))
        fail_msg("%s does not show what it was: %s", what, told);
}

static void
remarks_are_harmless(void **state)
{
    (void)state;
    catch_output(STDERR_FILENO);
    remark(&call, "%s", HOSTILE);
    release_output(STDERR_FILENO);
    assert_harmless("a remark");
}

static void
progress_is_harmless(void **state)
{
    (void)state;
    struct progress_line progress = {.what = "w", .is_on = true};
    catch_output(STDERR_FILENO);
    progress_show(&progress, 1, 0, HOSTILE);
    release_output(STDERR_FILENO);
    assert_harmless("progress");
    assert_string_equal(told + strlen(told) - 3, "\033[K");
}

// Longer than the terminal is wide it would wrap, and each picture of it would stay.
static void
progress_stays_on_its_line(void **state)
{
    (void)state;
    struct progress_line progress = {.what = "waiting", .is_on = true};
    char tail[201];
    memset(tail, 'x', sizeof tail - 1);
    tail[sizeof tail - 1] = '\0';
    catch_output(STDERR_FILENO);
    progress_show(&progress, 1, 0, tail);
    release_output(STDERR_FILENO);
    assert_int_equal(strlen(told), 1 + 79 + 3);
}

static void
tables_are_harmless(void **state)
{
    (void)state;
    static const struct output_column columns[] = {{"a", ALIGN_LEFT, 0, 0}, {"b", ALIGN_LAST, 0, 0}};
    struct output_table table;
    struct err err = {0};
    table_begin(&table, &call, columns, 2);
    table_add(&table, BYTES(HOSTILE));
    table_add_text(&table, HOSTILE);
    catch_output(STDOUT_FILENO);
    bool ok = table_end(&table, &err);
    release_output(STDOUT_FILENO);
    assert_true(ok);
    assert_harmless("a table");
    assert_ptr_equal(strchr(told, '\n'), told + strlen(told) - 1); // a row stays a row
}

static void
the_log_is_harmless(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        catch_output(STDERR_FILENO);
        log_to(stderr, LOG_INFO, json);
        log_line(LOG_INFO, "a line", LOG_TEXT("why", HOSTILE));
        log_to(NULL, LOG_INFO, false);
        release_output(STDERR_FILENO);
        assert_harmless("the log");
        assert_ptr_equal(strchr(told, '\n'), told + strlen(told) - 1);
    }
}

// A value of logfmt: a JSON string, or bare up to the next blank. Returns where it ends.
static const char *
logfmt_value(const char *at, char value[500])
{
    size_t len = strcspn(at, " \n");
    if (*at == '"') {
        size_t used = 0;
        json_error_t trouble;
        json_t *text = json_loads(at, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &trouble);
        if (!text)
            fail_msg("%s: %s", trouble.text, at);
        used = (size_t)trouble.position;
        snprintf(value, 500, "%s", json_string_value(text));
        json_decref(text);
        return at + used;
    }
    snprintf(value, 500, "%.*s", (int)len, at);
    return at + len;
}

// The value of a name in the line that was caught, by the rules of logfmt.
static const char *
logfmt_field(const char *name, char value[500])
{
    for (const char *at = told; *at != '\0' && *at != '\n';) {
        size_t len = strcspn(at, "=");
        bool is_it = strlen(name) == len && strncmp(name, at, len) == 0;
        at = logfmt_value(at + len + 1, value);
        if (is_it)
            return value;
        assert_true(*at == ' ' || *at == '\n');
        at += *at == ' ';
    }
    return NULL;
}

static void
catch_line(const char *text, bool json)
{
    catch_output(STDERR_FILENO);
    log_to(stderr, LOG_INFO, json);
    log_line(LOG_WARN, "slot lost", LOG_TEXT("why", text), LOG_INT("events", -12), LOG_TEXT("chunk", "a-b"),
             LOG_TEXT("absent", NULL), LOG_INT("zero", 0));
    log_to(NULL, LOG_INFO, false);
    release_output(STDERR_FILENO);
}

static void
the_log_can_be_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *read;
    } rows[] = {
        {HOSTILE, HOSTILE},
        {"ERROR: \"x\" = 'y' level=error\nDETAIL: C:\\temp\t",
         "ERROR: \"x\" = 'y' level=error\nDETAIL: C:\\temp\t"},
        {"\xf0\x9f\x98\x80 \xf3\xa0\x80\xa1 \xff!", "\xf0\x9f\x98\x80 \xf3\xa0\x80\xa1 \xef\xbf\xbd!"},
        {"", ""},
        {"a=b", "a=b"},
        {"back\\slash", "back\\slash"},
        {"bare", "bare"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[500];
        catch_line(rows[i].text, false);
        assert_string_equal(logfmt_field("why", value), rows[i].read);
        assert_string_equal(logfmt_field("level", value), "warn");
        assert_string_equal(logfmt_field("msg", value), "slot lost");
        assert_string_equal(logfmt_field("events", value), "-12");
        assert_string_equal(logfmt_field("chunk", value), "a-b");
        assert_string_equal(logfmt_field("zero", value), "0");
        assert_null(logfmt_field("absent", value));
        assert_non_null(strstr(told, " chunk=a-b ")); // no quotes without need

        catch_line(rows[i].text, true);
        json_t *line = json_loads(told, 0, NULL);
        if (!line)
            fail_msg("no JSON: %s", told);
        assert_string_equal(json_string_value(json_object_get(line, "why")), rows[i].read);
        assert_string_equal(json_string_value(json_object_get(line, "msg")), "slot lost");
        assert_int_equal(json_integer_value(json_object_get(line, "events")), -12);
        assert_true(json_is_integer(json_object_get(line, "zero")));
        assert_null(json_object_get(line, "absent"));
        json_decref(line);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remarks_are_harmless),       cmocka_unit_test(progress_is_harmless),
        cmocka_unit_test(progress_stays_on_its_line), cmocka_unit_test(tables_are_harmless),
        cmocka_unit_test(the_log_is_harmless),        cmocka_unit_test(the_log_can_be_parsed),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
