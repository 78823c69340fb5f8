#include "base/private_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"

enum { PATH_ROOM = 1200, PIECE = 16384 };

bool
private_folder_make(const char *folder, struct err *err)
{
    struct stat status;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set(err, ERR_DENIED, "the folder %s cannot be made: %s", folder, strerror(errno));
    if (lstat(folder, &status) != 0)
        return err_set(err, ERR_DENIED, "the folder %s cannot be used: %s", folder, strerror(errno));
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid())
        return err_set(err, ERR_DENIED, "%s is not a folder of your own", folder);
    if ((status.st_mode & 077) != 0 && chmod(folder, 0700) != 0)
        return err_set(err, ERR_DENIED, "%s is open to others and cannot be closed: %s", folder,
                       strerror(errno));
    return true;
}

static bool
write_whole(int fd, struct bytes content)
{
    for (size_t at = 0; at < content.len;) {
        ssize_t len = write(fd, content.data + at, content.len - at);
        if (len < 0 && errno == EINTR)
            continue;
        if (len <= 0)
            return false;
        at += (size_t)len;
    }
    return true;
}

bool
private_file_write(const char *folder, const char *name, struct bytes content, struct err *err)
{
    return private_file_write_parts(folder, name, &content, 1, err);
}

bool
private_file_write_parts(const char *folder, const char *name, const struct bytes *parts, size_t count,
                         struct err *err)
{
    char path[PATH_ROOM], fresh[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (snprintf(fresh, sizeof fresh, "%s/%s.new.%ld", folder, name, (long)getpid()) >= (int)sizeof fresh)
        return err_set(err, ERR_DENIED, "the name of %s is too long", path);
    (void)unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = write_whole(fd, parts[i]);
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        reason = errno;
        ok = false;
    }
    if (ok && rename(fresh, path) == 0)
        return true;
    err_set(err, ERR_DENIED, "%s cannot be written: %s", path, strerror(ok ? errno : reason));
    if (fd >= 0)
        (void)unlink(fresh);
    return false;
}

static bool
read_whole(int fd, size_t most, struct strbuf *out, const char *path, struct err *err)
{
    char piece[PIECE];
    size_t before = out->len;
    ssize_t len;
    while ((len = read(fd, piece, sizeof piece)) != 0) {
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return err_set(err, ERR_DENIED, "%s cannot be read: %s", path, strerror(errno));
        if (out->len - before + (size_t)len > most)
            return err_set(err, ERR_DATA, "%s is longer than %zu bytes", path, most);
        strbuf_add(out, (struct bytes){piece, (size_t)len});
    }
    return true;
}

bool
private_file_read(const char *folder, const char *name, size_t most, struct strbuf *out, struct err *err)
{
    char path[PATH_ROOM];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_DENIED, "%s cannot be read: %s", path,
                       strerror(errno));
    bool ok = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!ok)
        err_set(err, ERR_DENIED, "%s is not a file", path);
    ok = ok && read_whole(fd, most, out, path, err);
    (void)close(fd);
    return ok;
}

void
private_file_remove(const char *folder, const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)unlink(path);
}

size_t
private_files_age(const char *folder, const char *suffix, int64_t before)
{
    size_t count = 0;
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        struct stat status;
        if (!bytes_ends(bytes_of(entry->d_name), suffix) ||
            fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode) || (int64_t)status.st_mtime * US_PER_SECOND >= before)
            continue;
        if (unlinkat(dirfd(stream), entry->d_name, 0) == 0)
            count++;
    }
    if (stream)
        (void)closedir(stream);
    return count;
}
