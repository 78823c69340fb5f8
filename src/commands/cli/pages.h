// pages: a list that is read from the database page by page, newest first, and printed as it comes.
#ifndef REDRIVE_COMMANDS_CLI_PAGES_H
#define REDRIVE_COMMANDS_CLI_PAGES_H

#include "base/arena.h"
#include "commands/cli/output.h"

// How one kind of row is read and printed.
struct pages {
    const struct output_column *columns;
    size_t column_count;
    const int *leaves; // as of table_leaves; NULL: none
    const char *none;  // said where there is no row
    size_t page;       // rows read at once
    size_t row_size;   // bytes
    // Rows with numbers below `before` (0: from the newest on), at most `page`, in the arena.
    bool (*read)(struct store *store, int64_t before, size_t page, struct arena *arena, void **rows,
                 size_t *count, struct err *err);
    int64_t (*number)(const void *row);
    bool (*print_json)(const void *row, int64_t zone_us, struct err *err);
    void (*add_row)(struct output_table *table, const void *row);
};

// A command that prints at most --limit rows, as a table or with --json. Returns its exit status.
int pages_command(const struct pages *pages, struct call *call, struct err *err);

#endif
