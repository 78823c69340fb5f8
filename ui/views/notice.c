#include "ui/views/notice.h"

void
notice_draw(struct canvas *canvas, struct area area, const char *text)
{
    struct bytes words = bytes_of(text);
    area_take_left(&area, 1);
    area_take_right(&area, 1);
    for (size_t at = 0; at < words.len && area.rows > 0 && area.cols > 0;) {
        struct area line = area_take_top(&area, 1);
        size_t len = text_fit(words, at, line.cols, canvas->is_ascii);
        canvas_text(canvas, line.row, line.col, line.cols, bytes_trim(bytes_slice(words, at, len)),
                    ROLE_TEXT);
        at += len ? len : 1;
    }
}
