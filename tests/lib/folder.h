// folder: a folder that a test made for itself, and its end.
#ifndef REDRIVE_TESTS_LIB_FOLDER_H
#define REDRIVE_TESTS_LIB_FOLDER_H

void folder_remove(const char *path); // with all that is in it

#endif
