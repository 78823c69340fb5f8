#include "process/question.h"

#include "base/base64.h"
#include "core/json/json.h"
#include "core/json/value.h"

static struct value *
headers_of(const struct question *question)
{
    struct value *list = value_array();
    for (size_t i = 0; i < question->header_count; i++) {
        struct value *header = value_object();
        value_add_bytes(header, "name", question->headers[i].name);
        value_add_payload(header, "value", question->headers[i].value);
        value_add(list, NULL, header);
    }
    return list;
}

static void
add_base64(struct value *line, struct bytes payload)
{
    struct strbuf coded = {0};
    base64_add(&coded, payload);
    value_add_bytes(line, "payload_base64", strbuf_bytes(&coded));
    strbuf_release(&coded);
}

// A value that a library has read would no longer be the payload, so its tokens are put behind the other
// members as they are.
static void
add_tokens(struct strbuf *out, struct bytes payload)
{
    strbuf_splice(out, out->len - 1, 1, BYTES(",\"payload\":"));
    (void)json_minify(payload, out);
    strbuf_add_char(out, '}');
}

void
question_write(const struct question *question, struct strbuf *out)
{
    bool is_json = bytes_present(question->payload) && json_check(question->payload, NULL);
    struct value *line = value_object();
    value_add_int(line, "id", question->id);
    value_add_bytes(line, "type", question->type);
    value_add_bytes(line, "topic", question->topic);
    value_add_payload(line, "key", question->key);
    value_add(line, "headers", headers_of(question));
    if (bytes_present(question->payload) && !is_json)
        add_base64(line, question->payload);
    value_dump(line, out);
    value_destroy(line);
    if (is_json)
        add_tokens(out, question->payload);
    strbuf_add_char(out, '\n');
}
