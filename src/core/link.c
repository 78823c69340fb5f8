#include "core/link.h"

#include <string.h>
#include "base/strbuf.h"
#include "base/text.h"

enum { VALUE_BYTES = 1024, ADDRESS_BYTES = 2048 };
static const char header_field[] = "header:";

static const char *const fields[] = {
    "id",        "event_id", "event_type", "source_table", "source_id", "correlation_id", "topic",
    "partition", "offset",   "key",        "error_class",  "group",     "category"};
enum { FIELDS = sizeof fields / sizeof *fields };

// --- templates ---

// Where path, query or fragment begins: a value may stand behind it. SIZE_MAX: neither http nor https, or no
// host.
static size_t
host_end(struct bytes address)
{
    size_t at = bytes_starts(address, "https://") ? 8 : bytes_starts(address, "http://") ? 7 : SIZE_MAX;
    if (at == SIZE_MAX)
        return at;
    size_t begin = at;
    while (at < address.len && !strchr("/?#", address.data[at]))
        at++;
    return at > begin ? at : SIZE_MAX;
}

static bool
field_check(struct bytes name, struct err *err)
{
    struct arena arena = {0};
    const char *word = arena_text(&arena, name);
    bool is_known = bytes_starts(name, header_field) && name.len > sizeof header_field - 1;
    for (size_t i = 0; i < FIELDS && !is_known; i++)
        is_known = strcmp(fields[i], word) == 0;
    const char *nearest = is_known ? NULL : text_suggest(word, fields, FIELDS);
    if (!is_known)
        (void)!err_set(err, ERR_USAGE, "there is no field {%.60s}%s%s%s", word,
                       nearest ? "; did you mean {" : "", nearest ? nearest : "", nearest ? "}?" : "");
    arena_release(&arena);
    return is_known;
}

static bool
address_check(struct bytes address, struct err *err)
{
    size_t host = host_end(address);
    if (host == SIZE_MAX)
        return err_set(err, ERR_USAGE, "an address begins with https:// or http:// and a host");
    for (size_t at = 0; at < address.len; at++) {
        char c = address.data[at];
        if (c <= ' ' || c > '~' || strchr("\"<>\\^`|", c))
            return err_set(err, ERR_USAGE, "a character that no address has, at %zu; write it as %%XX",
                           at + 1);
        if (c == '@' && at < host)
            return err_set(err, ERR_USAGE, "no user or password belongs into an address");
        if (c == '}')
            return err_set(err, ERR_USAGE, "a } without {");
        if (c != '{')
            continue;
        if (at < host)
            return err_set(err, ERR_USAGE, "a value must not decide the host: write {…} behind the first /");
        size_t end = bytes_find(address, BYTES("}"), at);
        if (end == SIZE_MAX)
            return err_set(err, ERR_USAGE, "a { without }");
        if (!field_check(bytes_slice(address, at + 1, end - at - 1), err))
            return false;
        at = end;
    }
    return true;
}

static bool
row_read(struct bytes row, struct arena *arena, struct link_list *list, struct err *err)
{
    size_t end = bytes_find(row, BYTES(" "), 0);
    if (end == SIZE_MAX)
        return err_set(err, ERR_USAGE, "a row is a name and an address: logs https://…");
    struct bytes address = bytes_trim(bytes_slice(row, end, row.len));
    if (!address_check(address, err))
        return false;
    struct link_template *item = &list->items[list->count];
    *item = (struct link_template){arena_text(arena, bytes_slice(row, 0, end)), arena_text(arena, address)};
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, item->name) == 0)
            return err_set(err, ERR_USAGE, "there is a link \"%.60s\" already", item->name);
    list->count++;
    return true;
}

bool
link_list_read(const char *rows, struct arena *arena, struct link_list *list, struct err *err)
{
    struct bytes text = bytes_of(rows ? rows : "");
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    *list = (struct link_list){.items = arena_array(arena, lines, sizeof *list->items)};
    for (size_t at = 0, no = 1; at < text.len; no++) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        end = end == SIZE_MAX ? text.len : end;
        struct bytes row = bytes_trim(bytes_slice(text, at, end - at));
        if (row.len && !row_read(row, arena, list, err))
            return err_context(err, "links, row %zu (%.200s)", no, arena_text(arena, row));
        at = end + 1;
    }
    return true;
}

// --- addresses ---

static struct bytes
number_value(bool is_there, int64_t number, struct arena *arena)
{
    return is_there ? bytes_of(arena_int(arena, number)) : BYTES_ABSENT;
}

static struct bytes
header_value(const struct event *event, struct bytes name)
{
    for (uint32_t i = 0; i < event->record.header_count; i++)
        if (bytes_equal(event->record.headers[i].name, name))
            return event->record.headers[i].value;
    return BYTES_ABSENT;
}

static struct bytes
field_value(const struct event *event, struct bytes name, struct arena *arena)
{
    char group[GROUP_TEXT];
    if (bytes_starts(name, header_field))
        return header_value(event, bytes_slice(name, sizeof header_field - 1, name.len));
    const struct {
        const char *name;
        struct bytes value;
    } rows[] = {{"id", number_value(event->id != 0, event->id, arena)},
                {"event_id", event->event_id},
                {"event_type", event->event_type},
                {"source_table", event->source_table},
                {"source_id", event->source_id},
                {"correlation_id", event->correlation_id},
                {"topic", event->topic},
                {"partition", number_value(event->origin.has_partition, event->origin.partition, arena)},
                {"offset", number_value(event->origin.has_offset, event->origin.offset, arena)},
                {"key", event->record.key},
                {"error_class", event->error_class},
                {"group", event->group ? bytes_of(arena_printf(arena, "%s", group_text(event->group, group)))
                                       : BYTES_ABSENT},
                {"category", bytes_of(category_name(event->category))}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bytes_equal_text(name, rows[i].name))
            return rows[i].value;
    return BYTES_ABSENT;
}

// A value of dots alone would be a step up in a path, also when it is encoded.
static bool
add_value(struct bytes value, struct strbuf *out)
{
    static const char digits[] = "0123456789ABCDEF";
    bool has_more_than_dots = false;
    for (size_t i = 0; i < value.len && value.len <= VALUE_BYTES; i++) {
        unsigned char c = (unsigned char)value.data[i];
        bool is_letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        has_more_than_dots |= c != '.';
        if (is_letter || (c >= '0' && c <= '9') || (c && strchr("-._~", c))) {
            strbuf_add_char(out, (char)c);
            continue;
        }
        strbuf_add_char(out, '%');
        strbuf_add_char(out, digits[c >> 4]);
        strbuf_add_char(out, digits[c & 15]);
    }
    return has_more_than_dots;
}

const char *
link_address(const struct link_template *template, const struct event *event, struct arena *arena)
{
    struct bytes rest = bytes_of(template->address);
    struct strbuf out = {0};
    bool ok = true;
    while (ok && rest.len > 0) {
        size_t begin = bytes_find(rest, BYTES("{"), 0);
        size_t end = bytes_find(rest, BYTES("}"), 0);
        strbuf_add(&out, bytes_slice(rest, 0, begin));
        if (begin == SIZE_MAX || end == SIZE_MAX)
            break;
        ok = add_value(field_value(event, bytes_slice(rest, begin + 1, end - begin - 1), arena), &out);
        rest = bytes_slice(rest, end + 1, rest.len);
    }
    const char *address = ok && out.len <= ADDRESS_BYTES ? arena_text(arena, strbuf_bytes(&out)) : NULL;
    strbuf_release(&out);
    return address;
}
