#include "tests/terminal/filled_db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/terminal/vt.h"

const char *
filled_db_make(struct testdb *db, void (*fill)(void))
{
    const char *program = getenv("REDRIVE");
    if (!program || !testdb_create(db)) {
        print_message("# skip: REDRIVE (the program) or REDRIVE_TEST_PG is not set\n");
        return NULL;
    }
    fill();
    const char *argv[] = {program, "migrate", "-d", db->conninfo, NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.argv = argv});
    assert_int_equal(vt_result(vt, 20000), 0);
    vt_end(vt);
    return program;
}
