#include "ui/canvas/roles.h"

static const struct {
    const char *name;
    const char *help;
} rows[ROLE_COUNT] = {
#define ROLE(id, name, help) [ROLE_##id] = {name, help},
#include "ui/canvas/roles.def"
#undef ROLE
};

const char *
role_name(enum role role)
{
    return rows[role].name;
}

const char *
role_help(enum role role)
{
    return rows[role].help;
}
