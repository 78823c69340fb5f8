// motion: where a key takes the cursor. Deleting and copying by motion (vi's dw, emacs's M-d) use the range
// between the cursor and the target.
#ifndef REDRIVE_UI_EDITOR_MOTION_H
#define REDRIVE_UI_EDITOR_MOTION_H

#include "ui/editor/editor.h"

enum motion {
    MOTION_LEFT, // a character with its combining marks; goes on over line ends
    MOTION_RIGHT,
    MOTION_LEFT_IN_LINE, // vi's h and l: stay in the line
    MOTION_RIGHT_IN_LINE,
    MOTION_WORD_LEFT,  // the beginning of this or the word before (C-left, vi's b)
    MOTION_WORD_RIGHT, // the beginning of the next word (vi's w)
    MOTION_WORD_END,   // behind the end of this or the next word (C-right, M-f)
    MOTION_WORD_LAST,  // the last character of this or the next word (vi's e)
    MOTION_LINE_START, // first column (vi's 0)
    MOTION_LINE_TEXT,  // first character that is no blank (vi's ^)
    MOTION_LINE_HOME,  // that one, or from there the first column (Home)
    MOTION_LINE_END,   // behind the last character (End)
    MOTION_UP,         // by lines that are not folded away, in the same cell as long as lines reach it
    MOTION_DOWN,
    MOTION_DOCUMENT_START,
    MOTION_DOCUMENT_END,
    MOTION_BRACKET,      // the partner of the bracket under or before the cursor, outside strings; else the
                         // bracket that closes the container around it
    MOTION_NEXT_SIBLING, // the member or element before or behind this one: its name, or its value
    MOTION_PREVIOUS_SIBLING,
    MOTION_PARENT, // the bracket that opens the container around the cursor
    MOTION_CHILD,  // the first member or element of the container that begins under the cursor
    MOTION_COUNT
};

// A word is a run of letters, digits, _ and everything beyond ASCII; a run of other characters is one too.
// The search for an end of a word or of blanks stops after 64 KiB.

// The offset where `count` (at least 1) of these motions lead from `at`; less where the document, the line or
// the container ends. Nothing moves. MOTION_UP and MOTION_DOWN keep the cell of `at`. Bracket and tokens: the
// same offset where there is no such place or the document is not JSON.
size_t editor_target(struct editor *editor, enum motion motion, size_t at, size_t count);

// Moves the cursor there; MOTION_UP and MOTION_DOWN in a row keep the cell that the first one began in. A
// page is `count` rows. false: it stays where it is.
bool editor_move(struct editor *editor, enum motion motion, size_t count, bool extend);

// Where two brackets belong together: the partner of the bracket at `at`. false: there is no bracket of the
// JSON there (one within a string is none), or it has no partner. Reads from the bracket to its partner.
bool editor_partner(struct editor *editor, size_t at, size_t *partner);

#endif
