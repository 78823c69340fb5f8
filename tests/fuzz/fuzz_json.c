// Any bytes as JSON: tokens cover the text, formatting keeps them, an edit changes nothing beside its value,
// and paths lead where a look at each member says.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "core/json/content.h"
#include "core/json/match.h"
#include "tests/lib/place_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WARNINGS = 8 };

static void
require(bool holds)
{
    if (!holds)
        abort();
}

// Between tokens there is white space and nothing else; the text is valid exactly when json_check says so.
static bool
check_tokens(struct bytes text)
{
    struct json_scan scan;
    json_begin(&scan, text);
    size_t end = 0;
    for (;;) {
        struct json_token token = json_next(&scan);
        require(token.from >= end && token.from <= text.len && token.len <= text.len - token.from);
        require(token.depth >= 0 && token.depth <= JSON_DEPTH);
        for (size_t i = end; token.kind != JSON_ERROR && i < token.from; i++)
            require(strchr(" \t\r\n", text.data[i]) && text.data[i]);
        end = token.from + token.len;
        if (token.kind != JSON_END && token.kind != JSON_ERROR) {
            require(token.len > 0);
            continue;
        }
        require(json_next(&scan).kind == token.kind); // it stays so
        struct err err = {0};
        bool is_valid = json_check(text, &err);
        require(is_valid == (token.kind == JSON_END) && is_valid == !err_is_set(&err));
        require(is_valid || (err.line >= 1 && err.column >= 1));
        return is_valid;
    }
}

// Pretty and small hold the same tokens: going either way twice ends at the same bytes.
static void
check_format(struct bytes text, bool is_valid)
{
    struct strbuf small = {0}, pretty = {0}, again = {0};
    require(json_minify(text, &small) == is_valid);
    require(json_format(text, &pretty) == is_valid);
    if (is_valid) {
        require(small.len <= text.len);
        require(json_minify(strbuf_bytes(&pretty), &again));
        require(bytes_equal(strbuf_bytes(&again), strbuf_bytes(&small)));
        strbuf_reset(&again);
        require(json_format(strbuf_bytes(&small), &again));
        require(bytes_equal(strbuf_bytes(&again), strbuf_bytes(&pretty)));
    }
    strbuf_release(&small);
    strbuf_release(&pretty);
    strbuf_release(&again);
}

static void
check_warnings(struct bytes text)
{
    struct json_warning warnings[WARNINGS];
    size_t count = json_warnings(text, warnings, WARNINGS);
    for (size_t i = 0; i < count && i < WARNINGS; i++) {
        int line;
        int column;
        json_position(text, warnings[i].from, &line, &column);
        require(warnings[i].line == line && warnings[i].column == column);
        require(i == 0 || warnings[i].from >= warnings[i - 1].from);
        require(warnings[i].from + warnings[i].len <= text.len);
    }
}

static void
check_content(struct bytes token)
{
    struct strbuf content = {0}, quoted = {0}, back = {0};
    require(json_decode(token, &content) && utf8_valid(strbuf_bytes(&content)));
    json_quote(strbuf_bytes(&content), &quoted);
    require(json_decode(strbuf_bytes(&quoted), &back));
    require(bytes_equal(strbuf_bytes(&content), strbuf_bytes(&back)));
    // Written back unchanged, it is the same token; with something in its middle, that is its content.
    strbuf_reset(&quoted);
    require(json_requote(token, strbuf_bytes(&content), &quoted));
    require(bytes_equal(strbuf_bytes(&quoted), token));
    strbuf_reset(&quoted);
    strbuf_reset(&back);
    strbuf_splice(&content, utf8_cut(strbuf_bytes(&content), content.len / 2), 0, BYTES("/\xC3\xA9\n"));
    require(json_requote(token, strbuf_bytes(&content), &quoted));
    require(json_decode(strbuf_bytes(&quoted), &back));
    require(bytes_equal(strbuf_bytes(&content), strbuf_bytes(&back)));
    strbuf_release(&content);
    strbuf_release(&quoted);
    strbuf_release(&back);
}

// A name that occurs twice leads to its last value, which may not have what the first one has.
static bool
has_duplicate(struct bytes text)
{
    struct json_warning *warnings = NULL;
    size_t count = json_warnings(text, NULL, 0);
    bool is_found = false;
    if (count)
        warnings = calloc(count, sizeof *warnings);
    require(json_warnings(text, warnings, count) == count);
    for (size_t i = 0; i < count; i++)
        is_found = is_found || warnings[i].risk == JSON_RISK_DUPLICATE;
    free(warnings);
    return is_found;
}

// The value at a path put in its own place is the same text; removed, it is gone and the text still JSON.
static void
check_edit(struct bytes text, size_t at)
{
    struct strbuf name = {0}, out = {0}, shorter = {0};
    struct json_path *path;
    struct json_token value = {0}, left;
    require(json_path_at(text, at, &name));
    // More than 64 steps are refused.
    path = NULL;
    bool leads = json_path_parse(&path, strbuf_bytes(&name), NULL) && json_path_find(path, text, &value);
    require(leads || !path || has_duplicate(text));
    if (leads) {
        require(json_set(path, text, bytes_slice(text, value.from, value.len), &out));
        require(bytes_equal(strbuf_bytes(&out), text));
        strbuf_reset(&out);
        require(json_set(path, text, BYTES("[1.50]"), &out));
        require(out.len == text.len - value.len + 6 && json_check(strbuf_bytes(&out), NULL));
        bool is_removed = json_remove(path, text, &shorter);
        require(is_removed == (name.len > 1));
        if (is_removed) {
            require(shorter.len < text.len && json_check(strbuf_bytes(&shorter), NULL));
            bool is_element =
                strbuf_text(&name)[name.len - 1] == ']' && strbuf_text(&name)[name.len - 2] != '\'';
            require(is_element || !json_path_find(path, strbuf_bytes(&shorter), &left));
        }
    }
    json_path_destroy(path);
    strbuf_release(&name);
    strbuf_release(&out);
    strbuf_release(&shorter);
}

static void
check_kind(struct bytes text, bool is_valid)
{
    struct content content;
    content_of(text, &content);
    require((content.kind == CONTENT_JSON) == is_valid);
    require(is_valid || json_offset(text, content.fault.line, content.fault.column) == content.fault.at);
    require(content.kind != CONTENT_TEXT || utf8_valid(text));
    require(content.kind != CONTENT_BYTES || content.not_text < text.len);
}

// A path is printed so that it is read again as the same; what both find in a text is the same.
static void
check_pattern(struct bytes text)
{
    struct json_path *path, *again;
    if (!json_pattern_parse(&path, text, NULL))
        return;
    struct strbuf once = {0}, twice = {0};
    json_path_print(path, NULL, &once);
    require(json_pattern_parse(&again, strbuf_bytes(&once), NULL));
    json_path_print(again, NULL, &twice);
    require(bytes_equal(strbuf_bytes(&once), strbuf_bytes(&twice)));
    require(json_path_stars(path) == json_path_stars(again));
    json_path_destroy(path);
    json_path_destroy(again);
    strbuf_release(&once);
    strbuf_release(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text = {(const char *)data, size};
    bool is_valid = check_tokens(text);
    check_kind(text, is_valid);
    check_pattern(text);
    check_format(text, is_valid);
    check_warnings(text);
    if (size <= 4096)
        check_places(text);
    if (!is_valid || size > 4096)
        return 0;

    struct json_scan scan;
    json_begin(&scan, text);
    struct bytes number = BYTES("0");
    struct json_token token = json_next(&scan);
    for (int count = 0; token.kind != JSON_END && count < 64; count++, token = json_next(&scan)) {
        struct bytes bytes = json_bytes(&scan, token);
        if (token.kind == JSON_STRING)
            check_content(bytes);
        if (token.kind == JSON_NUMBER) {
            int order = json_number_compare(bytes, number);
            int turned = json_number_compare(number, bytes);
            require((order > 0) == (turned < 0) && (order == 0) == (turned == 0));
            require(json_number_compare(bytes, bytes) == 0);
            number = bytes;
        }
        check_edit(text, token.from);
    }
    return 0;
}
