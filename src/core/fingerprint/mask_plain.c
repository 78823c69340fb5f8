// Words without digits and marks: literal, unless the words around them make them values.
#include "core/fingerprint/maskers.h"

#include <string.h>

// SQL

static bool
begins_statement(const struct mask_scan *scan, struct bytes word, size_t behind)
{
    struct bytes next = scan_peek_word(scan, behind);
    if (word_equals_folded(word, "select"))
        return true;
    if (word_equals_folded(word, "delete"))
        return word_equals_folded(next, "from");
    if (word_equals_folded(word, "update")) {
        struct bytes third = scan_peek_word(scan, (size_t)(next.data - scan->text.data) + next.len);
        return word_equals_folded(third, "set");
    }
    return word_equals_folded(next, "into");
}

// Behind the bracket of SQL that opens at `at`, or 0 where it does not close.
static size_t
row_end(const struct mask_scan *scan, size_t at)
{
    size_t depth = 0;
    bool is_quoted = false;
    for (; at < scan->end; at++) {
        char c = scan->text.data[at];
        if (c == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && c == '(')
            depth++;
        else if (!is_quoted && c == ')' && --depth == 0)
            return at + 1;
    }
    return 0;
}

// Behind the rows of VALUES (1, 'a'), (2, 'b'), or 0 where no bracket follows.
static size_t
rows_end(const struct mask_scan *scan, size_t at)
{
    size_t end = 0;
    for (;;) {
        at = scan_skip_blanks(scan, at);
        size_t behind = at < scan->end && scan->text.data[at] == '(' ? row_end(scan, at) : 0;
        if (behind == 0)
            return end;
        end = behind;
        at = scan_skip_blanks(scan, end);
        if (at >= scan->end || scan->text.data[at] != ',')
            return end;
        at++;
    }
}

// The data of a statement runs to the bracket or quote that encloses it, the end of the line, or the end.
static size_t
statement_end(const struct mask_scan *scan, size_t at)
{
    bool is_quoted = false;
    for (; at < scan->end; at++) {
        if (scan->text.data[at] == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && word_is_one_of(scan->text.data[at], "];\"\n"))
            break;
    }
    return at;
}

// Words without digits and marks

static bool
is_capitalised(struct bytes word)
{
    if (word.len < 2)
        return false;
    unsigned char second = (unsigned char)word.data[1];
    if ((unsigned char)word.data[0] == 0xC3) // À to Þ
        return second >= 0x80 && second <= 0x9E;
    return (word_kind(word.data[0]) & KIND_UPPER) != 0 &&
           (word_kind(word.data[1]) & (KIND_LOWER | KIND_HIGH)) != 0;
}

// Behind the last part of a person's or place's name that begins at from: João da Silva.
static size_t
person_end(const struct mask_scan *scan, size_t from)
{
    size_t end = from;
    for (unsigned parts = 0; parts < 8; parts++) {
        struct bytes word = scan_peek_word(scan, end);
        size_t start = (size_t)(word.data - scan->text.data);
        if (word.len == 0)
            break;
        if (is_capitalised(word)) {
            end = start + word.len;
            continue;
        }
        struct bytes next = scan_peek_word(scan, start + word.len);
        if ((word_roles(word) & ROLE_PARTICLE) == 0 || !is_capitalised(next) || parts == 0)
            break;
        end = (size_t)(next.data - scan->text.data) + next.len;
    }
    return end;
}

static bool
is_capital(struct bytes word)
{
    return word.len >= 2 && (is_capitalised(word) || (word_kind(word.data[0]) & KIND_UPPER) != 0);
}

// Behind the legal form that stands at `at`: GmbH, GmbH & Co. KG, Ltda., S.A.; or 0.
static size_t
legal_form_end(const struct mask_scan *scan, size_t at)
{
    static const char *const forms[] = {"GmbH",  "GMBH",  "Ltda",  "LTDA",  "Lda",     "LDA",  "Ltd",   "LTD",
                                        "LLC",   "Inc",   "INC",   "PLC",   "Pty Ltd", "SARL", "S.A",   "S.L",
                                        "S.L.U", "S.R.L", "S.r.l", "S.p.A", "B.V",     "N.V",  "EIRELI"};
    struct bytes rest = scan_slice(scan, at, scan->end);
    size_t len = 0;
    if (rest.len < 3)
        return 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (rest.data[0] != forms[i][0] || rest.data[1] != forms[i][1])
            continue;
        size_t form = strlen(forms[i]);
        if (form > len && bytes_starts(rest, forms[i]) && !word_is_alnum(scan_char(scan, at + form)))
            len = form;
    }
    if (len == 0)
        return 0;
    if (bytes_starts(bytes_slice(rest, len, rest.len), " & Co. KG"))
        len += strlen(" & Co. KG");
    bool has_dot = scan_char(scan, at + len) == '.' && at + len + 1 < scan->end;
    return at + len + has_dot;
}

// Behind the name of a company that begins at `from`, which ends in its legal form: Silva & Filhos Ltda. 0:
// none begins there.
static size_t
company_end(const struct mask_scan *scan, size_t from)
{
    size_t at = from;
    for (unsigned parts = 0; parts < 8; parts++) {
        size_t start = scan_skip_blanks(scan, at);
        size_t end = parts > 0 ? legal_form_end(scan, start) : 0;
        if (end != 0)
            return end;
        struct bytes word = scan_peek_word(scan, start);
        bool is_part =
            is_capital(word) || (parts > 0 && word.len <= 3 && (word_roles(word) & ROLE_PARTICLE) != 0);
        if (parts > 0 && scan_char(scan, start) == '&')
            at = start + 1;
        else if (is_part)
            at = start + word.len;
        else
            return 0;
        if (scan_char(scan, at) == ',' && scan_char(scan, at + 1) == ' ')
            return legal_form_end(scan, at + 2);
    }
    return 0;
}

// $, R$, €
static bool
is_currency_sign(struct bytes word)
{
    static const char *const signs[] = {"\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5", "\xE2\x82\xA9",
                                        "\xE2\x82\xB9"};
    if (word.len == 0 || word.len > 3)
        return false;
    if (word.data[word.len - 1] == '$')
        return true;
    if ((word_kind(word.data[0]) & (KIND_HIGH | KIND_LEAD)) == 0)
        return false;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (bytes_equal_text(word, signs[i]))
            return true;
    }
    return false;
}

// "€ 12.50", "12,50 €": the sign belongs to the amount.
static bool
is_of_amount(const struct mask_scan *scan, size_t to, struct bytes word)
{
    if (!is_currency_sign(word))
        return false;
    size_t next = scan_skip_blanks(scan, to);
    bool is_before = word_is_digit(scan_char(scan, next)) ||
                     (scan_char(scan, next) == '-' && word_is_digit(scan_char(scan, next + 1)));
    return is_before || (scan->is_number && scan->may_collapse);
}

static bool
is_person(struct mask_scan *scan, struct bytes word)
{
    struct bytes prev = scan->prev;
    if (prev.len < 4 || scan->after > AFTER_COLON || !is_capitalised(word))
        return false;
    if (word_equals_folded(word, "not"))
        return false;
    return (scan_prev_roles(scan) & ROLE_PERSON) != 0 &&
           ((word_kind(prev.data[0]) & KIND_LOWER) != 0 || scan->after == AFTER_COLON ||
            (scan_prev_roles(scan) & ROLE_TITLE) != 0);
}

// "decimal: abc. Path …": the value goes on to the next full stop, comma or semicolon, or the end of the
// line.
static size_t
free_value_end(const struct mask_scan *scan, size_t at)
{
    // "value: null used for required field": nothing goes on behind a missing value.
    struct bytes word = scan_peek_word(scan, at);
    if (word_equals_folded(word, "null") || bytes_equal_text(word, "nil") ||
        bytes_equal_text(word, "undefined"))
        return (size_t)(word.data - scan->text.data) + word.len;
    for (; at < scan->end && scan->text.data[at] != '\n'; at++) {
        bool is_stop = word_is_one_of(scan->text.data[at], ".,;");
        if (is_stop && (at + 1 == scan->end || (word_kind(scan->text.data[at + 1]) & KIND_BLANK) != 0))
            break;
    }
    return at;
}

// com.acme.Order.customer: a property of a class, which is named and no value.
static bool
is_property(struct bytes word)
{
    unsigned dots = 0;
    bool has_class = false;
    for (size_t i = 0; i < word.len; i++) {
        dots += word.data[i] == '.';
        has_class |= i > 0 && word.data[i - 1] == '.' && (word_kind(word.data[i]) & KIND_UPPER) != 0;
    }
    return dots >= 2 && has_class && word_is_code_shaped(word);
}

bool
mask_free_value(struct mask_scan *scan, size_t from)
{
    if ((scan_prev_roles(scan) & ROLE_FREE_VALUE) == 0)
        return false;
    size_t end = free_value_end(scan, from);
    if (is_property(scan_slice(scan, from, end)))
        return false;
    scan_emit_hole(scan, from, end, MASK_VALUE);
    scan->at = end > scan->at ? end : scan->at;
    return true;
}

// "user bob from", "user bob 10.0.0.1", "user bob(uid=0)", "user bob [preauth]"
static bool
is_login_end(const struct mask_scan *scan, size_t to, bool is_after_for)
{
    size_t next = scan_skip_blanks(scan, to);
    if (next == scan->end)
        return is_after_for;
    if (next == to)
        return is_after_for && scan->text.data[to] == '(';
    if (word_is_digit(scan->text.data[next]) || scan->text.data[next] == '[')
        return true;
    struct bytes word = scan_peek_word(scan, next);
    return word_equals_folded(word, "from") || word_equals_folded(word, "by") ||
           word_equals_folded(word, "on");
}

// "for bob from 10.0.0.1"
static bool
is_visitor(const struct mask_scan *scan, size_t to)
{
    struct bytes word = scan_peek_word(scan, to);
    if (!bytes_equal_text(word, "from"))
        return false;
    size_t origin = scan_skip_blanks(scan, (size_t)(word.data - scan->text.data) + word.len);
    return word_is_digit(scan_char(scan, origin));
}

// "is locked by user bob", where the text or the sentence ends. What is done by user action is no login's
// doing.
static bool
is_held_by(const struct mask_scan *scan, size_t user, size_t to)
{
    static const char *const held[] = {" locked by ",   " held by ",    " processed by ",
                                       " edited by ",   " opened by ",  " reserved by ",
                                       " modified by ", " changed by ", " claimed by "};
    char behind = scan_char(scan, to);
    size_t next = scan_skip_blanks(scan, to + 1);
    bool ends = to >= scan->end || (word_is_one_of(behind, ".,;)") && (next > to + 1 || next >= scan->end));
    struct bytes before = scan_slice(scan, 0, user);
    for (size_t i = 0; ends && i < sizeof held / sizeof held[0]; i++) {
        if (bytes_ends(before, held[i]))
            return true;
    }
    return false;
}

// A login name, known by the words around it.
static bool
is_login(struct mask_scan *scan, size_t to)
{
    struct bytes prev = scan->prev;
    if (scan->after != AFTER_BLANK || prev.len < 3)
        return false;
    if (prev.len == 3)
        return memcmp(prev.data, "for", 3) == 0 && is_visitor(scan, to);
    if ((scan_prev_roles(scan) & ROLE_LOGIN) == 0)
        return false;
    size_t start = (size_t)(prev.data - scan->text.data);
    return is_login_end(scan, to, start >= 4 && memcmp(prev.data - 4, "for ", 4) == 0) ||
           is_held_by(scan, start, to);
}

// "for user bob", "id: abc", "42 ms": the word before makes this one volatile.
static bool
take_by_neighbour(struct mask_scan *scan, size_t from, size_t to, unsigned roles)
{
    struct bytes word = scan_slice(scan, from, to);
    if ((roles & (ROLE_DATE | ROLE_ZONE)) != 0 && mask_date(scan, from, to, roles))
        return true;
    if (scan->is_number && scan->may_collapse && word.len <= 12 && (roles & ROLE_UNIT) != 0) {
        scan_emit_hole(scan, from, to, MASK_DURATION);
        return true;
    }
    if (scan->after == AFTER_COLON && (scan_prev_roles(scan) & ROLE_ID) != 0) {
        scan_emit_hole(scan, from, to, MASK_IDENTITY);
        return true;
    }
    if (is_login(scan, to)) {
        scan_emit_hole(scan, from, to, MASK_PERSON);
        return true;
    }
    if (is_person(scan, word)) {
        size_t end = person_end(scan, from);
        size_t firm = company_end(scan, from);
        end = firm > end ? firm : end;
        scan_emit_hole(scan, from, end, MASK_PERSON);
        scan->at = end > scan->at ? end : scan->at;
        return true;
    }
    // A word that says what sort of party follows is no part of the party's name.
    size_t company = roles == 0 && scan->prev.len > 0 && is_capital(word) ? company_end(scan, from) : 0;
    if (company != 0) {
        scan_emit_hole(scan, from, company, MASK_PERSON);
        scan->at = company > scan->at ? company : scan->at;
        return true;
    }
    if (word.len <= 3 && is_of_amount(scan, to, word)) {
        scan_emit_hole(scan, from, to, MASK_NUMBER);
        return true;
    }
    return false;
}

bool
mask_long_word(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    scan_emit_hole(scan, from, to, MASK_LONG);
    return true;
}

bool
mask_literal(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    struct bytes word = scan_slice(scan, from, to);
    unsigned roles = word_roles(word);
    if (take_by_neighbour(scan, from, to, roles))
        return true;

    if (!scan->in_sql) {
        scan->in_sql = (roles & ROLE_SQL) != 0 && begins_statement(scan, word, to);
    } else if ((roles & ROLE_SQL_DATA) != 0) {
        size_t end = word_equals_folded(word, "values") ? rows_end(scan, to) : 0;
        if (end == 0)
            end = statement_end(scan, to);
        scan_emit_hole(scan, from, end, MASK_SQL);
        scan->at = end;
        scan->in_sql = false;
        return true;
    }
    // 1 order, 2 orders; but not "at least 2, lines 4 and 7"
    bool is_counted =
        scan->is_number && scan->may_collapse && from >= 2 && word_is_alnum(scan->text.data[from - 2]);
    bool is_plural = is_counted && word.len > 3 && word.data[word.len - 1] == 's';
    if (is_plural)
        scan_emit_word(scan, from, to - 1);
    else
        scan_emit_known(scan, from, to, roles);
    return true;
}
