#include "core/category.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/fingerprint/fingerprint.h"
#include "tests/unit/cases.h"

struct row {
    const char *class_name; // NULL: none
    const char *text;
    enum category expected;
};

static const struct row rows[] = {
    {"java.net.SocketTimeoutException", "Read timed out", CATEGORY_TRANSIENT},
    {"java.net.ConnectException", "Connection refused", CATEGORY_TRANSIENT},
    {NULL, "connect ECONNREFUSED 10.0.0.1:5432", CATEGORY_TRANSIENT},
    {NULL, "rpc error: code = Unavailable desc = connection error", CATEGORY_TRANSIENT},
    {"org.postgresql.util.PSQLException", "ERROR: deadlock detected", CATEGORY_TRANSIENT},
    {"java.sql.SQLException", "ORA-00060: deadlock detected while waiting for resource", CATEGORY_TRANSIENT},
    {NULL, "ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)", CATEGORY_TRANSIENT},
    {"AxiosError", "Request failed with status code 503", CATEGORY_TRANSIENT},
    {"AxiosError", "Request failed with status code 429", CATEGORY_TRANSIENT},
    {"botocore.exceptions.ClientError", "An error occurred (ThrottlingException): Rate exceeded",
     CATEGORY_TRANSIENT},
    {"io.github.resilience4j.circuitbreaker.CallNotPermittedException", "CircuitBreaker 'x' is OPEN",
     CATEGORY_TRANSIENT},
    {NULL, "Tempo limite excedido ao consultar o frete", CATEGORY_TRANSIENT},
    {NULL, "배송 조회 API 응답 시간 초과", CATEGORY_TRANSIENT},
    {"com.fasterxml.jackson.databind.exc.InvalidFormatException", "Cannot deserialize value of type X",
     CATEGORY_DATA},
    {"org.apache.kafka.common.errors.SerializationException", "Unknown magic byte!", CATEGORY_DATA},
    {"org.postgresql.util.PSQLException",
     "ERROR: null value in column \"a\" of relation \"b\" violates not-null constraint", CATEGORY_DATA},
    {"org.postgresql.util.PSQLException",
     "ERROR: insert or update on table \"a\" violates foreign key constraint \"b\"", CATEGORY_DATA},
    {"org.postgresql.util.PSQLException", "ERROR: duplicate key value violates unique constraint \"b\"",
     CATEGORY_DATA},
    {"java.sql.SQLException", "ORA-01400: cannot insert NULL into (\"A\".\"B\".\"C\")", CATEGORY_DATA},
    {"java.lang.NumberFormatException", "For input string: \"x\"", CATEGORY_DATA},
    {"KeyError", "'email'", CATEGORY_DATA},
    {"json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)", CATEGORY_DATA},
    {"AxiosError", "Request failed with status code 422", CATEGORY_DATA},
    {NULL, "O campo 'cpf' é obrigatório", CATEGORY_DATA},
    {NULL, "필드 'email'은(는) 필수 항목입니다", CATEGORY_DATA},
    {NULL, "Rejeição 225: Falha no Schema XML do lote de NFe", CATEGORY_DATA},
    {"java.lang.NullPointerException", "", CATEGORY_SYSTEM},
    {"System.NullReferenceException", "Object reference not set to an instance of an object.",
     CATEGORY_SYSTEM},
    {"java.lang.NoClassDefFoundError", "com/acme/Money", CATEGORY_SYSTEM},
    {"java.lang.OutOfMemoryError", "Java heap space", CATEGORY_SYSTEM},
    {"java.io.IOException", "No space left on device", CATEGORY_SYSTEM},
    {"TypeError", "Cannot read properties of undefined (reading 'id')", CATEGORY_SYSTEM},
    {"NoMethodError", "undefined method `x' for nil:NilClass", CATEGORY_SYSTEM},
    {NULL, "runtime error: invalid memory address or nil pointer dereference", CATEGORY_SYSTEM},
    {"AxiosError", "Request failed with status code 500", CATEGORY_SYSTEM},
    {NULL, "ERROR: relation \"orders\" does not exist", CATEGORY_SYSTEM},
    {NULL, "permission denied for table orders", CATEGORY_SYSTEM},
    {"com.acme.OrderClosedException", "Order 7 is already closed", CATEGORY_PERMANENT},
    {NULL, "Pedido 7 já foi processado", CATEGORY_PERMANENT},
    {NULL, "중복: 주문이 이미 처리되었습니다", CATEGORY_PERMANENT},
    {"jakarta.persistence.EntityNotFoundException", "Unable to find Customer with id 7", CATEGORY_PERMANENT},
    {"AxiosError", "Request failed with status code 404", CATEGORY_PERMANENT},
    {NULL, "Cliente não encontrado", CATEGORY_PERMANENT},
    {"java.lang.UnsupportedOperationException", "refund of vouchers", CATEGORY_PERMANENT},
    {NULL, "the quick brown fox", CATEGORY_UNKNOWN},
    {NULL, "", CATEGORY_UNKNOWN},
};

static void
test_built_in_rules(void **state)
{
    (void)state;
    struct category_rules *rules = category_rules_create(NULL, NULL);
    assert_non_null(rules);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *why = NULL;
        enum category found = category_of(rules, bytes_of(rows[i].class_name), bytes_of(rows[i].text), &why);
        if (found != rows[i].expected)
            fail_msg("%s | %s: %s by \"%s\"", rows[i].class_name ? rows[i].class_name : "-", rows[i].text,
                     category_name(found), why);
        assert_non_null(why);
    }
    category_rules_destroy(rules);
}

// `[class] message`, as a whole dead letter: its group's class and masked text are what the rules look at.
static bool
check_dead_letter(char *text, const char *expected)
{
    const char *end = strchr(text, ']');
    assert_non_null(end);
    struct fingerprint_input input = {
        .message = bytes_of(end + 1 + (end[1] == ' ')),
        .error_class = {text + 1, (size_t)(end - text - 1)},
    };
    if (input.error_class.len == 0)
        input.error_class = BYTES_ABSENT;
    struct arena arena = {0};
    struct category_rules *rules = category_rules_create(NULL, NULL);
    struct fingerprint parts = fingerprint_parts(&input, &arena);
    const char *why;
    enum category category = category_of(rules, parts.root_class, parts.pattern, &why);
    bool ok = strcmp(category_name(category), expected) == 0;
    if (!ok)
        print_error("%s\n  is %s by \"%s\", not %s\n", text, category_name(category), why, expected);
    category_rules_destroy(rules);
    arena_release(&arena);
    return ok;
}

static void
what_says_that_it_lasts_is_not_transient(void **state)
{
    (void)state;
    each_case("tests/cases/category/not_transient.txt", check_dead_letter);
}

static void
sentences_in_three_languages_have_a_category(void **state)
{
    (void)state;
    each_case("tests/cases/category/sentences.txt", check_dead_letter);
}

static void
kafka_says_what_may_be_tried_again(void **state)
{
    (void)state;
    each_case("tests/cases/category/kafka.txt", check_dead_letter);
}

static void
validators_speak_of_data(void **state)
{
    (void)state;
    each_case("tests/cases/category/validators.txt", check_dead_letter);
}

#define RULE(text) text,
static const char *const built_in[] = {
#include "core/category.def"
};
#undef RULE

// A text that the pattern is made for, with `filling` for each star, and what else the row says.
static struct bytes
read_row(const char *row, const char *filling, enum category *category, bool *is_class, char room[256])
{
    char name[16], subject[16];
    int at = 0;
    assert_int_equal(sscanf(row, "%15s %15s %n", name, subject, &at), 2);
    if (strcmp(name, "not-transient") == 0)
        *category = CATEGORY_PERMANENT;
    else
        assert_true(category_parse(bytes_of(name), category));
    *is_class = strcmp(subject, "class") == 0;
    size_t len = 0;
    for (const char *c = row + at; *c; c++)
        len += (size_t)snprintf(room + len, 256 - len, "%.*s", 1, *c == '*' ? filling : c);
    return (struct bytes){room, len};
}

// No row is hidden by one before it that says something else, and none matches less than it says.
static void
test_every_row_decides_its_own_text(void **state)
{
    (void)state;
    struct category_rules *rules = category_rules_create(NULL, NULL);
    for (size_t i = 0; i < 2 * sizeof built_in / sizeof built_in[0]; i++) {
        enum category wanted;
        bool is_class;
        char room[256];
        const char *why = NULL;
        struct bytes own = read_row(built_in[i / 2], i % 2 ? "z" : "", &wanted, &is_class, room);
        enum category found = is_class ? category_of(rules, own, BYTES_ABSENT, &why)
                                       : category_of(rules, BYTES_ABSENT, own, &why);
        if (found != wanted)
            fail_msg("\"%s\" does not decide %.*s: %s", built_in[i / 2], (int)own.len, own.data, why);
    }
    category_rules_destroy(rules);
}

static void
test_configured_rows_come_first(void **state)
{
    (void)state;
    struct err err = {0};
    struct category_rules *rules = category_rules_create("# ours\n\n  permanent class com.acme.*Timeout*\n"
                                                         "system text Disk Of Tape*\ndata code X-17\n",
                                                         &err);
    assert_non_null(rules);
    const char *why = NULL;
    assert_int_equal(category_of(rules, BYTES("com.acme.PayTimeoutException"), BYTES(""), &why),
                     CATEGORY_PERMANENT);
    assert_non_null(strstr(why, "com.acme.*Timeout*"));
    assert_int_equal(category_of(rules, BYTES("org.PayTimeoutException"), BYTES(""), NULL),
                     CATEGORY_TRANSIENT);
    assert_int_equal(category_of(rules, BYTES_ABSENT, BYTES("disk of tape 7 timed out"), NULL),
                     CATEGORY_SYSTEM);
    assert_int_equal(category_of(rules, BYTES_ABSENT, BYTES("a disk of tape timed out"), NULL),
                     CATEGORY_TRANSIENT);
    assert_int_equal(category_of(rules, BYTES_ABSENT, BYTES("fault x-17 here"), NULL), CATEGORY_DATA);
    assert_int_equal(category_of(rules, BYTES_ABSENT, BYTES("fault x-170 here"), NULL), CATEGORY_UNKNOWN);
    category_rules_destroy(rules);
}

static void
test_bad_rows_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *extra;
        int line;
        const char *says;
    } bad[] = {
        {"transient class *A*\nsometimes text x", 2, "first word"},
        {"data message x", 1, "second word"},
        {"\n\ndata text", 3, "pattern must follow"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err err = {0};
        assert_null(category_rules_create(bad[i].extra, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        assert_int_equal(err.line, bad[i].line);
        assert_non_null(strstr(err.text, bad[i].says));
    }
}

static void
test_names(void **state)
{
    (void)state;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        enum category category = CATEGORY_UNKNOWN;
        assert_true(category_parse(bytes_of(category_name((enum category)i)), &category));
        assert_int_equal(category, i);
    }
    enum category category;
    assert_false(category_parse(BYTES("fatal"), &category));
}

// A pattern of many stars on a long text that nearly matches.
static void
test_hostile_pattern_ends(void **state)
{
    (void)state;
    char text[4096];
    memset(text, 'a', sizeof text);
    struct category_rules *rules = category_rules_create("data text *a*a*a*a*a*a*a*a*b*", NULL);
    assert_int_equal(category_of(rules, BYTES_ABSENT, (struct bytes){text, sizeof text}, NULL),
                     CATEGORY_UNKNOWN);
    category_rules_destroy(rules);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_rules),
        cmocka_unit_test(what_says_that_it_lasts_is_not_transient),
        cmocka_unit_test(sentences_in_three_languages_have_a_category),
        cmocka_unit_test(kafka_says_what_may_be_tried_again),
        cmocka_unit_test(validators_speak_of_data),
        cmocka_unit_test(test_every_row_decides_its_own_text),
        cmocka_unit_test(test_configured_rows_come_first),
        cmocka_unit_test(test_bad_rows_are_named),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_hostile_pattern_ends),
    };
    return cmocka_run_group_tests_name("category", tests, NULL, NULL);
}
