// labelled_log: records from a comma-separated file with a heading, in the form that public sets of log lines
// with known answers use: the column Content is a message, the column EventId says which messages are the
// same. None of these sets is in this repository.
#ifndef REDRIVE_TESTS_BENCH_LABELLED_LOG_H
#define REDRIVE_TESTS_BENCH_LABELLED_LOG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/forms.h"

// Reads one field, quoted or not, from *at on; *ends_row says whether it was the last of its row.
static inline struct bytes
labelled_log_field(struct forms *forms, const char **at, bool *ends_row)
{
    struct strbuf field = {0};
    const char *p = *at;
    bool is_quoted = *p == '"';
    p += is_quoted;
    while (*p != '\0') {
        if (is_quoted && p[0] == '"' && p[1] == '"') {
            p++;
        } else if (is_quoted && *p == '"') {
            p++;
            break;
        } else if (!is_quoted && (*p == ',' || *p == '\n')) {
            break;
        }
        strbuf_add_char(&field, *p++);
    }
    *ends_row = *p != ',';
    *at = *p == '\0' ? p : p + 1;
    struct bytes kept = arena_copy(&forms->arena, strbuf_bytes(&field));
    strbuf_release(&field);
    return kept;
}

struct labelled_log_row {
    struct bytes message;
    struct bytes label;
};

static inline int
labelled_log_column(const char *heading, const char *name)
{
    int column = 0;
    size_t len = strlen(name);
    for (const char *at = heading;; column++) {
        if (strncmp(at, name, len) == 0 && strchr(",\r\n", at[len]) != NULL)
            return column;
        at = strpbrk(at, ",\n");
        if (at == NULL || *at == '\n')
            return -1;
        at++;
    }
}

static inline void
labelled_log_keep(struct forms *forms, const struct labelled_log_row *row)
{
    char *label = arena_array(&forms->arena, row->label.len + 1, 1);
    memcpy(label, row->label.data, row->label.len);
    bool is_new = true;
    for (size_t i = 0; i < forms->count && is_new; i++)
        is_new = strcmp(forms->records[i].label, label) != 0;
    forms->form_count += is_new;
    *forms_add(forms, label) = (struct form_record){
        .label = label,
        .input = {.message = row->message, .error_class = BYTES_ABSENT, .stack = BYTES_ABSENT},
    };
}

// False where the file cannot be read or has no such columns.
static inline bool
labelled_log_read(struct forms *forms, const char *path)
{
    char *text = forms_read_text(forms, path);
    if (text == NULL)
        return false;
    int message = labelled_log_column(text, "Content");
    int label = labelled_log_column(text, "EventId");
    const char *at = strchr(text, '\n');
    if (message < 0 || label < 0 || at == NULL)
        return false;
    for (at++; *at != '\0';) {
        struct labelled_log_row row = {BYTES_ABSENT, BYTES_ABSENT};
        bool ends_row = false;
        for (int column = 0; !ends_row; column++) {
            struct bytes field = labelled_log_field(forms, &at, &ends_row);
            if (column == message)
                row.message = field;
            else if (column == label)
                row.label = field;
        }
        if (row.label.len > 0)
            labelled_log_keep(forms, &row);
    }
    return true;
}

#endif
