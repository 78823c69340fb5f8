#include "settings/folders.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "settings/settings.h"

static const char *
home_folder(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/')
        return home;
    const struct passwd *entry = getpwuid(geteuid());
    return entry == NULL ? "/" : entry->pw_dir;
}

const char *
folder_of_user(struct arena *arena, const char *variable, const char *otherwise)
{
    const char *base = getenv(variable);
    if (base != NULL && base[0] == '/') // the XDG specification: relative paths are to be ignored
        return arena_printf(arena, "%s/redrive", base);
    return arena_printf(arena, "%s/%s/redrive", home_folder(), otherwise);
}

// Parents are made with the usual mode; only the folder itself is private.
static bool
make_parents(const char *path, struct err *err)
{
    char *copy = alloc_text(path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0755) != 0 && errno != EEXIST) {
            err_set(err, ERR_USAGE, "the state folder %s cannot be made: %s: %s; set XDG_STATE_HOME", path,
                    copy, strerror(errno));
            free(copy);
            return false;
        }
        *slash = '/';
    }
    free(copy);
    return true;
}

bool
settings_make_state_home(const struct settings *settings, struct err *err)
{
    const char *path = settings->state_home;
    if (mkdir(path, 0700) != 0 && errno == ENOENT) {
        if (!make_parents(path, err))
            return false;
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return err_set(err, ERR_USAGE, "the state folder %s cannot be made: %s; set XDG_STATE_HOME", path,
                           strerror(errno));
    }
    struct stat status;
    if (lstat(path, &status) != 0)
        return err_set(err, ERR_USAGE, "the state folder %s cannot be used: %s; set XDG_STATE_HOME", path,
                       strerror(errno));
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid())
        return err_set(err, ERR_USAGE, "the state folder %s is not a folder of your own; set XDG_STATE_HOME",
                       path);
    if ((status.st_mode & 077) != 0 && chmod(path, 0700) != 0)
        return err_set(err, ERR_USAGE, "the state folder %s is open to others and cannot be closed: %s", path,
                       strerror(errno));
    return true;
}
