// blanks: the blanks that end a row, given the looks that cost the terminal least.
//
// A blank looks the same in bold, dim and any colour of letters. So blanks that stood there before keep the
// role they had, and need not be told; blanks made anew, because a text became shorter, take the look of the
// letter written just before them: then the rest of the row is cleared, and the next one begun, without a
// word about attributes.
#ifndef REDRIVE_UI_CANVAS_BLANKS_H
#define REDRIVE_UI_CANVAS_BLANKS_H

#include <stdbool.h>
#include "ui/canvas/canvas.h"

// cells: one row as it shall be, changed in place. shown: as it is; a base that no blank has (UINT32_MAX)
// where that is unknown. is_seen: by role, whether its look is seen on a blank (a background, an underline,
// reverse).
void blanks_finish(struct cell *cells, const struct cell *shown, int cols, const bool is_seen[ROLE_COUNT]);

#endif
