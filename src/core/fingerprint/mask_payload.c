// Documents: keeps the message of an error document, masks business data.
#include "core/fingerprint/maskers.h"

#include "core/fingerprint/payload.h"

// "pointer": "/data/lines/3/weight": the field at the end of the path is what the error is about.
static bool
is_pointer(struct bytes name, struct bytes value)
{
    static const char *const names[] = {"pointer", "path", "field", "property", "param", "instancePath"};
    if (value.len < 2 || value.len > 200 || (value.data[0] != '/' && value.data[0] != '#'))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_equal_text(name, names[i]))
            return word_digits(value) <= 6;
    }
    return false;
}

// The members that `walk` finds; behind the last of them, or `from`.
static size_t
take_members(struct mask_scan *scan, size_t from, struct payload_walk *walk)
{
    struct payload_member member;
    size_t done = from;
    while (payload_next(walk, &member)) {
        size_t value = (size_t)(member.value.data - scan->text.data);
        if (done < value)
            scan_emit_hole(scan, done, value, MASK_PAYLOAD);
        if (bytes_present(member.name)) {
            size_t name = (size_t)(member.name.data - scan->text.data);
            scan_emit_word(scan, name, name + member.name.len);
        }
        scan->after = AFTER_COLON;
        if (is_pointer(member.name, member.value))
            scan_emit_path(scan, value, value + member.value.len);
        else
            scan_again(scan, value, value + member.value.len, PART_TEXT);
        done = value + member.value.len;
    }
    return done;
}

void
mask_members(struct mask_scan *scan, size_t from, size_t to)
{
    struct bytes json = scan_slice(scan, from, to);
    struct payload_walk walk = {.json = json};
    size_t done = take_members(scan, from, &walk);
    size_t at = 0;
    struct bytes name = BYTES_ABSENT;
    while (done == from && payload_next_name(json, &at, &name)) {
        size_t start = (size_t)(name.data - scan->text.data);
        scan_again(scan, start, start + name.len, PART_TEXT);
    }
    if (done < to)
        scan_emit_hole(scan, done, to, MASK_PAYLOAD);
}

// The offset behind a note that a payload was cut off: {…}[truncated 120 bytes], {…}...
static size_t
truncation_end(const struct mask_scan *scan, size_t at)
{
    struct bytes rest = scan_slice(scan, at, scan->end);
    size_t dots = 0;
    while (dots < rest.len && rest.data[dots] == '.')
        dots++;
    rest = bytes_slice(rest, dots, rest.len);
    size_t close = bytes_starts(rest, "[truncated") ? bytes_find(rest, BYTES("]"), 0) : SIZE_MAX;
    return close == SIZE_MAX ? at : at + dots + close + 1;
}

void
mask_payload(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule)
{
    struct bytes json = scan_slice(scan, from, to);
    size_t done = from;
    if (rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && payload_is_error(json)) {
        mask_members(scan, from, to);
        done = to;
    } else if (rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && payload_holds_error(json)) {
        struct payload_walk walk = {.json = json, .depth = 1, .parts = {{json.len, PAYLOAD_DATA}}};
        done = take_members(scan, from, &walk);
    }
    if (done < to)
        scan_emit_hole(scan, done, to, rule);
    scan->at = truncation_end(scan, to);
}
