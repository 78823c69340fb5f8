#include "base/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"

enum { NAME_MOST = 40, PATH_ROOM = 1024 };

bool
notes_is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return name.len > 0 && name.len <= NAME_MOST;
}

// Where the name stands, or would be put.
static size_t
notes_position(const struct notes *notes, struct bytes name)
{
    size_t at = 0;
    while (at < notes->count && bytes_compare(bytes_of(notes->notes[at].name), name) < 0)
        at++;
    return at;
}

static bool
is_at(const struct notes *notes, size_t at, struct bytes name)
{
    return at < notes->count && bytes_equal_text(name, notes->notes[at].name);
}

const char *
notes_find(const struct notes *notes, struct bytes name)
{
    size_t at = notes_position(notes, name);
    return is_at(notes, at, name) ? notes->notes[at].text : NULL;
}

static void
remove_at(struct notes *notes, size_t at)
{
    free(notes->notes[at].name);
    free(notes->notes[at].text);
    memmove(notes->notes + at, notes->notes + at + 1, (--notes->count - at) * sizeof *notes->notes);
}

static void
notes_put(struct notes *notes, const char *name, const char *text)
{
    size_t at = notes_position(notes, bytes_of(name));
    if (is_at(notes, at, bytes_of(name)))
        remove_at(notes, at);
    notes->notes = alloc_grow(notes->notes, notes->count, &notes->capacity, sizeof *notes->notes);
    memmove(notes->notes + at + 1, notes->notes + at, (notes->count++ - at) * sizeof *notes->notes);
    notes->notes[at] = (struct note){.name = alloc_text(name), .text = alloc_text(text)};
}

void
notes_release(struct notes *notes)
{
    while (notes->count)
        remove_at(notes, notes->count - 1);
    free(notes->notes);
    *notes = (struct notes){0};
}

// Lines that a person wrote into the file are left out.
static void
read_lines(struct notes *notes, FILE *stream)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, stream)) > 0) {
        if (line[len - 1] == '\n')
            line[--len] = '\0';
        char *blank = strchr(line, ' ');
        if (!blank)
            continue;
        *blank = '\0';
        if (notes_is_name(bytes_of(line)))
            notes_put(notes, line, blank + 1);
    }
    free(line);
}

bool
notes_load(struct notes *notes, const char *folder, const char *file, struct err *err)
{
    char path[PATH_ROOM];
    notes_release(notes);
    if (!folder)
        return true;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "re");
    if (!stream && errno == ENOENT)
        return true;
    if (!stream)
        return err_set(err, ERR_DENIED, "%s cannot be read: %s", path, strerror(errno));
    read_lines(notes, stream);
    (void)fclose(stream);
    return true;
}

static bool
write_all(const struct notes *notes, const char *folder, const char *file, struct err *err)
{
    char path[PATH_ROOM];
    char fresh[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(fresh, sizeof fresh, "%s/%s.new.%ld", folder, file, (long)getpid());
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    bool ok = stream != NULL;
    for (size_t i = 0; ok && i < notes->count; i++)
        ok = fprintf(stream, "%s %s\n", notes->notes[i].name, notes->notes[i].text) > 0;
    if (stream)
        ok = fclose(stream) == 0 && ok;
    else if (fd >= 0)
        (void)close(fd);
    if (ok && rename(fresh, path) == 0)
        return true;
    err_set(err, ERR_DENIED, "%s cannot be written: %s", path, strerror(errno));
    (void)unlink(fresh);
    return false;
}

bool
notes_set(struct notes *notes, const char *folder, const char *file, const char *name, const char *text,
          struct err *err)
{
    struct bytes bytes = bytes_of(name);
    if (!notes_is_name(bytes))
        return err_set(err, ERR_USAGE, "a name has 1 to %d small letters, digits, - and _, not \"%s\"",
                       NAME_MOST, name);
    if (text && strpbrk(text, "\r\n"))
        return err_set(err, ERR_USAGE, "what is saved under a name is one line");
    if (!folder)
        return err_set(err, ERR_DENIED, "there is no state folder to save in");
    if (!notes_load(notes, folder, file, err))
        return false;
    if (!text && !notes_find(notes, bytes))
        return err_set(err, ERR_NOT_FOUND, "nothing is saved as %s", name);
    if (text)
        notes_put(notes, name, text);
    else
        remove_at(notes, notes_position(notes, bytes));
    return write_all(notes, folder, file, err);
}
