#include "process/check_rows.h"

#include <fnmatch.h>
#include <string.h>

static bool
read_row(struct bytes text, struct arena *arena, struct check_row *row, int line, struct err *err)
{
    struct bytes rest = text;
    struct bytes word = bytes_take_word(&rest);
    struct bytes pattern = bytes_take_word(&rest);
    const char *fault = NULL;
    if (!bytes_equal_text(word, "type") && !bytes_equal_text(word, "topic"))
        fault = "the first word must be type or topic";
    else if (pattern.len == 0)
        fault = "a pattern for it must follow";
    else if (rest.len == 0)
        fault = "a command must follow";
    if (fault != NULL) {
        err_set(err, ERR_USAGE, "checks, line %d: %s, as in: type Order* /usr/local/bin/check-orders", line,
                fault);
        if (err != NULL)
            err->line = line;
        return false;
    }
    *row = (struct check_row){.text = arena_text(arena, text),
                              .is_topic = bytes_equal_text(word, "topic"),
                              .pattern = arena_text(arena, pattern),
                              .command = arena_text(arena, rest)};
    return true;
}

bool
check_rows_read(const char *rows, struct arena *arena, struct check_row **list, size_t *count,
                struct err *err)
{
    struct bytes left = bytes_of(rows != NULL ? rows : "");
    size_t most = 1;
    for (size_t i = 0; i < left.len; i++)
        most += left.data[i] == '\n';
    *list = arena_array(arena, most, sizeof **list);
    *count = 0;
    for (int line = 1; left.len > 0; line++) {
        size_t end = bytes_find(left, BYTES("\n"), 0);
        struct bytes text = bytes_trim(bytes_slice(left, 0, end));
        left = bytes_slice(left, end == SIZE_MAX ? left.len : end + 1, left.len);
        if (text.len == 0 || text.data[0] == '#')
            continue;
        if (!read_row(text, arena, &(*list)[*count], line, err))
            return false;
        (*count)++;
    }
    return true;
}

bool
check_row_matches(const struct check_row *row, struct bytes type, struct bytes topic)
{
    char name[1024]; // longer than any name of a topic
    struct bytes value = row->is_topic ? topic : type;
    if (!bytes_present(value) || value.len >= sizeof name || memchr(value.data, '\0', value.len) != NULL)
        return false;
    memcpy(name, value.data, value.len);
    name[value.len] = '\0';
    return fnmatch(row->pattern, name, 0) == 0;
}
