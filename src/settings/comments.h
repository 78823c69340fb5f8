// comments: blanks the comments of a configuration text and leaves everything else where it was.
//
// libconfuse 3.3 counts lines wrong behind comments (its lexer adds one for the comment and one for its end),
// so files are given to it without them, and its line numbers are true. Comments are # and // to the end of
// the line and /* … */, not within '…' or "…".
#ifndef REDRIVE_SETTINGS_COMMENTS_H
#define REDRIVE_SETTINGS_COMMENTS_H

#include <stddef.h>
#include <stdio.h>

void comments_blank(char *text, size_t len); // in place; line ends stay

// What is left of the stream, read into memory and blanked; NUL-terminated, the caller frees it.
char *comments_read(FILE *stream);

#endif
