// People, companies and places: known by the word before them, by what people are called, by the legal form
// at the end.
#include "core/fingerprint/maskers.h"

#include <string.h>

#include "core/fingerprint/index.h"

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

// Behind the initial that begins at `at`: the A. of A. de Vries, the O' of O'Brien; or 0.
static size_t
initial_end(const struct mask_scan *scan, size_t at)
{
    if ((word_kind(scan_char(scan, at)) & KIND_UPPER) == 0)
        return 0;
    char mark = scan_char(scan, at + 1);
    bool is_apostrophe = mark == '\'' && (word_kind(scan_char(scan, at + 2)) & KIND_UPPER) != 0;
    bool is_dot = mark == '.' && scan_char(scan, at + 2) == ' ' && word_is_letter(scan_char(scan, at + 3));
    return is_apostrophe || is_dot ? at + 2 : 0;
}

// Behind the last part of a person's or place's name that begins at from: João da Silva, A. Dupont-Leroy.
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
            if (scan_char(scan, end) == '-' && (word_kind(scan_char(scan, end + 1)) & KIND_UPPER) != 0)
                end++;
            continue;
        }
        size_t initial = initial_end(scan, start);
        if (initial != 0) {
            end = initial;
            continue;
        }
        struct bytes next = scan_peek_word(scan, start + word.len);
        if ((word_roles(word) & ROLE_PARTICLE) == 0 || !is_capitalised(next) || parts == 0)
            break;
        end = (size_t)(next.data - scan->text.data) + next.len;
    }
    return end;
}

static const struct index_row given_names[] = {
#define GIVEN_NAME(name) {name, 1},
#include "core/fingerprint/given_names.def"
#undef GIVEN_NAME
#define PLACE_NAME(name) {name, 1},
#include "core/fingerprint/place_names.def"
#undef PLACE_NAME
};

static struct text_index given_name_index;

INDEX_CONSTRUCTOR
index_given_names(void)
{
    index_build(&given_name_index, given_names, sizeof given_names / sizeof given_names[0]);
}

// Maria Santos, Klaus: begins with what people are called, and no product or service is.
static bool
is_given_name(struct bytes word, unsigned roles)
{
    return roles == 0 && word.len <= 16 && is_capitalised(word) && index_find(&given_name_index, word) != 0;
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
    if (rest.len < 3 || !word_is_one_of(rest.data[0], "GLISPBNE"))
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

// The same of two letters, which may be words elsewhere: Suministros del Sur SL.
static size_t
short_form_end(const struct mask_scan *scan, size_t at)
{
    static const char *const forms[] = {"SL", "AG", "BV", "NV", "SA"};
    struct bytes word = scan_peek_word(scan, at);
    for (size_t i = 0; word.len == 2 && i < sizeof forms / sizeof forms[0]; i++) {
        if (bytes_equal_text(word, forms[i]))
            return at + 2;
    }
    return 0;
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
        end = end != 0 || parts < 2 ? end : short_form_end(scan, start);
        if (end != 0)
            return end;
        struct bytes word = scan_peek_word(scan, start);
        bool is_part = is_capital(word) ||
                       (parts > 0 && word.len == 1 && (word_kind(word.data[0]) & KIND_UPPER) != 0) ||
                       (parts > 0 && word.len <= 3 && (word_roles(word) & ROLE_PARTICLE) != 0);
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

// Behind the short legal form that follows a party's name: BV, AG; or `at`.
static size_t
party_end(const struct mask_scan *scan, size_t at)
{
    static const char forms[] = "BV NV AG SA SL AS AB KG ME SE ";
    size_t start = scan_skip_blanks(scan, at);
    struct bytes word = scan_peek_word(scan, start);
    for (size_t i = 0; word.len == 2 && i + 2 < sizeof forms; i += 3) {
        if (memcmp(forms + i, word.data, 2) == 0)
            return start + 2;
    }
    return at;
}

static bool
is_person(struct mask_scan *scan, struct bytes word)
{
    struct bytes prev = scan->prev;
    if (prev.len < 2 || scan->after > AFTER_COLON)
        return false;
    size_t from = (size_t)(word.data - scan->text.data);
    if ((!is_capitalised(word) && initial_end(scan, from) == 0) || word_equals_folded(word, "not"))
        return false;
    return (scan_prev_roles(scan) & ROLE_PERSON) != 0 &&
           ((word_kind(prev.data[0]) & KIND_LOWER) != 0 || scan->after == AFTER_COLON ||
            (scan_prev_roles(scan) & ROLE_TITLE) != 0);
}

// Behind the person's name that begins at `from`, and what belongs to it; or 0.
static size_t
named_party_end(struct mask_scan *scan, size_t from, struct bytes word, unsigned roles)
{
    if (!is_person(scan, word) && !is_given_name(word, roles))
        return 0;
    size_t end = person_end(scan, from);
    size_t firm = company_end(scan, from);
    return firm > end ? firm : party_end(scan, end);
}

// Mr. João Prado, Sra Emma Clark: behind the name that a title begins; or 0.
static size_t
titled_end(const struct mask_scan *scan, size_t to, struct bytes word)
{
    static const char *const titles[] = {"Mr",  "Mrs",  "Ms",   "Sr",  "Sra",  "Srta", "Dr",
                                         "Dra", "Herr", "Frau", "Mme", "Mlle", "M"};
    size_t i = 0;
    if (!word_is_one_of(scan_char(scan, to), ". ") || !word_is_one_of(word.data[0], "MSDHF"))
        return 0;
    while (i < sizeof titles / sizeof titles[0] && !bytes_equal_text(word, titles[i]))
        i++;
    if (i == sizeof titles / sizeof titles[0])
        return 0;
    size_t dot = scan_char(scan, to) == '.';
    bool is_name = scan_char(scan, to + dot) == ' ' && is_capitalised(scan_peek_word(scan, to + dot));
    if (!is_name || (word.len == 1 && dot == 0))
        return 0;
    return person_end(scan, to + dot);
}

bool
mask_party(struct mask_scan *scan, size_t from, size_t to, unsigned roles)
{
    struct bytes word = scan_slice(scan, from, to);
    size_t end = word.len <= 4 ? titled_end(scan, to, word) : 0;
    end = end != 0 ? end : named_party_end(scan, from, word, roles);
    // A word that says what sort of party follows is no part of the party's name.
    if (end == 0 && roles == 0 && scan->prev.len > 0 && is_capital(word))
        end = company_end(scan, from);
    if (end == 0)
        return false;
    scan_emit_hole(scan, from, end, MASK_PERSON);
    scan->at = end > scan->at ? end : scan->at;
    return true;
}
