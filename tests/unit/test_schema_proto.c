// Values of Protobuf as JSON. The bytes are by hand, from the documentation of Protocol Buffers, "Encoding".
#include "core/schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"

static struct arena arena;

// --- descriptors: descriptor.proto ---

static void
put_bytes(struct strbuf *out, int field, struct bytes bytes)
{
    strbuf_add_char(out, (char)(field << 3 | 2));
    if (bytes.len >= 128)
        strbuf_add_char(out, (char)((bytes.len & 0x7F) | 0x80));
    strbuf_add_char(out, (char)(bytes.len >= 128 ? bytes.len >> 7 : bytes.len));
    strbuf_add(out, bytes);
}

static void
put_number(struct strbuf *out, int field, int number)
{
    strbuf_add_char(out, (char)(field << 3));
    strbuf_add_char(out, (char)number);
}

static struct bytes
take(struct strbuf *out)
{
    struct bytes bytes = arena_copy(&arena, strbuf_bytes(out));
    strbuf_release(out);
    return bytes;
}

static struct bytes
field(const char *name, int number, int label, int type, const char *type_name)
{
    struct strbuf out = {0};
    put_bytes(&out, 1, bytes_of(name));
    put_number(&out, 3, number);
    put_number(&out, 4, label);
    put_number(&out, 5, type);
    if (type_name)
        put_bytes(&out, 6, bytes_of(type_name));
    return take(&out);
}

enum { ONE = 1, MANY = 3 };

// package shop; enum State { OPEN = 0; PAID = 1; }
// message Test1 { int32 a = 1; }
// message All { string b = 2; Test1 c = 3; repeated int32 e = 6; sint64 s = 7; double d = 8; bool ok = 9;
//     State state = 10; bytes raw = 11; map<string, int32> m = 12; repeated string names = 13; uint64 u = 14;
//     All again = 15; message Inner { int32 x = 1; } }
static struct bytes
shop_file(void)
{
    struct strbuf file = {0}, test1 = {0}, all = {0}, inner = {0}, entry = {0}, options = {0}, state = {0},
                  value = {0};
    put_bytes(&test1, 1, BYTES("Test1"));
    put_bytes(&test1, 2, field("a", 1, ONE, 5, NULL));
    put_bytes(&inner, 1, BYTES("Inner"));
    put_bytes(&inner, 2, field("x", 1, ONE, 5, NULL));
    put_number(&options, 7, 1);
    put_bytes(&entry, 1, BYTES("MEntry"));
    put_bytes(&entry, 2, field("key", 1, ONE, 9, NULL));
    put_bytes(&entry, 2, field("value", 2, ONE, 5, NULL));
    put_bytes(&entry, 7, take(&options));
    put_bytes(&all, 1, BYTES("All"));
    const struct bytes fields[] = {field("b", 2, ONE, 9, NULL),
                                   field("c", 3, ONE, 11, ".shop.Test1"),
                                   field("e", 6, MANY, 5, NULL),
                                   field("s", 7, ONE, 18, NULL),
                                   field("d", 8, ONE, 1, NULL),
                                   field("ok", 9, ONE, 8, NULL),
                                   field("state", 10, ONE, 14, ".shop.State"),
                                   field("raw", 11, ONE, 12, NULL),
                                   field("m", 12, MANY, 11, ".shop.All.MEntry"),
                                   field("names", 13, MANY, 9, NULL),
                                   field("u", 14, ONE, 4, NULL),
                                   field("again", 15, ONE, 11, ".shop.All")};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put_bytes(&all, 2, fields[i]);
    put_bytes(&all, 3, take(&inner));
    put_bytes(&all, 3, take(&entry));
    put_bytes(&state, 1, BYTES("State"));
    put_bytes(&value, 1, BYTES("OPEN"));
    put_number(&value, 2, 0);
    put_bytes(&state, 2, take(&value));
    put_bytes(&value, 1, BYTES("PAID"));
    put_number(&value, 2, 1);
    put_bytes(&state, 2, take(&value));
    put_bytes(&file, 1, BYTES("shop.proto"));
    put_bytes(&file, 2, BYTES("shop"));
    put_bytes(&file, 4, take(&test1));
    put_bytes(&file, 4, take(&all));
    put_bytes(&file, 5, take(&state));
    return take(&file);
}

static const char *
decode(struct bytes text, enum schema_framing framing, struct bytes value)
{
    struct err err = {0};
    struct strbuf out = {0};
    const struct schema *schema = schema_read(SCHEMA_PROTOBUF, &text, 1, &arena, &err);
    bool ok = schema && schema_decode(schema, framing, value, &out, &err);
    if (ok && !json_check(strbuf_bytes(&out), &err))
        fail_msg("%s: %s", err.text, strbuf_text(&out));
    assert_true(ok || out.len == 0);
    const char *said = arena_text(&arena, ok ? strbuf_bytes(&out) : bytes_of(err.text));
    strbuf_release(&out);
    return said;
}
#define ALL(literal, wanted)                                                                                 \
    assert_string_equal(                                                                                     \
        decode(shop_file(), SCHEMA_FRAMED, (struct bytes){"\2\2" literal, sizeof(literal) + 1}), wanted)

static void
each_type_is_shown_by_its_name(void **state)
{
    (void)state;
    assert_string_equal(decode(shop_file(), SCHEMA_FRAMED, BYTES("\0\x08\x96\x01")), "{\"a\":150}");
    assert_string_equal(decode(shop_file(), SCHEMA_BARE, BYTES("\x08\x96\x01")), "{\"a\":150}");
    assert_string_equal(decode(shop_file(), SCHEMA_BARE, BYTES("")), "{}");
    ALL("\x12\x07testing", "{\"b\":\"testing\"}");
    ALL("\x1a\x03\x08\x96\x01", "{\"c\":{\"a\":150}}");
    ALL("\x32\x06\x03\x8E\x02\x9E\xA7\x05", "{\"e\":[3,270,86942]}");
    ALL("\x30\x03\x12\x01z\x30\x04", "{\"b\":\"z\",\"e\":[3,4]}"); // not packed, and not together
    ALL("\x38\x03", "{\"s\":-2}");
    ALL("\x41\x9A\x99\x99\x99\x99\x99\xB9\x3F", "{\"d\":0.1}");
    ALL("\x48\x01\x50\x01", "{\"ok\":true,\"state\":\"PAID\"}");
    ALL("\x50\x07", "{\"state\":7}");
    ALL("\x5a\x02\x00\xFF", "{\"raw\":{\"base64\":\"AP8=\"}}");
    ALL("\x62\x05\x0a\x01k\x10\x07\x62\x02\x10\x08", "{\"m\":{\"k\":7,\"\":8}}");
    ALL("\x6a\x01p\x6a\x01q", "{\"names\":[\"p\",\"q\"]}");
    ALL("\x70\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "{\"u\":18446744073709551615}");
    ALL("\x08\x05\x18\x05", "{\"1\":5,\"3\":5}"); // unknown, and of another kind than the schema says
    assert_string_equal(decode(shop_file(), SCHEMA_FRAMED, BYTES("\4\2\0\x08\x07")),
                        "{\"x\":7}"); // All.Inner
}

static void
a_set_of_files_is_read(void **state)
{
    (void)state;
    struct strbuf set = {0};
    put_bytes(&set, 1, shop_file());
    assert_string_equal(decode(take(&set), SCHEMA_BARE, BYTES("\x08\x01")), "{\"a\":1}");
}

static void
hostile_values_are_refused(void **state)
{
    (void)state;
    static char nested[2000];
    struct strbuf deep = {0};
    for (int i = 0; i < 100; i++) {
        struct strbuf outer = {0};
        put_bytes(&outer, 15, strbuf_bytes(&deep));
        strbuf_release(&deep);
        deep = outer;
    }
    nested[0] = nested[1] = 2;
    memcpy(nested + 2, deep.data, deep.len);
    const struct {
        struct bytes value;
        const char *said;
    } cases[] = {
        {{"\2\2\x12\x07t", 5}, "a field of 7 bytes, and 1 are left"},
        {{"\2\2\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 13}, "bytes, and 0 are left"},
        {{"\2\2\x00\x01", 4}, "a number that there is none of"},
        {{"\2\2\x0f", 3}, "a kind that there is none of"},
        {{"\2\2\x0c", 3}, "a group that did not begin"},
        {{"\2\2\x0b\x08\x01", 5}, "the value ends within a number"},
        {{"\2\2\x0b\x14", 4}, "the end of another group"},
        {{"\2\x0e", 2}, "message 7 of 2"},
        {{"\1", 1}, "a negative number of indexes"},
        {{nested, deep.len + 2}, "64 levels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = decode(shop_file(), SCHEMA_FRAMED, cases[i].value);
        if (!strstr(said, cases[i].said))
            fail_msg("case %zu: %s instead of %s", i, said, cases[i].said);
    }
    strbuf_release(&deep);
    assert_non_null(strstr(decode(BYTES(""), SCHEMA_BARE, BYTES("")), "no message"));
    assert_non_null(strstr(decode(BYTES("\x22\x05"), SCHEMA_BARE, BYTES("")), "5 bytes, and 0 are left"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_shown_by_its_name),
        cmocka_unit_test(a_set_of_files_is_read),
        cmocka_unit_test(hostile_values_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
