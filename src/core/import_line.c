#include "core/import_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/base64.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "core/envelope/members.h"
#include "core/envelope/reading.h"
#include "core/envelope/undo.h"
#include "core/json/json.h"

enum kind { TEXT, TIME };
static const struct {
    const char *name, *camel;
    enum kind kind;
} columns[IMPORT_COLUMNS] = {
#define IMPORT_COLUMN(name, camel, kind) {#name, camel, kind},
#include "core/import_columns.def"
#undef IMPORT_COLUMN
};

static struct bytes
find(const struct members *members, const char *name, const char *camel)
{
    struct bytes token = members_find(members, bytes_of(name));
    return bytes_present(token) ? token : members_find(members, bytes_of(camel));
}

// The content of a string, else the token.
static struct bytes
plain(struct bytes token, struct arena *arena)
{
    bool is_null = !bytes_present(token) || bytes_equal_text(token, "null");
    return is_null ? BYTES_ABSENT : bytes_starts(token, "\"") ? member_text(token, arena) : token;
}

// [2026,11,19,0,0,2,123000000], as Jackson writes a local time.
static struct bytes
time_of_list(struct bytes token, struct arena *arena)
{
    long numbers[7] = {0, 1, 1};
    const char *at = arena_text(arena, token) + 1;
    for (size_t i = 0; i < 7; i++) {
        char *end;
        long n = strtol(at, &end, 10);
        if (end == at)
            break;
        numbers[i] = n;
        at = *end == ',' ? end + 1 : end;
    }
    return bytes_of(arena_printf(arena, "%04ld-%02ld-%02ld %02ld:%02ld:%02ld.%09ld", numbers[0], numbers[1],
                                 numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]));
}

static struct bytes
time_of(struct bytes token, struct arena *arena)
{
    int64_t instant;
    char text[TIME_TEXT];
    if (bytes_starts(token, "["))
        return time_of_list(token, arena);
    if (bytes_present(token) && token.len > 0 && token.data[0] >= '0' && token.data[0] <= '9' &&
        envelope_time(token, &instant))
        return bytes_of(arena_text(arena, bytes_of(time_rfc3339(instant, 0, text))));
    return plain(token, arena);
}

static bool
read_columns(const struct members *members, struct arena *arena, struct import_row *row, struct err *err)
{
    for (int i = 0; i < IMPORT_COLUMNS; i++) {
        struct bytes token = find(members, columns[i].name, columns[i].camel);
        struct bytes text = columns[i].kind == TIME ? time_of(token, arena) : plain(token, arena);
        if (text.len > 0 && memchr(text.data, '\0', text.len))
            return err_set(err, ERR_DATA, "%s has a NUL, which PostgreSQL cannot hold", columns[i].name);
        row->columns[i] = text;
    }
    return row->columns[IMPORT_event_id].len > 0 || err_set(err, ERR_DATA, "it has no event_id");
}

// A member that export writes as text, or as NAME_base64 where it is none.
static bool
read_bytes(const struct members *members, const char *name, struct arena *arena, struct bytes *out,
           struct err *err)
{
    const char *coded = arena_printf(arena, "%s_base64", name);
    struct bytes token = members_find(members, bytes_of(coded));
    *out = plain(members_find(members, bytes_of(name)), arena);
    if (!bytes_present(token))
        return true;
    struct strbuf decoded = {0};
    bool ok =
        base64_decode(&decoded, plain(token, arena)) || err_set(err, ERR_DATA, "%s is no base64", coded);
    if (ok)
        *out = arena_copy(arena, strbuf_bytes(&decoded));
    strbuf_release(&decoded);
    return ok;
}

static struct bytes
not_json(struct bytes value, struct arena *arena)
{
    return bytes_of(arena_printf(arena, "{\"not_json\":\"%s\",\"bytes\":%zu}",
                                 !bytes_present(value) ? "no value"
                                 : utf8_valid(value)   ? "text that is not JSON"
                                                       : "bytes that are not text",
                                 bytes_present(value) ? value.len : 0));
}

static bool
is_json(struct bytes text)
{
    return text.len > 0 && utf8_valid(text) && json_check(text, NULL);
}

// Of a consumer's line.
static void
read_payload(const struct members *members, struct arena *arena, struct import_row *row)
{
    struct bytes token = find(members, "event_payload", "eventPayload");
    struct bytes inside = plain(token, arena);
    bool holds = bytes_starts(token, "\"") && (bytes_starts(inside, "{") || bytes_starts(inside, "["));
    row->payload = holds && is_json(inside) ? inside : token;
}

// The row of a dead letter has what was sent before it failed (core/envelope/undo.h).
static struct bytes
original_of(struct bytes value, struct bytes record, struct arena *arena)
{
    struct members members;
    struct envelope envelope;
    struct envelope_undo undo;
    const struct envelope_record letter = {.value = value, .timestamp = TIME_ABSENT};
    if (!members_read(record, arena, &members))
        return value;
    const struct envelope_format *format =
        envelope_format_find(plain(members_find(&members, BYTES("format")), arena));
    if (!format || !envelope_format_is_known(format))
        return value;
    envelope_read_as(format, &letter, arena, &envelope);
    envelope_undo(&letter, &envelope, arena, &undo);
    return undo.how == UNDO_CHANGED || undo.how == UNDO_UNWRAPPED ? undo.value : value;
}

// Of a line of export.
static bool
read_exported(const struct members *members, struct arena *arena, struct import_row *row, struct err *err)
{
    struct bytes payload;
    row->is_exact = bytes_equal_text(members_find(members, BYTES("exact")), "true");
    if (!read_bytes(members, "payload", arena, &payload, err) ||
        !read_bytes(members, "key", arena, &row->key, err))
        return false;
    row->payload = is_json(payload) ? payload : not_json(payload, arena);
    if (row->is_exact) {
        struct bytes original = original_of(payload, members_find(members, BYTES("record")), arena);
        row->payload = is_json(original) ? original : not_json(original, arena);
        row->value = payload;
        row->headers = members_find(members, BYTES("headers"));
        row->record = members_find(members, BYTES("record"));
    }
    row->revisions = members_find(members, BYTES("revisions"));
    if (bytes_equal_text(row->revisions, "[]"))
        row->revisions = BYTES_ABSENT;
    return true;
}

bool
import_line_read(struct bytes line, struct arena *arena, struct import_row *row, struct err *err)
{
    struct members members;
    *row = (struct import_row){.value = BYTES_ABSENT, .key = BYTES_ABSENT, .headers = BYTES_ABSENT};
    row->record = row->revisions = BYTES_ABSENT;
    if (!utf8_valid(line))
        return err_set(err, ERR_DATA, "it is not UTF-8");
    line = arena_copy(arena, line);
    if (!members_read(line, arena, &members))
        return err_set(err, ERR_DATA, "it is no JSON object on one line");
    if (!read_columns(&members, arena, row, err))
        return false;
    if (bytes_present(find(&members, "event_payload", "eventPayload"))) {
        read_payload(&members, arena, row);
        return true;
    }
    if (!bytes_present(members_find(&members, BYTES("exact"))))
        return err_set(err, ERR_DATA, "it has no event_payload");
    return read_exported(&members, arena, row, err);
}
