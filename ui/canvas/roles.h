// roles: what a cell means. The theme decides what a meaning looks like; views name roles and never colours.
#ifndef REDRIVE_UI_CANVAS_ROLES_H
#define REDRIVE_UI_CANVAS_ROLES_H

enum role {
#define ROLE(id, name, help) ROLE_##id,
#include "ui/canvas/roles.def"
#undef ROLE
    ROLE_COUNT
};

const char *role_name(enum role role); // "text.dim"
const char *role_help(enum role role);

#endif
