// Myers' algorithm: finds the middle of a shortest edit path by searching from both ends, and does the same
// on both sides of that middle.
#include "core/diff/compare.h"

#include <stdlib.h>
#include "base/alloc.h"

// After that many rounds of one search its best diagonal is good enough.
enum { ROUNDS_LEAST = 256 };

struct comparison {
    const uint32_t *a, *b;
    bool *changed_a, *changed_b;
    ptrdiff_t *forward, *backward; // furthest x by diagonal x - y, from both ends; the middle is at [0]
    ptrdiff_t rounds_most;
    uint64_t work;
};

struct box {
    ptrdiff_t a_from, a_to, b_from, b_to;
};

static bool
spend(struct comparison *comparison, uint64_t steps)
{
    bool has = comparison->work >= steps;
    comparison->work = has ? comparison->work - steps : 0;
    return has;
}

struct point {
    ptrdiff_t x, y;
};

// What a search knows about its box.
struct search {
    struct comparison *comparison;
    struct box box;
    ptrdiff_t low, high;          // diagonals of the box
    ptrdiff_t middle_f, middle_b; // diagonals of its two corners
    ptrdiff_t f_low, f_high;      // diagonals reached
    ptrdiff_t b_low, b_high;
    bool is_odd;
};

// One more edit from the front. true: it met the search from the back at *meeting.
static bool
search_forward(struct search *search, struct point *meeting)
{
    struct comparison *comparison = search->comparison;
    ptrdiff_t *v = comparison->forward;
    if (search->f_low > search->low)
        v[--search->f_low - 1] = -1;
    else
        search->f_low++;
    if (search->f_high < search->high)
        v[++search->f_high + 1] = -1;
    else
        search->f_high--;
    for (ptrdiff_t d = search->f_high; d >= search->f_low; d -= 2) {
        ptrdiff_t x = v[d - 1] < v[d + 1] ? v[d + 1] : v[d - 1] + 1;
        ptrdiff_t from = x;
        while (x < search->box.a_to && x - d < search->box.b_to && comparison->a[x] == comparison->b[x - d])
            x++;
        v[d] = x;
        spend(comparison, (uint64_t)(x - from) + 1);
        if (search->is_odd && search->b_low <= d && d <= search->b_high && comparison->backward[d] <= x) {
            *meeting = (struct point){x, x - d};
            return true;
        }
    }
    return false;
}

static bool
search_backward(struct search *search, struct point *meeting)
{
    struct comparison *comparison = search->comparison;
    ptrdiff_t *v = comparison->backward;
    if (search->b_low > search->low)
        v[--search->b_low - 1] = PTRDIFF_MAX;
    else
        search->b_low++;
    if (search->b_high < search->high)
        v[++search->b_high + 1] = PTRDIFF_MAX;
    else
        search->b_high--;
    for (ptrdiff_t d = search->b_high; d >= search->b_low; d -= 2) {
        ptrdiff_t x = v[d - 1] < v[d + 1] ? v[d - 1] : v[d + 1] - 1;
        ptrdiff_t from = x;
        while (x > search->box.a_from && x - d > search->box.b_from &&
               comparison->a[x - 1] == comparison->b[x - d - 1])
            x--;
        v[d] = x;
        spend(comparison, (uint64_t)(from - x) + 1);
        if (!search->is_odd && search->f_low <= d && d <= search->f_high && x <= comparison->forward[d]) {
            *meeting = (struct point){x, x - d};
            return true;
        }
    }
    return false;
}

// The point of the search from the front that came furthest.
static struct point
furthest(const struct search *search)
{
    struct point best = {search->box.a_from, search->box.b_from};
    for (ptrdiff_t d = search->f_high; d >= search->f_low; d -= 2) {
        ptrdiff_t x = search->comparison->forward[d];
        x = x < search->box.a_to ? x : search->box.a_to;
        ptrdiff_t y = x - d;
        if (y > search->box.b_to) {
            y = search->box.b_to;
            x = y + d;
        }
        if (x + y > best.x + best.y)
            best = (struct point){x, y};
    }
    return best;
}

// A point on a shortest path through the box, or on a short one. false: the work is used up.
static bool
find_middle(struct comparison *comparison, struct box box, struct point *middle)
{
    struct search search = {.comparison = comparison, .box = box};
    search.low = box.a_from - box.b_to;
    search.high = box.a_to - box.b_from;
    search.middle_f = box.a_from - box.b_from;
    search.middle_b = box.a_to - box.b_to;
    search.f_low = search.f_high = search.middle_f;
    search.b_low = search.b_high = search.middle_b;
    search.is_odd = (search.middle_f - search.middle_b) % 2 != 0;
    comparison->forward[search.middle_f] = box.a_from;
    comparison->backward[search.middle_b] = box.a_to;
    for (ptrdiff_t round = 1;; round++) {
        if (search_forward(&search, middle) || search_backward(&search, middle))
            return true;
        if (comparison->work == 0)
            return false;
        if (round >= comparison->rounds_most) {
            *middle = furthest(&search);
            return true;
        }
    }
}

static void
trim(const struct comparison *comparison, struct box *box)
{
    while (box->a_from < box->a_to && box->b_from < box->b_to &&
           comparison->a[box->a_from] == comparison->b[box->b_from]) {
        box->a_from++;
        box->b_from++;
    }
    while (box->a_from < box->a_to && box->b_from < box->b_to &&
           comparison->a[box->a_to - 1] == comparison->b[box->b_to - 1]) {
        box->a_to--;
        box->b_to--;
    }
}

static void
change_all(struct comparison *comparison, struct box box)
{
    for (ptrdiff_t i = box.a_from; i < box.a_to; i++)
        comparison->changed_a[i] = true;
    for (ptrdiff_t i = box.b_from; i < box.b_to; i++)
        comparison->changed_b[i] = true;
}

static ptrdiff_t
size_of(struct box box)
{
    return box.a_to - box.a_from + box.b_to - box.b_from;
}

// The smaller side of each middle is done by a call, the larger one in the loop: the depth of calls is at
// most the logarithm of the size.
static void
compare_box(struct comparison *comparison, struct box box)
{
    for (;;) {
        trim(comparison, &box);
        struct point middle;
        if (box.a_from == box.a_to || box.b_from == box.b_to || !find_middle(comparison, box, &middle)) {
            change_all(comparison, box);
            return;
        }
        struct box front = {box.a_from, middle.x, box.b_from, middle.y};
        struct box back = {middle.x, box.a_to, middle.y, box.b_to};
        bool is_front_larger = size_of(front) > size_of(back);
        compare_box(comparison, is_front_larger ? back : front);
        box = is_front_larger ? front : back;
    }
}

bool
diff_compare(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, bool *changed_a,
             bool *changed_b, uint64_t *work)
{
    size_t diagonals = a_count + b_count + 3;
    ptrdiff_t *both = alloc_array(2 * diagonals, sizeof *both);
    struct comparison comparison = {.a = a,
                                    .b = b,
                                    .changed_a = changed_a,
                                    .changed_b = changed_b,
                                    .forward = both + b_count + 1,
                                    .backward = both + diagonals + b_count + 1,
                                    .rounds_most = ROUNDS_LEAST,
                                    .work = *work};
    compare_box(&comparison, (struct box){0, (ptrdiff_t)a_count, 0, (ptrdiff_t)b_count});
    free(both);
    *work = comparison.work;
    return comparison.work > 0;
}
