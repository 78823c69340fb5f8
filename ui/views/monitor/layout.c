#include "ui/views/monitor/layout.h"

enum { COLUMNS_MOST = 6, WIDE_SHARE = 3, CHART_FIXED = 3, CHART_LINES = 4 };

struct columns {
    int count;
    int used[COLUMNS_MOST]; // rows
};

static int
lowest(const struct columns *columns)
{
    int best = 0;
    for (int i = 1; i < columns->count; i++)
        if (columns->used[i] < columns->used[best])
            best = i;
    return best;
}

// How many lines a chart has at most: a third of the room, in steps that they can share evenly.
static int
chart_steps(const struct panel *panel, int room)
{
    int steps = (room / WIDE_SHARE - CHART_FIXED) / CHART_LINES;
    int most = (panel->most - CHART_FIXED) / CHART_LINES;
    steps = steps > most ? most : steps;
    return steps > 1 ? steps : 1;
}

// What is left below a column goes to its panels, a row at a time.
static void
grow(const struct panel *const *panels, const int *wishes, struct area *areas, const int *column_of,
     int count, int column, int left)
{
    bool has_grown = true;
    while (left > 0 && has_grown) {
        has_grown = false;
        int moved = 0;
        for (int i = 0; i < count; i++) {
            if (column_of[i] != column)
                continue;
            areas[i].row += moved;
            if (left > 0 && areas[i].rows < panels[i]->most && areas[i].rows < wishes[i]) {
                areas[i].rows++;
                left--;
                moved++;
                has_grown = true;
            }
        }
    }
}

struct layout {
    const struct panel *const *panels;
    int count;
    struct area *areas;
    struct columns columns;
    int column_of[MONITOR_PANELS_MOST]; // -1: over all of them
};

// Places panels with the least they need, below a chart with so many steps. Returns how many.
static int
place(struct layout *layout, struct area room, int steps)
{
    struct columns *columns = &layout->columns;
    int placed = 0;
    *columns = (struct columns){.count = room.cols / MONITOR_COLUMN};
    columns->count = columns->count < 1 ? 1 : columns->count > COLUMNS_MOST ? COLUMNS_MOST : columns->count;
    for (; placed < layout->count; placed++) {
        const struct panel *panel = layout->panels[placed];
        layout->column_of[placed] = -1;
        if (panel->is_wide && placed == 0) {
            layout->areas[placed] = area_take_top(&room, CHART_FIXED + steps * CHART_LINES);
            continue;
        }
        int column = lowest(columns);
        int rows = placed == 0 && panel->least > room.rows ? room.rows : panel->least;
        if (columns->used[column] + rows > room.rows)
            break;
        int from = room.cols * column / columns->count, to = room.cols * (column + 1) / columns->count;
        layout->areas[placed] = (struct area){.row = room.row + columns->used[column],
                                              .col = room.col + from,
                                              .rows = rows,
                                              .cols = to - from - (column + 1 < columns->count)};
        columns->used[column] += rows;
        layout->column_of[placed] = column;
    }
    return placed;
}

int
monitor_layout(const struct panel *const *panels, const int *wishes, int count, int first, struct area room,
               struct area *areas)
{
    struct layout layout = {.panels = panels + first, .count = count - first, .areas = areas};
    layout.count = layout.count > MONITOR_PANELS_MOST ? MONITOR_PANELS_MOST : layout.count;
    // The chart is larger only where no panel has to leave for it.
    int most = place(&layout, room, 1);
    int steps = chart_steps(panels[first], room.rows);
    while (place(&layout, room, steps) < most)
        steps--;
    int above = layout.column_of[0] < 0 ? areas[0].rows : 0;
    for (int column = 0; column < layout.columns.count; column++)
        grow(layout.panels, wishes + first, areas, layout.column_of, most, column,
             room.rows - above - layout.columns.used[column]);
    return most;
}

int
monitor_page(const struct panel *const *panels, int count, int panel, struct area room)
{
    struct area areas[MONITOR_PANELS_MOST];
    const int wishes[MONITOR_PANELS_MOST] = {0};
    int first = 0;
    for (;;) {
        int shown = monitor_layout(panels, wishes, count, first, room, areas);
        if (first + shown >= count)
            break;
        if (panel < first + shown)
            return first;
        first += shown;
    }
    // The last page is as full as the others: it begins with panels of the one before.
    while (first > 0 && first - 1 + monitor_layout(panels, wishes, count, first - 1, room, areas) >= count)
        first--;
    return first;
}
