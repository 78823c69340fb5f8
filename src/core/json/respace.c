// An edited document with the white space that it had before: what was formatted to be read goes back as it
// was.
#include <stdlib.h>
#include "base/alloc.h"
#include "core/diff/diff.h"
#include "core/json/json.h"

struct respace_token {
    enum json_kind kind;
    size_t from, len;
};

// The tokens of a text, and the same with a line each, which is what can be compared.
struct respace_side {
    struct bytes text;
    struct respace_token *tokens;
    size_t count;
    struct strbuf lines;
};

static bool
respace_read(struct respace_side *side, struct bytes text)
{
    struct json_scan scan;
    struct json_token token;
    size_t capacity = 0;
    *side = (struct respace_side){.text = text};
    json_begin(&scan, text);
    while ((token = json_next(&scan)).kind != JSON_END && token.kind != JSON_ERROR) {
        side->tokens = alloc_grow(side->tokens, side->count, &capacity, sizeof *side->tokens);
        side->tokens[side->count++] =
            (struct respace_token){.kind = token.kind, .from = token.from, .len = token.len};
        strbuf_add(&side->lines, json_bytes(&scan, token));
        strbuf_add_char(&side->lines, '\n');
    }
    return token.kind == JSON_END;
}

static void
respace_release(struct respace_side *side)
{
    free(side->tokens);
    strbuf_release(&side->lines);
}

// The white space before a token; behind the last one for `at` == count.
static struct bytes
space_before(const struct respace_side *side, size_t at)
{
    size_t from = at ? side->tokens[at - 1].from + side->tokens[at - 1].len : 0;
    size_t to = at < side->count ? side->tokens[at].from : side->text.len;
    return bytes_slice(side->text, from, to - from);
}

// The white space that the document has behind its first token of a kind; none where there is no such token.
static struct bytes
usual_space(const struct respace_side *before, enum json_kind kind)
{
    for (size_t i = 0; i + 1 < before->count; i++)
        if (before->tokens[i].kind == kind)
            return space_before(before, i + 1);
    return BYTES("");
}

// The tokens [b, b + b_count) in place of a_count from `a` on.
static void
add_changed(const struct respace_side *before, const struct respace_side *after,
            const struct diff_change *change, struct strbuf *out)
{
    for (size_t i = 0; i < change->b_count; i++) {
        const struct respace_token *token = &after->tokens[change->b + i];
        enum json_kind behind = change->b + i ? token[-1].kind : JSON_END;
        if (change->a_count == change->b_count)
            strbuf_add(out, space_before(before, change->a + i));
        else if (behind == JSON_COMMA || behind == JSON_COLON)
            strbuf_add(out, usual_space(before, behind));
        strbuf_add(out, bytes_slice(after->text, token->from, token->len));
    }
}

static void
add_respaced(const struct respace_side *before, const struct respace_side *after, const struct diff *diff,
             struct strbuf *out)
{
    size_t at = 0;
    for (size_t i = 0; i <= diff->change_count; i++) {
        const struct diff_change *change = i < diff->change_count ? &diff->changes[i] : NULL;
        for (; at < (change ? change->a : before->count); at++) {
            strbuf_add(out, space_before(before, at));
            strbuf_add(out, bytes_slice(before->text, before->tokens[at].from, before->tokens[at].len));
        }
        if (!change)
            break;
        add_changed(before, after, change, out);
        at += change->a_count;
    }
    strbuf_add(out, space_before(before, before->count));
}

bool
json_respace(struct bytes before, struct bytes after, struct strbuf *out)
{
    struct respace_side old, new;
    bool ok = respace_read(&old, before);
    ok = respace_read(&new, after) && ok;
    if (ok && old.tokens && new.tokens) { // JSON has a token
        struct diff *diff = diff_create(strbuf_bytes(&old.lines), strbuf_bytes(&new.lines), DIFF_WORK);
        add_respaced(&old, &new, diff, out);
        diff_destroy(diff);
    }
    respace_release(&old);
    respace_release(&new);
    return ok;
}
