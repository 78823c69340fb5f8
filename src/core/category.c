#include "core/category.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

// Rows are many and texts short, so that most rows are refused by a set of letter pairs before any
// comparison: a text that lacks a pair of the pattern cannot hold the pattern.

#define TEXT_MAX 2048 // of a root text; what comes later decides nothing
#define PAIRS_MAX 4   // of a pattern, looked up before it is compared

enum looks_at { AT_CLASS, AT_TEXT, AT_CODE };

struct category_rule {
    const char *row;     // as written; for people
    const char *pattern; // small letters
    size_t len;
    enum category category; // nothing of a not-transient row
    bool is_veto;           // of a not-transient row
    enum looks_at looks_at;
    unsigned pair_count;
    uint16_t pairs[PAIRS_MAX];
};

struct category_rules {
    struct category_rule *rules;
    size_t count;
    size_t capacity;
    char *extra; // the configuration's rows, cut into lines
};

static const char *const names[CATEGORY_COUNT] = {
    [CATEGORY_UNKNOWN] = "unknown", [CATEGORY_TRANSIENT] = "transient", [CATEGORY_DATA] = "data",
    [CATEGORY_SYSTEM] = "system",   [CATEGORY_PERMANENT] = "permanent",
};

static const char *const rows[] = {
#define RULE(row) row,
#include "core/category.def"
#undef RULE
};

const char *
category_name(enum category category)
{
    return names[category];
}

bool
category_parse(struct bytes name, enum category *category)
{
    for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
        if (bytes_equal_text(name, names[i])) {
            *category = (enum category)i;
            return true;
        }
    }
    return false;
}

static char
category_fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint16_t
pair_of(char first, char second)
{
    return (uint16_t)(((unsigned char)first & 63) << 6 | ((unsigned char)second & 63));
}

// A text in small letters, with the pairs of letters it holds.
struct subject {
    char text[TEXT_MAX];
    size_t len;
    uint64_t pairs[64];
};

static void
subject_init(struct subject *subject, struct bytes text)
{
    subject->len = text.len < TEXT_MAX ? text.len : TEXT_MAX;
    memset(subject->pairs, 0, sizeof subject->pairs);
    for (size_t i = 0; i < subject->len; i++) {
        subject->text[i] = category_fold(text.data[i]);
        if (i > 0) {
            uint16_t pair = pair_of(subject->text[i - 1], subject->text[i]);
            subject->pairs[pair >> 6] |= UINT64_C(1) << (pair & 63);
        }
    }
}

static bool
may_match(const struct category_rule *rule, const struct subject *subject)
{
    for (unsigned i = 0; i < rule->pair_count; i++) {
        uint16_t pair = rule->pairs[i];
        if ((subject->pairs[pair >> 6] >> (pair & 63) & 1) == 0)
            return false;
    }
    return true;
}

// Does pattern (with * for anything) match all of text? Steps back only to the last *, so it is bounded by
// their product.
static bool
glob_matches(const char *pattern, size_t pattern_len, const char *text, size_t text_len)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t resume = 0;
    while (t < text_len) {
        if (p < pattern_len && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern_len && pattern[p] == text[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern_len && pattern[p] == '*')
        p++;
    return p == pattern_len;
}

static bool
is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool
holds_code(const struct category_rule *rule, const struct subject *subject)
{
    struct bytes text = {subject->text, subject->len};
    struct bytes code = {rule->pattern, rule->len};
    for (size_t at = bytes_find(text, code, 0); at != SIZE_MAX; at = bytes_find(text, code, at + 1)) {
        bool starts = at == 0 || !is_word_byte(text.data[at - 1]);
        bool ends = at + code.len == text.len || !is_word_byte(text.data[at + code.len]);
        if (starts && ends)
            return true;
    }
    return false;
}

static bool
rule_matches(const struct category_rule *rule, const struct subject *class_name, const struct subject *text)
{
    const struct subject *subject = rule->looks_at == AT_CLASS ? class_name : text;
    if (!may_match(rule, subject))
        return false;
    if (rule->looks_at == AT_CODE)
        return holds_code(rule, subject);
    if (rule->looks_at == AT_TEXT && memchr(rule->pattern, '*', rule->len) == NULL)
        return bytes_find((struct bytes){subject->text, subject->len},
                          (struct bytes){rule->pattern, rule->len}, 0) != SIZE_MAX;
    return glob_matches(rule->pattern, rule->len, subject->text, subject->len);
}

enum category
category_of(const struct category_rules *rules, struct bytes error_class, struct bytes root_text,
            const char **why)
{
    struct subject class_name;
    struct subject text;
    subject_init(&class_name, error_class);
    subject_init(&text, root_text);
    const struct category_rule *veto = NULL;
    for (size_t i = 0; i < rules->count; i++) {
        const struct category_rule *rule = &rules->rules[i];
        bool decides_nothing = veto != NULL && (rule->is_veto || rule->category == CATEGORY_TRANSIENT);
        if (decides_nothing || !rule_matches(rule, &class_name, &text))
            continue;
        if (rule->is_veto) {
            veto = rule;
            continue;
        }
        if (why != NULL)
            *why = rule->row;
        return rule->category;
    }
    if (why != NULL)
        *why = veto != NULL ? veto->row : "no rule matches";
    return veto != NULL ? CATEGORY_PERMANENT : CATEGORY_UNKNOWN;
}

// Reading rows

static bool
parse_looks_at(struct bytes word, enum looks_at *looks_at)
{
    static const char *const words[] = {[AT_CLASS] = "class", [AT_TEXT] = "text", [AT_CODE] = "code"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (bytes_equal_text(word, words[i])) {
            *looks_at = (enum looks_at)i;
            return true;
        }
    }
    return false;
}

static const char *
fold_copy(struct bytes text)
{
    char *copy = alloc_bytes(size_add(text.len, 1));
    for (size_t i = 0; i < text.len; i++)
        copy[i] = category_fold(text.data[i]);
    return copy;
}

static void
choose_pairs(struct category_rule *rule)
{
    for (size_t i = 1; i < rule->len && rule->pair_count < PAIRS_MAX; i++) {
        if (rule->pattern[i - 1] != '*' && rule->pattern[i] != '*')
            rule->pairs[rule->pair_count++] = pair_of(rule->pattern[i - 1], rule->pattern[i]);
    }
}

static bool
category_add_row(struct category_rules *rules, const char *row, int line, struct err *err)
{
    struct bytes rest = bytes_of(row);
    struct bytes category = bytes_take_word(&rest);
    struct bytes looks_at = bytes_take_word(&rest);
    struct category_rule rule = {.row = row};
    const char *fault = NULL;
    rule.is_veto = bytes_equal_text(category, "not-transient");
    if (!rule.is_veto && !category_parse(category, &rule.category))
        fault = "the first word must be transient, not-transient, data, system, permanent or unknown";
    else if (!parse_looks_at(looks_at, &rule.looks_at))
        fault = "the second word must be class, text or code";
    else if (rest.len == 0)
        fault = "a pattern must follow";
    if (fault != NULL) {
        err_set(err, ERR_USAGE, "categories, line %d: %s, as in: transient class *Timeout*", line, fault);
        if (err != NULL)
            err->line = line;
        return false;
    }

    rule.pattern = fold_copy(rest);
    rule.len = rest.len;
    choose_pairs(&rule);
    rules->rules = alloc_grow(rules->rules, rules->count, &rules->capacity, sizeof *rules->rules);
    rules->rules[rules->count++] = rule;
    return true;
}

static bool
add_extra(struct category_rules *rules, const char *extra, struct err *err)
{
    rules->extra = alloc_text(extra);
    int line = 0;
    for (char *at = rules->extra; at != NULL;) {
        char *next = strchr(at, '\n');
        if (next != NULL)
            *next++ = '\0';
        line++;
        struct bytes row = bytes_trim(bytes_of(at));
        bool is_comment = row.len == 0 || row.data[0] == '#';
        if (!is_comment && !category_add_row(rules, at, line, err))
            return false;
        at = next;
    }
    return true;
}

struct category_rules *
category_rules_create(const char *extra, struct err *err)
{
    struct category_rules *rules = alloc_bytes(sizeof *rules);
    if (extra != NULL && !add_extra(rules, extra, err)) {
        category_rules_destroy(rules);
        return NULL;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!category_add_row(rules, rows[i], (int)i + 1, err)) {
            category_rules_destroy(rules);
            return NULL;
        }
    }
    return rules;
}

void
category_rules_destroy(struct category_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free((void *)(uintptr_t)rules->rules[i].pattern);
    free(rules->rules);
    free(rules->extra);
    free(rules);
}
