// Events as text: nothing of them is lost, whatever bytes they have; files that are whole or are not there.
#include "core/export_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/event_json.h"
#include "export/file.h"
#include "tests/lib/folder.h"

static const char *
text_of(enum export_form form, const struct event *event, struct strbuf *out)
{
    strbuf_reset(out);
    export_form_event(form, &(struct exported){.event = event}, out);
    return strbuf_text(out);
}

static void
bytes_that_are_no_text_are_base64(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct event_header header = {BYTES("trace"), BYTES("\x80")};
    struct event event = {.id = 7, .created_at = TIME_ABSENT, .retries.last_at = TIME_ABSENT};
    event.closed.at = TIME_ABSENT;
    event.payload = BYTES("\xff\x00 1");
    event.record.key = BYTES("a\0b");
    event.record.headers = &header;
    event.record.header_count = 1;
    const char *line = text_of(EXPORT_JSONL, &event, &out);
    assert_non_null(strstr(line, "\"payload_base64\":\"/wAgMQ==\""));
    assert_non_null(strstr(line, "\"key\":\"a\\u0000b\""));
    assert_non_null(strstr(line, "{\"name\":\"trace\",\"value_base64\":\"gA==\"}"));
    assert_true(line[strlen(line) - 1] == '\n' && !memchr(line, '\0', out.len));
    line = text_of(EXPORT_CSV, &event, &out);
    assert_non_null(strstr(line, ",,YQBi,,/wAgMQ==\r\n")); // a CSV file has no NUL
    assert_string_equal(text_of(EXPORT_IDS, &event, &out), "7\n");
    strbuf_release(&out);
}

static void
fields_of_csv_are_quoted_where_they_need_it(void **state)
{
    (void)state;
    const struct {
        struct bytes text;
        const char *field;
    } rows[] = {{BYTES("plain"), "1,plain,"},
                {BYTES(""), "1,\"\","},
                {BYTES_ABSENT, "1,,"},
                {BYTES("a,b"), "1,\"a,b\","},
                {BYTES("\""), "1,\"\"\"\","},
                {BYTES("say \"no\" \"\"!"), "1,\"say \"\"no\"\" \"\"\"\"!\","},
                {BYTES("two\nlines"), "1,\"two\nlines\","},
                {BYTES(" x"), "1,\" x\","},
                {BYTES("\r"), "1,\"\r\","}};
    struct strbuf out = {0}, head = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event event = {.id = 1, .event_id = rows[i].text};
        const char *line = text_of(EXPORT_CSV, &event, &out);
        assert_memory_equal(line, rows[i].field, strlen(rows[i].field));
    }
    export_form_head(EXPORT_CSV, &head);
    size_t commas = 0, wanted = 0;
    const char *line = text_of(EXPORT_CSV, &(struct event){.id = 1}, &out);
    for (const char *c = line; *c; c++)
        commas += *c == ',';
    for (const char *c = strbuf_text(&head); *c; c++)
        wanted += *c == ',';
    assert_int_equal(commas, wanted);
    strbuf_release(&out);
    strbuf_release(&head);
}

static void
the_name_of_a_file_tells_its_form(void **state)
{
    (void)state;
    enum export_form form;
    struct err err = {0};
    assert_int_equal(export_form_of_file("a.csv"), EXPORT_CSV);
    assert_int_equal(export_form_of_file("a.ids"), EXPORT_IDS);
    assert_int_equal(export_form_of_file("csv"), EXPORT_JSONL);
    assert_true(export_form_parse("jsonl", &form, &err) && form == EXPORT_JSONL);
    assert_false(export_form_parse("CSV", &form, &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

static void
a_file_is_whole_or_not_there(void **state)
{
    struct export_file file;
    struct err err = {0};
    struct stat status;
    char path[300];
    snprintf(path, sizeof path, "%s/out.jsonl", (const char *)*state);
    assert_true(export_file_open(&file, path, false, "--force", &err));
    assert_true(export_file_write(&file, BYTES("half"), &err));
    assert_int_not_equal(stat(path, &status), 0);
    export_file_abandon(&file);
    assert_true(export_file_open(&file, path, false, "--force", &err));
    assert_true(export_file_write(&file, BYTES("whole"), &err));
    // Somebody else makes one of that name meanwhile.
    struct export_file other;
    assert_true(export_file_open(&other, path, false, "--force", &err));
    assert_true(export_file_finish(&other, &err));
    assert_false(export_file_finish(&file, &err));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    err_clear(&err);
    assert_false(export_file_open(&file, path, false, "--force", &err));
    assert_string_equal(err.text + strlen(err.text) - 19, "--force replaces it");
    export_file_abandon(&file);
    err_clear(&err);
    assert_true(export_file_open(&file, path, true, "--force", &err));
    assert_true(export_file_write(&file, BYTES("new"), &err));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0); // the old one is there until the new one is whole
    assert_true(export_file_finish(&file, &err));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 3);
}

static char folder[64];

static int
make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/redrive-export.XXXXXX");
    *state = folder;
    return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_are_no_text_are_base64),
        cmocka_unit_test(fields_of_csv_are_quoted_where_they_need_it),
        cmocka_unit_test(the_name_of_a_file_tells_its_form),
        cmocka_unit_test_setup_teardown(a_file_is_whole_or_not_there, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
