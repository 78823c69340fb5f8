#include "core/fingerprint/word.h"

#include <string.h>

#include "core/fingerprint/index.h"

#define D (KIND_DIGIT | KIND_HEX | KIND_PART)
#define U (KIND_UPPER | KIND_PART)
#define L (KIND_LOWER | KIND_PART)
#define UX (U | KIND_HEX)
#define LX (L | KIND_HEX)
#define H (KIND_HIGH | KIND_PART)
#define J KIND_JOIN
#define JP (J | KIND_PART)
#define M KIND_MARK
#define MP (M | KIND_PART)
#define X (KIND_LEAD | KIND_PART)
#define B (KIND_BLANK | KIND_STOP)
#define P KIND_PART
#define S KIND_STOP
#define SP (S | KIND_PART)

// clang-format off
const uint16_t word_kinds[256] = {
    // 0x00: control bytes are blanks
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
    // blank ! " # $ % & ' ( ) * + , - . /
    B, 0, S, JP, JP, J, J, S, SP, SP, 0, J, 0, JP, MP, M,
    // 0-9 : ; < = > ?
    D, D, D, D, D, D, D, D, D, D, MP, S, SP, 0, SP, P,
    // @ A-O
    M, UX, UX, UX, UX, UX, UX, U, U, U, U, U, U, U, U, U,
    // P-Z [ \ ] ^ _
    U, U, U, U, U, U, U, U, U, U, U, SP, MP, SP, 0, JP,
    // ` a-o
    S, LX, LX, LX, LX, LX, LX, L, L, L, L, L, L, L, L, L,
    // p-z { | } ~ DEL
    L, L, L, L, L, L, L, L, L, L, L, S, S, S, J, B,
    // 0x80
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    // 0xC0: C2 leads NBSP and guillemets
    H, H, X, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    // 0xE0: E2 leads typographic quotes, E3 ideographic punctuation, EF full-width forms
    H, H, X, X, H, H, H, H, H, H, H, H, H, H, H, X, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
};
// clang-format on

#undef D
#undef U
#undef L
#undef UX
#undef LX
#undef H
#undef J
#undef JP
#undef M
#undef MP
#undef X
#undef B
#undef P
#undef S
#undef SP

struct lead_row {
    unsigned char bytes[4]; // NUL behind a character of two
    enum word_lead lead;
};

static const struct lead_row leads[] = {
    {"\xC2\xA0", LEAD_BLANK},           // no-break space
    {"\xC2\xAB", LEAD_OPEN_QUOTE},      // «
    {"\xC2\xBB", LEAD_CLOSE_QUOTE},     // »
    {"\xE2\x80\x98", LEAD_OPEN_QUOTE},  // ‘
    {"\xE2\x80\x99", LEAD_CLOSE_QUOTE}, // ’
    {"\xE2\x80\x9C", LEAD_OPEN_QUOTE},  // “
    {"\xE2\x80\x9D", LEAD_CLOSE_QUOTE}, // ”
    {"\xE2\x80\x9E", LEAD_OPEN_QUOTE},  // „
    {"\xE2\x80\x93", LEAD_SEPARATOR},   // en dash
    {"\xE2\x80\x94", LEAD_SEPARATOR},   // em dash
    {"\xE2\x80\xA6", LEAD_SEPARATOR},   // …
    {"\xE2\x80\xAF", LEAD_BLANK},       // narrow no-break space
    {"\xE3\x80\x80", LEAD_BLANK},       // ideographic space
    {"\xE3\x80\x81", LEAD_SEPARATOR},   // 、
    {"\xE3\x80\x82", LEAD_SEPARATOR},   // 。
    {"\xE3\x80\x8C", LEAD_OPEN_QUOTE},  // 「
    {"\xE3\x80\x8D", LEAD_CLOSE_QUOTE}, // 」
    {"\xE3\x80\x90", LEAD_OPEN},        // 【
    {"\xE3\x80\x91", LEAD_SEPARATOR},   // 】
    {"\xEF\xBC\x88", LEAD_OPEN},        // full-width (
    {"\xEF\xBC\x89", LEAD_SEPARATOR},   // full-width )
    {"\xEF\xBC\x8C", LEAD_SEPARATOR},   // full-width ,
    {"\xEF\xBC\x9A", LEAD_SEPARATOR},   // full-width :
    {"\xEF\xBC\x9B", LEAD_SEPARATOR},   // full-width ;
};

enum word_lead
word_lead(struct bytes text, size_t at, size_t *len)
{
    const unsigned char *p = (const unsigned char *)text.data + at;
    size_t left = text.len - at;
    for (size_t i = 0; i < sizeof leads / sizeof leads[0] && left >= 2; i++) {
        const unsigned char *row = leads[i].bytes;
        if (p[0] != row[0] || p[1] != row[1] || (row[2] != '\0' && (left < 3 || p[2] != row[2])))
            continue;
        *len = row[2] != '\0' ? 3 : 2;
        return leads[i].lead;
    }
    if (left >= 3 && p[0] == 0xEF && p[1] == 0xBC && p[2] >= 0x90 && p[2] <= 0x99) {
        *len = 3;
        return LEAD_DIGIT;
    }
    *len = 1; // its other bytes are letters by themselves
    return LEAD_LETTER;
}

#define ROLE_WORD_MAX 24 // bytes; no row is longer

static const struct index_row words[] = {
#define WORD(text, roles) {text, roles},
#include "core/fingerprint/words.def"
#undef WORD
};

static struct text_index word_index;

INDEX_CONSTRUCTOR
index_words(void)
{
    index_build(&word_index, words, sizeof words / sizeof words[0]);
}

static bool
word_ends_with(struct bytes word, const char *suffix, size_t len)
{
    return word.len > len && memcmp(word.data + word.len - len, suffix, len) == 0;
}

// Words that are written together with what they mean: KeeperErrorCode, order_id, orderId, 응답코드.
static unsigned
suffix_roles(struct bytes word)
{
#define ENDS(suffix) word_ends_with(word, suffix, sizeof(suffix) - 1)
    switch ((unsigned char)word.data[word.len - 1]) {
    case 'e':
        if (ENDS("Code") || ENDS("_code") || ENDS("_response"))
            return ROLE_CODE;
        return ENDS("Message") || ENDS("_message") ? ROLE_TELLING : 0;
    case 's':
        return ENDS("Status") || ENDS("_status") ? ROLE_CODE : 0;
    case 'd':
        if (ENDS("Id") || ENDS("_id") || ENDS("-id"))
            return ROLE_ID;
        return ENDS("Field") || ENDS("_field") ? ROLE_NAME : 0;
    case 'D':
        return ENDS("ID") ? ROLE_ID : 0;
    case 'n':
        return ENDS("Reason") || ENDS("_reason") ? ROLE_TELLING : 0;
    case 'c':
        return ENDS("Topic") ? ROLE_NAME : 0;
    case 0x9c: // the last byte of 드
        return ENDS("코드") ? ROLE_CODE : 0;
    case 0x98: // of 류
        return ENDS("오류") ? ROLE_CODE : 0;
    default:
        return 0;
    }
#undef ENDS
}

// Kana and Han are written without blanks: the longest listed ending of 缺少字段 gives the role.
static unsigned
unspaced_roles(struct bytes word)
{
    size_t from = word.len > ROLE_WORD_MAX ? word.len - ROLE_WORD_MAX : 1;
    for (; from < word.len; from++) {
        if (((unsigned char)word.data[from] & 0xC0) == 0x80)
            continue;
        unsigned roles = index_find(&word_index, bytes_slice(word, from, word.len));
        if (roles != 0)
            return roles;
    }
    return 0;
}

unsigned
word_roles(struct bytes word)
{
    if (word.len == 0)
        return 0;
    unsigned roles = word.len <= ROLE_WORD_MAX ? index_find(&word_index, word) : 0;
    if (roles != 0)
        return roles;
    unsigned char first = (unsigned char)word.data[0];
    if (first >= 0xE3 && first <= 0xE9)
        return unspaced_roles(word);
    return word.len <= ROLE_WORD_MAX ? suffix_roles(word) : 0;
}

bool
word_equals_folded(struct bytes word, const char *lower)
{
    for (size_t i = 0; i < word.len; i++) {
        if (lower[i] == '\0' || word_fold(word.data[i]) != lower[i])
            return false;
    }
    return lower[word.len] == '\0';
}

unsigned
word_digits(struct bytes word)
{
    unsigned count = 0;
    for (size_t i = 0; i < word.len; i++)
        count += word_is_digit(word.data[i]);
    return count;
}

static size_t
count_digits(struct bytes word, size_t at)
{
    size_t from = at;
    while (at < word.len && word_is_digit(word.data[at]))
        at++;
    return at - from;
}

bool
word_is_grouped_number(struct bytes word)
{
    size_t at = count_digits(word, 0);
    unsigned groups = 1;
    if (at == 0 || at > 3)
        return false;
    for (; at < word.len && word.data[at] == '.'; at += 4, groups++) {
        if (count_digits(word, at + 1) != 3)
            return false;
    }
    if (groups < 3 || groups == 4)
        return false;
    for (; at < word.len; at++) {
        if (!word_is_digit(word.data[at]) && word.data[at] != '-' && word.data[at] != '/')
            return false;
    }
    return true;
}

bool
word_is_slashed_date(struct bytes word)
{
    size_t parts[3];
    size_t at = 0;
    for (unsigned i = 0; i < 3; i++) {
        parts[i] = count_digits(word, at);
        at += parts[i];
        if (i < 2 && (at >= word.len || word.data[at++] != '/'))
            return false;
    }
    bool is_year_first = parts[0] == 4 && parts[2] <= 2;
    bool is_year_last = parts[0] <= 2 && (parts[2] == 2 || parts[2] == 4);
    return at == word.len && parts[0] > 0 && parts[1] > 0 && parts[1] <= 2 && parts[2] > 0 &&
           (is_year_first || is_year_last);
}

bool
word_is_identifier(struct bytes word)
{
    if (word.len == 0 || word.len > 128)
        return false;
    char first = word.data[0];
    if (!word_is_letter(first) && first != '_' && first != '$')
        return false;
    for (size_t i = 1; i < word.len; i++) {
        if ((word_kind(word.data[i]) & KIND_PART) == 0)
            return false;
    }
    return true;
}

bool
word_is_code_shaped(struct bytes word)
{
    if (!word_is_identifier(word) || word_digits(word) > 0)
        return false;
    for (size_t i = 1; i < word.len; i++) {
        unsigned before = word_kind(word.data[i - 1]);
        if (word_is_one_of(word.data[i], "_.#(") && i + 1 < word.len)
            return true;
        if ((before & KIND_LOWER) != 0 && (word_kind(word.data[i]) & KIND_UPPER) != 0)
            return true;
        if (word.data[i] == ':' && word.data[i - 1] == ':')
            return true;
    }
    return false;
}

// Where the last part of a qualified name begins; 0 where it has one part.
static size_t
last_part(struct bytes word)
{
    for (size_t i = word.len; i > 0; i--) {
        if (word_is_one_of(word.data[i - 1], ".\\:/"))
            return i;
    }
    return 0;
}

bool
word_is_class(struct bytes word)
{
    if (!word_is_letter(word.data[0]))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        if (!word_is_letter(c) && !word_is_one_of(c, "_$.\\:#/"))
            return false;
    }
    size_t part = last_part(word);
    return part > 1 && part + 1 < word.len && (word_kind(word.data[part]) & KIND_UPPER) != 0;
}

// com.acme.Order$Event, com.acme.Order$1: nested classes, but not com.acme.Order$HibernateProxy$xY3kPq1a or
// com.acme.Order$$Lambda$14, whose last part is made anew by each process.
static bool
has_nested_names(struct bytes word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] != '$')
            continue;
        size_t end = i + 1;
        while (end < word.len && word.data[end] != '$')
            end++;
        struct bytes part = bytes_slice(word, i + 1, end - i - 1);
        unsigned digits = word_digits(part);
        if (part.len == 0 || (digits > 0 && digits != part.len) || bytes_ends(part, "Proxy"))
            return false;
    }
    return true;
}

bool
word_is_numbered_class(struct bytes word)
{
    bool has_nested = false;
    bool is_qualified = false;
    unsigned run = 0;
    unsigned humps = 0;
    unsigned lower = 0;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        unsigned kind = word_kind(c);
        if ((kind & (KIND_LETTER | KIND_DIGIT)) == 0 && c != '.' && c != '_' && c != '$')
            return false;
        has_nested |= c == '$';
        bool starts_part = i == 0 || word.data[i - 1] == '.';
        if (starts_part && (kind & KIND_LETTER) == 0)
            return false;
        run = (kind & KIND_DIGIT) != 0 ? run + 1 : 0;
        is_qualified |= c == '.';
        if (run > (is_qualified ? 5 : 2))
            return false;
        humps += (kind & KIND_UPPER) != 0 && !(i > 0 && (word_kind(word.data[i - 1]) & KIND_UPPER) != 0);
        lower += (kind & KIND_LOWER) != 0;
    }
    // org.acme.iso20022.Payment, org.acme.Rfc2822Parser, but not org.acme.Order12345
    if (run > 2)
        return false;
    if (has_nested && (!is_qualified || !has_nested_names(word)))
        return false;
    if (is_qualified)
        return (word_kind(word.data[last_part(word)]) & KIND_UPPER) != 0 && lower >= 4;
    return humps >= 2 && lower >= 3 * humps && word_digits(word) <= 2 &&
           !word_is_digit(word.data[word.len - 1]);
}

static bool
is_listed(struct bytes word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal_text(word, list[i]))
            return true;
    }
    return false;
}

// The number of dots in a name of letters, digits and dashes; 0: it is no name of a host. Capitals are those
// of a class or of a constant, unless a dash stands among them.
static unsigned
host_dots(struct bytes word, bool *has_upper)
{
    unsigned dots = 0;
    bool has_dash = false;
    *has_upper = false;
    for (size_t i = 0; i < word.len; i++) {
        unsigned kind = word_kind(word.data[i]);
        if (word.data[i] == '.')
            dots++;
        else if (word.data[i] == '-')
            has_dash = true;
        else if ((kind & KIND_UPPER) != 0)
            *has_upper = true;
        else if ((kind & (KIND_LOWER | KIND_DIGIT)) == 0)
            return 0;
    }
    return *has_upper && !has_dash ? 0 : dots;
}

// stock.prod.svc.cluster.local is a service, and its name identifies it.
static bool
is_service(struct bytes word)
{
    return bytes_find(word, BYTES(".svc"), 0) != SIZE_MAX;
}

bool
word_is_host(struct bytes word)
{
    // Endings that are common in names of hosts and rare in names of fields, files and topics.
    static const char *const sure[] = {"com",   "net", "org",  "edu",   "gov", "mil",  "internal",
                                       "local", "lan", "corp", "cloud", "int", "arpa", "localdomain"};
    static const char *const country[] = {"br", "cn", "uk", "jp", "kr", "de", "fr", "hk", "tw", "ru", "nl",
                                          "pl", "ca", "au", "mx", "ar", "cl", "pt", "ch", "se", "io", "eu"};
    bool has_upper = false;
    unsigned dots = host_dots(word, &has_upper);
    if (dots == 0)
        return false;
    struct bytes last = bytes_slice(word, last_part(word), word.len);
    bool is_sure = is_listed(last, sure, sizeof sure / sizeof sure[0]) || bytes_starts(word, "www.") ||
                   (dots >= 2 && !has_upper && is_listed(last, country, sizeof country / sizeof country[0]));
    return is_sure && !is_service(word);
}

// The humps of names are longer.
bool
word_is_random(struct bytes word)
{
    unsigned turns = 0;
    for (size_t i = 1; i < word.len; i++) {
        bool was_upper = (word_kind(word.data[i - 1]) & KIND_UPPER) != 0;
        turns += was_upper != ((word_kind(word.data[i]) & KIND_UPPER) != 0);
    }
    return word.len >= 8 && 2 * turns >= word.len;
}

bool
word_is_host_of_port(struct bytes word)
{
    // Endings that would be words of a field's or a topic's name without the port.
    static const char *const endings[] = {
        "ae", "ai", "app", "ar", "asia", "at",  "au",   "be", "biz", "br", "ca",   "cc", "ch",
        "cl", "cn", "co",  "cz", "de",   "dev", "dk",   "es", "eu",  "fi", "fr",   "gr", "hk",
        "hu", "id", "ie",  "il", "in",   "io",  "info", "it", "jp",  "kr", "me",   "mx", "my",
        "nl", "no", "nz",  "ph", "pl",   "pt",  "ro",   "ru", "se",  "sg", "site", "th", "tr",
        "tv", "tw", "ua",  "uk", "host", "top", "us",   "vn", "xyz", "za"};
    if (word_is_host(word))
        return true;
    struct bytes last = bytes_slice(word, last_part(word), word.len);
    bool has_upper = false;
    return host_dots(word, &has_upper) > 0 && !has_upper &&
           is_listed(last, endings, sizeof endings / sizeof endings[0]) && !is_service(word);
}

static bool
all_digits(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!word_is_digit(p[i]))
            return false;
    }
    return len > 0;
}

// 0x80, then the facility, of which those in use are small (winerror.h): another number of eight digits is an
// address.
static bool
is_hresult(struct bytes word)
{
    if (word.len != 10 || word.data[0] != '0' || word_fold(word.data[1]) != 'x' || word.data[2] != '8' ||
        word.data[3] != '0' || word.data[4] > '2')
        return false;
    for (size_t i = 3; i < word.len; i++) {
        if (!word_is_hex(word.data[i]))
            return false;
    }
    return true;
}

bool
word_is_error_code(struct bytes word)
{
    static const char *const prefixes[] = {"ORA-", "TNS-", "PLS-", "DPI-", "DPY-",     "RMAN-",
                                           "SP2-", "SQL-", "JBO-", "UCP-", "IMP-",     "EXP-",
                                           "KUP-", "OCI-", "DRG-", "LPX-", "SQLCODE-", "CWE-"};
    if (word.len < 5 || word.len > 13)
        return false;
    if (is_hresult(word) || bytes_equal_text(word, "E11000"))
        return true;
    if ((word_kind(word.data[0]) & word_kind(word.data[1]) & KIND_UPPER) == 0)
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t len = strlen(prefixes[i]);
        if (bytes_starts(word, prefixes[i]))
            return word.len - len <= 5 && all_digits(word.data + len, word.len - len);
    }
    // SQL0803N, SQL30081N: DB2
    return word.len >= 8 && word.len <= 9 && bytes_starts(word, "SQL") && word.data[word.len - 1] == 'N' &&
           all_digits(word.data + 3, word.len - 4);
}

bool
word_is_kept(struct bytes word)
{
    return word.len <= 12 && word_digits(word) <= 4 && (word_roles(word) & ROLE_KEEP) != 0;
}

bool
word_is_indexed_path(struct bytes word)
{
    bool has_index = false;
    unsigned run = 0;
    char separator = '\0';
    size_t from = 0;
    for (size_t i = 0; i <= word.len; i++) {
        if (i < word.len && word.data[i] != '.' && word.data[i] != '/')
            continue;
        if (i < word.len && separator != '\0' && word.data[i] != separator)
            return false;
        separator = i < word.len ? word.data[i] : separator;
        struct bytes part = bytes_slice(word, from, i - from);
        unsigned digits = word_digits(part);
        if (part.len == 0 ? from != 0 : digits != 0 && digits != part.len)
            return false;
        if (digits != 0 && (digits > 3 || i == word.len))
            return false;
        if (digits == 0 && part.len == 1 && i == word.len)
            return false;
        run = digits != 0 ? run + 1 : 0;
        if (run > 2)
            return false;
        has_index |= digits != 0;
        from = i + 1;
    }
    return has_index && (word_is_letter(word.data[0]) || word.data[0] == '/');
}
