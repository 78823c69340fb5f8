#include "tests/lib/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
folder_remove(const char *path)
{
    char inner[400];
    DIR *stream = opendir(path);
    const struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner) != 0)
            folder_remove(inner);
    }
    if (stream)
        (void)closedir(stream);
    (void)rmdir(path);
}
