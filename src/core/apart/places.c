#include "core/apart/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The number of one event.
struct measured {
    double number;
    uint32_t event;
};

static int
by_number(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

// One number an event, in order of the numbers; those of arrays by the least or the largest.
static struct measured *
measure(const struct apart_field *field, bool by_length, bool is_least, struct arena *arena, size_t *count)
{
    struct measured *list = arena_array(arena, field->seen_count + 1, sizeof *list);
    enum apart_kind kind = by_length ? APART_TEXT : APART_NUMBER;
    *count = 0;
    for (size_t i = 0; i < field->seen_count; i++) {
        const struct apart_seen *seen = &field->seen[i];
        double number = by_length ? seen->length : seen->number;
        struct measured *last = *count ? &list[*count - 1] : NULL;
        if (seen->kind != kind || !isfinite(number))
            continue;
        if (!last || last->event != seen->event)
            list[(*count)++] = (struct measured){.number = number, .event = seen->event};
        else if (is_least ? number < last->number : number > last->number)
            last->number = number;
    }
    qsort(list, *count, sizeof *list, by_number);
    return list;
}

// --- ids and clocks ---

static double
time_of(const struct apart *apart, uint32_t event, bool by_id)
{
    return (double)(by_id ? apart->events[event].id : apart->events[event].created_at);
}

// Spearman's rank correlation of the numbers with time or id; equal times have one rank.
static double
correlation(const struct apart *apart, const struct measured *list, size_t count, bool by_id,
            struct arena *arena)
{
    struct measured *times = arena_array(arena, count, sizeof *times);
    double *ranks = arena_array(arena, apart->count, sizeof *ranks);
    for (size_t i = 0; i < count; i++)
        times[i] = (struct measured){.number = time_of(apart, list[i].event, by_id), .event = list[i].event};
    qsort(times, count, sizeof *times, by_number);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && times[end].number == times[i].number; end++)
            continue;
        for (size_t j = i; j < end; j++)
            ranks[times[j].event] = (double)(i + end - 1) / 2;
    }
    double products = 0, squares = 0, numbers = 0, mean = (double)(count - 1) / 2;
    for (size_t i = 0; i < count; i++) {
        double x = (double)i - mean, y = ranks[list[i].event] - mean;
        products += x * y;
        squares += y * y;
        numbers += x * x;
    }
    return squares > 0 && numbers > 0 ? products / sqrt(squares * numbers) : 0;
}

enum place_choice
places_choice(const struct apart *apart, const struct apart_field *field)
{
    enum { FEW = 20 };
    static const double GROWS = 0.8;
    if (field->what == APART_CREATED)
        return PLACES_ALL;
    struct arena arena = {0};
    size_t count, different = 0;
    bool is_whole = true;
    struct measured *list = measure(field, false, false, &arena, &count);
    for (size_t i = 0; i < count; i++) {
        different += i == 0 || list[i].number != list[i - 1].number;
        is_whole &= list[i].number == floor(list[i].number);
    }
    bool is_varied = count >= FEW && different * 10 >= count * 9;
    bool grows = is_varied && (fabs(correlation(apart, list, count, false, &arena)) >= GROWS ||
                               fabs(correlation(apart, list, count, true, &arena)) >= GROWS);
    arena_release(&arena);
    return grows ? PLACES_NONE : is_varied && is_whole ? PLACES_ROUND : PLACES_ALL;
}

// --- places ---

static bool
has_power_of_ten(double below, double from)
{
    double power = from > 0 ? pow(10, floor(log10(from))) : 0;
    return power > below && power <= from;
}

struct place *
places_find(const struct apart *apart, const struct apart_field *field, enum place_choice choice,
            bool is_least, struct arena *arena, size_t *count)
{
    size_t measured;
    struct measured *list = measure(field, choice == PLACES_LENGTH, is_least, arena, &measured);
    struct place *places = arena_array(arena, measured + 1, sizeof *places);
    struct place all = {0};
    for (size_t i = 0; i < measured; i++) {
        if (apart->events[list[i].event].is_here)
            all.here++;
        else
            all.there++;
    }
    struct place left = all;
    *count = 0;
    for (size_t i = 0; i < measured; i++) {
        bool is_place = i > 0 && list[i].number > list[i - 1].number &&
                        (choice != PLACES_ROUND || has_power_of_ten(list[i - 1].number, list[i].number));
        if (is_place)
            places[(*count)++] = (struct place){list[i - 1].number, list[i].number, left.here, left.there};
        if (apart->events[list[i].event].is_here)
            left.here--;
        else
            left.there--;
    }
    places[*count] = all;
    return places;
}

// The number with the fewest digits that is above `below` and at most `from`.
static double
roundest(double below, double from)
{
    double size = fmax(fabs(below), fabs(from));
    double step = size > 0 ? pow(10, floor(log10(size)) + 1) : 1;
    for (int digits = 0; digits < 17; digits++, step /= 10) {
        double number = floor(from / step) * step;
        if (number > below && number <= from)
            return number;
    }
    return from;
}

static int64_t
roundest_time(double below, double from)
{
    static const int64_t steps[] = {3600 * US_PER_SECOND, 60 * US_PER_SECOND, US_PER_SECOND};
    int64_t at = (int64_t)from;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int64_t time = at - at % steps[i];
        if ((double)time > below)
            return time;
    }
    return at;
}

void
place_limit(enum apart_what what, const struct place *place, bool is_upper, struct arena *arena,
            struct apart_question *question)
{
    if (what == APART_CREATED) {
        int64_t at = roundest_time(place->below, place->from);
        if (is_upper)
            question->high_time = at - 1;
        else
            question->low_time = at;
        return;
    }
    double number = is_upper ? -roundest(-place->from, -place->below) : roundest(place->below, place->from);
    struct bytes text = bytes_of(arena_printf(arena, "%.15g", number == 0 ? 0.0 : number));
    if (is_upper)
        question->high = text;
    else
        question->low = text;
}
