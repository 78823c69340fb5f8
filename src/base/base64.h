// base64: RFC 4648 with the standard alphabet.
#ifndef REDRIVE_BASE_BASE64_H
#define REDRIVE_BASE_BASE64_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/strbuf.h"

void base64_add(struct strbuf *out, struct bytes b); // appends with padding
// Appends what the text stands for, with or without its padding. false: it is no base64; out is untouched.
bool base64_decode(struct strbuf *out, struct bytes text);

#endif
