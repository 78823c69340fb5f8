// Numbers of any length compared by value: as digits and a power of ten, never as a double.
#include "core/json/number.h"

#include <string.h>

// The value is 0.<digits> × 10^exponent, without leading or trailing zeros among the digits. Zero has no
// digits.
struct decimal {
    bool is_negative;
    struct bytes text; // whole and fraction, with the point still inside
    size_t first;      // of the first digit that is not 0
    size_t last;       // behind the last digit that is not 0
    int64_t exponent;
};

// An exponent of absurd length is held here: two such numbers compare equal in size, which no real payload
// can tell.
static const int64_t EXPONENT_LIMIT = INT64_C(1) << 60;

static int64_t
parse_exponent(struct bytes text)
{
    bool is_negative = text.len && text.data[0] == '-';
    int64_t value = 0;
    for (size_t i = text.len && (text.data[0] == '-' || text.data[0] == '+'); i < text.len; i++)
        if (value < EXPONENT_LIMIT / 10)
            value = value * 10 + (text.data[i] - '0');
    return is_negative ? -value : value;
}

static struct decimal
decimal_of(struct bytes token)
{
    struct decimal decimal = {.is_negative = token.len && token.data[0] == '-'};
    struct bytes text = bytes_slice(token, decimal.is_negative, SIZE_MAX);
    size_t e = 0;
    while (e < text.len && text.data[e] != 'e' && text.data[e] != 'E')
        e++;
    if (e < text.len)
        decimal.exponent = parse_exponent(bytes_slice(text, e + 1, SIZE_MAX));
    text = bytes_slice(text, 0, e);
    const char *dot = memchr(text.data, '.', text.len);
    size_t point = dot ? (size_t)(dot - text.data) : text.len;

    size_t first = 0;
    while (first < text.len && (text.data[first] == '0' || text.data[first] == '.'))
        first++;
    size_t last = text.len;
    while (last > first && (text.data[last - 1] == '0' || text.data[last - 1] == '.'))
        last--;
    decimal.text = text;
    decimal.first = first;
    decimal.last = last;
    // Places between the first digit and the point; the point itself is no place.
    decimal.exponent += first < point ? (int64_t)(point - first) : -(int64_t)(first - point - 1);
    if (first == last)
        decimal.exponent = 0;
    return decimal;
}

// The next digit at *at, stepping over the point, or -1 behind the last.
static int
next_digit(const struct decimal *decimal, size_t *at)
{
    if (*at < decimal->last && decimal->text.data[*at] == '.')
        (*at)++;
    return *at < decimal->last ? decimal->text.data[(*at)++] - '0' : -1;
}

static int
compare_sizes(const struct decimal *a, const struct decimal *b)
{
    bool a_is_zero = a->first == a->last;
    bool b_is_zero = b->first == b->last;
    if (a_is_zero || b_is_zero)
        return (int)b_is_zero - (int)a_is_zero;
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent ? -1 : 1;

    size_t i = a->first;
    size_t j = b->first;
    for (;;) {
        int x = next_digit(a, &i);
        int y = next_digit(b, &j);
        if (x != y)
            return x < y ? -1 : 1;
        if (x < 0)
            return 0;
    }
}

int
json_number_compare(struct bytes a, struct bytes b)
{
    struct decimal x = decimal_of(a);
    struct decimal y = decimal_of(b);
    bool x_is_zero = x.first == x.last;
    bool y_is_zero = y.first == y.last;
    bool x_below = x.is_negative && !x_is_zero;
    bool y_below = y.is_negative && !y_is_zero;
    if (x_below != y_below)
        return x_below ? -1 : 1;
    return x_below ? compare_sizes(&y, &x) : compare_sizes(&x, &y);
}

size_t
json_number_digits(struct bytes token, char *digits, size_t room, int64_t *exponent)
{
    struct decimal decimal = decimal_of(token);
    size_t at = decimal.first;
    size_t count = 0;
    int digit;
    while (count <= room && (digit = next_digit(&decimal, &at)) >= 0) {
        if (count < room)
            digits[count] = (char)('0' + digit);
        count++;
    }
    *exponent = decimal.exponent;
    return count;
}
