// number: private part of numbers.
#ifndef REDRIVE_CORE_JSON_NUMBER_H
#define REDRIVE_CORE_JSON_NUMBER_H

#include "core/json/json.h"

// The size of a number token is 0.<digits> x 10^exponent, without zeros at either end of the digits; of zero
// there are none. Writes the first `room`; returns how many there are, or room + 1 where there are more.
size_t json_number_digits(struct bytes token, char *digits, size_t room, int64_t *exponent);

#endif
