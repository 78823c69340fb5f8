// Bytes as choices: the text they make, read and edited, against what it was made of.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "tests/lib/json_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chance chance = {.data = data, .len = size, .seed = size};
    struct strbuf why = {0};
    if (!json_model_check(&chance, &why)) {
        fprintf(stderr, "%s\n", strbuf_text(&why));
        abort();
    }
    strbuf_release(&why);
    return 0;
}
