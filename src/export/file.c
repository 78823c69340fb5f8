#include "export/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/strbuf.h"

static void
forget(struct export_file *file)
{
    if (file->fd > 0)
        close(file->fd);
    free(file->path);
    free(file->part);
    *file = (struct export_file){0};
}

static bool
is_there(const char *path, bool replaces, const char *remedy, struct err *err)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return false;
    if (!S_ISREG(status.st_mode))
        (void)!err_set(err, ERR_USAGE, "%s is not a regular file; give a name that is free", path);
    else if (!replaces)
        (void)!err_set(err, ERR_USAGE, "%s exists already; %s replaces it", path, remedy);
    return !S_ISREG(status.st_mode) || !replaces;
}

bool
export_file_open(struct export_file *file, const char *path, bool replaces, const char *remedy,
                 struct err *err)
{
    *file = (struct export_file){.replaces = replaces};
    if (*path == '\0')
        return err_set(err, ERR_USAGE, "the file has no name");
    if (is_there(path, replaces, remedy, err))
        return false;
    struct strbuf part = {0};
    strbuf_printf(&part, "%s.part-XXXXXX", path);
    file->path = alloc_text(path);
    file->part = strbuf_detach(&part);
    file->fd = mkostemp(file->part, O_CLOEXEC); // makes it 0600, and follows no link
    if (file->fd >= 0)
        return true;
    (void)!err_set(err, ERR_USAGE, "cannot make %s: %s", path, strerror(errno));
    forget(file);
    return false;
}

bool
export_file_write(struct export_file *file, struct bytes text, struct err *err)
{
    while (text.len > 0) {
        ssize_t got = write(file->fd, text.data, text.len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ERR_INTERNAL, "cannot write %s: %s; nothing is left of it", file->path,
                           strerror(errno));
        text = bytes_slice(text, (size_t)got, text.len - (size_t)got);
    }
    return true;
}

// A link fails where somebody was faster to take the name. Some file systems know no links.
static bool
take_place(const struct export_file *file)
{
    if (file->replaces)
        return rename(file->part, file->path) == 0;
    if (link(file->part, file->path) == 0) {
        unlink(file->part);
        return true;
    }
    return errno != EEXIST && renameat2(AT_FDCWD, file->part, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0;
}

bool
export_file_finish(struct export_file *file, struct err *err)
{
    bool ok = fsync(file->fd) == 0 && take_place(file);
    if (!ok) {
        (void)!err_set(err, ERR_INTERNAL, "cannot write %s: %s; nothing is left of it", file->path,
                       strerror(errno));
        unlink(file->part);
    }
    forget(file);
    return ok;
}

void
export_file_abandon(struct export_file *file)
{
    if (file->part)
        unlink(file->part);
    forget(file);
}
