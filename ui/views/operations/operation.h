// operation: what the views of operations and of the audit are opened with. Arguments are copied.
// view_operation.open takes a const int64_t *, the number of the operation: the app opens it as well.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_OPERATION_H
#define REDRIVE_UI_VIEWS_OPERATIONS_OPERATION_H

#include <stdint.h>

// argument of view_operations.open: NULL for all, else only those about this (a group's key, a regular
// expression over the rows otherwise): who did what to it.
struct operations_argument {
    const char *about; // copied
};

// argument of view_audit.open: NULL for all, else the rows of one operation.
struct audit_argument {
    int64_t operation;
};

#endif
