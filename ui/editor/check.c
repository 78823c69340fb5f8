#include "ui/editor/check.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/private.h"

void
checking_release(struct checking *checking)
{
    free(checking->errors);
    free(checking->warnings);
    *checking = (struct checking){0};
}

// --- errors ---

static void
check_add(struct checking *checking, size_t at, const char *expected)
{
    checking->errors = alloc_grow(checking->errors, checking->error_count, &checking->error_capacity,
                                  sizeof *checking->errors);
    checking->errors[checking->error_count++] = (struct check_finding){.at = at, .expected = expected};
}

static void
finish_check(struct editor *editor)
{
    struct checking *checking = &editor->checking;
    const struct tree *tree = &editor->tree;
    checking->error_count = 0;
    for (size_t i = 0; i < tree->known.error_count; i++)
        check_add(checking, tree->known.errors[i].at, tree->known.errors[i].expected);
    const char *missing = scan_missing(&tree->front);
    // What is missing at the end is mostly a consequence, but of nothing the cause.
    if (missing && tree->known.error_count < CHECK_ERRORS)
        check_add(checking, buffer_len(editor->buffer), missing);
    checking->is_valid = checking->error_count == 0;
    checking->checked = editor->version;
}

enum check_state
editor_check(struct editor *editor, size_t bytes)
{
    enum check_state state = editor_check_state(editor);
    if (state != CHECK_RUNNING)
        return state;
    struct tree *tree = &editor->tree;
    size_t at = tree->front.head.at;
    size_t to = bytes > SIZE_MAX - at ? SIZE_MAX : at + bytes;
    tree_read(tree, to);
    // What was known again is not read; there is the same to read behind it.
    if (tree->front.head.at > to)
        tree_read(tree, tree->front.head.at + bytes);
    if (tree_is_read(tree))
        finish_check(editor);
    return editor_check_state(editor);
}

enum check_state
editor_check_state(const struct editor *editor)
{
    if (!editor->is_json)
        return CHECK_OFF;
    if (editor->checking.checked != editor->version)
        return CHECK_RUNNING;
    return editor->checking.is_valid ? CHECK_VALID : CHECK_INVALID;
}

size_t
editor_errors(const struct editor *editor)
{
    return editor->checking.error_count;
}

struct check_finding
editor_error(const struct editor *editor, size_t i)
{
    return editor->checking.errors[i];
}

// --- warnings ---

bool
editor_find_warnings(struct editor *editor)
{
    struct checking *checking = &editor->checking;
    if (!editor->is_json || checking->warned == editor->version)
        return false;
    checking->warned = editor->version;
    checking->warning_count = 0;
    if (buffer_len(editor->buffer) > CHECK_WARNED)
        return true;
    struct json_warning *found = alloc_array(CHECK_WARNINGS, sizeof *found);
    size_t count = json_warnings(editor_text(editor), found, CHECK_WARNINGS);
    for (size_t i = 0; i < count && i < CHECK_WARNINGS; i++) {
        checking->warnings = alloc_grow(checking->warnings, checking->warning_count,
                                        &checking->warning_capacity, sizeof *checking->warnings);
        checking->warnings[checking->warning_count++] = (struct check_finding){
            .at = found[i].from, .len = found[i].len, .is_warning = true, .risk = found[i].risk};
    }
    free(found);
    return true;
}

size_t
editor_warnings(const struct editor *editor)
{
    return editor->checking.warning_count;
}

struct check_finding
editor_warning(const struct editor *editor, size_t i)
{
    return editor->checking.warnings[i];
}

// --- asking ---

// The number of findings before `at`.
static size_t
findings_before(const struct check_finding *findings, size_t count, size_t at)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (findings[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool
editor_next_finding(const struct editor *editor, size_t at, bool is_forward, struct check_finding *finding)
{
    const struct checking *checking = &editor->checking;
    bool has_errors = checking->error_count > 0;
    const struct check_finding *findings = has_errors ? checking->errors : checking->warnings;
    size_t count = has_errors ? checking->error_count : checking->warning_count;
    if (count == 0)
        return false;
    size_t i = findings_before(findings, count, is_forward ? at + 1 : at);
    if (!is_forward)
        i = i > 0 ? i - 1 : count - 1;
    *finding = findings[i < count ? i : 0];
    return true;
}

bool
editor_finding_of_line(struct editor *editor, size_t line, struct check_finding *finding)
{
    const struct checking *checking = &editor->checking;
    struct buffer *buffer = editor->buffer;
    if (checking->error_count + checking->warning_count == 0 || line >= buffer_lines(buffer))
        return false;
    size_t from = buffer_line_start(buffer, line);
    bool is_last = line + 1 == buffer_lines(buffer);
    size_t to = is_last ? SIZE_MAX : buffer_line_start(buffer, line + 1);
    size_t i = findings_before(checking->errors, checking->error_count, from);
    if (i < checking->error_count && checking->errors[i].at < to) {
        *finding = checking->errors[i];
        return true;
    }
    i = findings_before(checking->warnings, checking->warning_count, from);
    if (i == checking->warning_count || checking->warnings[i].at >= to)
        return false;
    *finding = checking->warnings[i];
    return true;
}

const char *
editor_finding_sentence(struct editor *editor, const struct check_finding *finding, char out[CHECK_SENTENCE])
{
    size_t line;
    size_t column;
    buffer_position(editor->buffer, finding->at, &line, &column);
    snprintf(out, CHECK_SENTENCE, "line %zu, column %zu: %s%s", line, column,
             finding->is_warning ? "" : "expected ",
             finding->is_warning ? json_risk_sentence(finding->risk) : finding->expected);
    return out;
}

// --- edits ---

// Moves what is behind the edit, and forgets what it touched.
static size_t
move_findings(struct check_finding *findings, size_t count, const struct edit *edit)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct check_finding finding = findings[i];
        if (finding.at >= edit->at + edit->removed)
            finding.at += edit->inserted - edit->removed;
        else if (finding.at + finding.len > edit->at || finding.at >= edit->at)
            continue;
        findings[kept++] = finding;
    }
    return kept;
}

void
checking_edited(struct editor *editor, const struct edit *edit)
{
    struct checking *checking = &editor->checking;
    checking->error_count = move_findings(checking->errors, checking->error_count, edit);
    checking->warning_count = move_findings(checking->warnings, checking->warning_count, edit);
}
