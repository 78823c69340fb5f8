// What no format knows: kept whole, shown, and sent again as it is. Headers that are generally dropped are
// control fields here too.
#include "core/envelope/format.h"

const struct envelope_format envelope_unknown = {
    .name = "unknown",
    .title = "no known format",
};
