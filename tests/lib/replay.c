// The main of a fuzz target in normal test runs: every file of its corpus once, and a few inputs that every
// target must stand.
//
// Arguments are files and folders; a folder that is not there is no error, since a target may have found
// nothing yet.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count;

// A finding ends the process by its sanitizer, before the line is printed.
static void
replay(const char *name, const uint8_t *data, size_t size)
{
    // A copy of exactly this size, so that reading past the end is seen.
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    printf("ok %d - %s\n", ++count, name);
    fflush(stdout);
}

static void
replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    if (!file || fstat(fileno(file), &st) != 0) {
        fprintf(stderr, "# cannot read %s\n", path);
        exit(1);
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size + 1);
    if (!data || fread(data, 1, size, file) != size) {
        fprintf(stderr, "# cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    replay(path, data, size);
    free(data);
}

static void
replay_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return;
    if (!S_ISDIR(st.st_mode)) {
        replay_file(path);
        return;
    }
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char below[4096];
        int len = snprintf(below, sizeof below, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && len > 0 && (size_t)len < sizeof below)
            replay_path(below);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

int
main(int argc, char **argv)
{
    replay("nothing", (const uint8_t *)"", 0);
    replay("a NUL", (const uint8_t *)"", 1);
    replay("bytes that are no UTF-8", (const uint8_t *)"\xff\xfe\xc0\x80\xf4\x90\x80\x80", 8);
    replay("an escape sequence", (const uint8_t *)"\x1b]0;a\x07\x1b[31m\x9b", 11);
    static uint8_t deep[65536];
    memset(deep, '[', sizeof deep);
    replay("64 kB of [", deep, sizeof deep);
    memset(deep, 'a', sizeof deep);
    replay("64 kB of a", deep, sizeof deep);
    for (int i = 1; i < argc; i++)
        replay_path(argv[i]);
    printf("1..%d\n", count);
    return 0;
}
