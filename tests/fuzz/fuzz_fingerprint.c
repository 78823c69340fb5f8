// Any bytes as message, stack and class: the key must be the same twice, be the explained one, and its parts
// must stay within the record. The input is parted at its first two bytes 0xFE. Seeds:
// tests/cases/fingerprint.
#include <stdint.h>
#include <stdlib.h>

#include "core/category.h"
#include "core/fingerprint/fingerprint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes
take_part(struct bytes *rest)
{
    size_t at = bytes_find(*rest, BYTES("\xFE"), 0);
    struct bytes part = at == SIZE_MAX ? *rest : bytes_slice(*rest, 0, at);
    *rest = at == SIZE_MAX ? BYTES_ABSENT : bytes_slice(*rest, at + 1, rest->len);
    return part;
}

static void
check(bool holds)
{
    if (!holds)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct category_rules *rules;
    if (rules == NULL)
        rules = category_rules_create(NULL, NULL);

    struct bytes rest = {(const char *)data, size};
    struct fingerprint_input input = {.message = take_part(&rest)};
    input.stack = take_part(&rest);
    input.error_class = take_part(&rest);

    struct arena arena = {0};
    uint64_t key = fingerprint_key(&input);
    struct fingerprint print = fingerprint_explain(&input, &arena);
    check(key == fingerprint_key(&input));
    check(key == print.key);
    check(print.root_text.len <= size && print.root_class.len <= size);
    for (uint32_t i = 0; i < print.mask_count; i++)
        check(print.masks[i].text.len <= print.root_text.len && print.masks[i].rule != NULL);
    check(category_of(rules, print.root_class, print.root_text, NULL) < CATEGORY_COUNT);
    arena_release(&arena);
    return 0;
}
