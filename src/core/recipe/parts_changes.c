// What differs between two versions of an event.
#include <stdlib.h>
#include <string.h>
#include "core/recipe/parts.h"

static bool
differ(struct bytes a, struct bytes b)
{
    return bytes_present(a) != bytes_present(b) || !bytes_equal(a, b);
}

struct placed {
    const struct event_header *header;
    size_t position;
};

static int
compare_placed(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    int order = bytes_compare(x->header->name, y->header->name);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

static struct placed *
sorted(struct arena *arena, const struct record_parts *parts)
{
    struct placed *placed = arena_array(arena, parts->header_count + 1, sizeof *placed);
    for (size_t i = 0; i < parts->header_count; i++)
        placed[i] = (struct placed){&parts->headers[i], i};
    qsort(placed, parts->header_count, sizeof *placed, compare_placed);
    return placed;
}

// One of them may be NULL.
static void
add_header_change(struct parts_changes *changes, const struct placed *before, const struct placed *after)
{
    const struct placed *any = before ? before : after;
    if (!any || (before && after && !differ(before->header->value, after->header->value)))
        return;
    changes->headers[changes->header_count++] =
        (struct header_change){.kind = !before  ? HEADER_ADDED
                                       : !after ? HEADER_REMOVED
                                                : HEADER_CHANGED,
                               .name = any->header->name,
                               .before = before ? before->header->value : BYTES_ABSENT,
                               .after = after ? after->header->value : BYTES_ABSENT};
}

static void
compare_headers(const struct record_parts *before, const struct record_parts *after, struct arena *arena,
                struct parts_changes *changes)
{
    const struct placed *b = sorted(arena, before);
    const struct placed *a = sorted(arena, after);
    changes->headers =
        arena_array(arena, before->header_count + after->header_count + 1, sizeof *changes->headers);
    size_t i = 0;
    size_t j = 0;
    while (i < before->header_count || j < after->header_count) {
        int order = i == before->header_count  ? 1
                    : j == after->header_count ? -1
                                               : bytes_compare(b[i].header->name, a[j].header->name);
        add_header_change(changes, order <= 0 ? &b[i] : NULL, order >= 0 ? &a[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    if (changes->header_count)
        return;
    for (size_t k = 0; k < before->header_count; k++)
        if (!bytes_equal(before->headers[k].name, after->headers[k].name))
            changes->headers_reordered = true;
}

void
parts_compare(const struct record_parts *before, const struct record_parts *after, struct arena *arena,
              struct parts_changes *changes)
{
    *changes = (struct parts_changes){.payload = differ(before->payload, after->payload),
                                      .key = differ(before->key, after->key),
                                      .topic = differ(before->topic, after->topic),
                                      .partition = before->partition != after->partition};
    struct err err = {0};
    if (changes->payload && bytes_present(before->payload) && bytes_present(after->payload))
        changes->is_compared =
            json_compare(before->payload, after->payload, arena, &changes->payload_changes, &err);
    compare_headers(before, after, arena, changes);
}

void
parts_changes_sentence(const struct parts_changes *changes, struct strbuf *out)
{
    static const char *const words[] = {
        [HEADER_CHANGED] = "changed", [HEADER_ADDED] = "added", [HEADER_REMOVED] = "removed"};
    size_t from = out->len;
    if (changes->is_compared)
        json_changes_sentence(&changes->payload_changes, out);
    else if (changes->payload)
        strbuf_add_text(out, "payload changed, not compared as JSON");
    if (changes->key)
        strbuf_printf(out, "%skey changed", out->len > from ? "; " : "");
    if (changes->topic)
        strbuf_printf(out, "%stopic changed", out->len > from ? "; " : "");
    if (changes->partition)
        strbuf_printf(out, "%spartition changed", out->len > from ? "; " : "");
    for (size_t i = 0; i < changes->header_count; i++)
        strbuf_printf(out, "%sheader %.*s %s", out->len > from ? "; " : "",
                      BYTES_ARGS(changes->headers[i].name), words[changes->headers[i].kind]);
    if (changes->headers_reordered)
        strbuf_printf(out, "%sheaders in another order", out->len > from ? "; " : "");
    if (out->len == from)
        strbuf_add_text(out, "no difference");
}
