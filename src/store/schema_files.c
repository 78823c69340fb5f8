#include "store/schema_files.h"

#include <stddef.h>

// The assembler reads the files, with paths from the root of the repository; gcc and clang agree on this
// form. The NUL is for people with a debugger only.
#define SQL_FILE(symbol, path)                                                                               \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" path "\"\n" #symbol                             \
            "_end:\n.byte 0\n.popsection\n");                                                                \
    extern const char symbol[] __attribute__((visibility("hidden")));                                        \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

SQL_FILE(redrive_sql_001, "src/store/sql/001_schema.sql");
SQL_FILE(redrive_sql_002, "src/store/sql/002_operations.sql");
SQL_FILE(redrive_sql_003, "src/store/sql/003_ledger.sql");

static const struct {
    const char *name;
    const char *begin, *end;
} files[] = {
    {"001_schema.sql", redrive_sql_001, redrive_sql_001_end},
    {"002_operations.sql", redrive_sql_002, redrive_sql_002_end},
    {"003_ledger.sql", redrive_sql_003, redrive_sql_003_end},
};

struct bytes
schema_file(int part, const char **name)
{
    if (part < 1 || (size_t)part > sizeof files / sizeof files[0])
        return BYTES_ABSENT;
    *name = files[part - 1].name;
    return (struct bytes){files[part - 1].begin, (size_t)(files[part - 1].end - files[part - 1].begin)};
}
