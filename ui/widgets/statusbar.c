#include "ui/widgets/statusbar.h"

#include <string.h>
#include "base/strbuf.h"
#include "ui/keymap/key.h"

#define GAP 2

enum role
environment_role(const char *label, const char *color)
{
    static const struct {
        const char *color;
        enum role role;
    } roles[] = {{"red", ROLE_ENV_RED},   {"yellow", ROLE_ENV_YELLOW}, {"green", ROLE_ENV_GREEN},
                 {"cyan", ROLE_ENV_CYAN}, {"blue", ROLE_ENV_BLUE},     {"magenta", ROLE_ENV_MAGENTA}};
    for (size_t i = 0; color && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].color, color) == 0)
            return roles[i].role;
    return label && strcasestr(label, "prod") ? ROLE_ENV_PROD : ROLE_ENV;
}

static int
cells_of(const char *text, const struct canvas *canvas)
{
    return text ? text_cells(bytes_of(text), canvas->is_ascii) : 0;
}

// Draws environment, database and connection flush right; returns the columns they take. Room for the last
// crumb comes before the database.
static int
statusbar_draw_right(const struct header *header, struct canvas *canvas, struct area area, int needed)
{
    int label = header->label ? cells_of(header->label, canvas) + 2 : 0;
    int state = cells_of(header->state, canvas);
    int where = cells_of(header->where, canvas);
    int fixed = (label ? label + GAP : 0) + (state ? state + 1 : 0);
    bool has_where = where > 0 && needed + fixed + where + 2 * GAP <= area.cols;
    int width = fixed + (has_where ? where + GAP : 0);
    int col = area.col + area.cols - width;
    if (col < area.col)
        col = area.col;
    if (label) {
        canvas_fill(canvas, (struct area){area.row, col, 1, label}, header->label_role);
        col +=
            1 +
            canvas_text(canvas, area.row, col + 1, label - 2, bytes_of(header->label), header->label_role) +
            1 + GAP;
    }
    if (has_where)
        col += canvas_text(canvas, area.row, col, where, bytes_of(header->where), ROLE_BREADCRUMB) + GAP;
    if (state)
        (void)canvas_text(canvas, area.row, col, area.col + area.cols - col, bytes_of(header->state),
                          header->state_role);
    return width;
}

void
header_draw(const struct header *header, struct canvas *canvas, struct area area)
{
    if (area.rows < 1 || header->crumb_count < 1)
        return;
    const int separator = 3;
    const char *last = header->crumbs[header->crumb_count - 1];
    int used = statusbar_draw_right(header, canvas, area, 1 + cells_of(last, canvas) + GAP);
    int room = area.cols - used - GAP;

    // As many of the outer steps as leave room for the last one.
    int first = header->crumb_count - 1;
    int width = 1 + cells_of(last, canvas);
    while (first > 0 && width + cells_of(header->crumbs[first - 1], canvas) + separator <= room)
        width += cells_of(header->crumbs[--first], canvas) + separator;

    int col = area.col + 1;
    int end = area.col + room;
    for (int i = first; i < header->crumb_count && col < end; i++) {
        bool is_last = i == header->crumb_count - 1;
        col += canvas_text(canvas, area.row, col, end - col, bytes_of(header->crumbs[i]),
                           is_last ? ROLE_BREADCRUMB_LAST : ROLE_BREADCRUMB);
        if (!is_last && col + 1 < end)
            (void)canvas_glyph(canvas, area.row, col + 1, GLYPH_CRUMB, ROLE_BREADCRUMB);
        col += separator;
    }
}

// One "key label" at *col, unless it does not fit.
static bool
draw_hint(const struct keymap *keymap, enum context context, enum action action, const char *label,
          struct canvas *canvas, int row, int *col, int end)
{
    struct key_sequence keys;
    if (!keymap_keys(keymap, context, action, 0, &keys))
        return true;
    struct strbuf key = {0};
    key_print_label(&keys, &key);
    int width = cells_of(strbuf_text(&key), canvas) + 1 + cells_of(label, canvas);
    bool fits = *col + width <= end;
    if (fits) {
        int at = *col;
        at += canvas_text(canvas, row, at, end - at, strbuf_bytes(&key), ROLE_FOOTER_KEY) + 1;
        at += canvas_text(canvas, row, at, end - at, bytes_of(label), ROLE_FOOTER_LABEL);
        *col = at + GAP;
    }
    strbuf_release(&key);
    return fits;
}

static const char *
label_of(enum action action, const struct footer_label *labels)
{
    for (; labels && labels->action != DO_NONE; labels++)
        if (labels->action == action)
            return labels->text;
    return action_row(action)->label;
}

void
footer_draw(const struct keymap *keymap, enum context context, const enum action *actions,
            const struct footer_label *labels, struct canvas *canvas, struct area area)
{
    if (area.rows < 1)
        return;
    struct key_sequence keys;
    int help = 0;
    bool has_help = *label_of(DO_HELP, labels) != '\0';
    if (has_help && keymap_keys(keymap, context, DO_HELP, 0, &keys)) {
        struct strbuf key = {0};
        key_print_label(&keys, &key);
        help = cells_of(strbuf_text(&key), canvas) + 1 + cells_of(action_row(DO_HELP)->label, canvas) + GAP;
        strbuf_release(&key);
    }
    int col = area.col + 1;
    int end = area.col + area.cols;
    for (const enum action *action = actions; action && *action != DO_NONE; action++) {
        if (*action != DO_HELP && !draw_hint(keymap, context, *action, label_of(*action, labels), canvas,
                                             area.row, &col, end - help))
            break;
    }
    if (has_help)
        (void)draw_hint(keymap, context, DO_HELP, action_row(DO_HELP)->label, canvas, area.row, &col, end);
}

void
chip_draw(struct canvas *canvas, int row, int *col, int limit, enum role role, struct bytes untrusted)
{
    int width = text_cells(untrusted, canvas->is_ascii);
    if (untrusted.len == 0 || *col + width > limit)
        return;
    *col += canvas_text(canvas, row, *col, width, untrusted, role) + 3;
}

void
chip_draw_cut(struct canvas *canvas, int row, int *col, int limit, enum role role, struct bytes untrusted)
{
    enum { LEAST = 4 };
    int width = text_cells(untrusted, canvas->is_ascii);
    int room = limit - *col;
    if (untrusted.len && room >= LEAST)
        *col += canvas_text(canvas, row, *col, width < room ? width : room, untrusted, role) + 3;
}

int
chip_draw_at_right(struct canvas *canvas, struct area line, enum role role, struct bytes untrusted)
{
    int width = text_cells(untrusted, canvas->is_ascii);
    canvas_styled(canvas, line.row, line.col, line.cols - 1, untrusted,
                  &(struct canvas_style){.role = role, .at_right = true});
    return line.col + line.cols - width - 2;
}
