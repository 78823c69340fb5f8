// folders: where the files of one user live (XDG base directory specification).
#ifndef REDRIVE_SETTINGS_FOLDERS_H
#define REDRIVE_SETTINGS_FOLDERS_H

#include "base/arena.h"

// "$<variable>/redrive", or "$HOME/<otherwise>/redrive" where the variable holds no absolute path.
const char *folder_of_user(struct arena *arena, const char *variable, const char *otherwise);

#endif
