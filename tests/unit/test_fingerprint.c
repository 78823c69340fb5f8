#include "core/fingerprint/fingerprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/fingerprint/cause.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/mask.h"
#include "core/fingerprint/word.h"
#include "tests/unit/forms.h"

#define CASES "tests/cases/fingerprint/"

static uint64_t
key_of(const char *message)
{
    struct fingerprint_input input = {.message = bytes_of(message)};
    return fingerprint_key(&input);
}

static uint64_t
key_of_stack(const char *stack)
{
    struct fingerprint_input input = {.message = BYTES("x"), .stack = bytes_of(stack)};
    return fingerprint_key(&input);
}

// Vectors of the xxHash specification and of its reference implementation.
static void
test_hash(void **state)
{
    (void)state;
    assert_true(fingerprint_hash(BYTES(""), 0) == 0xef46db3751d8e999ULL);
    assert_true(fingerprint_hash(BYTES("a"), 0) == 0xd24ec4f1a98c6e5bULL);
    assert_true(fingerprint_hash(BYTES("abc"), 0) == 0x44bc2cf5ad770999ULL);
    assert_true(fingerprint_hash(BYTES("Nobody inspects the spammish repetition"), 0) ==
                0xfbcea83c8a378bf1ULL);
    assert_false(fingerprint_hash(BYTES("a"), 0) == fingerprint_hash(BYTES("a"), 1));
}

// Tables that are searched by halves must be sorted; a key must be found.
static void
test_tables_are_sorted(void **state)
{
    (void)state;
    static const char *const words[] = {
#define WORD(text, roles) text,
#include "core/fingerprint/words.def"
#undef WORD
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (i > 0)
            assert_true(strcmp(words[i - 1], words[i]) < 0);
        assert_true(strlen(words[i]) <= 24);
        assert_int_not_equal(word_roles(bytes_of(words[i])), 0);
    }
    static const char *const blanks[] = {
#define BLANK(kind, text) text,
#include "core/fingerprint/blank.def"
#undef BLANK
    };
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
        if (i > 0)
            assert_true(strcmp(blanks[i - 1], blanks[i]) < 0);
        assert_int_not_equal(cause_naming(bytes_of(blanks[i])), CAUSE_NAMES);
    }
    static const char *const names[] = {
#define GIVEN_NAME(name) name,
#include "core/fingerprint/given_names.def"
#undef GIVEN_NAME
    };
    for (size_t i = 1; i < sizeof names / sizeof names[0]; i++) {
        assert_true(strcmp(names[i - 1], names[i]) < 0);
        assert_int_equal(word_roles(bytes_of(names[i])), 0);
    }
    static const char *const places[] = {
#define PLACE_NAME(name) name,
#include "core/fingerprint/place_names.def"
#undef PLACE_NAME
    };
    for (size_t i = 1; i < sizeof places / sizeof places[0]; i++) {
        assert_true(strcmp(places[i - 1], places[i]) < 0);
        assert_int_equal(word_roles(bytes_of(places[i])), 0);
    }
}

// Each row of the maskers leaves of its example what it says.
static void
test_maskers_do_as_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *name, *example, *canonical;
    } rows[] = {
#define MASKER(name, needs, example, canonical) {#name, example, canonical},
#include "core/fingerprint/maskers.def"
#undef MASKER
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[MASK_CANONICAL_MAX + 1];
        struct mask mask = {.out = out};
        mask_text(&mask, bytes_of(rows[i].example), BYTES_ABSENT);
        out[mask.len] = '\0';
        if (strcmp(out, rows[i].canonical) != 0)
            fail_msg("%s: \"%s\" became \"%s\"", rows[i].name, rows[i].example, out);
    }
}

struct labelled {
    uint64_t key;
    const char *label;
};

static int
compare_labelled(const void *a, const void *b)
{
    const struct labelled *x = a;
    const struct labelled *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void
check_forms(const char *path)
{
    struct forms forms = {0};
    assert_true(forms_read(&forms, path, 12));
    struct labelled *all = calloc(forms.count, sizeof *all);
    assert_non_null(all);
    const char *label = NULL;
    uint64_t key = 0;
    unsigned faults = 0;
    for (size_t i = 0; i < forms.count; i++) {
        const struct form_record *record = &forms.records[i];
        all[i] = (struct labelled){fingerprint_key(&record->input), record->label};
        if (record->label != label) {
            label = record->label;
            key = all[i].key;
        } else if (key != all[i].key) {
            print_error("%s: split: %.*s\n", record->label, BYTES_ARGS(record->input.message));
            faults++;
        }
    }
    qsort(all, forms.count, sizeof *all, compare_labelled);
    for (size_t i = 1; i < forms.count; i++) {
        if (all[i].key == all[i - 1].key && all[i].label != all[i - 1].label) {
            print_error("%s and %s share a key\n", all[i].label, all[i - 1].label);
            faults++;
        }
    }
    free(all);
    forms_release(&forms);
    assert_int_equal(faults, 0);
}

static void
test_each_cause_has_its_key(void **state)
{
    (void)state;
    check_forms(CASES "records.forms");
    check_forms(CASES "logs.forms");
    check_forms(CASES "systems.forms");
    check_forms(CASES "frameworks.forms");
    check_forms(CASES "libraries.forms");
}

static void
test_explained_key_is_the_key(void **state)
{
    (void)state;
    struct forms forms = {0};
    assert_true(forms_read(&forms, CASES "records.forms", 1));
    for (size_t i = 0; i < forms.count; i++) {
        struct arena arena = {0};
        uint64_t key = fingerprint_key(&forms.records[i].input);
        struct fingerprint explained = fingerprint_explain(&forms.records[i].input, &arena);
        struct fingerprint parts = fingerprint_parts(&forms.records[i].input, &arena);
        assert_true(explained.key == key && parts.key == key);
        assert_true(bytes_equal(explained.root_class, parts.root_class));
        assert_true(bytes_equal(explained.pattern, parts.pattern));
        assert_true(bytes_present(explained.frame_reason));
        assert_int_equal(parts.mask_count, 0);
        arena_release(&arena);
    }
    forms_release(&forms);
}

static const char *
text_of(struct fingerprint_input input, const char *what)
{
    static char out[512];
    struct arena arena = {0};
    struct fingerprint print = fingerprint_explain(&input, &arena);
    struct bytes b = strcmp(what, "pattern") == 0 ? print.pattern
                     : strcmp(what, "class") == 0 ? print.root_class
                     : strcmp(what, "frame") == 0 ? print.frame
                                                  : print.root_text;
    snprintf(out, sizeof out, "%.*s", BYTES_ARGS(b));
    arena_release(&arena);
    return out;
}

static const char *
pattern_of(const char *message)
{
    return text_of((struct fingerprint_input){.message = bytes_of(message)}, "pattern");
}

static void
test_patterns(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Order 123 not found", "Order <n> not found"},
        {"took 12 ms at 2026-01-02T10:00:00Z", "took <n> <duration> at <date>"},
        {"closed Thu Jun 16 15:43:49 EDT 2005 by the broker", "closed <date> by the broker"},
        {"closed Mon, Jan 3 03:03:09 GMT+02:00 2006, then again", "closed <date>, then again"},
        {"closed Jun 16 15:43:49.125 and Jun 17 at 15:43", "closed <date> and <date> <n> at <date>"},
        {"closed Jun 16 15:43:49 ERROR 2003 came", "closed <date> ERROR 2003 came"},
        {"closed at 3:43:49 PM CEST", "closed at <date> <duration> <date>"},
        {"host:80 EST, 9:15 EST", "host:<n> EST, <date> EST"},
        {"id 4d46723 took 12ms, then 3h20m and 7d",
         "id <id> took <duration>, then <duration> and <duration>"},
        {"no org.acme.v2.job.Task$Event, no org.acme.v2.job.Task$1",
         "no org.acme.v2.job.Task$Event, no org.acme.v2.job.Task$1"},
        {"no org.acme.v2.job.Task$HibernateProxy$xY3kPq1a", "no <host>"},
        {"no org.acme.v2.job.Task$$Lambda$14", "no <host>"},
        {"Session{1a2b3c user 7} left", "Session<payload> left"},
        {"Session{1a2b3c user 7 left", "Session{<id> user <n> left"},
        {"Session{1a2b3cx user} left, Session{123456 users} left",
         "Session{<id> user} left, Session{<n> users} left"},
        {"\"GET /a/b/?c=[d] HTTP/1.1\" 200 7", "\"GET <path> HTTP/<ip>\" 200 <n>"},
        {"no Ana-PC.local, no My-Queue.de, no App-Core.Order",
         "no <host>, no My-Queue.de, no App-Core.Order"},
        {"user 0a1b2c3d-0000-4000-8000-0123456789ab gone", "user <uuid> gone"},
        {"from 10.1.2.3 and node-7.rack2.example.net", "from <ip> and <host>"},
        {"column \"customer_id\" of relation \"orders\"", "column \"customer_id\" of relation \"orders\""},
        {"value \"abc\" is bad", "value \"<text>\" is bad"},
        {"ids [1, 2, 3] failed", "ids [<n>] failed"},
        {"ORA-00001: unique constraint (APP.UK_2) violated",
         "ORA-00001: unique constraint (APP.UK_2) violated"},
        {"open '/tmp/a1.csv' failed", "open '<text>' failed"},
        {"data {\"a\": {\"b\": [1]}} is bad", "data <payload> is bad"},
        {"cannot save Order(id=1, name=x)", "cannot save Order<payload>"},
        {"insert into t (a, b) values (1, 'x]') failed", "insert into t (a, b) <sql> failed"},
        {"cliente Jo\xC3\xA3o da Silva sem limite", "cliente <name> sem limite"},
        {"thread 'main' panicked at 'order 7 is odd', src/a.rs:1:2", "order <n> is odd"},
        {"thread 'main' panicked at src/a.rs:1:2:\norder 7 is odd\nnote: run with `RUST_BACKTRACE=1` "
         "environment "
         "variable",
         "order <n> is odd"},
        {"called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
         "ParseIntError { kind: InvalidDigit }"},
        {"cannot insert NULL into (\"SHOP\".\"pay\".\"iban\")",
         "cannot insert NULL into (\"SHOP\".\"pay\".\"iban\")"},
        {"'weight' is a required property", "'weight' is a required property"},
        {"no parcel for Priya Raman-Li and A. de Vries", "no parcel for <name> and A. de Vries"},
        {"lock on trigger 'a.b-538499' and 'fk_2'", "lock on trigger 'a.b<id>' and '<text>'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(pattern_of(rows[i][0]), rows[i][1]);
}

static void
test_same_and_different(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        bool is_same;
    } rows[] = {
        {"id 12", "id 0af3", true},
        {"host web-1.example.com down", "host 10.0.0.1 down", true},
        {"list [1, 2, 3]", "list [7]", true},
        {"call() failed", "call(12) failed", true},
        {"worker-17a died", "worker-9 died", true},
        {"a  b\tc", "a b c", true},
        {"1 order left", "2 orders left", true},
        {"user maria.souza locked", "user joao.lima locked", true},
        {"login for user bob", "login for user eve", true},
        {"user not found", "user not ready", false},
        {"refused: inventory/10.0.0.1:80", "refused: inventory/10.0.0.2:80", true},
        {"refused: inventory/10.0.0.1:80", "refused: payments/10.0.0.1:80", false},
        {"resolve 'a.prod.svc.cluster.local'", "resolve 'b.prod.svc.cluster.local'", false},
        {"insert into t (a) values (1) was aborted: column \"a_b\"",
         "insert into t (a) values (2) was aborted: column \"a_c\"", false},
        {"error code 4021", "error code 4022", false},
        {"error code 402100", "error code 402200", true}, // too long for a code
        {"status 503", "status 404", false},
        {"[404] during", "[503] during", false},
        {"[40] during", "[41] during", true},
        {"404 (Not Found) x", "403 (Forbidden) x", false},
        {"404 Not Found", "410 Gone", false},
        {"404 rows", "405 rows", true},
        {"539 - Duplicidade", "204 - Duplicidade", false},
        {"returned 503", "returned 404", false},
        {"returned 503 rows", "returned 404 rows", true},
        {"returned 203", "returned 204", true}, // no failure
        {"SQLSTATE 23505", "SQLSTATE 23503", false},
        {"SQLSTATE 2350", "SQLSTATE 2351", true}, // not five
        {"code -12", "code -13", false},
        {"code AB-12", "code AB-13", false},
        {"code ab-12", "code ab-13", true}, // small letters: an id
        {"varchar(20) too short", "varchar(40) too short", false},
        {"varchar 20 too short", "varchar 40 too short", true},
        {"unexpected ('}' (code 125))", "unexpected (']' (code 93))", true},
        {"SQL0803N x", "SQL0911N x", false},
        {"E11000 x", "E11001 x", false},
        {"password of kubo for eve from 10.0.0.1", "password of kubo for bob from 10.0.0.2", true},
        {"closed by user eve 10.0.0.1", "closed by user bob 10.0.0.1", true},
        {"session 0x81dbf8b6 gone", "session 0x71dbf8b6 gone", true},
        {"failed: 0x80070005", "failed: 0x80070002", false},
        {"CircuitBreaker 'stock' is OPEN", "CircuitBreaker 'price' is OPEN", false},
        {"No enum constant com.acme.Size.X-17", "No enum constant com.acme.Size.ab9", true},
        {"No enum constant com.acme.Size.X-17", "No enum constant com.acme.Color.X-17", false},
        {"power module U3 lost", "power module U44 lost", true},
        {"\"GET /a HTTP/1.1\" 404 12", "\"GET /a HTTP/1.1\" 500 12", false},
        {"Поле «сумма» пусто", "Поле «валюта» пусто", false},
        {"缺少字段“金额”", "缺少字段“币种”", false},
        {"必須項目「金額」がありません", "必須項目「通貨」がありません", false},
        {"Код 12", "Код 13", false},
        {"must be >= 0", "must be <= 0", false},
        {"index fk_2 missing", "index fk_3 missing", false},
        {"column \"a\" missing", "column \"b\" missing", false},
        {"GET \"http://stock/items/1\" failed", "GET \"http://stock/items/2\" failed", true},
        {"GET \"http://stock/items/1\" failed", "GET \"http://price/items/1\" failed", false},
        {"Rejei\xC3\xA7\xC3\xA3o 539: x", "Rejei\xC3\xA7\xC3\xA3o 204: x", false},
        {"\xEC\x98\xA4\xEB\xA5\x98\xEC\xBD\x94\xEB\x93\x9C: 12",
         "\xEC\x98\xA4\xEB\xA5\x98\xEC\xBD\x94\xEB\x93\x9C: 13", false},
        {"pedido\xC2\xA0"
         "12 falhou",
         "pedido 13 falhou", true},                      // no-break space
        {"n \xEF\xBC\x91\xEF\xBC\x92 x", "n 7 x", true}, // full-width digits
        {"\xE8\xAE\xA2\xE5\x8D\x95"
         "1\xE4\xB8\x8D\xE5\xAD\x98\xE5\x9C\xA8",
         "\xE8\xAE\xA2\xE5\x8D\x95"
         "22\xE4\xB8\x8D\xE5\xAD\x98\xE5\x9C\xA8",
         true}, // text without blanks
        {"\xE8\xAE\xA2\xE5\x8D\x95"
         "1\xE4\xB8\x8D\xE5\xAD\x98\xE5\x9C\xA8",
         "\xE5\x95\x86\xE5\x93\x81"
         "1\xE4\xB8\x8D\xE5\xAD\x98\xE5\x9C\xA8",
         false},
        {"{\"code\":\"A\",\"message\":\"no\"}", "{\"code\":\"B\",\"message\":\"no\"}", false},
        {"{\"code\":\"A\",\"message\":\"no\",\"trace\":\"x1\"}",
         "{\"code\":\"A\",\"message\":\"no\",\"trace\":\"y\"}", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_same = key_of(rows[i].a) == key_of(rows[i].b);
        if (is_same != rows[i].is_same)
            fail_msg("%s | %s: %s", rows[i].a, rows[i].b, is_same ? "merged" : "split");
    }
}

static void
unescape(char *text)
{
    char *out = text;
    for (const char *p = text; *p != '\0'; p++) {
        bool is_newline = p[0] == '\\' && p[1] == 'n';
        *out++ = is_newline ? '\n' : *p;
        p += is_newline;
    }
    *out = '\0';
}

static void
check_pairs(const char *path, bool is_same)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[8192];
    unsigned faults = 0;
    unsigned pairs = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *between = strstr(line, " ~ ");
        if (line[0] == '#' || between == NULL)
            continue;
        *between = '\0';
        char *other = between + strlen(" ~ ");
        unescape(line);
        unescape(other);
        pairs++;
        if ((key_of(line) == key_of(other)) != is_same) {
            print_error("%s | %s: %s\n", line, other, is_same ? "split" : "merged");
            faults++;
        }
    }
    fclose(file);
    assert_true(pairs > 0);
    assert_int_equal(faults, 0);
}

static void
test_pairs(void **state)
{
    (void)state;
    check_pairs(CASES "different", false);
    check_pairs(CASES "same", true);
}

static void
test_root_cause(void **state)
{
    (void)state;
    static const struct {
        const char *stack;
        const char *class_name;
        const char *text;
        const char *frame;
    } rows[] = {
        {"a.Outer: failed\n\tat a.B.c(B.java:1)\nCaused by: a.Inner: order 7 is odd\n\tat "
         "a.B.d(B.java:2)\n\t... 3 more",
         "a.Inner", "order 7 is odd", ""},
        // what hangs on a suppressed exception is not the cause
        {"a.Outer: failed\n\tat a.B.c(B.java:1)\n\tSuppressed: a.Sup: x\n\t\tat a.B.s(B.java:1)\n\tCaused "
         "by: a.Deep: y\n"
         "Caused by: a.Inner: z went wrong\n\tat a.B.d(B.java:2)",
         "a.Inner", "z went wrong", ""},
        {"a.Outer: order 7 is odd\n\tat a.B.c(B.java:1)\n\tSuppressed: a.Sup: x\n\t\tat a.B.s(B.java:1)\n"
         "\tCaused by: a.Deep: y\n\t\tat a.B.t(B.java:1)",
         "a.Outer", "order 7 is odd", ""},
        // Jackson's second line is no frame, and a message may hold a blank line
        {"a.JsonException: bad token\n at [Source: (String)\"x\"; line: 1, column: 2]\n\nsee manual\n\tat "
         "a.B.c(B.java:1)",
         "a.JsonException", "bad token\n at [Source: (String)\"x\"; line: 1, column: 2]\n\nsee manual", ""},
        {"java.lang.RuntimeException: x\n\tat a.B.c(B.java:1)\nCaused by: java.lang.NullPointerException\n"
         "\tat java.base/java.util.Map.of(Map.java:1)\n\tat "
         "app//com.acme.Desk$$EnhancerBySpringCGLIB$$1f.lambda$go$4(Desk.java:2)",
         "java.lang.NullPointerException", "", "com.acme.Desk.go"},
        // what a library wrapped itself: the own frame is printed only with the outer exception
        {"org.springframework.X: x\n\tat org.springframework.A.b(A.java:1)\n\tat "
         "com.acme.Desk.go(Desk.java:2)\n"
         "Caused by: java.lang.NullPointerException\n\tat org.springframework.A.c(A.java:3)\n\t... 1 more",
         "java.lang.NullPointerException", "", "com.acme.Desk.go"},
        {"System.Exception: x ---> System.NullReferenceException: Object reference not set to an instance of "
         "an object.\n"
         "   at Acme.Desk.<GoAsync>d__7.MoveNext() in /src/Desk.cs:line 3\n   --- End of inner exception "
         "stack trace ---\n   at A.B()",
         "System.NullReferenceException", "Object reference not set to an instance of an object.",
         "Acme.Desk.GoAsync"},
        {"Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\n    x\nValueError: first "
         "thing\n\n"
         "The above exception was the direct cause of the following exception:\n\n"
         "Traceback (most recent call last):\n  File \"/app/b.py\", line 1, in g\n    y\napp.Second: wrapped "
         "it",
         "ValueError", "first thing", ""},
        {"Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\n    x\nValueError: first "
         "thing\n\n"
         "During handling of the above exception, another exception occurred:\n\n"
         "Traceback (most recent call last):\n  File \"/app/b.py\", line 1, in g\n    y\napp.Second: broke "
         "while handling",
         "app.Second", "broke while handling", ""},
        {"PDOException: duplicate thing in /app/x.php:3\nStack trace:\n#0 /app/y.php(1): A->b()\n#1 "
         "{main}\n\n"
         "Next App\\Wrapped: outer in /app/x.php:9\nStack trace:\n#0 {main}",
         "PDOException", "duplicate thing", ""},
        {"app/a.rb:1:in `total': divided by 0 (ZeroDivisionError)\n\tfrom app/jobs/b.rb:2:in `perform'",
         "ZeroDivisionError", "divided by 0", "a.total"},
        {"panic: runtime error: invalid memory address or nil pointer dereference\n[signal "
         "SIGSEGV]\n\ngoroutine 1 [running]:\n"
         "panic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:1 "
         "+0x1\nmain.(*Desk).Go(0xc0)\n\t/src/desk.go:2 +0x3",
         "", "runtime error: invalid memory address or nil pointer dereference", "main.(*Desk).Go"},
        {"Error: outer\n    at a (/app/a.js:1:2) {\n  [cause]: TypeError: b is not iterable here\n      at c "
         "(/app/c.js:1:2)\n}",
         "TypeError", "b is not iterable here", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fingerprint_input input = {.message = BYTES("x"), .stack = bytes_of(rows[i].stack)};
        assert_string_equal(text_of(input, "class"), rows[i].class_name);
        assert_string_equal(text_of(input, "text"), rows[i].text);
        assert_string_equal(text_of(input, "frame"), rows[i].frame);
    }
}

static void
test_class_beside_the_message(void **state)
{
    (void)state;
    struct fingerprint_input with_class = {.message = BYTES("order 7 is odd"),
                                           .error_class = BYTES("a.OddException")};
    struct fingerprint_input in_message = {.message = BYTES("a.OddException: order 8 is odd")};
    struct fingerprint_input in_stack = {.message = BYTES("order 9 is odd"),
                                         .stack =
                                             BYTES("a.OddException: order 9 is odd\n\tat a.B.c(B.java:1)")};
    struct fingerprint_input nested = {
        .message = BYTES("could not save; nested exception is a.OddException: order 10 is odd"),
        .error_class = BYTES("a.OuterException")};
    uint64_t key = fingerprint_key(&with_class);
    assert_true(key == fingerprint_key(&in_message));
    assert_true(key == fingerprint_key(&in_stack));
    assert_true(key == fingerprint_key(&nested));
}

static void
test_absent_parts(void **state)
{
    (void)state;
    struct fingerprint_input nothing = {0};
    struct fingerprint_input empty = {.message = BYTES(""), .stack = BYTES(""), .error_class = BYTES("")};
    assert_true(fingerprint_key(&nothing) == fingerprint_key(&empty));
    struct arena arena = {0};
    struct fingerprint print = fingerprint_explain(&nothing, &arena);
    assert_false(bytes_present(print.root_class));
    assert_int_equal(print.pattern.len, 0);
    arena_release(&arena);
}

static void
test_caps(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (unsigned i = 0; i < 2000; i++)
        strbuf_add_text(&text, "word ");
    struct fingerprint_input input = {.message = strbuf_bytes(&text)};
    uint64_t key = fingerprint_key(&input);
    strbuf_add_text(&text, "and something else");
    input.message = strbuf_bytes(&text);
    assert_true(key == fingerprint_key(&input));
    struct arena arena = {0};
    assert_true(fingerprint_explain(&input, &arena).is_cut);
    arena_release(&arena);
    strbuf_release(&text);
    assert_true(key_of("short") != key);
}

static void
test_masks_name_their_rule(void **state)
{
    (void)state;
    struct fingerprint_input input = {.message = BYTES("Order 17 of 'x y' failed at 10.0.0.1")};
    struct arena arena = {0};
    struct fingerprint print = fingerprint_explain(&input, &arena);
    assert_int_equal(print.mask_count, 3);
    assert_true(bytes_equal_text(print.masks[0].text, "17"));
    assert_string_equal(print.masks[0].rule, "a number");
    assert_true(bytes_equal_text(print.masks[1].text, "x y"));
    assert_true(bytes_equal_text(print.masks[2].text, "10.0.0.1"));
    assert_string_equal(print.masks[2].rule, "an IP address");
    arena_release(&arena);
}

static void
a_tax_number_is_no_version_and_a_date_no_address(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"CPF 123.456.789-09 inválido", "CPF <n> inválido"},
        {"CNPJ 12.345.678/0001-95 inválido", "CNPJ <n> inválido"},
        {"total 1.234.567 excede", "total <n> excede"},
        {"nascido em 15/01/2024", "nascido em <date>"},
        {"nascido em 1/01/2024", "nascido em <date>"},
        {"born 2024/01/15", "born <date>"},
        {"version 1.2.3 is old", "version <version> is old"},
        {"no answer of 192.168.100.200", "no answer of <ip>"},
        {"no route to 10.1.2.0/24", "no route to <ip>"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fingerprint_input input = {.message = bytes_of(rows[i][0])};
        struct fingerprint parts = fingerprint_parts(&input, &arena);
        if (!bytes_equal_text(parts.pattern, rows[i][1]))
            fail_msg("%s: %.*s", rows[i][0], (int)parts.pattern.len, parts.pattern.data);
    }
    arena_release(&arena);
}

// The keys of this rule version, made once: tests/cases/fingerprint/golden holds key, tab, stack or message
// with \n and \t written out.
static void
test_golden_keys(void **state)
{
    (void)state;
    FILE *file = fopen(CASES "golden", "r");
    assert_non_null(file);
    char line[8192];
    unsigned count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        char *tab = strchr(line, '\t');
        if (tab == NULL) {
            fail_msg("golden: no tab in %s", line);
            return;
        }
        tab[1 + strcspn(tab + 1, "\n")] = '\0';
        uint64_t expected = strtoull(line, NULL, 16);
        struct strbuf text = {0};
        bool is_stack = false;
        for (const char *p = tab + 1; *p != '\0'; p++) {
            bool is_escape = p[0] == '\\' && (p[1] == 'n' || p[1] == 't' || p[1] == '\\');
            is_stack |= is_escape && p[1] == 'n';
            p += is_escape;
            strbuf_add_char(&text, !is_escape ? *p : *p == 'n' ? '\n' : *p == 't' ? '\t' : '\\');
        }
        uint64_t key = is_stack ? key_of_stack(strbuf_text(&text)) : key_of(strbuf_text(&text));
        if (key != expected)
            print_error("%016llx\t%s\n", (unsigned long long)key, tab + 1);
        count += key == expected ? 0 : 1;
        strbuf_release(&text);
    }
    fclose(file);
    if (count > 0)
        fail_msg("%u keys changed: raise FINGERPRINT_VERSION, or undo the change", count);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_tables_are_sorted),
        cmocka_unit_test(test_maskers_do_as_they_say),
        cmocka_unit_test(test_each_cause_has_its_key),
        cmocka_unit_test(test_explained_key_is_the_key),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_same_and_different),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_root_cause),
        cmocka_unit_test(test_class_beside_the_message),
        cmocka_unit_test(test_absent_parts),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_masks_name_their_rule),
        cmocka_unit_test(a_tax_number_is_no_version_and_a_date_no_address),
        cmocka_unit_test(test_golden_keys),
    };
    return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
