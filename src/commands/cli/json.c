#include "commands/cli/json.h"

#include "commands/cli/output.h"
#include "core/event.h"

void
json_group(struct value *object, const char *name, uint64_t key)
{
    char text[GROUP_TEXT];
    value_add_text(object, name, group_text(key, text));
}

bool
json_print(struct value *object, struct err *err)
{
    struct strbuf line = {0};
    value_dump(object, &line);
    strbuf_add_char(&line, '\n');
    value_destroy(object);
    bool ok = output_bytes(strbuf_bytes(&line), err);
    strbuf_release(&line);
    return ok;
}
