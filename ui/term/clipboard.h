// clipboard: the sequence that puts a text into a terminal's clipboard (OSC 52, xterm's ctlseqs).
#ifndef REDRIVE_UI_TERM_CLIPBOARD_H
#define REDRIVE_UI_TERM_CLIPBOARD_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/strbuf.h"

#define CLIPBOARD_LIMIT 65536 // bytes of text

enum clipboard_road { CLIPBOARD_PLAIN, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };
enum clipboard_road clipboard_road(void); // by TMUX and STY of the environment

// Untrusted bytes as one harmless line: escapes visible, line ends and tabs as blanks (what is pasted into a
// shell would run), cut at the limit. Appended to out.
void clipboard_clean(struct bytes untrusted, struct strbuf *out);
// Hands the text to tmux itself (`tmux load-buffer -w -`, tmux 3.2 and newer): its buffer has it then, and so
// has the terminal's clipboard where tmux may set that; its default lets no program in a window do so. false:
// there is no tmux that took it.
bool clipboard_to_tmux(struct bytes clean);
void clipboard_sequence(struct bytes clean, enum clipboard_road road, struct strbuf *out);

#endif
