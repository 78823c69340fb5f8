#include "core/recipe/envelope.h"

#include "core/json/json.h"

// Members of the payload; of a name that occurs twice, the last.
enum member { ID, QUEUE, DATA, FAILURE, RETRIES, METADATA, TOPIC, VALUE, MEMBERS };

static void
read_envelope(struct bytes payload, struct bytes values[MEMBERS])
{
    static const char *const names[MEMBERS] = {"\"message_id\"",    "\"queue\"",        "\"data\"",
                                               "\"error\"",         "\"retry_count\"",  "\"dlq_metadata\"",
                                               "\"originalTopic\"", "\"originalValue\""};
    struct json_children children;
    struct json_token name, value;
    if (!json_children(&children, payload) || !children.is_object)
        return;
    while (json_child(&children, &name, &value))
        for (int i = 0; i < MEMBERS; i++)
            if (bytes_equal_text(bytes_slice(payload, name.from, name.len), names[i]))
                values[i] = bytes_slice(payload, value.from, value.len);
}

bool
envelope_recipe(struct bytes payload, struct strbuf *recipe)
{
    struct bytes values[MEMBERS] = {{0}};
    size_t len = recipe->len;
    if (!bytes_present(payload) || !json_check(payload, NULL))
        return false;
    read_envelope(bytes_trim(payload), values);
    if (bytes_present(values[TOPIC]) && bytes_starts(values[VALUE], "\"")) {
        strbuf_add_text(recipe, "unwrap $.originalValue\n");
        return true;
    }
    bool is_message = true;
    for (int i = ID; i <= RETRIES; i++)
        is_message = is_message && bytes_present(values[i]);
    if (is_message && !bytes_equal_text(values[FAILURE], "null"))
        strbuf_add_text(recipe, "set $.error null\n");
    if (is_message && !bytes_equal_text(values[RETRIES], "0"))
        strbuf_add_text(recipe, "set $.retry_count 0\n");
    if (bytes_present(values[METADATA]))
        strbuf_add_text(recipe, "remove $.dlq_metadata\n");
    return recipe->len > len;
}
