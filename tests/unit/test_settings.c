// Settings: files, profiles, environment and options merged; every mistake with its place; nothing secret let
// through.
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
#include "settings/comments.h"
#include "base/text.h"
#include "settings/conninfo.h"
#include "settings/kafka_properties.h"
#include "settings/settings.h"

struct world {
    char folder[64];
    char config[128]; // of the person
    char other[128];  // named by REDRIVE_CONFIG
    struct settings settings;
    struct err err;
};

static void
write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0600);
}

static int
set_up(void **state)
{
    static struct world place;
    struct world *world = &place;
    place = (struct world){0};
    snprintf(world->folder, sizeof world->folder, "/tmp/redrive-settings.XXXXXX");
    if (mkdtemp(world->folder) == NULL)
        return -1;
    char path[100];
    snprintf(path, sizeof path, "%.63s/redrive", world->folder);
    mkdir(path, 0700);
    snprintf(world->config, sizeof world->config, "%.63s/redrive/config", world->folder);
    snprintf(world->other, sizeof world->other, "%.63s/other", world->folder);
    setenv("XDG_CONFIG_HOME", world->folder, 1);
    snprintf(path, sizeof path, "%.63s/state", world->folder);
    setenv("XDG_STATE_HOME", path, 1);
    for (int i = 0; i < SETTING_ID_COUNT; i++) {
        snprintf(path, sizeof path, "REDRIVE_%s", setting_name((enum setting_id)i));
        for (char *c = path; *c != '\0'; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        unsetenv(path);
    }
    unsetenv("REDRIVE_CONFIG");
    unsetenv("REDRIVE_PROFILE");
    *state = world;
    return 0;
}

static int
tear_down(void **state)
{
    struct world *world = *state;
    char path[100];
    settings_release(&world->settings);
    unlink(world->config);
    unlink(world->other);
    snprintf(path, sizeof path, "%s/redrive", world->folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/state/redrive", world->folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/state", world->folder);
    rmdir(path);
    rmdir(world->folder);
    return 0;
}

static bool
load(struct world *world, const struct settings_request *request)
{
    static const struct settings_request nothing;
    settings_release(&world->settings);
    err_clear(&world->err);
    return settings_load(&world->settings, request ? request : &nothing, &world->err);
}

static void
assert_value(const struct world *world, enum setting_id id, const char *value)
{
    struct strbuf text = {0};
    setting_print(&world->settings, id, &text);
    assert_string_equal(strbuf_text(&text), value);
    strbuf_release(&text);
}

static void
assert_refused(struct world *world, const char *text, const char *sentence)
{
    write_file(world->config, text);
    assert_false(load(world, NULL));
    assert_int_equal(world->err.kind, ERR_USAGE);
    if (strstr(world->err.text, sentence) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", sentence, world->err.text);
}

// Without any file everything is built in, and every row has a value that its own kind accepts.
static void
test_built_in(void **state)
{
    struct world *world = *state;
    assert_true(load(world, NULL));
    assert_string_equal(world->settings.connection.table, "public.dlq_events");
    assert_int_equal(world->settings.decision.confirm_above, 100);
    assert_int_equal(world->settings.screen.esc_delay, 50000);
    assert_null(world->settings.kafka.brokers);
    assert_string_equal(world->settings.connection.conninfo, "");
    for (int i = 0; i < SETTING_ID_COUNT; i++)
        assert_int_equal(world->settings.origins[i].place, PLACE_BUILT_IN);
}

static void
test_places_win_in_order(void **state)
{
    struct world *world = *state;
    write_file(world->config, "table = a.one\nlabel = A\nchunk = 11\nrefresh = 3s\n"
                              "profile \"prod\" { refresh = 4s  mouse = yes }\n");
    write_file(world->other, "label = B\nchunk = 12\nrefresh = 5s\nprofile prod { chunk = 13 }\n");
    setenv("REDRIVE_CONFIG", world->other, 1);
    setenv("REDRIVE_MOUSE", "no", 1);
    setenv("REDRIVE_LABEL", "C", 1);
    const struct settings_option option = {SETTING_ID_label, "--label", "D"};
    const struct settings_request request = {.profile = "prod", .options = &option, .option_count = 1};
    assert_true(load(world, &request));
    assert_value(world, SETTING_ID_table, "a.one");
    assert_value(world, SETTING_ID_chunk, "13");
    assert_value(world, SETTING_ID_refresh,
                 "4s"); // a profile of an early file wins over the body of a later one
    assert_value(world, SETTING_ID_mouse, "off");
    assert_value(world, SETTING_ID_label, "D");
    const struct settings_origin *origins = world->settings.origins;
    assert_int_equal(origins[SETTING_ID_table].place, PLACE_FILE);
    assert_int_equal(origins[SETTING_ID_chunk].place, PLACE_PROFILE);
    assert_int_equal(origins[SETTING_ID_mouse].place, PLACE_ENVIRONMENT);
    assert_string_equal(origins[SETTING_ID_mouse].where, "REDRIVE_MOUSE");
    assert_string_equal(origins[SETTING_ID_label].where, "--label");
}

static void
test_profiles(void **state)
{
    struct world *world = *state;
    write_file(
        world->config,
        "profile_default = \"two words\"\nprofile \"two words\" { label = X }\nprofile prod { label = P }\n");
    assert_true(load(world, NULL));
    assert_string_equal(world->settings.decision.label, "X");
    setenv("REDRIVE_PROFILE", "prod", 1);
    assert_true(load(world, NULL));
    assert_string_equal(world->settings.decision.label, "P");
    assert_false(load(world, &(struct settings_request){.profile = "prd"}));
    assert_non_null(strstr(world->err.text, "did you mean prod"));
    // What is wrong in another profile is wrong all the same.
    assert_refused(world, "profile prod {}\nprofile other {\n chunk = 0 }\n", "config:3: chunk");
}

// A list of them for menus; what one says may be overridden, and who puts its name over a connection can
// know.
static void
test_profiles_are_listed(void **state)
{
    struct world *world = *state;
    write_file(world->config,
               "label = X\nprofile prod {\n table = a.b\n}\nprofile staging { label_color = green }\n");
    write_file(world->other, "profile prod { label = P }\nprofile bare {}\n");
    setenv("REDRIVE_CONFIG", world->other, 1);
    assert_true(load(world, &(struct settings_request){.profile = "staging"}));
    const struct settings *settings = &world->settings;
    assert_int_equal(settings->profile_count, 3);
    assert_string_equal(settings->profiles[0].name, "prod");
    assert_non_null(strstr(settings->profiles[0].where, "config:3"));
    assert_string_equal(settings->profiles[1].name, "staging");
    assert_string_equal(settings->profiles[2].name, "bare");
    assert_string_equal(settings->decision.label, "X");
    assert_string_equal(settings->decision.label_color, "green");
    assert_true(settings_check_profile(settings, &world->err));

    setenv("REDRIVE_TABLE", "c.d", 1);
    assert_true(load(world, &(struct settings_request){.profile = "staging"}));
    assert_true(settings_check_profile(settings, &world->err)); // it says nothing of the table
    assert_true(load(world, &(struct settings_request){.profile = "prod"}));
    assert_false(settings_check_profile(settings, &world->err));
    assert_string_equal(world->err.text, "REDRIVE_TABLE wins over its table: unset it, start again");
    unsetenv("REDRIVE_TABLE");
}

static void
test_a_profile_names_its_environment(void **state)
{
    struct world *world = *state;
    write_file(world->config, "profile staging {}\n");
    assert_true(load(world, NULL));
    assert_null(world->settings.decision.label);
    assert_true(load(world, &(struct settings_request){.profile = "staging"}));
    assert_string_equal(world->settings.decision.label, "staging");
}

static void
test_lines_are_right(void **state)
{
    struct world *world = *state;
    write_file(
        world->config,
        "# one\n// two\n/* three\n four */\ntable = a.b # five\n\nlabel = \"# no // comment /* here\"\n"
        "chunk = '7'\n");
    assert_true(load(world, NULL));
    assert_non_null(strstr(world->settings.origins[SETTING_ID_table].where, "config:5"));
    assert_non_null(strstr(world->settings.origins[SETTING_ID_label].where, "config:7"));
    assert_non_null(strstr(world->settings.origins[SETTING_ID_chunk].where, "config:8"));
    assert_string_equal(world->settings.decision.label, "# no // comment /* here");
}

static void
test_mistakes(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"# x\ntabel = x", "config:2: there is no option \"tabel\"; did you mean table?"},
        {"zzz = x", "config:1: there is no option \"zzz\""},
        {"profile a { labl = x }", "config:1: there is no option \"labl\"; did you mean label?"},
        {"confirm_above = many", "config:1: confirm_above is a whole number from 0"},
        {"confirm-above = -1", "confirm_above is a whole number from 0"},
        {"chunk = 10001", "chunk is a whole number from 1 to 10000"},
        {"mouse = perhaps", "config:1: mouse is on or off"},
        {"color = red", "config:1: color is one of: auto mono 16 256 true"},
        {"refresh = fast", "config:1: refresh is a duration"},
        {"refresh = 1ms", "refresh is a duration such as 500ms, 2s or 1m, from 0.1s"},
        {"key = order_id", "config:1: key is source_id"},
        {"column = customer", "config:1: column, character 1: "},
        {"database = \"host=x password=hunter2\"", "config:1: the connection holds a password"},
        {"table = \"x", "config:1: the file ends too early"},
        {"table = x }", "config:1: "},
        {"kafka { debug = all }", "config:1: the Kafka property debug is not passed on"},
        {"\nkafka.plugin.library.paths = x", "config:2: the Kafka property plugin.library.paths"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(world, cases[i].text, cases[i].sentence);
        assert_null(strstr(world->err.text, "hunter2"));
    }
}

static void
test_lists(void **state)
{
    struct world *world = *state;
    write_file(world->config, "categories = {\"transient class Foo\",\n  \"data text bar\"}\n");
    assert_true(load(world, NULL));
    assert_string_equal(world->settings.grouping.categories, "transient class Foo\ndata text bar");
}

// What is run comes from nobody else's hand.
static void
test_checks(void **state)
{
    struct world *world = *state;
    write_file(world->config, "checks = {\"type Order* check --schema 'a b'\"}\nchecks += \"topic x y | z\"\n"
                              "check-time = 300ms\n");
    assert_true(load(world, NULL));
    assert_string_equal(world->settings.process.checks, "type Order* check --schema 'a b'\ntopic x y | z");
    assert_int_equal(world->settings.process.check_time, 300000);
    assert_int_equal(world->settings.process.jq_memory, 256 << 20);
    chmod(world->config, 0602);
    assert_false(load(world, NULL));
    assert_non_null(
        strstr(world->err.text, "config:2: checks are only taken from a file that belongs to you"));
}

static void
test_kafka(void **state)
{
    struct world *world = *state;
    write_file(world->config,
               "kafka { security.protocol = ssl\n bootstrap.servers = \"a:1,b:2\" }\nkafka.linger.ms = 5\n"
               "profile p { kafka { linger.ms = 9 } }\n");
    const char *const pairs[] = {"compression.type=lz4"};
    const struct settings_request request = {.profile = "p", .kafka = pairs, .kafka_count = 1};
    assert_true(load(world, &request));
    assert_string_equal(world->settings.kafka.brokers, "a:1,b:2");
    assert_int_equal(world->settings.kafka.property_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct kafka_property *property = &world->settings.kafka.properties[i];
        if (strcmp(property->name, "linger.ms") == 0) {
            assert_string_equal(property->value, "9");
            assert_int_equal(property->origin.place, PLACE_PROFILE);
        }
    }
    chmod(world->config, 0620);
    assert_false(load(world, NULL));
    assert_non_null(strstr(world->err.text, "chmod go-w"));
}

// A secret in clear that everybody on the host may read, in a configuration or behind -F.
static void
test_open_secrets(void **state)
{
    struct world *world = *state;
    write_file(world->config, "kafka.linger.ms = 5\nprofile p { kafka { sasl.password = hunter2 } }\n");
    chmod(world->config, 0640);
    assert_true(load(world, NULL));
    chmod(world->config, 0644);
    assert_false(load(world, NULL));
    assert_non_null(strstr(world->err.text, "sasl.password is a secret, and everybody may read this file"));
    assert_null(strstr(world->err.text, "hunter2"));
    write_file(world->config, "kafka.linger.ms = 5\nkafka.sasl.password.env = PASSWORD\n");
    chmod(world->config, 0644);
    assert_true(load(world, NULL));

    write_file(world->other, "linger.ms=5\n ssl.key.password = hunter2\n");
    const char *const files[] = {world->other};
    const struct settings_request request = {.kafka_files = files, .kafka_file_count = 1};
    assert_true(load(world, &request));
    chmod(world->other, 0644);
    assert_false(load(world, &request));
    assert_non_null(strstr(world->err.text, "other:2: ssl.key.password is a secret"));
    assert_null(strstr(world->err.text, "hunter2"));
}

static void
test_kafka_files(void **state)
{
    struct world *world = *state;
    write_file(world->other, "# of kcat\n\nsasl.password = hunter2 = x\n");
    const char *const files[] = {world->other};
    assert_true(load(world, &(struct settings_request){.kafka_files = files, .kafka_file_count = 1}));
    assert_int_equal(world->settings.kafka.property_count, 1);
    assert_string_equal(world->settings.kafka.properties[0].value, "hunter2 = x");
    assert_string_equal(world->settings.kafka.files[0], world->other);
    const char *const pairs[] = {"sasl.password=hunter2"};
    assert_false(load(world, &(struct settings_request){.kafka = pairs, .kafka_count = 1}));
    assert_null(strstr(world->err.text, "hunter2"));
    write_file(world->other, "one two\n");
    assert_false(load(world, &(struct settings_request){.kafka_files = files, .kafka_file_count = 1}));
    assert_non_null(strstr(world->err.text, "other:1"));
}

// Loads `pair` as -X and reads its secret; the sentence is in world->err.
static bool
read_secret(struct world *world, const char *pair)
{
    return load(world, &(struct settings_request){.kafka = &pair, .kafka_count = 1}) &&
           settings_read_secrets(&world->settings, &world->err);
}

static void
test_secrets_kept_elsewhere(void **state)
{
    struct world *world = *state;
    char pair[300];
    write_file(world->other, "hunter2 x\nsecond line\n");
    snprintf(pair, sizeof pair, "sasl.password.file=%s", world->other);
    assert_true(read_secret(world, pair));
    assert_int_equal(world->settings.kafka.property_count, 1);
    assert_string_equal(world->settings.kafka.properties[0].name, "sasl.password");
    assert_string_equal(world->settings.kafka.properties[0].value, "hunter2 x");
    assert_string_equal(world->settings.kafka.properties[0].source_place, world->other);
    snprintf(pair, sizeof pair, "ssl.key.password.command=/bin/cat %s", world->other);
    assert_true(read_secret(world, pair));
    assert_string_equal(world->settings.kafka.properties[0].value, "hunter2 x");
    setenv("REDRIVE_TEST_SECRET", "hunter2", 1);
    assert_true(read_secret(world, "sasl.password.env=REDRIVE_TEST_SECRET"));
    assert_string_equal(world->settings.kafka.properties[0].value, "hunter2");
    // Not read before it is needed: a command may take its time, or ask somebody.
    const char *const later[] = {"sasl.password.command=/nowhere"};
    assert_true(load(world, &(struct settings_request){.kafka = later, .kafka_count = 1}));
    assert_null(world->settings.kafka.properties[0].value);
    // Only secrets: other names end as they like.
    const char *const plain[] = {"client.id.file=x"};
    assert_true(load(world, &(struct settings_request){.kafka = plain, .kafka_count = 1}));
    assert_string_equal(world->settings.kafka.properties[0].name, "client.id.file");
}

static void
test_secrets_that_cannot_be_read(void **state)
{
    struct world *world = *state;
    char pair[300];
    write_file(world->other, "hunter2\n");
    chmod(world->other, 0640);
    snprintf(pair, sizeof pair, "sasl.password.file=%s", world->other);
    assert_false(read_secret(world, pair));
    assert_non_null(strstr(world->err.text, "-X: kafka.sasl.password.file: "));
    assert_non_null(strstr(world->err.text, "chmod go="));
    // One that systemd handed to a service (LoadCredential with User) is root's and lets the user in by an
    // access list, which its mode shows as a group's.
    chmod(world->other, 0440);
    assert_int_equal(read_secret(world, pair), geteuid() == 0 && getegid() == 0);
    chmod(world->other, 0444);
    assert_false(read_secret(world, pair));
    chmod(world->other, 0640);
    static const struct {
        const char *pair, *sentence;
    } cases[] = {
        {"sasl.password.file=/nowhere", "cannot be read: No such file"},
        {"sasl.password.file=/dev/null", "not a file of yours"},
        {"sasl.password.env=REDRIVE_NO_SUCH", "the variable REDRIVE_NO_SUCH"},
        {"sasl.password.command=cat x", "begins with its whole path"},
        {"sasl.password.command=/nowhere x", "cannot be run"},
        {"sasl.password.command=/bin/false", "failed with status 1"},
        {"sasl.password.command=/bin/true", "it is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(read_secret(world, cases[i].pair));
        if (!strstr(world->err.text, cases[i].sentence))
            fail_msg("%s: %s", cases[i].pair, world->err.text);
    }
}

static void
test_refused_properties(void **state)
{
    (void)state;
    struct err err = {0};
    assert_true(kafka_property_check("linger.ms", "-X", &err));
    assert_false(kafka_property_check("dr_msg_cb", "-X", &err));
    err_clear(&err);
    assert_false(kafka_property_check("transactional.id", "-X", &err));
    err_clear(&err);
    assert_false(kafka_property_check("", "-X", &err));
    err_clear(&err);
    // A broker within this program would take every record and lose it.
    assert_false(kafka_property_check("test.mock.num.brokers", "-X", &err));
    err_clear(&err);
    assert_false(kafka_property_check("ut_handle_ProduceResponse", "-X", &err));
    assert_true(kafka_property_is_secret("ssl.key.password"));
    assert_false(kafka_property_is_secret("ssl.key.location"));
}

static void
test_passwords_are_found(void **state)
{
    static const struct {
        const char *text;
        bool has;
    } cases[] = {
        {"orders", false},
        {"host=x password=y", true},
        {"host=x password = y", true},
        {"password='a b' host=x", true},
        {"host='password=y'", false},
        {"host='it\\'s password=y' user=a", false},
        {"application_name=password", false},
        {"sslpassword=y", true},
        {"passfile=/x", false},
        {"postgresql://u:p@h/d", true},
        {"postgres://u:p@h:5/d", true},
        {"postgresql://u@h:5432/d", false},
        {"postgresql://h:5432/d", false},
        {"postgresql://u:@h/d", false},
        {"postgresql://u@h/d?password=x", true},
        {"postgresql://u@h/d?a=b&password=x", true},
        {"postgresql://u@h/d?application_name=password", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (conninfo_has_password(cases[i].text) != cases[i].has)
            fail_msg("\"%s\"", cases[i].text);
}

static void
test_conninfo(void **state)
{
    static const struct {
        struct conninfo_parts parts;
        const char *text;
    } cases[] = {
        {{0}, ""},
        {{.database = "orders"}, "dbname='orders'"},
        {{.database = "it's", .host = "a\\b"}, "dbname='it\\'s' host='a\\\\b'"},
        {{.database = "host=a", .host = "b"}, "host=a host='b'"},
        {{.database = "postgresql://a/d", .port = "5", .user = "me@x"},
         "postgresql://a/d?port=5&user=me%40x"},
        {{.database = "postgresql://a/d?x=y", .password = "p&q"}, "postgresql://a/d?x=y&password=p%26q"},
        {{.service = "prod", .user = "ana"}, "service='prod' user='ana'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf text = {0};
        conninfo_print(&cases[i].parts, &text);
        assert_string_equal(strbuf_text(&text), cases[i].text);
        strbuf_release(&text);
    }
}

static void
test_read_service(void **state)
{
    struct world *world = *state;
    write_file(world->config, "service = main\nread_service = replica\nuser = ana\n");
    assert_true(load(world, NULL));
    assert_string_equal(world->settings.connection.conninfo, "service='main' user='ana'");
    assert_string_equal(world->settings.connection.read_conninfo, "service='replica' user='ana'");
    settings_set_password(&world->settings, "p'w");
    assert_string_equal(world->settings.connection.conninfo, "service='main' user='ana' password='p\\'w'");
}

static void
test_state_home(void **state)
{
    struct world *world = *state;
    struct stat status;
    assert_true(load(world, NULL));
    assert_true(settings_make_state_home(&world->settings, &world->err));
    assert_int_equal(stat(world->settings.state_home, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    chmod(world->settings.state_home, 0755); // opened by somebody: closed again
    assert_true(settings_make_state_home(&world->settings, &world->err));
    assert_int_equal(stat(world->settings.state_home, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    rmdir(world->settings.state_home);
    assert_int_equal(symlink("/tmp", world->settings.state_home), 0);
    assert_false(settings_make_state_home(&world->settings, &world->err));
    unlink(world->settings.state_home);
}

static void
test_comments(void **state)
{
    static const struct {
        const char *text, *blank;
    } cases[] = {
        {"a # b\nc", "a    \nc"},
        {"'#' // x", "'#'     "},
        {"\"\\\"#\" # x", "\"\\\"#\"    "},
        {"/* a\nb */c", "    \n    c"},
        {"/*/ x */y", "        y"},
        {"/* open", "       "},
        {"a / b", "a / b"},
        {"", ""},
        {"'open # x", "'open # x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        comments_blank(text, strlen(text));
        assert_string_equal(text, cases[i].blank);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_built_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places_win_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_profiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_profiles_are_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_profile_names_its_environment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_are_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mistakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kafka, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_open_secrets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kafka_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_secrets_kept_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_secrets_that_cannot_be_read, set_up, tear_down),
        cmocka_unit_test(test_refused_properties),
        cmocka_unit_test(test_passwords_are_found),
        cmocka_unit_test(test_conninfo),
        cmocka_unit_test_setup_teardown(test_read_service, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_state_home, set_up, tear_down),
        cmocka_unit_test(test_comments),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
