#include "commands/cli/pages.h"

static bool
pages_print(const struct pages *pages, const struct call *call, struct store *store, struct err *err)
{
    struct output_table table;
    table_begin(&table, call, pages->columns, pages->column_count);
    table_leaves(&table, pages->leaves);
    int64_t limit = call->options.choice.limit.number;
    const int64_t most = limit > 0 ? limit : INT64_MAX;
    int64_t left = most;
    int64_t zone_us = store_info(store)->zone_us;
    int64_t before = 0;
    bool ok = true;
    for (size_t count = pages->page; ok && count == pages->page && left > 0;) {
        struct arena arena = {0};
        void *rows = NULL;
        ok = pages->read(store, before, pages->page, &arena, &rows, &count, err);
        for (size_t i = 0; ok && i < count && left > 0; i++, left--) {
            const void *row = (const char *)rows + i * pages->row_size;
            before = pages->number(row);
            if (call->options.general.json)
                ok = pages->print_json(row, zone_us, err);
            else
                pages->add_row(&table, row);
        }
        ok = ok && table_flush(&table, err);
        arena_release(&arena);
    }
    ok = table_end(&table, err) && ok;
    if (ok && left == most)
        remark(call, "%s", pages->none);
    return ok;
}

int
pages_command(const struct pages *pages, struct call *call, struct err *err)
{
    struct store *store = NULL;
    bool ok = command_no_args(call, err) && command_store(call, STORE_SCHEMA, &store, err) &&
              pages_print(pages, call, store, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
