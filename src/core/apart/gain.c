// What an answer tells of the side (apart.h has the formula).
#include "core/apart/private.h"

#include <math.h>

static double
bits_of(double part, double whole)
{
    return part > 0 ? -part / whole * log2(part / whole) : 0;
}

double
apart_entropy(uint32_t here, uint32_t there)
{
    double all = (double)here + there;
    return all > 0 ? bits_of(here, all) + bits_of(there, all) : 0;
}

double
apart_gain(uint32_t here, uint32_t all_here, uint32_t there, uint32_t all_there)
{
    double all = (double)all_here + all_there;
    double yes = (double)here + there;
    if (all == 0)
        return 0;
    return apart_entropy(all_here, all_there) - yes / all * apart_entropy(here, there) -
           (all - yes) / all * apart_entropy(all_here - here, all_there - there);
}
