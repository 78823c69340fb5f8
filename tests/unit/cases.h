// cases: files of cases in tests/cases, one a line as "text => expected"; lines that begin with # say what
// they are about.
#ifndef REDRIVE_TESTS_CASES_H
#define REDRIVE_TESTS_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

// Calls check(text, expected) for each case of a file; tells every one that fails.
static void
each_case(const char *path, bool (*check)(char *text, const char *expected))
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read; run from the top of the repository", path);
    char line[512];
    int count = 0;
    int failures = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *arrow = strstr(line, "=> ");
        if (line[0] == '#' || !arrow)
            continue;
        char *end = arrow;
        while (end > line && end[-1] == ' ')
            end--;
        *end = '\0';
        failures += !check(line, arrow + 3);
        count++;
    }
    fclose(file);
    assert_int_equal(failures, 0);
    assert_true(count > 10);
}

#endif
