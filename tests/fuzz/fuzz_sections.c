// Any bytes as the key, headers or target of a record: refused with a sentence, or taken and printed so that
// they come back the same.
#include <stdint.h>
#include <stdlib.h>
#include "core/event.h"
#include "ui/views/editor/sections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
come_back(enum section section, const struct correction *taken)
{
    struct event_detail detail = {.would_send.partition = -1};
    struct strbuf text = {0};
    struct arena arena = {0};
    struct correction again = {0};
    detail.event.known.correction = *taken;
    detail.would_send.topic = taken->has_topic ? arena_text(&arena, taken->topic) : "t";
    if (taken->has_partition)
        detail.would_send.partition = taken->partition;
    section_print(section, &detail, &text);
    if (!section_parse(section, strbuf_bytes(&text), &arena, &again, NULL) ||
        !correction_equals(taken, &again))
        abort();
    strbuf_release(&text);
    arena_release(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena arena = {0};
    struct correction correction = {0};
    struct err err = {0};
    enum section section = (enum section)(SECTION_KEY + data[0] % (SECTION_COUNT - SECTION_KEY));
    struct bytes text = {(const char *)data + 1, size - 1};
    if (section_parse(section, text, &arena, &correction, &err))
        come_back(section, &correction);
    else if (!err_is_set(&err))
        abort();
    arena_release(&arena);
    return 0;
}
