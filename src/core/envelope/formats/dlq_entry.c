// A JSON entry that holds the message: mensagem with id, payload, headers and timestamp; motivoFalha,
// tentativasRealizadas, dataEnvioDLQ and stackTraces, one a try. All traces are kept, the newest first.
#include "base/strbuf.h"
#include "core/envelope/format.h"
#include "core/json/json.h"

static const struct envelope_member_row members[] = {
    {"mensagem.id", FACT_EVENT_ID, AS_TEXT},
    {"mensagem.timestamp", FACT_TIMESTAMP, AS_TIME},
    {"motivoFalha", FACT_ERROR_MESSAGE, AS_TEXT},
    {"tentativasRealizadas", FACT_ATTEMPTS, AS_DECIMAL},
    {"dataEnvioDLQ", FACT_FAILED_AT, AS_TIME},
    {"stackTraces", FACT_NONE, AS_TEXT},
    {0},
};
static const char *const shape[] = {"mensagem", "motivoFalha", "mensagem.payload", NULL};
static const struct envelope_step steps[] = {{CHANGE_UNWRAP, "$.mensagem.payload", NULL}, {0}};

// What the last try says is what the event is grouped by: it comes first.
static void
decode_entry(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    struct members entry;
    struct json_children children;
    struct json_token trace;
    struct strbuf all = {0};
    members_read(record->value, arena, &entry);
    struct bytes traces = members_find(&entry, BYTES("stackTraces"));
    if (!json_children(&children, traces) || children.is_object)
        return;
    while (json_child(&children, NULL, &trace)) {
        struct bytes text = member_text(bytes_slice(traces, trace.from, trace.len), arena);
        if (all.len > 0 && text.len > 0)
            strbuf_splice(&all, 0, 0, BYTES("\n\n"));
        strbuf_splice(&all, 0, 0, text);
    }
    if (all.len > 0)
        envelope_say(envelope, FACT_STACK, arena_copy(arena, strbuf_bytes(&all)));
    strbuf_release(&all);
}

const struct envelope_format envelope_dlq_entry = {
    .name = "dlq-entry",
    .title = "a JSON entry with mensagem and motivoFalha",
    .members = members,
    .shape = shape,
    .steps = steps,
    .headers_at = "mensagem.headers",
    .metadata_at = "mensagem.headers",
    .decode = decode_entry,
};
