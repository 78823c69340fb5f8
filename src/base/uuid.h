// uuid: random identifiers (RFC 9562, version 4), for keys by which a repeated request takes effect once.
#ifndef REDRIVE_BASE_UUID_H
#define REDRIVE_BASE_UUID_H

#define UUID_SIZE 37 // as text: 36 characters and a NUL

// In lower case. Stops the program when the system has no randomness.
void uuid_make(char out[UUID_SIZE]);

#endif
