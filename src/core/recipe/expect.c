// expect: conditions under which a recipe applies.
#include <stdio.h>
#include "core/recipe/private.h"

static struct json_token
first_token(struct bytes json)
{
    struct json_scan scan;
    json_begin(&scan, json);
    return json_next(&scan);
}

static bool
contents_equal(struct bytes a, struct bytes b)
{
    if (bytes_equal(a, b))
        return true;
    struct strbuf x = {0}, y = {0};
    bool is_same =
        json_decode(a, &x) && json_decode(b, &y) && bytes_equal(strbuf_bytes(&x), strbuf_bytes(&y));
    strbuf_release(&x);
    strbuf_release(&y);
    return is_same;
}

static bool
arrays_equal(struct bytes a, struct bytes b)
{
    struct json_children x, y;
    struct json_token i, j;
    (void)json_children(&x, a);
    (void)json_children(&y, b);
    for (;;) {
        bool has_i = json_child(&x, NULL, &i);
        bool has_j = json_child(&y, NULL, &j);
        if (!has_i || !has_j)
            return has_i == has_j;
        if (!values_equal(json_bytes(&x.scan, i), json_bytes(&y.scan, j)))
            return false;
    }
}

// The value of the last member of that name, given as a token.
static bool
member_of(struct bytes object, struct bytes wanted, struct bytes *value)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token token;
    bool is_found = false;
    (void)json_children(&children, object);
    while (json_child(&children, &name, &token)) {
        if (!contents_equal(json_bytes(&children.scan, name), wanted))
            continue;
        *value = json_bytes(&children.scan, token);
        is_found = true;
    }
    return is_found;
}

// Is each member of `a`, as the last of its name, one of `b`? Without values only the names are compared.
static bool
members_within(struct bytes a, struct bytes b, bool with_values)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token token;
    struct bytes x, y;
    (void)json_children(&children, a);
    while (json_child(&children, &name, &token)) {
        struct bytes wanted = json_bytes(&children.scan, name);
        if (!member_of(b, wanted, &y))
            return false;
        if (with_values && (!member_of(a, wanted, &x) || !values_equal(x, y)))
            return false;
    }
    return true;
}

bool
values_equal(struct bytes a, struct bytes b)
{
    enum json_kind kind = first_token(a).kind;
    if (kind != first_token(b).kind)
        return false;
    if (kind == JSON_STRING)
        return contents_equal(a, b);
    if (kind == JSON_NUMBER)
        return json_number_compare(a, b) == 0;
    if (kind == JSON_ARRAY_BEGIN)
        return arrays_equal(a, b);
    return kind != JSON_OBJECT_BEGIN || (members_within(a, b, true) && members_within(b, a, false));
}

static bool
text_matches(const struct operation *operation, struct bytes json, enum json_kind kind, bool *at_limit)
{
    struct strbuf content = {0};
    if (kind == JSON_STRING)
        (void)json_decode(json, &content);
    else if (kind == JSON_NUMBER || kind == JSON_TRUE || kind == JSON_FALSE)
        strbuf_add(&content, json);
    else
        return false;
    enum pattern_verdict verdict = pattern_is_in(operation->pattern, strbuf_bytes(&content));
    *at_limit = verdict == PATTERN_LIMIT;
    strbuf_release(&content);
    return verdict == PATTERN_YES;
}

static bool
holds(const struct operation *operation, struct bytes json, bool *at_limit)
{
    enum json_kind kind = first_token(json).kind;
    switch (operation->expectation) {
    case EXPECT_PRESENT:
        return true;
    case EXPECT_ABSENT:
        return false;
    case EXPECT_NUMBER:
        return kind == JSON_NUMBER;
    case EXPECT_TEXT:
        return kind == JSON_STRING;
    case EXPECT_BOOLEAN:
        return kind == JSON_TRUE || kind == JSON_FALSE;
    case EXPECT_NULL:
        return kind == JSON_NULL;
    case EXPECT_OBJECT:
        return kind == JSON_OBJECT_BEGIN;
    case EXPECT_ARRAY:
        return kind == JSON_ARRAY_BEGIN;
    case EXPECT_EQUAL:
        return values_equal(json, operation->json);
    case EXPECT_MATCH:
        return text_matches(operation, json, kind, at_limit);
    }
    return false;
}

// "not what is expected (= "EUR")".
static void
describe(const struct operation *operation, char said[80])
{
    bool is_absence = operation->expectation == EXPECT_ABSENT;
    struct bytes wanted = bytes_slice(operation->operand, 0, 40);
    snprintf(said, 80, is_absence ? "present, not %.*s" : "not as expected (%.*s)", BYTES_ARGS(wanted));
}

static enum recipe_outcome
fails(struct apply *apply, const struct operation *operation, const struct json_matches *matches, size_t item,
      bool at_limit)
{
    char said[80];
    if (at_limit)
        return apply_stop(apply, RECIPE_FAILED, "%.*s: the regular expression ran into its limits",
                          BYTES_ARGS(operation->place.text));
    describe(operation, said);
    return apply_unfit(apply, &operation->place, matches, item, said);
}

static enum recipe_outcome
expect_in_record(struct apply *apply, const struct operation *operation)
{
    const struct place *place = &operation->place;
    struct strbuf *value = &apply->recipe->value;
    char said[80];
    bool at_limit = false;
    strbuf_reset(value);
    bool is_there = place_json(apply, place, value);
    bool wants_absence = operation->expectation == EXPECT_ABSENT;
    if (is_there ? holds(operation, strbuf_bytes(value), &at_limit) : wants_absence)
        return RECIPE_UNCHANGED;
    if (!is_there)
        return apply_missing(apply, place);
    if (at_limit)
        return apply_stop(apply, RECIPE_FAILED, "%.*s: the regular expression ran into its limits",
                          BYTES_ARGS(place->text));
    describe(operation, said);
    return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s is %s", BYTES_ARGS(place->text), said);
}

// Has every element of the last [*] a value at the path?
static enum recipe_outcome
check_each_has(struct apply *apply, const struct operation *operation, const struct json_matches *matches)
{
    const struct place *place = &operation->place;
    struct json_matches *holders = &apply->recipe->more;
    if (matches->found == 0)
        return apply_missing(apply, place);
    if (!place->holder)
        return RECIPE_UNCHANGED;
    (void)json_matches_find(place->holder, apply->now.payload, holders);
    if (holders->found == matches->found)
        return RECIPE_UNCHANGED;
    return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s exists in %zu of %zu elements",
                      BYTES_ARGS(place->text), matches->found, holders->found);
}

enum recipe_outcome
recipe_do_expect(struct apply *apply, const struct operation *operation)
{
    if (operation->place.kind != PAYLOAD)
        return expect_in_record(apply, operation);
    const struct json_matches *matches;
    enum recipe_outcome outcome = apply_look(apply, &operation->place, &matches);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    for (size_t i = 0; i < matches->count; i++) {
        struct json_token value = matches->items[i].value;
        bool at_limit = false;
        if (!matches->items[i].is_missing &&
            !holds(operation, bytes_slice(apply->now.payload, value.from, value.len), &at_limit))
            return fails(apply, operation, matches, i, at_limit);
    }
    return operation->expectation == EXPECT_ABSENT ? RECIPE_UNCHANGED
                                                   : check_each_has(apply, operation, matches);
}
