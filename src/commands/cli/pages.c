#include "commands/cli/pages.h"

bool
pages_print(const struct pages *pages, const struct call *call, struct store *store, struct table *table,
            struct err *err)
{
    int64_t limit = call->options.choice.limit.number;
    int64_t left = limit > 0 ? limit : INT64_MAX;
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
                pages->add_row(table, row);
        }
        ok = ok && table_flush(table, err);
        arena_release(&arena);
    }
    return table_end(table, err) && ok;
}
