// terminfo: what this host says about the terminal, trimmed to what the screen needs. For ui/term/term only.
#ifndef REDRIVE_UI_TERM_TERMINFO_H
#define REDRIVE_UI_TERM_TERMINFO_H

#include <stdbool.h>

// After newterm, before the first picture. The entries of xterm, tmux, screen and their kin choose the
// character set anew with each change of attributes (for bold: ESC ( B ESC [ 0 ; 1 m). The screen draws its
// lines as text and never leaves the normal set, so that part is cut out. false: there was none.
// The 0 before other attributes is left out too: a parameter that is missing is 0 (ECMA-48 8.3.117), and the
// entry of rxvt-unicode has always said it so (ESC [ ; 1 m).
bool terminfo_spare_attributes(void);

#endif
