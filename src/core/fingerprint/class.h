// class: where a text begins with the class of an exception, and what runtimes print before it.
#ifndef REDRIVE_CORE_FINGERPRINT_CLASS_H
#define REDRIVE_CORE_FINGERPRINT_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

#define CLASS_NAME_MAX 200 // longer names are none

// The length of the class name that `text` begins with, by its form and what stands behind it; 0 where none
// does.
size_t class_length(struct bytes text);

// Does `text` begin with a class and its colon? *text_from is where the rest begins.
bool class_begins(struct bytes text, size_t *length, size_t *text_from);

// Without "Exception in thread …", "panic: " and the like.
struct bytes class_skip_preface(struct bytes text);

// app/order.rb:12:in …: Ruby's newest frame stands before the text.
bool class_is_ruby_place(struct bytes text);

#endif
