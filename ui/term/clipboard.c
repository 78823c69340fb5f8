#include "ui/term/clipboard.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/text.h"
#include "base/utf8.h"

#define SCREEN_PIECE 500 // screen takes control strings only up to 768 bytes

enum clipboard_road
clipboard_road(void)
{
    if (getenv("TMUX"))
        return CLIPBOARD_TMUX;
    return getenv("STY") ? CLIPBOARD_SCREEN : CLIPBOARD_PLAIN;
}

void
clipboard_clean(struct bytes untrusted, struct strbuf *out)
{
    struct strbuf visible = {0};
    untrusted.len = utf8_cut(untrusted, untrusted.len < CLIPBOARD_LIMIT ? untrusted.len : CLIPBOARD_LIMIT);
    text_visible(&visible, untrusted, true);
    for (size_t i = 0; i < visible.len; i++)
        if (visible.data[i] == '\n' || visible.data[i] == '\t')
            visible.data[i] = ' ';
    struct bytes line = bytes_trim(strbuf_bytes(&visible));
    line.len = utf8_cut(line, line.len < CLIPBOARD_LIMIT ? line.len : CLIPBOARD_LIMIT);
    strbuf_add(out, line);
    strbuf_release(&visible);
}

// Runs tmux with the text as its input; its output goes nowhere.
static bool
spawn_tmux(int from, pid_t *child)
{
    char *const arguments[] = {(char *)(uintptr_t) "tmux", (char *)(uintptr_t) "load-buffer",
                               (char *)(uintptr_t) "-w", (char *)(uintptr_t) "-", NULL};
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    bool ok = posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO) == 0 &&
              posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
              posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
              posix_spawnp(child, "tmux", &files, NULL, arguments, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&files);
    return ok;
}

// A file in memory, not a pipe: nothing waits for tmux to read, and one that ends early raises no signal.
bool
clipboard_to_tmux(struct bytes clean)
{
    pid_t child;
    int file = memfd_create("copied", MFD_CLOEXEC);
    if (file < 0)
        return false;
    bool ok = write(file, clean.data, clean.len) == (ssize_t)clean.len && lseek(file, 0, SEEK_SET) == 0 &&
              spawn_tmux(file, &child);
    (void)close(file);
    int status = 1;
    while (ok && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
add_base64(struct strbuf *out, struct bytes bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < bytes.len; at += 3) {
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (at + i < bytes.len ? (unsigned char)bytes.data[at + i] : 0);
        for (size_t i = 0; i < 4; i++)
            strbuf_add_char(out, at + i > bytes.len ? '=' : digits[group >> (18 - 6 * i) & 63]);
    }
}

void
clipboard_sequence(struct bytes clean, enum clipboard_road road, struct strbuf *out)
{
    struct strbuf plain = {0};
    strbuf_add_text(&plain, "\033]52;c;");
    add_base64(&plain, clean);
    strbuf_add_char(&plain, '\a');

    struct bytes sequence = strbuf_bytes(&plain);
    for (size_t at = 0; road == CLIPBOARD_SCREEN && at < sequence.len; at += SCREEN_PIECE) {
        strbuf_add_text(out, "\033P");
        strbuf_add(out, bytes_slice(sequence, at, SCREEN_PIECE));
        strbuf_add_text(out, "\033\\");
    }
    if (road != CLIPBOARD_SCREEN)
        strbuf_add(out, sequence); // tmux takes this with set-clipboard on,
    if (road == CLIPBOARD_TMUX) {  // and passes this on with allow-passthrough
        strbuf_add_text(out, "\033Ptmux;\033");
        strbuf_add(out, sequence);
        strbuf_add_text(out, "\033\\");
    }
    strbuf_release(&plain);
}
