// uuid: random identifiers (RFC 9562, version 4), for keys that make asking twice harmless.
#ifndef REDRIVE_BASE_UUID_H
#define REDRIVE_BASE_UUID_H

#define UUID_SIZE 37

// 36 lower-case characters and a NUL. Stops the program when the system has no randomness.
void uuid_make(char out[UUID_SIZE]);

#endif
