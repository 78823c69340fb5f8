#include "core/fingerprint/payload.h"

#include <string.h>

#include "core/fingerprint/word.h"

#define DUMPED_MAX 24 // members of a dump that are looked at
#define PEEK 48       // how far into a bracket its kind may be looked for
#define IDENTITY_MIN 5
#define IDENTITY_MAX 16
#define OBJECT_REACH 512 // how far from its beginning the bracket of an object may close

static bool
is_opening(char c)
{
    return c == '{' || c == '[' || c == '(';
}

static bool
is_closing(char c)
{
    return c == '}' || c == ']' || c == ')';
}

static size_t
skip_blanks(struct bytes text, size_t at)
{
    while (at < text.len && (word_kind(text.data[at]) & KIND_BLANK) != 0)
        at++;
    return at;
}

// Behind the string of a document that itself stands in a string, {\"code\": …, or SIZE_MAX: a quote with
// more than its one backslash belongs to the content.
static size_t
skip_escaped_string(struct bytes text, size_t at)
{
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.data[i] == '"')
            return i + 1;
        if (text.data[i] != '\\')
            continue;
        size_t from = i;
        while (i + 1 < text.len && text.data[i] == '\\')
            i++;
        if (text.data[i] == '"' && i - from == 1)
            return i + 1;
    }
    return SIZE_MAX;
}

// Behind the string that begins at text[at], or SIZE_MAX where it does not end.
static size_t
skip_string(struct bytes text, size_t at)
{
    if (at > 0 && text.data[at - 1] == '\\')
        return skip_escaped_string(text, at);
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.data[i] == '\\')
            i++;
        else if (text.data[i] == text.data[at])
            return i + 1;
    }
    return SIZE_MAX;
}

// Of the names of a document: Python prints {'name': 1}.
static char
quote_of(struct bytes json)
{
    for (size_t i = 0; i < json.len && i < PEEK; i++) {
        if (json.data[i] == '"' || json.data[i] == '\'')
            return json.data[i];
    }
    return '"';
}

static size_t
find_balance(struct bytes text, size_t at, bool minds_strings)
{
    size_t depth = 0;
    for (size_t i = at; i < text.len; i++) {
        char c = text.data[i];
        if (c == '"' && minds_strings) {
            size_t behind = skip_string(text, i);
            if (behind == SIZE_MAX)
                return 0;
            i = behind - 1;
        } else if (is_opening(c)) {
            depth++;
        } else if (is_closing(c) && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

size_t
payload_balance(struct bytes text, size_t at)
{
    size_t end = find_balance(text, at, true);
    return end != 0 ? end : find_balance(text, at, false);
}

static size_t
name_end(struct bytes text, size_t at)
{
    while (at < text.len && (word_is_alnum(text.data[at]) || word_is_one_of(text.data[at], "_-.$")))
        at++;
    return at;
}

// Does `name =` stand here (or `name:` where colons count)?
static bool
starts_pair(struct bytes text, size_t at, bool minds_colons)
{
    at = skip_blanks(text, at);
    size_t end = name_end(text, at);
    if (end == at || !(word_is_letter(text.data[at]) || text.data[at] == '_'))
        return false;
    size_t sign = skip_blanks(text, end);
    if (sign >= text.len)
        return false;
    char behind = sign + 1 < text.len ? text.data[sign + 1] : ' ';
    if (text.data[sign] == '=')
        return behind != '=' && behind != '>';
    return minds_colons && text.data[sign] == ':' && behind != ':';
}

// Rust prints its errors so: Os { code: 2, kind: NotFound, message: "…" }, ParseIntError { kind: Empty }
static bool
is_rust_error(struct bytes inner)
{
    if (!bytes_starts(inner, "code: "))
        return bytes_starts(inner, "kind: ");
    size_t digits = strlen("code: ");
    while (digits < inner.len && word_is_digit(inner.data[digits]))
        digits++;
    return bytes_starts(bytes_slice(inner, digits, inner.len), ", kind: ");
}

static bool
is_brace_payload(struct bytes text, size_t at)
{
    size_t first = skip_blanks(text, at + 1);
    if (first >= text.len)
        return false;
    if (text.data[first] == '\\')
        first++;
    if (first < text.len && (text.data[first] == '"' || text.data[first] == '\''))
        return true;
    if (is_rust_error(bytes_slice(text, first, text.len)))
        return false;
    if (starts_pair(text, first, true))
        return true;

    // {9f4ef63 token=…}: a dump whose first word is an identity.
    for (size_t i = first; i < text.len && i < first + PEEK; i++) {
        if (is_opening(text.data[i]) || is_closing(text.data[i]))
            return false;
        if (text.data[i] == '=')
            return true;
    }
    return false;
}

// The word that ends directly before text[at].
static struct bytes
word_before(struct bytes text, size_t at)
{
    size_t from = at;
    while (from > 0 && at - from < 128 &&
           (word_is_alnum(text.data[from - 1]) || word_is_one_of(text.data[from - 1], "_.$")))
        from--;
    return bytes_slice(text, from, at - from);
}

// An answer or an error prints what it is about in its pairs; an entity prints its data.
static bool
is_entity(struct bytes word)
{
    static const char *const telling[] = {"Exception", "Error", "Response",  "Status",       "Result",
                                          "Failure",   "Fault", "Violation", "ViolationImpl"};
    if (word.len == 0 || !word_is_letter(word.data[0]))
        return false;
    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
        if (bytes_ends(word, telling[i]))
            return false;
    }
    return true;
}

// PendingIntent{4d46723: …}, Session{1a2b3c …}: in front of its data, an object prints its identity, of which
// only one with both letters and digits is sure. What is cut off is left as it is.
static bool
starts_identity(struct bytes text, size_t at)
{
    unsigned digits = 0;
    size_t first = at + 1;
    size_t end = first;
    while (end < text.len && end - first <= IDENTITY_MAX && word_is_hex(text.data[end]))
        digits += word_is_digit(text.data[end++]);
    size_t len = end - first;
    if (len < IDENTITY_MIN || len > IDENTITY_MAX || digits == 0 || digits == len || end >= text.len)
        return false;
    if (text.data[end] != ' ' && (text.data[end] != ':' || end + 1 >= text.len || text.data[end + 1] != ' '))
        return false;
    return payload_balance(bytes_slice(text, at, OBJECT_REACH), 0) != 0;
}

// Jackson: [Source: (String)"…"; line: 1, column: 25]. The text in it may hold anything, so its end is looked
// for first.
static size_t
source_end(struct bytes text, size_t at)
{
    struct bytes rest = bytes_slice(text, at, text.len);
    size_t place = bytes_find(rest, BYTES("; line: "), 0);
    size_t end = bytes_find(rest, BYTES("]"), place == SIZE_MAX ? 0 : place);
    return end == SIZE_MAX ? text.len : at + end + 1;
}

// ResultReady(sampleId:null, unit:mg): how Thrift prints its structs.
static bool
is_struct(struct bytes text, size_t at, struct bytes before)
{
    size_t sign = name_end(text, at + 1);
    return (word_kind(before.data[0]) & KIND_UPPER) != 0 && sign > at + 1 && sign + 1 < text.len &&
           text.data[sign] == ':' && (word_kind(text.data[sign + 1]) & KIND_BLANK) == 0 &&
           text.data[sign + 1] != ':' && text.data[sign + 1] != '/' && starts_pair(text, at + 1, true);
}

static bool
is_payload(struct bytes text, size_t at)
{
    struct bytes before = word_before(text, at);
    switch (text.data[at]) {
    case '{':
        if (before.len == 0)
            return is_brace_payload(text, at);
        return is_entity(before) && (is_brace_payload(text, at) || starts_identity(text, at));
    case '[': {
        size_t first = skip_blanks(text, at + 1);
        if (first < text.len && text.data[first] == '{')
            return is_brace_payload(text, first);
        if (bytes_equal_text(before, "map"))
            return starts_pair(text, at + 1, true);
        return is_entity(before) && starts_pair(text, at + 1, false);
    }
    case '(':
        return is_entity(before) && (starts_pair(text, at + 1, false) || is_struct(text, at, before));
    default:
        return false;
    }
}

size_t
payload_end(struct bytes text, size_t at)
{
    struct bytes rest = bytes_slice(text, at, text.len);
    if (bytes_starts(rest, "[Source:"))
        return source_end(text, at);
    if (!is_payload(text, at))
        return 0;
    size_t end = payload_balance(text, at);
    return end != 0 ? end : text.len;
}

size_t
payload_object_end(struct bytes text, size_t at)
{
    if (at >= text.len || text.data[at] != '{' || !is_entity(word_before(text, at)) || is_payload(text, at))
        return 0;
    size_t end = payload_balance(bytes_slice(text, at, OBJECT_REACH), 0);
    return end == 0 ? 0 : at + end;
}

// The next `"name" :` at or after *at; *at comes to stand on the value.
static bool
next_pair(struct bytes json, size_t *at, struct bytes *name)
{
    char quote = quote_of(json);
    while (*at < json.len) {
        if (json.data[*at] != quote) {
            ++*at;
            continue;
        }
        size_t from = *at + 1;
        size_t behind = skip_string(json, *at);
        if (behind == SIZE_MAX)
            return false;
        size_t colon = skip_blanks(json, behind);
        *at = behind;
        if (colon >= json.len || json.data[colon] != ':')
            continue;
        *name = bytes_slice(json, from, behind - 1 - from);
        // A document within a string: {\"code\": …
        if (name->len > 0 && name->data[name->len - 1] == '\\')
            name->len--;
        *at = skip_blanks(json, colon + 1);
        return true;
    }
    return false;
}

// The scalar at json[*at], and *at behind it; absent before an object or an array, which is then entered.
static struct bytes
take_scalar(struct bytes json, size_t *at)
{
    if (*at >= json.len || is_opening(json.data[*at]))
        return BYTES_ABSENT;
    bool is_escaped = json.data[*at] == '\\' && *at + 1 < json.len && json.data[*at + 1] == '"';
    size_t from = *at + is_escaped;
    if (json.data[from] == '"' || json.data[from] == '\'') {
        size_t behind = skip_string(json, from);
        bool is_closed = behind != SIZE_MAX;
        *at = is_closed ? behind : json.len;
        size_t len = *at - from - 1 - is_closed;
        return bytes_slice(json, from + 1, len - (is_escaped && is_closed && len > 0));
    }
    while (*at < json.len && !word_is_one_of(json.data[*at], ",}] \t\r\n"))
        ++*at;
    return bytes_slice(json, from, *at - from);
}

static bool
ends_folded(struct bytes name, const char *lower)
{
    size_t len = strlen(lower);
    return name.len >= len && word_equals_folded(bytes_slice(name, name.len - len, len), lower);
}

// What services call their lists of errors: errors, ValidationErrors, violations, invalid-params,
// o:errorDetails.
static bool
is_error_list(struct bytes name)
{
    static const char *const ends[] = {"errors",     "error",          "violations",    "issues",
                                       "causes",     "errordetails",   "error_details", "invalid-params",
                                       "innererror", "invalid_params", "invalidparams", "erros"};
    if (name.len < 5)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends_folded(name, ends[i]))
            return true;
    }
    return false;
}

// errorText, faultActor, rejectionCode, ds_reason: names of what failed.
static bool
has_error_name(struct bytes name)
{
    static const char *const begins[] = {"error", "fault", "failure", "rejection", "decline", "refusal"};
    if (name.len < 6)
        return false;
    bool may_begin = word_is_one_of(word_fold(name.data[0]), "efrd");
    for (size_t i = 0; may_begin && i < sizeof begins / sizeof begins[0]; i++) {
        size_t len = strlen(begins[i]);
        if (name.len > len && word_equals_folded(bytes_slice(name, 0, len), begins[i]))
            return true;
    }
    return ends_folded(name, "reason");
}

// Objects under these names are looked into; what lies under others is business data.
static bool
is_entered(struct bytes name)
{
    static const char *const names[] = {"response",  "body",   "root_cause",
                                        "caused_by", "source", "extensions"};
    if ((word_roles(name) & ROLE_BODY) != 0 || is_error_list(name))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (word_equals_folded(name, names[i]))
            return true;
    }
    return false;
}

// The next text of a list, or absent where the list ends.
static struct bytes
next_in_list(struct payload_walk *walk)
{
    size_t at = skip_blanks(walk->json, walk->at);
    while (at < walk->json.len &&
           (word_is_one_of(walk->json.data[at], ",[(") || word_is_digit(walk->json.data[at])))
        at = skip_blanks(walk->json, at + 1); // the numbers in it are indexes
    if (at >= walk->json.len || (walk->json.data[at] != '"' && walk->json.data[at] != '\''))
        return BYTES_ABSENT;
    walk->at = at;
    return take_scalar(walk->json, &walk->at);
}

// Does the list at `at` hold errors? They begin with what is told of them: [{"description": "…"
static bool
begins_with_text(struct bytes json, size_t at)
{
    static const char *const names[] = {"message", "description", "error", "reason",
                                        "issue",   "msg",         "detail"};
    at = skip_blanks(json, at + 1);
    struct bytes name = BYTES_ABSENT;
    if (at >= json.len || json.data[at] != '{' || !next_pair(json, &at, &name))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_equal_text(name, names[i]))
            return true;
    }
    return false;
}

// Leaves the parts that end before walk->at, and tells which one it stands in.
static enum payload_part
current_part(struct payload_walk *walk)
{
    while (walk->depth > 0 && walk->at >= walk->parts[walk->depth - 1].until)
        walk->depth--;
    return walk->depth > 0 ? walk->parts[walk->depth - 1].part : PAYLOAD_ERROR;
}

// Steps into the object or list at walk->at. In business data no member counts but the lists of errors in it.
static void
payload_enter(struct payload_walk *walk, struct bytes name, enum payload_part around)
{
    struct bytes json = walk->json;
    bool is_object = json.data[walk->at] == '{';
    bool is_errors = ends_folded(name, "errors") || word_equals_folded(name, "violations") ||
                     ends_folded(name, "error_details") || ends_folded(name, "errordetails");
    bool is_details = word_equals_folded(name, "details") || word_equals_folded(name, "detail");
    enum payload_part part = PAYLOAD_ERROR;
    if (around != PAYLOAD_ALL && around != PAYLOAD_DATA && is_object && is_errors)
        part = PAYLOAD_ALL;
    else if (around == PAYLOAD_DATA ? !is_error_list(name) : around != PAYLOAD_ALL && !is_entered(name))
        part = PAYLOAD_DATA;
    else if (around == PAYLOAD_ALL)
        part = PAYLOAD_ALL;
    else if (is_object && is_details)
        part = PAYLOAD_DETAILS;
    if (part == around)
        return;

    size_t end = payload_balance(json, walk->at);
    end = end != 0 ? end : json.len;
    if (walk->depth == PAYLOAD_DEPTH)
        walk->at = end;
    else
        walk->parts[walk->depth++] = (struct payload_place){end, part};
}

// A member whose value is a list that counts: of texts, or of errors in the details of one.
static bool
enter_list(struct payload_walk *walk, struct payload_member *member)
{
    struct bytes text = next_in_list(walk);
    walk->in_list = bytes_present(text);
    member->value = text;
    return walk->in_list;
}

bool
payload_next(struct payload_walk *walk, struct payload_member *member)
{
    *member = (struct payload_member){.name = BYTES_ABSENT};
    if (walk->in_list) {
        member->value = next_in_list(walk);
        walk->in_list = bytes_present(member->value);
        if (walk->in_list)
            return true;
    }
    struct bytes name = BYTES_ABSENT;
    while (next_pair(walk->json, &walk->at, &name)) {
        enum payload_part part = current_part(walk);
        bool counts = part == PAYLOAD_ALL ||
                      (part != PAYLOAD_DATA && ((word_roles(name) & ROLE_BODY) != 0 || has_error_name(name)));
        struct bytes value = take_scalar(walk->json, &walk->at);
        if (bytes_present(value)) {
            if (!counts)
                continue;
            *member = (struct payload_member){.name = name, .value = value};
            return true;
        }
        if (walk->at >= walk->json.len)
            continue;
        member->name = name;
        bool is_list = walk->json.data[walk->at] == '[' || walk->json.data[walk->at] == '(';
        // "path": ["items", 3, "sku"]: where in the document the error is
        bool is_path =
            part != PAYLOAD_DATA && (bytes_equal_text(name, "path") || bytes_equal_text(name, "loc"));
        if (is_list && (counts || is_path) && enter_list(walk, member))
            return true;
        if (is_list && part == PAYLOAD_DETAILS && begins_with_text(walk->json, walk->at)) {
            member->value = bytes_slice(walk->json, walk->at, 0);
            return true;
        }
        payload_enter(walk, name, part);
    }
    return false;
}

bool
payload_next_name(struct bytes json, size_t *at, struct bytes *name)
{
    if (!next_pair(json, at, name))
        return false;
    if (!bytes_present(take_scalar(json, at)) && *at < json.len) {
        size_t end = payload_balance(json, *at);
        *at = end != 0 ? end : json.len;
    }
    return true;
}

static bool
is_among(struct bytes text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (word_equals_folded(text, list[i]))
            return true;
    }
    return false;
}

// Names that only an answer about a failure has.
static bool
is_sure_name(struct bytes name)
{
    static const char *const sure[] = {
        "error",          "errors",         "error_code",      "errorcode",
        "error_message",  "errormessage",   "errortype",       "error_description",
        "exception",      "fault",          "faultstring",     "erro",
        "erros",          "root_cause",     "errormessages",   "violations",
        "reason",         "cause",          "reasoncode",      "reason_code",
        "declinecode",    "decline_code",   "declinereason",   "failurereason",
        "failurecode",    "failure_reason", "failure_code",    "failuremessage",
        "rejectreason",   "reject_reason",  "rejectionreason", "refusalreason",
        "returncode",     "return_code",    "returnmessage",   "responsetext",
        "errmsg",         "errormsg",       "error_msg",       "motivo",
        "responsemessage"};
    if (has_error_name(name))
        return true;
    bool may_be = name.len >= 5 && word_is_one_of(word_fold(name.data[0]), "efvrcdm");
    return may_be && is_among(name, sure, sizeof sure / sizeof sure[0]);
}

// "success": false, "status": "NOK"
static bool
is_failure(struct bytes name, struct bytes value)
{
    static const char *const flags[] = {"success",   "ok",         "succeeded",
                                        "issuccess", "is_success", "successful"};
    static const char *const results[] = {"status", "result", "outcome", "resultado"};
    static const char *const bad[] = {"error",   "nok",      "ko",      "fail",   "failed",
                                      "failure", "rejected", "refused", "denied", "declined"};
    if (value.len == 5 && bytes_equal_text(value, "false"))
        return is_among(name, flags, sizeof flags / sizeof flags[0]);
    return value.len >= 2 && value.len <= 8 && is_among(value, bad, sizeof bad / sizeof bad[0]) &&
           is_among(name, results, sizeof results / sizeof results[0]);
}

bool
payload_is_error(struct bytes json)
{
    static const char *const codes[] = {"code", "status", "codigo", "extensions", "locations", "traceid"};
    static const char *const texts[] = {"message", "title", "mensagem"};
    bool has_code = false;
    bool has_text = false;
    bool has_place = false;
    size_t at = 0;
    struct bytes name = BYTES_ABSENT;
    while (next_pair(json, &at, &name)) {
        if (is_sure_name(name))
            return true;
        struct bytes value = take_scalar(json, &at);
        if (bytes_present(value)) {
            if (is_failure(name, value))
                return true;
        } else if (at < json.len) {
            size_t end = payload_balance(json, at);
            at = end != 0 ? end : json.len;
        }
        has_place |= bytes_equal_text(name, "loc");
        has_code |= has_place || is_among(name, codes, sizeof codes / sizeof codes[0]);
        has_text |= is_among(name, texts, sizeof texts / sizeof texts[0]) ||
                    (has_place && bytes_equal_text(name, "msg"));
    }
    return has_code && has_text;
}

// The next `name=` or `name:` of a dump within text[*at, to), at the depth of its bracket; *at comes to stand
// behind the sign.
static bool
next_dumped(struct bytes text, size_t *at, struct bytes *name, size_t *begin)
{
    size_t depth = 0;
    char quote = '\0';
    for (size_t i = *at; i < text.len; i++) {
        char c = text.data[i];
        char before = i > 0 ? text.data[i - 1] : ' ';
        if (quote != '\0') {
            quote = c == quote && before != '\\' && !(i + 1 < text.len && word_is_alnum(text.data[i + 1]))
                        ? '\0'
                        : quote;
        } else if ((c == '"' || c == '\'') && !word_is_alnum(before)) {
            quote = c;
        } else if (is_opening(c)) {
            depth++;
        } else if (is_closing(c)) {
            depth -= depth > 0;
        } else if (depth == 0 && word_is_letter(c) && !word_is_alnum(before) &&
                   !word_is_one_of(before, "_.:-/@")) {
            size_t end = name_end(text, i);
            char sign = end < text.len ? text.data[end] : ' ';
            char behind = end + 1 < text.len ? text.data[end + 1] : ' ';
            if ((sign == '=' && behind != '=') || (sign == ':' && behind != '/' && behind != ':')) {
                *name = bytes_slice(text, i, end - i);
                *begin = i;
                *at = end + 1;
                return true;
            }
            i = end > i ? end - 1 : i;
        }
    }
    return false;
}

bool
payload_next_dumped(struct bytes inner, size_t *at, struct payload_member *member)
{
    size_t begin = 0;
    if (!next_dumped(inner, at, &member->name, &begin))
        return false;
    size_t from = skip_blanks(inner, *at);
    size_t next = from;
    struct bytes name = BYTES_ABSENT;
    size_t end = next_dumped(inner, &next, &name, &begin) ? begin : inner.len;
    while (end > from && ((word_kind(inner.data[end - 1]) & KIND_BLANK) != 0 || inner.data[end - 1] == ','))
        end--;
    *at = end;
    member->value = bytes_slice(inner, from, end - from);
    return true;
}

bool
payload_is_error_dump(struct bytes text, size_t at, struct bytes inner)
{
    static const char *const codes[] = {"code", "status"};
    static const char *const texts[] = {"message", "title", "detail", "msg"};
    while (at > 0 && text.data[at - 1] == ' ')
        at--;
    struct bytes before = word_before(text, at);
    bool has_code = before.len > 0 && !is_entity(before);
    bool has_text = has_code;
    struct payload_member member;
    size_t from = 0;
    for (unsigned i = 0; i < DUMPED_MAX && payload_next_dumped(inner, &from, &member); i++) {
        if (is_sure_name(member.name))
            return true;
        has_code |= is_among(member.name, codes, sizeof codes / sizeof codes[0]);
        has_text |= is_among(member.name, texts, sizeof texts / sizeof texts[0]);
    }
    return has_code && has_text;
}

bool
payload_holds_error(struct bytes json)
{
    static const struct bytes names[] = {{"\"error\"", 7}, {"\"errors\"", 8}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at = bytes_find(json, names[i], 0);
        size_t colon = at == SIZE_MAX ? json.len : skip_blanks(json, at + names[i].len);
        size_t value = colon >= json.len || json.data[colon] != ':' ? json.len : skip_blanks(json, colon + 1);
        if (value < json.len && word_is_one_of(json.data[value], "{["))
            return true;
    }
    return false;
}
