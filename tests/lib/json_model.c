#include "tests/lib/json_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/json/content.h"
#include "core/json/match.h"
#include "tests/lib/jansson.h"

enum { STEPS = 16, PIECES = 2 * TREE_TOKENS };

struct model_step {
    enum { BY_NAME, BY_INDEX, BY_STAR } kind;
    int name;
    size_t index;
};

struct model {
    struct tree tree;
    struct chance *chance;
    struct strbuf *why;
    struct model_step steps[STEPS];
    size_t step_count;
    struct strbuf path_text;
    struct json_path *path;
};

static bool
wrong(struct model *model, const char *what)
{
    strbuf_printf(model->why, "%s, path %s, of: ", what, strbuf_text(&model->path_text));
    strbuf_add(model->why, strbuf_bytes(&model->tree.text));
    return false;
}

static struct bytes
model_text(const struct model *model)
{
    return strbuf_bytes(&model->tree.text);
}

// --- what the path leads to -----------------------------------------------------------------------------

static size_t
model_depth(const struct tree *tree, int node)
{
    size_t depth = 0;
    for (; tree->nodes[node].parent >= 0; node = tree->nodes[node].parent)
        depth++;
    return depth;
}

static bool
step_fits(const struct model_step *step, const struct tree_node *node)
{
    if (step->kind == BY_NAME)
        return node->name == step->name;
    return node->name < 0 && (step->kind == BY_STAR || node->index == step->index);
}

// Do the first `count` steps lead to the node, past no member that a later one replaces?
static bool
leads_to(const struct model *model, size_t count, int node)
{
    const struct tree_node *nodes = model->tree.nodes;
    if (model_depth(&model->tree, node) != count)
        return false;
    for (; nodes[node].parent >= 0; node = nodes[node].parent)
        if (nodes[node].is_replaced || !step_fits(&model->steps[--count], &nodes[node]))
            return false;
    return true;
}

static bool
has_child(const struct model *model, int parent, const struct model_step *step)
{
    for (int i = parent + 1; i < model->tree.node_count; i++)
        if (model->tree.nodes[i].parent == parent && step_fits(step, &model->tree.nodes[i]))
            return true;
    return false;
}

// Is the node a container that the path leads into, and that could hold the last step?
static bool
could_hold(const struct model *model, int node)
{
    if (model->step_count == 0 || !leads_to(model, model->step_count - 1, node))
        return false;
    const struct model_step *last = &model->steps[model->step_count - 1];
    enum json_kind kind = last->kind == BY_NAME ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
    return model->tree.nodes[node].kind == kind;
}

static const struct model_step *
last_step(const struct model *model)
{
    return model->step_count ? &model->steps[model->step_count - 1] : NULL;
}

static void
print_path(struct model *model)
{
    strbuf_reset(&model->path_text);
    strbuf_add_char(&model->path_text, '$');
    for (size_t i = 0; i < model->step_count; i++) {
        const struct model_step *step = &model->steps[i];
        if (step->kind == BY_NAME) {
            strbuf_add_char(&model->path_text, '[');
            tree_spell(model->chance, tree_names[step->name], &model->path_text);
            strbuf_add_char(&model->path_text, ']');
        } else if (step->kind == BY_INDEX) {
            strbuf_printf(&model->path_text, "[%zu]", step->index);
        } else {
            strbuf_add_text(&model->path_text, "[*]");
        }
    }
}

// The path to a node.
static void
path_of(struct model *model, int node)
{
    model->step_count = model_depth(&model->tree, node);
    for (size_t i = model->step_count; i > 0; i--) {
        const struct tree_node *at = &model->tree.nodes[node];
        model->steps[i - 1] = (struct model_step){
            .kind = at->name >= 0 ? BY_NAME : BY_INDEX, .name = at->name, .index = at->index};
        node = at->parent;
    }
}

// The path to some node, at times with stars, another last step or one more.
static void
choose_path(struct model *model)
{
    struct chance *chance = model->chance;
    path_of(model, (int)chance_below(chance, (unsigned)model->tree.node_count));
    for (size_t i = 0; i < model->step_count; i++)
        if (model->steps[i].kind == BY_INDEX && chance_below(chance, 3) == 0)
            model->steps[i].kind = BY_STAR;
    if (chance_below(chance, 4) == 0)
        model->step_count++;
    else if (model->step_count == 0 || chance_below(chance, 5))
        return;
    model->steps[model->step_count - 1] =
        (struct model_step){.kind = chance_below(chance, 3) ? BY_NAME : BY_INDEX,
                            .name = (int)chance_below(chance, TREE_NAMES),
                            .index = chance_below(chance, 4)};
}

// --- edits, as the pieces that the new text consists of ---------------------------------------------------

// Tokens of the old text, or a new one in their place; `first` -1: new, between others.
struct piece {
    int first, last;
    struct bytes text;
};

struct plan {
    bool drop[TREE_TOKENS];
    struct bytes instead[TREE_TOKENS]; // of the token and what was dropped behind it; absent: it stays
    struct bytes before[TREE_TOKENS][4];
    size_t before_count[TREE_TOKENS];
    bool is_possible;
    struct piece pieces[PIECES];
    size_t piece_count;
};

static void
plan_put(struct plan *plan, size_t token, struct bytes text)
{
    plan->before[token][plan->before_count[token]++] = text;
    plan->is_possible = true;
}

static void
plan_replace(struct plan *plan, size_t first, size_t last, struct bytes text)
{
    plan->instead[first] = text;
    for (size_t i = first + 1; i <= last; i++)
        plan->drop[i] = true;
    plan->is_possible = true;
}

static void
plan_pieces(const struct tree *tree, struct plan *plan)
{
    for (size_t i = 0; i < tree->token_count; i++) {
        for (size_t j = 0; j < plan->before_count[i]; j++)
            plan->pieces[plan->piece_count++] = (struct piece){-1, -1, plan->before[i][j]};
        if (plan->drop[i])
            continue;
        bool is_new = bytes_present(plan->instead[i]);
        size_t last = i;
        while (is_new && last + 1 < tree->token_count && plan->drop[last + 1])
            last++;
        plan->pieces[plan->piece_count++] =
            (struct piece){(int)i, (int)last, is_new ? plan->instead[i] : tree_token(tree, i)};
    }
}

static void
plan_set(const struct model *model, struct plan *plan, struct bytes name, struct bytes value)
{
    const struct tree *tree = &model->tree;
    const struct model_step *last = last_step(model);
    for (int i = 0; i < tree->node_count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        if (leads_to(model, model->step_count, i)) {
            plan_replace(plan, node->first, node->last, value);
        } else if (could_hold(model, i) && node->kind == JSON_OBJECT_BEGIN && !has_child(model, i, last)) {
            if (node->last > node->first + 1)
                plan_put(plan, node->last, BYTES(","));
            plan_put(plan, node->last, name);
            plan_put(plan, node->last, BYTES(":"));
            plan_put(plan, node->last, value);
        }
    }
}

static size_t
child_begin(const struct tree_node *child)
{
    return child->name >= 0 ? child->name_token : child->first;
}

static void
plan_remove(const struct model *model, struct plan *plan)
{
    const struct tree *tree = &model->tree;
    for (int parent = 0; parent < tree->node_count; parent++) {
        if (!could_hold(model, parent))
            continue;
        bool has_kept = false;
        for (int i = parent + 1; i < tree->node_count; i++) {
            const struct tree_node *child = &tree->nodes[i];
            if (child->parent != parent)
                continue;
            bool goes = step_fits(&model->steps[model->step_count - 1], child);
            // A comma stays with the child behind it, but not before the first that stays.
            if (child->index)
                plan->drop[child_begin(child) - 1] = goes || !has_kept;
            for (size_t token = child_begin(child); goes && token <= child->last; token++)
                plan->drop[token] = true;
            plan->is_possible = plan->is_possible || goes;
            has_kept = has_kept || !goes;
        }
    }
}

static void
plan_rename(const struct model *model, struct plan *plan, int wanted, struct bytes token)
{
    const struct tree *tree = &model->tree;
    if (model->step_count == 0 || model->steps[model->step_count - 1].kind != BY_NAME)
        return;
    int name = model->steps[model->step_count - 1].name;
    bool is_refused = false;
    for (int i = 1; i < tree->node_count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        if (node->name != name || !could_hold(model, node->parent))
            continue;
        is_refused = is_refused ||
                     (wanted != name &&
                      has_child(model, node->parent, &(struct model_step){.kind = BY_NAME, .name = wanted}));
        if (wanted != name)
            plan->instead[node->name_token] = token;
        plan->is_possible = true;
    }
    plan->is_possible = plan->is_possible && !is_refused;
}

static void
plan_insert(const struct model *model, struct plan *plan, size_t index, struct bytes value)
{
    const struct tree *tree = &model->tree;
    for (int parent = 0; parent < tree->node_count; parent++) {
        const struct tree_node *array = &tree->nodes[parent];
        if (array->kind != JSON_ARRAY_BEGIN || !leads_to(model, model->step_count, parent))
            continue;
        size_t count = 0;
        for (int i = parent + 1; i < tree->node_count; i++) {
            const struct tree_node *child = &tree->nodes[i];
            if (child->parent == parent && count++ == index) {
                plan_put(plan, child->first, value);
                plan_put(plan, child->first, BYTES(","));
            }
        }
        if (index == JSON_LAST || index == count) {
            if (count)
                plan_put(plan, array->last, BYTES(","));
            plan_put(plan, array->last, value);
        }
    }
}

// --- the new text against its pieces ----------------------------------------------------------------------

// White space of the old text behind a token (-1: at the begin).
static struct bytes
old_gap(const struct model *model, int token)
{
    const struct tree *tree = &model->tree;
    size_t from = token < 0 ? 0 : tree->tokens[token].from + tree->tokens[token].len;
    bool is_last = (size_t)(token + 1) == tree->token_count;
    size_t to = is_last ? tree->text.len : tree->tokens[token + 1].from;
    return bytes_slice(model_text(model), from, to - from);
}

// Every piece is there, and where two old tokens still follow each other so does the space between them.
// Where something new stands between, that space is on one of its sides.
static bool
consists_of(struct model *model, const struct plan *plan, struct bytes made)
{
    struct json_scan scan;
    json_begin(&scan, made);
    size_t end = 0;
    int before = -1; // old token of the piece before, -2: it is none that the next old one follows
    bool is_new_between = false, stood_before = false;
    for (size_t i = 0; i <= plan->piece_count; i++) {
        struct json_token token = json_next(&scan);
        bool is_end = i == plan->piece_count;
        if (token.kind == JSON_ERROR || (token.kind == JSON_END) != is_end)
            return wrong(model, "the edited text has other tokens");
        const struct piece *piece = &plan->pieces[i];
        if (!is_end && !bytes_equal(json_bytes(&scan, token), piece->text))
            return wrong(model, "a token of the edited text is another");
        struct bytes gap = bytes_slice(made, end, (is_end ? made.len : token.from) - end);
        int first = is_end ? (int)model->tree.token_count : piece->first;
        end = token.from + token.len;
        if (first < 0) {
            if (!is_new_between)
                stood_before = bytes_equal(gap, old_gap(model, before));
            is_new_between = true;
            continue;
        }
        bool follows = first == before + 1;
        bool is_same = follows && bytes_equal(gap, old_gap(model, before));
        if (follows && !is_same && !(is_new_between && stood_before))
            return wrong(model, "white space beside the edit changed");
        before = is_end ? first : piece->last;
        is_new_between = false;
    }
    return true;
}

static bool
expect_edit(struct model *model, struct plan *plan, bool is_done, const struct strbuf *out)
{
    if (is_done != plan->is_possible)
        return wrong(model, is_done ? "an edit was made where none is possible" : "an edit was not made");
    if (!is_done)
        return out->len == 0 || wrong(model, "an edit that was not made wrote something");
    plan_pieces(&model->tree, plan);
    return consists_of(model, plan, strbuf_bytes(out));
}

static bool
check_edit(struct model *model, unsigned which)
{
    struct plan *plan = alloc_bytes(sizeof *plan);
    struct strbuf out = {0}, name = {0};
    struct bytes text = model_text(model);
    struct bytes value = chance_below(model->chance, 2) ? BYTES("-12.50e+3") : BYTES("\"\\u00e9\\/,]}\"");
    int wanted = (int)chance_below(model->chance, TREE_NAMES);
    size_t index = chance_below(model->chance, 4);
    index = index == 3 ? JSON_LAST : index;
    bool is_done = false;
    if (which == 0) {
        const struct model_step *last = last_step(model);
        if (last && last->kind == BY_NAME)
            json_quote(tree_names[last->name], &name);
        plan_set(model, plan, strbuf_bytes(&name), value);
        is_done = json_set(model->path, text, value, &out);
    } else if (which == 1) {
        plan_remove(model, plan);
        is_done = json_remove(model->path, text, &out);
    } else if (which == 2) {
        json_quote(tree_names[wanted], &name);
        plan_rename(model, plan, wanted, strbuf_bytes(&name));
        is_done = json_rename(model->path, text, tree_names[wanted], &out);
    } else {
        plan_insert(model, plan, index, value);
        is_done = json_insert(model->path, text, index, value, &out);
    }
    bool ok = expect_edit(model, plan, is_done, &out);
    free(plan);
    strbuf_release(&out);
    strbuf_release(&name);
    return ok;
}

// --- the places of the path -------------------------------------------------------------------------------

static bool
is_place(const struct model *model, const struct json_match *match, int node, bool is_missing)
{
    const struct tree *tree = &model->tree;
    int parent = is_missing ? node : tree->nodes[node].parent;
    struct bytes holds = parent < 0 ? BYTES_ABSENT : tree_value(tree, parent);
    if (match->is_missing != is_missing || match->parent.len != holds.len ||
        (parent >= 0 && match->parent.from != tree->tokens[tree->nodes[parent].first].from))
        return false;
    if (is_missing)
        return match->value.len == 0;
    const struct tree_node *at = &tree->nodes[node];
    size_t name = at->name >= 0 ? tree->tokens[at->name_token].len : 0;
    return match->value.from == tree->tokens[at->first].from &&
           match->value.len == tree_value(tree, node).len && match->value.kind == at->kind &&
           match->name.len == name;
}

// The indexes behind the stars are those of the containers around the place.
static bool
has_indexes(const struct model *model, const size_t *indexes, int node, bool is_missing)
{
    const struct tree_node *nodes = model->tree.nodes;
    size_t star = json_path_stars(model->path);
    size_t step = model->step_count - is_missing;
    for (; step > 0; node = nodes[node].parent)
        if (model->steps[--step].kind == BY_STAR && indexes[--star] != nodes[node].index)
            return false;
    return star == 0;
}

static bool
check_matches(struct model *model)
{
    struct json_matches matches = {0};
    bool ok = json_matches_find(model->path, model_text(model), &matches);
    size_t item = 0;
    for (int i = 0; ok && i < model->tree.node_count; i++) {
        bool is_found = leads_to(model, model->step_count, i);
        bool is_missing = could_hold(model, i) && model->steps[model->step_count - 1].kind != BY_STAR &&
                          !has_child(model, i, &model->steps[model->step_count - 1]);
        // A container of one level is no value of the next.
        if (is_found || is_missing)
            ok = item < matches.count && is_place(model, &matches.items[item], i, is_missing) &&
                 has_indexes(model, json_match_indexes(&matches, item++), i, is_missing);
    }
    ok = ok && item == matches.count;
    struct json_token first = {0};
    bool has_first = json_path_find(model->path, model_text(model), &first);
    if (ok && matches.count)
        ok = has_first == !matches.items[0].is_missing &&
             (!has_first || first.from == matches.items[0].value.from);
    json_matches_release(&matches);
    return ok || wrong(model, "the path leads to other places");
}

// --- the text as it stands --------------------------------------------------------------------------------

static bool
check_tokens(struct model *model)
{
    struct tree *tree = &model->tree;
    struct json_scan scan;
    struct json_fault fault;
    struct content content;
    json_begin(&scan, model_text(model));
    for (size_t i = 0; i < tree->token_count; i++) {
        struct json_token token = json_next(&scan), made = tree->tokens[i];
        if (token.kind != made.kind || token.from != made.from || token.len != made.len ||
            token.depth != made.depth)
            return wrong(model, "the tokens are others");
        int line;
        int column;
        json_position(model_text(model), made.from, &line, &column);
        if (json_offset(model_text(model), line, column) != made.from)
            return wrong(model, "a position does not lead back");
    }
    if (json_next(&scan).kind != JSON_END || json_find_fault(model_text(model), &fault) ||
        fault.tokens != tree->token_count)
        return wrong(model, "the text is not taken as JSON");
    content_of(model_text(model), &content);
    return (content.kind == CONTENT_JSON && content.is_editable) || wrong(model, "the content is not JSON");
}

static bool
check_formats(struct model *model)
{
    const struct tree *tree = &model->tree;
    struct strbuf expected = {0}, small = {0}, pretty = {0}, again = {0};
    for (size_t i = 0; i < tree->token_count; i++)
        strbuf_add(&expected, tree_token(tree, i));
    bool ok = json_minify(model_text(model), &small) && json_format(model_text(model), &pretty) &&
              json_minify(strbuf_bytes(&pretty), &again) &&
              bytes_equal(strbuf_bytes(&small), strbuf_bytes(&expected)) &&
              bytes_equal(strbuf_bytes(&again), strbuf_bytes(&expected));
    strbuf_release(&expected);
    strbuf_release(&small);
    strbuf_release(&pretty);
    strbuf_release(&again);
    return ok || wrong(model, "formatted or minified, the tokens are others");
}

static bool
check_duplicates(struct model *model)
{
    struct json_warning warnings[TREE_TOKENS];
    size_t count = json_warnings(model_text(model), warnings, TREE_TOKENS);
    int duplicates = 0;
    for (size_t i = 0; i < count && i < TREE_TOKENS; i++)
        duplicates += warnings[i].risk == JSON_RISK_DUPLICATE;
    return duplicates == model->tree.duplicates || wrong(model, "duplicates are counted otherwise");
}

// The path of a value, as told at its first byte, leads to it; the value put in its own place changes
// nothing.
static bool
check_node(struct model *model, int number)
{
    const struct tree_node *node = &model->tree.nodes[number];
    path_of(model, number);
    strbuf_reset(&model->path_text);
    if (!json_path_at(model_text(model), model->tree.tokens[node->first].from, &model->path_text))
        return wrong(model, "a place in the text has no path");
    struct json_path *path;
    if (!json_path_parse(&path, strbuf_bytes(&model->path_text), NULL))
        return wrong(model, "the path of a place cannot be read");
    struct bytes value = tree_value(&model->tree, number);
    struct json_token found = {0};
    struct strbuf out = {0};
    bool ok = true;
    if (leads_to(model, model->step_count, number))
        ok = json_path_find(path, model_text(model), &found) && found.len == value.len &&
             found.from == model->tree.tokens[node->first].from &&
             json_set(path, model_text(model), value, &out) &&
             bytes_equal(strbuf_bytes(&out), model_text(model));
    json_path_destroy(path);
    strbuf_release(&out);
    return ok || wrong(model, "a value is not found by the path of its place, or not put back");
}

// A content of three parts, of which the one in the middle is replaced: what stands around it keeps its
// bytes.
static bool
check_requote(struct model *model)
{
    struct strbuf parts[3] = {{0}}, token = {0}, content = {0}, out = {0}, back = {0};
    static const char *const middles[] = {"Q\xc3\xa9/Q", "Q"};
    static const char *const others[] = {"", "Z", "Z\n/\xc3\xa9Z"};
    const char *other = others[chance_below(model->chance, 3)];
    strbuf_add_char(&token, '"');
    for (int i = 0; i < 3; i++) {
        struct bytes part = i == 1 ? bytes_of(middles[chance_below(model->chance, 2)])
                                   : tree_names[chance_below(model->chance, TREE_NAMES)];
        tree_spell(model->chance, part, &parts[i]);
        strbuf_add(&content, i == 1 ? bytes_of(other) : part);
        strbuf_add(&token, bytes_slice(strbuf_bytes(&parts[i]), 1, parts[i].len - 2));
    }
    strbuf_add_char(&token, '"');
    size_t head = parts[0].len - 1, tail = parts[2].len - 1;
    bool ok = json_requote(strbuf_bytes(&token), strbuf_bytes(&content), &out) &&
              json_decode(strbuf_bytes(&out), &back) &&
              bytes_equal(strbuf_bytes(&back), strbuf_bytes(&content)) && out.len >= head + tail &&
              memcmp(out.data, token.data, head) == 0 &&
              memcmp(out.data + out.len - tail, token.data + token.len - tail, tail) == 0;
    strbuf_reset(&out);
    strbuf_reset(&back);
    ok = ok && json_decode(strbuf_bytes(&token), &back) &&
         json_requote(strbuf_bytes(&token), strbuf_bytes(&back), &out) &&
         bytes_equal(strbuf_bytes(&out), strbuf_bytes(&token));
    if (!ok) {
        strbuf_reset(&model->path_text);
        strbuf_add(&model->path_text, strbuf_bytes(&token));
    }
    for (int i = 0; i < 3; i++)
        strbuf_release(&parts[i]);
    strbuf_release(&token);
    strbuf_release(&content);
    strbuf_release(&out);
    strbuf_release(&back);
    return ok || wrong(model, "a string does not keep its escapes");
}

// One byte more, less or another: jansson and redrive agree on what is JSON, but for what is warned about.
static bool
check_damaged(struct model *model)
{
    static const char bytes[] = "{}[],:\"\\/0-.e+ \n\x01u\xc3\xa9tn";
    struct strbuf text = {0};
    strbuf_add(&text, model_text(model));
    char byte = bytes[chance_below(model->chance, sizeof bytes - 1)];
    size_t at = chance_below(model->chance, (unsigned)text.len);
    strbuf_splice(&text, at, chance_below(model->chance, 2),
                  (struct bytes){&byte, chance_below(model->chance, 2)});
    struct json_warning warnings[TREE_TOKENS];
    size_t count = json_warnings(strbuf_bytes(&text), warnings, TREE_TOKENS);
    bool has_risk = false;
    for (size_t i = 0; i < count && i < TREE_TOKENS; i++)
        has_risk = has_risk || warnings[i].risk != JSON_RISK_DUPLICATE;
    bool ours = json_check(strbuf_bytes(&text), NULL);
    bool theirs = jansson_reads(strbuf_bytes(&text));
    bool ok = ours == theirs || (ours && has_risk);
    if (!ok) {
        strbuf_reset(&model->path_text);
        strbuf_add(&model->path_text, strbuf_bytes(&text));
    }
    strbuf_release(&text);
    return ok || wrong(model, "jansson is of another opinion");
}

static bool
check_path(struct model *model)
{
    choose_path(model);
    print_path(model);
    if (!json_pattern_parse(&model->path, strbuf_bytes(&model->path_text), NULL))
        return wrong(model, "a path cannot be read");
    bool ok = check_matches(model);
    for (unsigned which = 0; ok && which < 4; which++)
        ok = check_edit(model, which);
    json_path_destroy(model->path);
    return ok;
}

bool
json_model_check(struct chance *chance, struct strbuf *why)
{
    struct model *model = alloc_bytes(sizeof *model);
    model->chance = chance;
    model->why = why;
    tree_grow(&model->tree, chance);
    bool ok = check_tokens(model) && check_formats(model) && check_duplicates(model) &&
              check_requote(model) && check_damaged(model);
    for (int i = 0; ok && i < model->tree.node_count; i++)
        ok = check_node(model, i);
    for (int i = 0; ok && i < 4; i++)
        ok = check_path(model);
    tree_release(&model->tree);
    strbuf_release(&model->path_text);
    free(model);
    return ok;
}
