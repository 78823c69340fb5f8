// clipboard: the sequence that puts a text into a terminal's clipboard (OSC 52, xterm's ctlseqs).
#ifndef REDRIVE_UI_TERM_CLIPBOARD_H
#define REDRIVE_UI_TERM_CLIPBOARD_H

#include "base/bytes.h"
#include "base/strbuf.h"

#define CLIPBOARD_LIMIT 65536 // bytes of text

enum clipboard_road { CLIPBOARD_PLAIN, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };
enum clipboard_road clipboard_road(void); // by TMUX and STY of the environment

// Untrusted bytes as one harmless line: escapes visible, line ends and tabs as blanks (what is pasted into a
// shell would run), cut at the limit. Appended to out.
void clipboard_clean(struct bytes untrusted, struct strbuf *out);
void clipboard_sequence(struct bytes clean, enum clipboard_road road, struct strbuf *out);

#endif
