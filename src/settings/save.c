#include "settings/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "settings/comments.h"

enum { LONGEST = 1 << 20, PIECE = 1 << 14 };

// Where a value stands in the text, quotes included.
struct value_place {
    size_t from, to;
    int line; // 0: nowhere
    bool is_quoted;
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t
skip_blanks(struct bytes text, size_t at)
{
    while (at < text.len && is_blank(text.data[at]))
        at++;
    return at;
}

// Behind the quoted text that begins here; the end where it is not closed.
static size_t
quoted_end(struct bytes text, size_t at)
{
    char quote = text.data[at++];
    while (at < text.len && text.data[at] != quote)
        at += text.data[at] == '\\' && quote == '"' ? 2 : 1;
    return at < text.len ? at + 1 : text.len;
}

// What stands at the beginning of a line, if it is this setting.
static bool
take_setting(struct bytes text, size_t at, const char *name, int line, struct value_place *place)
{
    size_t len = strlen(name);
    if (text.len - at < len || memcmp(text.data + at, name, len) != 0)
        return false;
    at = skip_blanks(text, at + len);
    if (at >= text.len || text.data[at] != '=')
        return false;
    at = skip_blanks(text, at + 1);
    bool is_quoted = at < text.len && (text.data[at] == '"' || text.data[at] == '\'');
    *place = (struct value_place){
        .from = at, .to = is_quoted ? quoted_end(text, at) : at, .line = line, .is_quoted = is_quoted};
    return true;
}

// In a text without comments. false: its brackets do not match.
static bool
find_setting(struct bytes text, const char *name, struct value_place *place)
{
    int depth = 0;
    int line = 1;
    bool is_at_begin = true;
    *place = (struct value_place){0};
    for (size_t at = 0; at < text.len;) {
        char c = text.data[at];
        if (is_at_begin && depth == 0 && !is_blank(c) && take_setting(text, at, name, line, place))
            at = place->to;
        is_at_begin = at < text.len && (text.data[at] == '\n' || (is_at_begin && is_blank(text.data[at])));
        if (at >= text.len)
            break;
        c = text.data[at];
        line += c == '\n';
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        at = c == '"' || c == '\'' ? quoted_end(text, at) : at + 1;
    }
    return depth == 0;
}

bool
setting_put(struct bytes config, const char *name, const char *value, struct strbuf *out, struct err *err)
{
    struct value_place place;
    struct strbuf bare = {0};
    strbuf_add(&bare, config);
    comments_blank(bare.data, bare.len);
    bool is_whole = find_setting(strbuf_bytes(&bare), name, &place);
    strbuf_release(&bare);
    if (!is_whole || (place.line && !place.is_quoted)) {
        err_set(err, ERR_DATA, "%s is written there in another way than %s = \"…\"",
                place.line ? name : "something", name);
        if (err)
            err->line = place.line;
        return false;
    }
    if (place.line) {
        strbuf_add(out, bytes_slice(config, 0, place.from));
        strbuf_printf(out, "\"%s\"", value);
        strbuf_add(out, bytes_slice(config, place.to, config.len - place.to));
        return true;
    }
    strbuf_add(out, config);
    if (config.len && config.data[config.len - 1] != '\n')
        strbuf_add_char(out, '\n');
    strbuf_printf(out, "%s = \"%s\"\n", name, value);
    return true;
}

static bool
read_file(const char *path, struct strbuf *out, mode_t *mode)
{
    char piece[PIECE];
    struct stat status;
    ssize_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    if (fstat(fd, &status) == 0)
        *mode = status.st_mode & 07777;
    while (out->len <= LONGEST && (len = read(fd, piece, sizeof piece)) > 0)
        strbuf_add(out, (struct bytes){piece, (size_t)len});
    int reason = len < 0 ? errno : EFBIG;
    (void)close(fd);
    errno = reason;
    return len == 0;
}

// Beside the old one, then in its place, so that a reader sees one or the other.
static bool
write_file(const char *path, struct bytes content, mode_t mode)
{
    char fresh[PATH_MAX];
    if (snprintf(fresh, sizeof fresh, "%s.new.%ld", path, (long)getpid()) >= (int)sizeof fresh)
        return false;
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool ok = write(fd, content.data, content.len) == (ssize_t)content.len && fchmod(fd, mode) == 0 &&
              fsync(fd) == 0;
    ok = close(fd) == 0 && ok && rename(fresh, path) == 0;
    int reason = errno;
    if (!ok)
        (void)unlink(fresh);
    errno = reason;
    return ok;
}

static void
make_folder_of(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return;
    *slash = '\0';
    (void)mkdir(folder, 0700); // what is wrong with it is told by the file
}

bool
setting_save(const char *path, const char *name, const char *value, struct err *err)
{
    struct strbuf before = {0};
    struct strbuf after = {0};
    struct err why = {0};
    mode_t mode = 0600;
    char *kept = realpath(path, NULL); // of a link
    struct stat status;
    bool ok = true;
    if (!kept && lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
        ok = err_set(&why, ERR_DENIED, "it is a link to a file that is not there");
    else if (!read_file(kept ? kept : path, &before, &mode))
        ok = err_set(&why, ERR_DENIED, "%s", strerror(errno));
    ok = ok && setting_put(strbuf_bytes(&before), name, value, &after, &why);
    if (ok && !kept)
        make_folder_of(path);
    if (ok && !write_file(kept ? kept : path, strbuf_bytes(&after), mode))
        ok = err_set(&why, ERR_DENIED, "%s", strerror(errno));
    if (!ok)
        err_set(err, why.kind, "%s was not changed: %s; write %s = \"%s\" into it", path, why.text, name,
                value);
    strbuf_release(&before);
    strbuf_release(&after);
    free(kept);
    return ok;
}
