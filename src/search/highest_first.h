// highest_first: the order in which lists by id are walked.
#ifndef REDRIVE_SEARCH_HIGHEST_FIRST_H
#define REDRIVE_SEARCH_HIGHEST_FIRST_H

#include <stddef.h>

// Sorts structs that begin with an int64_t id, the highest id first.
void sort_highest_first(void *structs, size_t count, size_t size);

#endif
