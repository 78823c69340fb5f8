// How well keys match causes, and how fast they are made.
//
//     fingerprint_score [-v] FILE…
//
// A file is one of tests/cases/fingerprint/*.forms, or a labelled log (labelled_log.h) whose name ends in
// .csv. GA: the part of records whose group holds exactly the records of their form. FGA: the same for
// groups, as F1. Pairwise precision: of the pairs with one key, those of one form; recall: of the pairs of
// one form, those with one key. Where forms say their category: how many the built-in rules find, how many
// they leave unknown, and how many they call transient that are not, which would be sent again in vain. -v
// names what is split, what is merged, and what has another category.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "core/category.h"
#include "core/fingerprint/hash.h"
#include "tests/bench/labelled_log.h"
#include "tests/unit/forms.h"

struct item {
    uint64_t key;
    const char *label;
    size_t record;
};

static int
by_key(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    int order = strcmp(x->label, y->label);
    return order != 0 ? order : (x->record > y->record) - (x->record < y->record);
}

static int
by_label(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    int order = strcmp(x->label, y->label);
    if (order != 0)
        return order;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

static double
pairs_of(size_t n)
{
    return (double)n * ((double)n - 1) / 2;
}

static void
show(const struct forms *forms, const struct item *item)
{
    struct arena arena = {0};
    struct fingerprint print = fingerprint_explain(&forms->records[item->record].input, &arena);
    printf("    %016llx %-28s [%.*s] %.*s%s%.*s\n", (unsigned long long)print.key, item->label,
           BYTES_ARGS(print.root_class), BYTES_ARGS(print.pattern), print.frame.len > 0 ? " @ " : "",
           BYTES_ARGS(print.frame));
    arena_release(&arena);
}

struct score {
    double ga;
    double fga;
};

static struct score
report(const struct forms *forms, struct item *items, bool is_verbose)
{
    size_t n = forms->count;
    size_t right = 0;
    size_t right_groups = 0;
    size_t groups = 0;
    double same_key = 0;
    double same_form = 0;
    double both = 0;
    // Sizes of forms, by label.
    qsort(items, n, sizeof *items, by_label);
    size_t *form_size = alloc_array(n, sizeof *form_size); // of the record's form, by record
    for (size_t from = 0, to; from < n; from = to) {
        unsigned keys = 1;
        for (to = from; to < n && strcmp(items[to].label, items[from].label) == 0; to++)
            keys += to > from && items[to].key != items[to - 1].key;
        for (size_t i = from; i < to; i++)
            form_size[items[i].record] = to - from;
        same_form += pairs_of(to - from);
        if (keys > 1 && is_verbose) {
            printf("split into %u: %s (%zu records)\n", keys, items[from].label, to - from);
            for (size_t i = from; i < to; i++) {
                if (i == from || items[i].key != items[i - 1].key)
                    show(forms, &items[i]);
            }
        }
    }
    qsort(items, n, sizeof *items, by_key);
    for (size_t from = 0, to; from < n; from = to) {
        size_t labels = 0;
        size_t run = 0;
        for (to = from; to < n && items[to].key == items[from].key; to++) {
            bool is_new = to == from || strcmp(items[to].label, items[to - 1].label) != 0;
            labels += is_new;
            run = is_new ? 1 : run + 1;
            both += (double)(run - 1);
        }
        groups++;
        same_key += pairs_of(to - from);
        if (labels == 1 && form_size[items[from].record] == to - from) {
            right += to - from;
            right_groups++;
        }
        if (labels > 1 && is_verbose) {
            printf("merged %zu: %zu records\n", labels, to - from);
            for (size_t i = from; i < to; i++) {
                if (i == from || strcmp(items[i].label, items[i - 1].label) != 0)
                    show(forms, &items[i]);
            }
        }
    }
    double precision = (double)right_groups / (double)groups;
    double recall = (double)right_groups / forms->form_count;
    struct score score = {
        .ga = (double)right / (double)n,
        .fga = precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall),
    };
    printf("%u forms, %zu records, %zu groups: GA %.4f  FGA %.4f  pairwise precision %.4f recall %.4f\n",
           forms->form_count, n, groups, score.ga, score.fga, same_key == 0 ? 1 : both / same_key,
           same_form == 0 ? 1 : both / same_form);
    free(form_size);
    return score;
}

static bool
is_among(const char *names, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += len) {
        if ((at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    }
    return false;
}

// Looks at the first record of each variant: its others differ in values only.
static void
report_categories(const struct forms *forms, unsigned per_variant, bool is_verbose)
{
    struct category_rules *rules = category_rules_create(NULL, NULL);
    struct arena arena = {0};
    unsigned count = 0;
    unsigned right = 0;
    unsigned unknown = 0;
    unsigned in_vain = 0;
    for (size_t i = 0; i < forms->count; i += per_variant) {
        const struct form_record *record = &forms->records[i];
        if (record->categories == NULL)
            continue;
        struct fingerprint parts = fingerprint_parts(&record->input, &arena);
        const char *why;
        enum category found = category_of(rules, parts.root_class, parts.pattern, &why);
        bool is_right = is_among(record->categories, category_name(found));
        count++;
        right += is_right;
        unknown += !is_right && found == CATEGORY_UNKNOWN;
        in_vain += !is_right && found == CATEGORY_TRANSIENT;
        if (!is_right && is_verbose)
            printf("%s, not %s, by \"%s\": %s [%.*s] %.*s\n", category_name(found), record->categories, why,
                   record->label, BYTES_ARGS(parts.root_class), BYTES_ARGS(parts.pattern));
    }
    if (count > 0)
        printf("    categories of %u: right %.4f, left unknown %.4f, wrong %u, of them transient %u\n", count,
               (double)right / count, (double)unknown / count, count - right - unknown, in_vain);
    arena_release(&arena);
    category_rules_destroy(rules);
}

// Microseconds of this process alone, so that a busy machine does not count.
static int64_t
cpu_time(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * US_PER_SECOND + spent.tv_nsec / 1000;
}

struct pace {
    double records; // a second
    double bytes;   // of one record
    uint64_t sum;   // of all answers, so that none can be left out
};

static uint64_t
key_of(const struct fingerprint_input *input)
{
    return fingerprint_key(input);
}

// What it takes to look at every byte: the measure for the speed of this machine at this moment.
static uint64_t
hash_of(const struct fingerprint_input *input)
{
    return fingerprint_hash(input->message, 0) ^ fingerprint_hash(input->stack, 0);
}

// Of many short rounds the quickest: what others do on the machine counts least.
static struct pace
pace_of(const struct form_record *records, size_t count,
        uint64_t (*function)(const struct fingerprint_input *))
{
    uint64_t sum = 0;
    struct pace pace = {0};
    int64_t best = INT64_MAX;
    int64_t start = cpu_time();
    while (cpu_time() - start < US_PER_SECOND / 2) {
        int64_t from = cpu_time();
        for (size_t i = 0; i < count; i++)
            sum ^= function(&records[i].input);
        int64_t took = cpu_time() - from;
        best = took < best ? took : best;
    }
    for (size_t i = 0; i < count; i++)
        pace.bytes += (double)(records[i].input.message.len + records[i].input.stack.len) / (double)count;
    pace.records = (double)count * US_PER_SECOND / (double)(best > 0 ? best : 1);
    pace.sum = sum;
    return pace;
}

static bool
is_short(const struct form_record *record)
{
    return record->input.stack.len == 0 && record->input.message.len <= 120;
}

static void
measure_some(const struct forms *forms, bool wants_short)
{
    struct form_record *some = alloc_array(forms->count, sizeof *some);
    size_t count = 0;
    for (size_t i = 0; i < forms->count; i++) {
        if (is_short(&forms->records[i]) == wants_short)
            some[count++] = forms->records[i];
    }
    if (count > 0) {
        struct pace keys = pace_of(some, count, key_of);
        struct pace hashes = pace_of(some, count, hash_of);
        printf("    %s of %.0f bytes: %.0f a second, %.1f x the time of a plain hash of them (%04x)\n",
               wants_short ? "short messages" : "other records", keys.bytes, keys.records,
               hashes.records / keys.records, (unsigned)((keys.sum ^ hashes.sum) & 0xffff));
    }
    free(some);
}

// Of each variant of a form.
#define RECORDS 24

static bool
is_log(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".csv") == 0;
}

static struct score
score_file(const struct forms *forms, const char *path, bool is_verbose)
{
    struct item *items = alloc_array(forms->count, sizeof *items);
    for (size_t n = 0; n < forms->count; n++)
        items[n] = (struct item){fingerprint_key(&forms->records[n].input), forms->records[n].label, n};
    printf("%s: ", path);
    struct score score = report(forms, items, is_verbose);
    free(items);
    if (!is_log(path)) {
        report_categories(forms, RECORDS, is_verbose);
        measure_some(forms, true);
        measure_some(forms, false);
    }
    return score;
}

int
main(int argc, char **argv)
{
    bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    struct score sum = {0};
    int files = argc - 1 - is_verbose;
    for (int i = 1 + is_verbose; i < argc; i++) {
        struct forms forms = {0};
        bool is_read =
            is_log(argv[i]) ? labelled_log_read(&forms, argv[i]) : forms_read(&forms, argv[i], RECORDS);
        if (!is_read || forms.count == 0) {
            fprintf(stderr, "fingerprint_score: %s holds no record that could be read\n", argv[i]);
            forms_release(&forms);
            return 2;
        }
        struct score score = score_file(&forms, argv[i], is_verbose);
        sum.ga += score.ga;
        sum.fga += score.fga;
        forms_release(&forms);
    }
    if (files > 1)
        printf("mean of %d files: GA %.4f  FGA %.4f\n", files, sum.ga / files, sum.fga / files);
    return 0;
}
