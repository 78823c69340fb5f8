// color: a colour on every kind of terminal: 24 bits, one of 256, one of 16.
#ifndef REDRIVE_UI_THEME_COLOR_H
#define REDRIVE_UI_THEME_COLOR_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

enum color_depth { COLOR_MONO, COLOR_16, COLOR_256, COLOR_TRUE };

#define COLOR_DEFAULT (-1) // the terminal's own
struct color {
    bool has_rgb;
    uint32_t rgb;  // 0xRRGGBB
    int index_256; // COLOR_DEFAULT or 0..255
    int index_16;  // COLOR_DEFAULT or 0..15
};

extern const struct color color_default;

// "#93a1a1", "240", "red", "bright-red", "default", and up to three of them: "#93a1a1 240 bright-black". What
// is left out is the nearest.
bool color_parse(struct bytes text, struct color *color);
// As it will look, for pictures and contrast: default is `otherwise`.
uint32_t color_rgb(const struct color *color, uint32_t otherwise);
// The number a terminal of so many colours takes for it, or COLOR_DEFAULT; *is_bright: only with bold does it
// look right.
int color_number(const struct color *color, enum color_depth depth, int colors, bool *is_bright);
// WCAG 2.1 contrast ratio of two colours, 1..21.
double color_contrast(uint32_t a, uint32_t b);
// auto, mono, 16, 256, true
bool color_depth_parse(const char *word, enum color_depth *depth, bool *is_auto);

#endif
