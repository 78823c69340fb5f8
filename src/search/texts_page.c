#include "search/texts_page.h"

#include <stdlib.h>
#include "base/alloc.h"

enum { FULL_BYTES = 2 << 20 };

struct texts_page *
texts_page_create(enum event_text text)
{
    struct texts_page *page = alloc_bytes(sizeof *page);
    page->text = text;
    return page;
}

void
texts_page_destroy(struct texts_page *page)
{
    if (!page)
        return;
    free(page->rows);
    strbuf_release(&page->bytes);
    free(page);
}

void
texts_page_drop(void *page)
{
    texts_page_destroy(page);
}

bool
texts_page_is_full(const struct texts_page *page)
{
    return page->bytes.len >= FULL_BYTES;
}

void
texts_page_clear(struct texts_page *page)
{
    page->count = 0;
    strbuf_reset(&page->bytes);
}

void
texts_page_reverse(struct texts_page *page)
{
    for (size_t i = 0; i < page->count / 2; i++) {
        struct texts_row *row = &page->rows[i], *other = &page->rows[page->count - 1 - i], kept = *row;
        *row = *other;
        *other = kept;
    }
}

bool
texts_page_add(void *context, int64_t id, struct bytes text)
{
    struct texts_page *page = context;
    page->rows = alloc_grow(page->rows, page->count, &page->capacity, sizeof *page->rows);
    page->rows[page->count++] = (struct texts_row){
        .id = id, .from = page->bytes.len, .len = bytes_present(text) ? text.len : SIZE_MAX};
    if (bytes_present(text))
        strbuf_add(&page->bytes, text);
    return !texts_page_is_full(page);
}

bool
texts_page_add_row(struct texts_page *page, const struct scanned_row *row)
{
    bool has_room = texts_page_add(page, row->id, row->text);
    page->rows[page->count - 1].fits = row->fits;
    return has_room;
}

struct bytes
texts_page_at(const struct texts_page *page, size_t i)
{
    const struct texts_row *row = &page->rows[i];
    if (row->len == SIZE_MAX)
        return BYTES_ABSENT;
    return (struct bytes){page->bytes.data ? page->bytes.data + row->from : "", row->len};
}
