// class: the class of an exception at the beginning of a text, and the prefaces that runtimes print before
// it.
#ifndef REDRIVE_CORE_FINGERPRINT_CLASS_H
#define REDRIVE_CORE_FINGERPRINT_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

#define CLASS_NAME_MAX 200 // longer names are not class names

// The length of the class name at the beginning of `text`, judged by its form and the text behind it; 0: no
// class name.
size_t class_length(struct bytes text);

// Does `text` begin with a class and a colon? *text_from is the offset of the rest.
bool class_begins(struct bytes text, size_t *length, size_t *text_from);

// The text without "Exception in thread …", "panic: " and similar prefaces.
struct bytes class_skip_preface(struct bytes text);

// Does `text` begin with Ruby's newest frame, app/order.rb:12:in …?
bool class_is_ruby_place(struct bytes text);

#endif
