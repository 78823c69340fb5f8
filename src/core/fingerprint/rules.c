#include "core/fingerprint/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "core/fingerprint/fingerprint.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/word.h"

#define TEXT_LEAST 4

// One key that a merge or a split is about, for the search by halves.
struct keyed {
    uint64_t key;
    uint64_t target; // of a merge
    size_t rule;
};

struct group_rule {
    char *name;
    uint64_t key;   // of a split; of a merge, the key of the result
    char **words;   // of a split, longest first
    size_t count;   // words of a split, or 0
    char *text;     // of a merge by text, or NULL
    uint64_t *keys; // of a merge by groups, ascending, or NULL
    size_t key_count;
};

struct list {
    struct group_rule *rules;
    size_t count, capacity;
    struct keyed *keyed; // ascending by key
    size_t keyed_count, keyed_capacity;
};

struct group_rules {
    char **own;
    size_t own_count, own_capacity;
    char **writers;
    size_t writer_count, writer_capacity;
    struct list merges, splits; // merges by text: the longest first
    uint32_t hash;
    bool is_any;
};

struct group_rules *
group_rules_create(void)
{
    return alloc_bytes(sizeof(struct group_rules));
}

static void
free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static void
group_rules_list_release(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct group_rule *rule = &list->rules[i];
        free_texts(rule->words, rule->count);
        free(rule->name);
        free(rule->text);
        free(rule->keys);
    }
    free(list->rules);
    free(list->keyed);
}

void
group_rules_destroy(struct group_rules *rules)
{
    if (rules == NULL)
        return;
    free_texts(rules->own, rules->own_count);
    free_texts(rules->writers, rules->writer_count);
    group_rules_list_release(&rules->merges);
    group_rules_list_release(&rules->splits);
    free(rules);
}

// Building

void
group_rules_add_own(struct group_rules *rules, const char *prefix)
{
    rules->own = alloc_grow(rules->own, rules->own_count, &rules->own_capacity, sizeof *rules->own);
    rules->own[rules->own_count++] = alloc_text(prefix);
}

void
group_rules_add_writer(struct group_rules *rules, const char *prefix)
{
    rules->writers =
        alloc_grow(rules->writers, rules->writer_count, &rules->writer_capacity, sizeof *rules->writers);
    rules->writers[rules->writer_count++] = alloc_text(prefix);
}

static struct group_rule *
add_rule(struct list *list, const char *name)
{
    list->rules = alloc_grow(list->rules, list->count, &list->capacity, sizeof *list->rules);
    struct group_rule *rule = &list->rules[list->count++];
    *rule = (struct group_rule){.name = alloc_text(name)};
    return rule;
}

static int
group_rules_by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

static int
by_length(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    size_t m = strlen(*x);
    size_t n = strlen(*y);
    return m != n ? (m < n) - (m > n) : strcmp(*x, *y);
}

bool
group_rules_add_merge(struct group_rules *rules, const char *name, const uint64_t *keys, size_t count,
                      const char *text, struct err *err)
{
    bool has_text = text != NULL && text[0] != '\0';
    if (has_text == (count > 0))
        return err_set(err, ERR_USAGE, "merge \"%s\" needs either groups or a text", name);
    if (!has_text && count < 2)
        return err_set(err, ERR_USAGE, "merge \"%s\" names one group; it takes two to merge", name);
    if (has_text && strlen(text) < TEXT_LEAST)
        return err_set(err, ERR_USAGE, "merge \"%s\": a text of less than %d letters would merge too much",
                       name, TEXT_LEAST);

    struct group_rule *rule = add_rule(&rules->merges, name);
    if (has_text) {
        rule->text = alloc_text(text);
        rule->key = fingerprint_hash(bytes_of(text), FINGERPRINT_VERSION);
        return true;
    }
    rule->keys = alloc_array(count, sizeof *rule->keys);
    memcpy(rule->keys, keys, count * sizeof *keys);
    rule->key_count = count;
    qsort(rule->keys, count, sizeof *rule->keys, group_rules_by_number);
    rule->key = rule->keys[0];
    return true;
}

bool
group_rules_add_split(struct group_rules *rules, const char *name, uint64_t key, const char *const *words,
                      size_t count, struct err *err)
{
    if (count == 0)
        return err_set(err, ERR_USAGE, "split \"%s\" needs the words to keep", name);
    struct group_rule *rule = add_rule(&rules->splits, name);
    rule->key = key;
    rule->words = alloc_array(count, sizeof *rule->words);
    rule->count = count;
    for (size_t i = 0; i < count; i++)
        rule->words[i] = alloc_text(words[i]);
    qsort(rule->words, count, sizeof *rule->words, by_length);
    return true;
}

// Sealing

static int
by_text(const void *a, const void *b)
{
    const struct group_rule *x = a;
    const struct group_rule *y = b;
    size_t m = x->text == NULL ? 0 : strlen(x->text);
    size_t n = y->text == NULL ? 0 : strlen(y->text);
    if (m != n)
        return m < n ? 1 : -1;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->key > y->key) - (x->key < y->key);
}

static int
by_key(const void *a, const void *b)
{
    const struct keyed *x = a;
    const struct keyed *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void
add_keyed(struct list *list, uint64_t key, uint64_t target, size_t rule)
{
    list->keyed = alloc_grow(list->keyed, list->keyed_count, &list->keyed_capacity, sizeof *list->keyed);
    list->keyed[list->keyed_count++] = (struct keyed){.key = key, .target = target, .rule = rule};
}

static bool
index_keys(struct list *list, const char *done, struct err *err)
{
    if (list->count > 1)
        qsort(list->rules, list->count, sizeof *list->rules, by_text);
    for (size_t i = 0; i < list->count; i++) {
        const struct group_rule *rule = &list->rules[i];
        for (size_t k = 0; k < rule->key_count; k++)
            add_keyed(list, rule->keys[k], rule->key, i);
        if (rule->count > 0)
            add_keyed(list, rule->key, 0, i);
    }
    if (list->keyed_count > 1)
        qsort(list->keyed, list->keyed_count, sizeof *list->keyed, by_key);
    for (size_t i = 1; i < list->keyed_count; i++) {
        const struct keyed *key = &list->keyed[i];
        if (key->key == key[-1].key)
            return err_set(err, ERR_USAGE, "group %016" PRIx64 " is %s by \"%s\" and by \"%s\"; leave one",
                           key->key, done, list->rules[key[-1].rule].name, list->rules[key->rule].name);
    }
    return true;
}

static void
write_list(struct strbuf *out, const struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct group_rule *rule = &list->rules[i];
        strbuf_printf(out, "%016" PRIx64 "\n", rule->key);
        for (size_t k = 0; k < rule->key_count; k++)
            strbuf_printf(out, "group %016" PRIx64 "\n", rule->keys[k]);
        for (size_t w = 0; w < rule->count; w++)
            strbuf_printf(out, "word %s\n", rule->words[w]);
        if (rule->text != NULL)
            strbuf_printf(out, "text %s\n", rule->text);
    }
}

static uint32_t
hash_rules(const struct group_rules *rules)
{
    struct strbuf all = {0};
    for (size_t i = 0; i < rules->own_count; i++)
        strbuf_printf(&all, "own %s\n", rules->own[i]);
    for (size_t i = 0; i < rules->writer_count; i++)
        strbuf_printf(&all, "writer %s\n", rules->writers[i]);
    strbuf_add_text(&all, "merge\n");
    write_list(&all, &rules->merges);
    strbuf_add_text(&all, "split\n");
    write_list(&all, &rules->splits);
    uint64_t hash = fingerprint_hash(strbuf_bytes(&all), FINGERPRINT_VERSION);
    strbuf_release(&all);
    return (uint32_t)(hash ^ hash >> 32);
}

bool
group_rules_seal(struct group_rules *rules, struct err *err)
{
    if (rules->own_count > 1)
        qsort(rules->own, rules->own_count, sizeof *rules->own, by_length);
    if (rules->writer_count > 1)
        qsort(rules->writers, rules->writer_count, sizeof *rules->writers, by_length);
    if (!index_keys(&rules->merges, "merged", err) || !index_keys(&rules->splits, "split", err))
        return false;
    rules->is_any = rules->own_count + rules->writer_count + rules->merges.count + rules->splits.count > 0;
    rules->hash = hash_rules(rules);
    return true;
}

const char *
group_rules_version(const struct group_rules *rules, char out[GROUP_RULES_VERSION])
{
    if (rules == NULL || !rules->is_any)
        snprintf(out, GROUP_RULES_VERSION, "%d", FINGERPRINT_VERSION);
    else
        snprintf(out, GROUP_RULES_VERSION, "%d-%08" PRIx32, FINGERPRINT_VERSION, rules->hash);
    return out;
}

int32_t
group_rules_number(const struct group_rules *rules)
{
    if (rules == NULL || !rules->is_any)
        return FINGERPRINT_VERSION;
    return (int32_t)(rules->hash & INT32_MAX) | 1 << 20; // never a rule version by itself
}

// Applying

bool
group_rules_is_own(const struct group_rules *rules, struct bytes name)
{
    for (size_t i = 0; rules != NULL && i < rules->own_count; i++) {
        if (bytes_starts(name, rules->own[i]))
            return true;
    }
    return false;
}

bool
group_rules_has_writers(const struct group_rules *rules)
{
    return rules != NULL && rules->writer_count > 0;
}

bool
group_rules_is_writer(const struct group_rules *rules, struct bytes frame)
{
    for (size_t i = 0; rules != NULL && i < rules->writer_count; i++) {
        if (bytes_starts(frame, rules->writers[i]))
            return true;
    }
    return false;
}

static const struct keyed *
find_key(const struct list *list, uint64_t key)
{
    if (list->keyed_count == 0)
        return NULL;
    const struct keyed wanted = {.key = key};
    return bsearch(&wanted, list->keyed, list->keyed_count, sizeof *list->keyed, by_key);
}

static bool
holds_word(struct bytes text, const char *word)
{
    struct bytes wanted = bytes_of(word);
    for (size_t at = bytes_find(text, wanted, 0); at != SIZE_MAX; at = bytes_find(text, wanted, at + 1)) {
        size_t end = at + wanted.len;
        bool starts = at == 0 || !word_is_alnum(text.data[at - 1]);
        if (starts && (end == text.len || !word_is_alnum(text.data[end])))
            return true;
    }
    return false;
}

static uint64_t
split_key(const struct group_rules *rules, uint64_t key, struct bytes text, const char **name)
{
    const struct keyed *found = find_key(&rules->splits, key);
    if (found == NULL)
        return key;
    const struct group_rule *rule = &rules->splits.rules[found->rule];
    for (size_t i = 0; i < rule->count; i++) {
        if (!holds_word(text, rule->words[i]))
            continue;
        *name = rule->name;
        return fingerprint_hash(bytes_of(rule->words[i]), key);
    }
    return key;
}

uint64_t
group_rules_apply(const struct group_rules *rules, uint64_t key, struct bytes root_text, const char **name)
{
    const char *changed_by = NULL;
    if (rules != NULL && rules->is_any) {
        key = split_key(rules, key, root_text, &changed_by);
        const struct keyed *listed = find_key(&rules->merges, key);
        if (listed != NULL) {
            key = listed->target;
            changed_by = rules->merges.rules[listed->rule].name;
        }
        for (size_t i = 0; listed == NULL && i < rules->merges.count; i++) {
            const struct group_rule *rule = &rules->merges.rules[i];
            if (rule->text == NULL)
                break;
            if (bytes_find(root_text, bytes_of(rule->text), 0) == SIZE_MAX)
                continue;
            key = rule->key;
            changed_by = rule->name;
            break;
        }
    }
    if (name != NULL)
        *name = changed_by;
    return key;
}
