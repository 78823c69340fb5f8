#include "ui/theme/color.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

const struct color color_default = {.index_256 = COLOR_DEFAULT, .index_16 = COLOR_DEFAULT};

static const char *const names[16] = {
    "black",        "red",           "green",       "yellow",         "blue",
    "magenta",      "cyan",          "white",       "bright-black",   "bright-red",
    "bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan",
    "bright-white",
};

// The sixteen colours as pictures show them; a terminal has its own.
static const uint32_t ansi[16] = {
    0x1d2021, 0xcc4b4b, 0x55a649, 0xc99a2e, 0x4f86d0, 0xb16fc4, 0x3fa7a7, 0xd0d0d0,
    0x7a7f85, 0xee6b6b, 0x7ccf6f, 0xe8c15a, 0x7fb0f0, 0xd292e4, 0x6fd0d0, 0xffffff,
};

// xterm's 6x6x6 cube and its greys.
static uint32_t
rgb_of_256(int index)
{
    static const uint32_t steps[6] = {0, 95, 135, 175, 215, 255};
    if (index < 16)
        return ansi[index];
    if (index >= 232) {
        uint32_t grey = 8 + 10 * (uint32_t)(index - 232);
        return grey << 16 | grey << 8 | grey;
    }
    int cube = index - 16;
    return steps[cube / 36] << 16 | steps[cube / 6 % 6] << 8 | steps[cube % 6];
}

static int
distance(uint32_t a, uint32_t b)
{
    int sum = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);
        sum += d * d;
    }
    return sum;
}

// Of the colours from `first` up to `count`, the one that looks most like it.
static int
nearest(uint32_t rgb, int first, int count)
{
    int best = first;
    for (int i = first; i < count; i++)
        if (distance(rgb, rgb_of_256(i)) < distance(rgb, rgb_of_256(best)))
            best = i;
    return best;
}

static bool
parse_hex(struct bytes word, uint32_t *rgb)
{
    if (word.len != 7 || word.data[0] != '#')
        return false;
    *rgb = 0;
    for (size_t i = 1; i < 7; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = word.data[i] ? strchr(digits, word.data[i]) : NULL;
        if (!digit)
            return false;
        ptrdiff_t value = digit - digits;
        *rgb = *rgb << 4 | (uint32_t)(value > 15 ? value - 6 : value);
    }
    return true;
}

// One word: sets what it names. false: it names no colour.
static bool
parse_word(struct bytes word, struct color *color)
{
    int64_t number;
    if (parse_hex(word, &color->rgb)) {
        color->has_rgb = true;
        color->index_256 = nearest(color->rgb, 16, 256);
        color->index_16 = nearest(color->rgb, 0, 16);
        return true;
    }
    if (text_parse_int(word, &number, NULL) && number >= 0 && number < 256) {
        color->index_256 = (int)number;
        if (!color->has_rgb)
            color->index_16 = number < 16 ? (int)number : nearest(rgb_of_256((int)number), 0, 16);
        return true;
    }
    int index = bytes_equal_text(word, "default") ? COLOR_DEFAULT : 16;
    for (int i = 0; i < 16; i++)
        if (bytes_equal_text(word, names[i]))
            index = i;
    color->index_16 = index;
    if (!color->has_rgb)
        color->index_256 = index;
    return index < 16;
}

bool
color_parse(struct bytes text, struct color *color)
{
    *color = color_default;
    int words = 0;
    for (size_t at = 0; at < text.len;) {
        size_t end = bytes_find(text, BYTES(" "), at);
        if (end == SIZE_MAX)
            end = text.len;
        if (end > at && (++words > 3 || !parse_word(bytes_slice(text, at, end - at), color)))
            return false;
        at = end + 1;
    }
    return words > 0;
}

uint32_t
color_rgb(const struct color *color, uint32_t otherwise)
{
    if (color->has_rgb)
        return color->rgb;
    return color->index_256 < 0 ? otherwise : rgb_of_256(color->index_256);
}

int
color_number(const struct color *color, enum color_depth depth, int colors, bool *is_bright)
{
    *is_bright = false;
    if (depth == COLOR_TRUE && color->has_rgb)
        return (int)(color->rgb > 0 && color->rgb < 8 ? 8 : color->rgb); // 1 to 7 are ANSI colours there
    if (depth == COLOR_TRUE && color->index_256 >= 16)
        return (int)rgb_of_256(color->index_256);
    if (depth == COLOR_256)
        return color->index_256;
    int index = color->index_16;
    if (index >= 8 && (colors < 16 || depth == COLOR_TRUE)) {
        *is_bright = true;
        return index - 8;
    }
    return index;
}

static double
luminance(uint32_t rgb)
{
    static const double weights[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double channel = (double)(rgb >> (16 - 8 * i) & 0xff) / 255;
        sum += weights[i] * (channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double
color_contrast(uint32_t a, uint32_t b)
{
    double la = luminance(a);
    double lb = luminance(b);
    return la > lb ? (la + 0.05) / (lb + 0.05) : (lb + 0.05) / (la + 0.05);
}

bool
color_depth_parse(const char *word, enum color_depth *depth, bool *is_auto)
{
    static const char *const words[] = {
        [COLOR_MONO] = "mono", [COLOR_16] = "16", [COLOR_256] = "256", [COLOR_TRUE] = "true"};
    *is_auto = strcmp(word, "auto") == 0;
    if (*is_auto)
        return true;
    for (int i = 0; i <= COLOR_TRUE; i++) {
        if (strcmp(word, words[i]) == 0) {
            *depth = (enum color_depth)i;
            return true;
        }
    }
    return false;
}
