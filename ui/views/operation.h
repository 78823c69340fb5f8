// operation: argument of view_operation.open: const struct operation_argument *.
#ifndef REDRIVE_UI_VIEWS_OPERATION_H
#define REDRIVE_UI_VIEWS_OPERATION_H

#include <stdint.h>

struct operation_argument {
    int64_t no;
};

// argument of view_audit.open: NULL for all, else the rows of one operation.
struct audit_argument {
    int64_t operation;
};

#endif
