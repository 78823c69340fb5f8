// forms: records made from the labelled texts of tests/cases/fingerprint (its README tells the form), for the
// unit test and for the scorer. Deterministic: the same file gives the same records everywhere.
#ifndef REDRIVE_TESTS_UNIT_FORMS_H
#define REDRIVE_TESTS_UNIT_FORMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "core/fingerprint/fingerprint.h"

struct form_record {
    const char *label;
    const char *categories; // the names that are right, parted by blanks; NULL: the form says nothing of it
    struct fingerprint_input input;
};

struct forms {
    struct arena arena;
    struct form_record *records;
    size_t count;
    size_t capacity;
    uint32_t form_count;
    uint32_t seed;
};

static inline uint32_t
forms_random(struct forms *forms, uint32_t below)
{
    forms->seed = forms->seed * 1664525u + 1013904223u;
    return (forms->seed >> 8) % below;
}

static inline void
forms_digits(struct forms *forms, struct strbuf *out, const char *alphabet, unsigned count)
{
    uint32_t size = (uint32_t)strlen(alphabet);
    for (unsigned i = 0; i < count; i++)
        strbuf_add_char(out, alphabet[forms_random(forms, size)]);
}

static inline void
forms_number(struct forms *forms, struct strbuf *out)
{
    static const uint32_t limits[] = {10, 100, 1000, 10000, 1000000, 900000000};
    strbuf_printf(out, "%u", 1 + forms_random(forms, limits[forms_random(forms, 6)]));
}

static inline void
forms_name(struct forms *forms, struct strbuf *out)
{
    static const char *const first[] = {"Jo\xC3\xA3o", "Maria",   "Pedro", "Ana",
                                        "Lucas",       "Beatriz", "Jose",  "Carla"};
    static const char *const middle[] = {"", " da", " dos", " de", "", ""};
    static const char *const last[] = {" Silva", " Souza", " Santos", " Pereira",
                                       " Lima",  " Costa", " Garcia"};
    strbuf_add_text(out, first[forms_random(forms, 8)]);
    strbuf_add_text(out, middle[forms_random(forms, 6)]);
    strbuf_add_text(out, last[forms_random(forms, 7)]);
}

static inline void
forms_value(struct forms *forms, struct strbuf *out)
{
    static const char *const values[] = {"abc",      "12a",  "n/a",     "1,50",       "twelve",
                                         "x",        "true", "unknown", "S\xC3\xA3o", "1.234,56",
                                         "red blue", "?",    "---",     "k\xC3\xB6ln"};
    strbuf_add_text(out, values[forms_random(forms, sizeof values / sizeof values[0])]);
}

static inline void
forms_json(struct forms *forms, struct strbuf *out)
{
    strbuf_printf(out, "{\"id\":%u,\"customer\":\"", forms_random(forms, 100000));
    forms_name(forms, out);
    strbuf_printf(out, "\",\"items\":[{\"sku\":\"A-%u\",\"price\":%u.5}],\"note\":\"",
                  forms_random(forms, 1000), forms_random(forms, 90));
    forms_value(forms, out);
    strbuf_add_text(out, forms_random(forms, 2) != 0 ? "\"}" : "\"}[truncated 120 bytes]");
}

static inline void
forms_ids(struct forms *forms, struct strbuf *out)
{
    static const char *const shapes[] = {"ORD-%u", "SKU%u", "%u-A", "P%u/24", "ab%ucd", "inv_%u"};
    unsigned shape = forms_random(forms, 6);
    char id[32];
    unsigned number = 1000 + forms_random(forms, 90000);
    switch (shape) { // the format must be a literal
    case 0:
        snprintf(id, sizeof id, "ORD-%u", number);
        break;
    case 1:
        snprintf(id, sizeof id, "SKU%u", number);
        break;
    case 2:
        snprintf(id, sizeof id, "%u-A", number);
        break;
    case 3:
        snprintf(id, sizeof id, "P%u-24", number);
        break;
    case 4:
        snprintf(id, sizeof id, "ab%ucd", number);
        break;
    default:
        snprintf(id, sizeof id, "inv_%u", number);
        break;
    }
    (void)shapes;
    strbuf_add_text(out, id);
}

// {Lisboa|Porto|Braga}: one of the texts between the bars.
static inline void
forms_choice(struct forms *forms, struct strbuf *out, const char *slot)
{
    uint32_t count = 1;
    for (const char *p = slot; *p != '\0'; p++)
        count += *p == '|';
    uint32_t chosen = forms_random(forms, count);
    for (; chosen > 0; chosen--)
        slot = strchr(slot, '|') + 1;
    strbuf_add(out, (struct bytes){slot, strcspn(slot, "|")});
}

static inline void
forms_slot(struct forms *forms, struct strbuf *out, const char *slot)
{
    static const char hex[] = "0123456789abcdef";
    if (strchr(slot, '|') != NULL) {
        forms_choice(forms, out, slot);
    } else if (strcmp(slot, "n") == 0) {
        forms_number(forms, out);
    } else if (strcmp(slot, "i") == 0) {
        strbuf_printf(out, "%u", forms_random(forms, 120));
    } else if (strcmp(slot, "id") == 0) {
        forms_ids(forms, out);
    } else if (strcmp(slot, "uuid") == 0) {
        static const unsigned parts[] = {8, 4, 4, 4, 12};
        for (unsigned i = 0; i < 5; i++) {
            forms_digits(forms, out, hex, parts[i]);
            if (i < 4)
                strbuf_add_char(out, '-');
        }
    } else if (strcmp(slot, "hex") == 0) {
        forms_digits(forms, out, "0123456789", 1);
        forms_digits(forms, out, hex, 11);
    } else if (strcmp(slot, "ip") == 0) {
        strbuf_printf(out, "10.%u.%u.%u", forms_random(forms, 256), forms_random(forms, 256),
                      forms_random(forms, 256));
    } else if (strcmp(slot, "host") == 0) {
        strbuf_printf(out, "node-%u.rack%u.example.net", forms_random(forms, 90), forms_random(forms, 9));
    } else if (strcmp(slot, "ts") == 0) {
        strbuf_printf(out, "2026-%02u-%02uT%02u:%02u:%02u.%03uZ", 1 + forms_random(forms, 12),
                      1 + forms_random(forms, 28), forms_random(forms, 24), forms_random(forms, 60),
                      forms_random(forms, 60), forms_random(forms, 1000));
    } else if (strcmp(slot, "dur") == 0) {
        static const char *const units[] = {"ms", "s", " ms", " seconds", "m", "h", " s"};
        strbuf_printf(out, "%u%s", 1 + forms_random(forms, 90), units[forms_random(forms, 7)]);
    } else if (strcmp(slot, "size") == 0) {
        static const char *const units[] = {"B", "KB", " MB", "GB", "KiB", " KiB"};
        strbuf_printf(out, "%u.%u%s", 1 + forms_random(forms, 90), forms_random(forms, 9),
                      units[forms_random(forms, 6)]);
    } else if (strcmp(slot, "name") == 0) {
        forms_name(forms, out);
    } else if (strcmp(slot, "value") == 0) {
        forms_value(forms, out);
    } else if (strcmp(slot, "email") == 0) {
        strbuf_printf(out, "user%u@mail%u.example.com", forms_random(forms, 900), forms_random(forms, 9));
    } else if (strcmp(slot, "path") == 0) {
        strbuf_printf(out, "/var/data/%s/file%u.csv", forms_random(forms, 2) != 0 ? "in" : "out",
                      forms_random(forms, 900));
    } else if (strcmp(slot, "float") == 0) {
        strbuf_printf(out, "%u.%02u", forms_random(forms, 5000), forms_random(forms, 100));
    } else if (strcmp(slot, "date") == 0) {
        strbuf_printf(out, "2026-%02u-%02u", 1 + forms_random(forms, 12), 1 + forms_random(forms, 28));
    } else if (strcmp(slot, "json") == 0) {
        forms_json(forms, out);
    } else if (strcmp(slot, "list") == 0) {
        strbuf_add_char(out, '[');
        for (unsigned i = forms_random(forms, 5) + 1; i > 0; i--)
            strbuf_printf(out, i > 1 ? "%u, " : "%u]", forms_random(forms, 1000));
    } else if (strcmp(slot, "user") == 0) {
        static const char *const users[] = {"root",  "deploy", "jsmith", "kubo",   "alice",
                                            "guest", "backup", "oper",   "mlopez", "test"};
        strbuf_add_text(out, users[forms_random(forms, sizeof users / sizeof users[0])]);
    } else if (strcmp(slot, "thread") == 0) {
        strbuf_printf(out, "pool-%u-thread-%u", 1 + forms_random(forms, 30), 1 + forms_random(forms, 64));
    } else if (strcmp(slot, "addr") == 0) {
        strbuf_add_text(out, "0x");
        forms_digits(forms, out, hex, 4 + 4 * forms_random(forms, 4));
    } else if (strcmp(slot, "dump") == 0) {
        strbuf_printf(out, "Order(id=%u, customer=", forms_random(forms, 1000));
        forms_name(forms, out);
        strbuf_printf(out, ", note=%s, total=%u.10)", forms_random(forms, 2) != 0 ? "null" : "call first",
                      forms_random(forms, 900));
    } else {
        fprintf(stderr, "forms: no slot {%s}\n", slot);
        abort();
    }
}

static inline void
forms_line(struct forms *forms, struct strbuf *out, const char *line)
{
    for (const char *p = line; *p != '\0'; p++) {
        if (p[0] == '\\' && (p[1] == 'n' || p[1] == 't' || p[1] == '\\')) {
            p++;
            strbuf_add_char(out, *p == 'n' ? '\n' : *p == 't' ? '\t' : '\\');
        } else if (p[0] == '{' && p[1] == '{') {
            strbuf_add_char(out, '{');
            p++;
        } else if (p[0] == '{' && strchr(p, '}') != NULL) {
            char slot[512];
            size_t len = (size_t)(strchr(p, '}') - p) - 1;
            len = len < sizeof slot - 1 ? len : sizeof slot - 1;
            memcpy(slot, p + 1, len);
            slot[len] = '\0';
            forms_slot(forms, out, slot);
            p += len + 1;
        } else {
            strbuf_add_char(out, *p);
        }
    }
}

static inline struct bytes
forms_keep(struct forms *forms, const struct strbuf *text)
{
    return text->len == 0 ? BYTES_ABSENT : arena_copy(&forms->arena, strbuf_bytes(text));
}

// A new record at the end, zeroed but for its label.
static inline struct form_record *
forms_add(struct forms *forms, const char *label)
{
    if (forms->count == forms->capacity) {
        forms->capacity = forms->capacity == 0 ? 1024 : forms->capacity * 2;
        struct form_record *records = realloc(forms->records, forms->capacity * sizeof *records);
        if (records == NULL)
            abort();
        forms->records = records;
    }
    forms->records[forms->count] = (struct form_record){.label = label};
    return &forms->records[forms->count++];
}

// One record of the variant whose lines are [from, to).
static inline void
forms_make(struct forms *forms, const char *label, char **lines, size_t from, size_t to)
{
    struct strbuf fields[3] = {{0}, {0}, {0}}; // message, class, stack
    const char *categories = NULL;
    for (size_t i = from; i < to; i++) {
        if (strlen(lines[i]) < 2 || lines[i][1] != ' ')
            continue;
        if (lines[i][0] == 'k')
            categories = lines[i] + 2;
        const char *kinds = "mcs";
        const char *kind = strchr(kinds, lines[i][0]);
        if (kind == NULL)
            continue;
        struct strbuf *field = &fields[kind - kinds];
        if (field->len > 0)
            strbuf_add_char(field, '\n');
        forms_line(forms, field, lines[i] + 2);
    }
    struct form_record *record = forms_add(forms, label);
    record->categories = categories;
    record->input.message = forms_keep(forms, &fields[0]);
    record->input.error_class = forms_keep(forms, &fields[1]);
    record->input.stack = forms_keep(forms, &fields[2]);
    for (unsigned i = 0; i < 3; i++)
        strbuf_release(&fields[i]);
}

static inline void
forms_form(struct forms *forms, const char *label, char **lines, size_t from, size_t to, unsigned per_variant)
{
    size_t start = from;
    for (size_t i = from; i <= to; i++) {
        if (i < to && strcmp(lines[i], "|") != 0)
            continue;
        for (unsigned n = 0; n < per_variant; n++)
            forms_make(forms, label, lines, start, i);
        start = i + 1;
    }
    forms->form_count++;
}

// The whole file with a NUL after it, or NULL.
static inline char *
forms_read_text(struct forms *forms, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    struct strbuf text = {0};
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        strbuf_add(&text, (struct bytes){chunk, n});
    fclose(file);
    char *data = arena_array(&forms->arena, text.len + 1, 1);
    if (text.len)
        memcpy(data, text.data, text.len);
    strbuf_release(&text);
    return data;
}

// Reads a .forms file and makes `per_variant` records of each variant. False where it cannot be read.
static inline bool
forms_read(struct forms *forms, const char *path, unsigned per_variant)
{
    char *data = forms_read_text(forms, path);
    if (data == NULL)
        return false;
    size_t count = 0;
    for (const char *p = data; *p != '\0'; p++)
        count += *p == '\n';
    char **lines = arena_array(&forms->arena, count + 1, sizeof *lines);
    count = 0;
    for (char *at = data; at != NULL && *at != '\0';) {
        lines[count++] = at;
        at = strchr(at, '\n');
        if (at != NULL)
            *at++ = '\0';
    }
    if (forms->seed == 0)
        forms->seed = 20261121;
    for (size_t i = 0; i < count;) {
        if (lines[i][0] != '@') {
            i++;
            continue;
        }
        size_t to = i + 1;
        while (to < count && lines[to][0] != '@' && lines[to][0] != '#')
            to++;
        forms_form(forms, lines[i] + 1, lines, i + 1, to, per_variant);
        i = to;
    }
    return true;
}

static inline void
forms_release(struct forms *forms)
{
    free(forms->records);
    arena_release(&forms->arena);
    *forms = (struct forms){0};
}

#endif
