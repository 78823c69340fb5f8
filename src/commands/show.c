// show: one event with all it has, its original payload, or exactly what would be sent for it.
#include <inttypes.h>
#include <stdio.h>
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/one_event.h"
#include "commands/revisions.h"
#include "core/event_json.h"

// --- as JSON ---

static struct value *
attempt_json(const struct event *event, int64_t zone_us)
{
    struct value *attempt = value_object();
    bool is_retried = event->retries.last_at != TIME_ABSENT && event->retries.last_at >= event->created_at &&
                      event->status == EVENT_PENDING;
    value_add_int(attempt, "event", event->id);
    value_add_int(attempt, "attempt", event->retries.count);
    value_add_time(attempt, "at", is_retried ? event->retries.last_at : event->created_at, zone_us);
    value_add_bytes(attempt, "error_class", event->error_class);
    value_add_bytes(attempt, "error_message", event->error_message);
    value_add_bytes(attempt, "stack_trace", event->stack_trace);
    return attempt;
}

static struct value *
letter_attempt_json(const struct letter_attempt *letter, int64_t zone_us)
{
    struct value *attempt = value_object();
    value_add_text(attempt, "dlq_topic", letter->topic);
    value_add_int(attempt, "partition", letter->partition);
    value_add_int(attempt, "offset", letter->offset);
    value_add_time(attempt, "at", letter->at, zone_us);
    value_add_text(attempt, "format", letter->format);
    value_add_text(attempt, "consumer", letter->consumer);
    value_add_bytes(attempt, "error_message", letter->error_message);
    value_add_bytes(attempt, "stack_trace", letter->stack_trace);
    return attempt;
}

static struct value *
attempts_json(const struct one_event *one)
{
    struct value *list = value_array();
    for (size_t i = 0; i < one->letter_count; i++)
        value_add(list, NULL, letter_attempt_json(&one->letters[i], one->zone_us));
    for (size_t i = 0; i < one->attempt_count; i++)
        value_add(list, NULL, attempt_json(&one->attempts[i], one->zone_us));
    if (one->attempt_count == 0)
        value_add(list, NULL, attempt_json(&one->event, one->zone_us));
    return list;
}

static struct value *
revisions_json(const struct one_event *one)
{
    struct value *list = value_array();
    for (size_t i = 0; i < one->revision_count; i++)
        value_add(list, NULL, revision_json(&one->revisions[i], one->event.payload_size, one->zone_us));
    return list;
}

static struct value *
decisions_json(const struct one_event *one)
{
    struct value *list = value_array();
    for (size_t i = 0; i < one->decision_count; i++) {
        const struct decision *decision = &one->decisions[i];
        struct value *row = value_object();
        value_add_int(row, "operation", decision->operation);
        value_add_text(row, "action", action_name(decision->action));
        value_add_text(row, "state", item_state_name(decision->state));
        value_add_text(row, "who", decision->who);
        value_add_text(row, "reason", decision->reason);
        value_add_text(row, "detail", decision->detail);
        value_add_time(row, "at", decision->at, one->zone_us);
        value_add(list, NULL, row);
    }
    return list;
}

static struct value *
would_send_json(const struct plan *plan)
{
    struct value *object = value_object(), *dropped = value_array();
    for (uint32_t i = 0; i < plan->dropped_count; i++)
        value_add_bytes(dropped, NULL, plan->dropped[i].name);
    value_add_text(object, "topic", plan->topic);
    value_add_int_or_null(object, "partition", plan->partition >= 0, plan->partition);
    value_add_payload(object, "key", plan->key);
    value_add(object, "headers", event_headers_json(plan->headers, plan->header_count));
    value_add_int(object, "headers_kept", plan->kept_count);
    value_add(object, "headers_dropped", dropped);
    value_add_text(object, "topic_why", plan->topic_why);
    value_add_text(object, "format", plan->format);
    value_add_text(object, "undone", plan->undone);
    value_add_text(object, "unsure", plan->unsure);
    value_add_bool(object, "exact", plan->is_exact);
    value_add_text(object, "why", plan->refusal ? plan->refusal : plan->why);
    value_add_bool(object, "refused", plan->refusal != NULL);
    return object;
}

static struct value *
decoded_json(const struct decoded *decoded)
{
    struct value *object = value_object();
    value_add_text(object, "schema", decoded->schema);
    value_add_text(object, "language", decoded->language);
    value_add_text(object, "origin", decoded->origin);
    value_add_bytes(object, "json", decoded->json);
    value_add_text(object, "why", decoded->why);
    return object;
}

static void
columns_json(struct value *object, const struct one_event *one)
{
    const struct event *event = &one->event;
    value_add_int(object, "id", event->id);
    value_add_bytes(object, "event_id", event->event_id);
    value_add_bytes(object, "event_type", event->event_type);
    value_add_bytes(object, "source_table", event->source_table);
    value_add_bytes(object, "source_id", event->source_id);
    value_add_bytes(object, "error_message", event->error_message);
    value_add_bytes(object, "stack_trace", event->stack_trace);
    value_add_int(object, "retry_count", event->retries.count);
    value_add_int(object, "max_retries", event->retries.max);
    value_add_bytes(object, "status", event->status_text);
    value_add_time(object, "created_at", event->created_at, one->zone_us);
    value_add_time(object, "last_retry_at", event->retries.last_at, one->zone_us);
    value_add_time(object, "resolved_at", event->closed.at, one->zone_us);
    value_add_bytes(object, "resolved_by", event->closed.by);
    value_add_int_or_null(object, "kafka_offset", event->origin.has_offset, event->origin.offset);
    value_add_int_or_null(object, "kafka_partition", event->origin.has_partition, event->origin.partition);
    value_add_bytes(object, "kafka_topic", event->topic);
    value_add_bytes(object, "correlation_id", event->correlation_id);
}

// The operation that sent it before it failed again, and the event that it was then.
static struct value *
returned_from_json(const struct event_known *known)
{
    struct value *object = value_object();
    value_add_int(object, "operation", known->returned_from);
    value_add_int(object, "event", known->returned_id);
    return object;
}

static bool
command_show_print_json(struct one_event *one, struct err *err)
{
    const struct event *event = &one->event;
    struct value *object = value_object();
    columns_json(object, one);
    value_add_payload(object, "payload", event->payload);
    if (event->known.unreadable)
        value_add_text(object, "unreadable", event->known.unreadable);
    if (event->known.unreadable_error)
        value_add_text(object, "unreadable_error_message", event->known.unreadable_error);
    if (event->known.unreadable_stack)
        value_add_text(object, "unreadable_stack_trace", event->known.unreadable_stack);
    json_group(object, "group", event->group);
    value_add_text(object, "category", category_name(event->category));
    value_add_bytes(object, "error_class", event->error_class);
    value_add_payload(object, "key", event->record.key);
    value_add_bool(object, "edited", event->known.revisions > 0);
    value_add_int(object, "returned", event->known.returned);
    if (event->known.returned_from)
        value_add(object, "returned_from", returned_from_json(&event->known));
    else
        value_add_text(object, "returned_from", NULL);
    value_add(object, "attempts", attempts_json(one));
    value_add(object, "headers", event_headers_json(event->record.headers, event->record.header_count));
    if (event->record.original.state != EVENT_ORIGINAL_INSIDE)
        value_add(object, "original", event_original_json(&event->record.original, one->zone_us));
    else
        value_add_null(object, "original");
    value_add(object, "revisions", revisions_json(one));
    value_add(object, "decisions", decisions_json(one));
    if (one->has_letter)
        value_add(object, "dead_letter", letter_json(&one->letter, &one->arena));
    else
        value_add_null(object, "dead_letter");
    if (one->decoded.schema)
        value_add(object, "decoded", decoded_json(&one->decoded));
    else
        value_add_null(object, "decoded");
    value_add(object, "would_send", would_send_json(&one->plan));
    return json_print(object, err);
}

// --- for people ---

static void
field(struct strbuf *out, const char *name, struct bytes value)
{
    if (!bytes_present(value))
        return;
    strbuf_printf(out, "%-14s", name);
    text_visible(out, value, false);
    strbuf_add_char(out, '\n');
}

static void
field_time(struct strbuf *out, const char *name, int64_t instant, int64_t zone_us)
{
    char text[TIME_TEXT];
    if (instant != TIME_ABSENT)
        field(out, name, bytes_of(time_rfc3339(instant, zone_us, text)));
}

static void
section(struct strbuf *out, const char *name, struct bytes text)
{
    if (!bytes_present(text))
        return;
    strbuf_printf(out, "\n%s\n", name);
    text_visible(out, text, true);
    if (!bytes_ends(text, "\n"))
        strbuf_add_char(out, '\n');
}

static void
add_returned(struct strbuf *out, const struct event *event)
{
    const struct event_known *known = &event->known;
    if (known->returned == 0)
        return;
    strbuf_printf(out, "%-14s%" PRId32 " time%s", "returned", known->returned,
                  known->returned == 1 ? "" : "s");
    if (known->returned_from)
        strbuf_printf(out, ", from operation %" PRId64, known->returned_from);
    if (known->returned_from && known->returned_id != event->id)
        strbuf_printf(out, ", which sent it as event %" PRId64, known->returned_id);
    strbuf_printf(out, "%s\n", known->is_quarantined ? "; in quarantine: left out of a bulk reprocess" : "");
}

static void
add_facts(struct strbuf *out, const struct one_event *one)
{
    const struct event *event = &one->event;
    char group[GROUP_TEXT];
    strbuf_printf(out, "event %" PRId64 "\n", event->id);
    field(out, "event id", event->event_id);
    field(out, "type", event->event_type);
    field(out, "status", event->status_text);
    field(out, "group", bytes_of(group_text(event->group, group)));
    field(out, "category", bytes_of(category_name(event->category)));
    field(out, "source", event->source_table);
    field(out, "source id", event->source_id);
    field(out, "correlation", event->correlation_id);
    strbuf_printf(out, "%-14s%" PRId32 " of %" PRId32 "\n", "retries", event->retries.count,
                  event->retries.max);
    add_returned(out, event);
    field(out, "topic", event->topic);
    if (event->origin.has_partition)
        strbuf_printf(out, "%-14s%" PRId32 "\n", "partition", event->origin.partition);
    if (event->origin.has_offset)
        strbuf_printf(out, "%-14s%" PRId64 "\n", "offset", event->origin.offset);
    field(out, "key", event->record.key);
    field_time(out, "created", event->created_at, one->zone_us);
    field_time(out, "last retry", event->retries.last_at, one->zone_us);
    field_time(out, "resolved", event->closed.at, one->zone_us);
    field(out, "resolved by", event->closed.by);
}

static void
add_headers(struct strbuf *out, const char *indent, const struct event_header *headers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        strbuf_add_text(out, indent);
        text_visible(out, headers[i].name, false);
        strbuf_add_text(out, ": ");
        if (bytes_present(headers[i].value))
            text_visible(out, headers[i].value, false);
        else
            strbuf_add_text(out, "(null)");
        strbuf_add_char(out, '\n');
    }
}

static void
add_decisions(struct strbuf *out, const struct one_event *one)
{
    char at[TIME_TEXT];
    for (size_t i = 0; i < one->decision_count; i++) {
        const struct decision *decision = &one->decisions[i];
        if (i == 0)
            strbuf_add_text(out, "\ndecisions\n");
        strbuf_printf(out, "  %s  operation %" PRId64 ": %s %s by ",
                      decision->at == TIME_ABSENT ? "-" : time_rfc3339(decision->at, one->zone_us, at),
                      decision->operation, action_name(decision->action), item_state_name(decision->state));
        text_visible(out, bytes_of(decision->who ? decision->who : "?"), false);
        const char *words[] = {decision->reason, decision->detail};
        for (size_t w = 0; w < 2; w++)
            if (words[w] != NULL) {
                strbuf_add_text(out, "; ");
                text_visible(out, bytes_of(words[w]), false);
            }
        strbuf_add_char(out, '\n');
    }
}

// Attempts before or after this one; its own error is shown above.
static void
add_attempts(struct strbuf *out, const struct one_event *one)
{
    char at[TIME_TEXT];
    for (size_t i = 0; i < one->attempt_count && one->attempt_count > 1; i++) {
        const struct event *attempt = &one->attempts[i];
        strbuf_printf(
            out, "\nattempt %zu of %zu, event %" PRId64 "%s, %s\n", i + 1, one->attempt_count, attempt->id,
            attempt->id == one->event.id ? " (this one)" : "",
            attempt->created_at == TIME_ABSENT ? "-" : time_rfc3339(attempt->created_at, one->zone_us, at));
        text_visible(out, attempt->error_message, true);
        strbuf_add_char(out, '\n');
        if (bytes_present(attempt->stack_trace))
            text_visible(out, attempt->stack_trace, true);
        if (bytes_present(attempt->stack_trace) && !bytes_ends(attempt->stack_trace, "\n"))
            strbuf_add_char(out, '\n');
    }
}

static void
command_show_add_plan(struct strbuf *out, const struct plan *plan)
{
    strbuf_add_text(out, "\na reprocess would send\n");
    if (plan->refusal != NULL) {
        field(out, "  nothing", bytes_of(plan->refusal));
        return;
    }
    strbuf_printf(out, "%-14s", "  topic");
    text_visible(out, bytes_of(plan->topic), false);
    if (plan->topic_why)
        strbuf_printf(out, ", %s", plan->topic_why);
    strbuf_add_char(out, '\n');
    if (plan->partition >= 0)
        strbuf_printf(out, "%-14s%" PRId32 "\n", "  partition", plan->partition);
    field(out, "  key", bytes_present(plan->key) ? plan->key : BYTES("(none)"));
    if (plan->format)
        field(out, "  dead letter", bytes_of(plan->format));
    strbuf_printf(out, "%-14s%zu bytes, %s: ", "  value", plan->value.len,
                  plan->is_exact ? "exact" : "not byte for byte");
    text_visible(out, bytes_of(plan->why ? plan->why : ""), false);
    strbuf_add_char(out, '\n');
    add_headers(out, "  keeps ", plan->headers, plan->kept_count);
    for (uint32_t i = 0; i < plan->dropped_count; i++) {
        strbuf_add_text(out, "  drops ");
        text_visible(out, plan->dropped[i].name, false);
        strbuf_add_char(out, '\n');
    }
    add_headers(out, "  adds  ", plan->headers + plan->kept_count, plan->header_count - plan->kept_count);
}

// Dead letters of retry topics, and those that were written twice.
static void
add_letters(struct strbuf *out, const struct one_event *one)
{
    char at[TIME_TEXT];
    for (size_t i = 0; i < one->letter_count; i++) {
        const struct letter_attempt *letter = &one->letters[i];
        strbuf_printf(out, "\nattempt of %s, %s/%" PRId32 "/%" PRId64 ", %s\n", letter->format, letter->topic,
                      letter->partition, letter->offset,
                      letter->at == TIME_ABSENT ? "-" : time_rfc3339(letter->at, one->zone_us, at));
        text_visible(out, letter->error_message, true);
        strbuf_add_char(out, '\n');
        if (bytes_present(letter->stack_trace))
            text_visible(out, letter->stack_trace, true);
        if (bytes_present(letter->stack_trace) && !bytes_ends(letter->stack_trace, "\n"))
            strbuf_add_char(out, '\n');
    }
}

static void
add_decoded(struct strbuf *out, const struct decoded *decoded)
{
    if (!decoded->schema)
        return;
    strbuf_add_text(out, "\ndecoded, to look at; a reprocess sends the bytes\n");
    field(out, "  schema", bytes_of(decoded->schema));
    field(out, "  language", bytes_of(decoded->language));
    field(out, "  from", bytes_of(decoded->origin));
    field(out, "  not decoded", bytes_of(decoded->why));
    if (bytes_present(decoded->json)) {
        text_visible(out, decoded->json, true);
        strbuf_add_char(out, '\n');
    }
}

static bool
print_text(struct one_event *one, struct err *err)
{
    const struct event *event = &one->event;
    struct strbuf out = {0};
    add_facts(&out, one);
    section(&out, "error", event_error_text(event));
    section(&out, "stack", event_stack_text(event));
    section(&out, "payload", event->known.unreadable ? bytes_of(event->known.unreadable) : event->payload);
    add_decoded(&out, &one->decoded);
    if (event->record.header_count > 0)
        strbuf_add_text(&out, "\nheaders\n");
    add_headers(&out, "  ", event->record.headers, event->record.header_count);
    if (one->has_letter) {
        strbuf_add_text(&out, "\ndead letter\n");
        letter_facts(&one->letter, &one->arena, &out);
    }
    add_letters(&out, one);
    add_attempts(&out, one);
    add_decisions(&out, one);
    command_show_add_plan(&out, &one->plan);
    bool ok = output_bytes(strbuf_bytes(&out), err);
    strbuf_release(&out);
    return ok;
}

// --- bytes ---

static bool
print_as_sent(struct call *call, const struct one_event *one, struct err *err)
{
    const struct plan *plan = &one->plan;
    if (plan->refusal != NULL)
        return err_set(err, ERR_NOT_FOUND, "event %" PRId64 " cannot be sent: %s", one->event.id,
                       plan->refusal);
    if (one->original.state == ORIGINAL_FAILED)
        return err_set(err, ERR_UNREACHABLE, "cannot tell what would be sent for event %" PRId64 ": %s",
                       one->event.id, one->original.why);
    if (!plan->is_exact)
        remark(call, "not byte for byte what was received: %s", plan->why);
    return bytes_print(call, plan->value, err);
}

static bool
print_event(struct call *call, struct store *store, struct one_event *one, struct err *err)
{
    if (!one_event_plan(call, store, one, err))
        return false;
    if (call->options.command.as_sent)
        return print_as_sent(call, one, err);
    return call->options.general.json ? command_show_print_json(one, err) : print_text(one, err);
}

static bool
command_show_show(struct call *call, struct store *store, int64_t id, struct err *err)
{
    struct one_event one = {0};
    const struct command_options *options = &call->options.command;
    bool ok = one_event_read(store, id, &one, err);
    if (ok && options->diff)
        ok = revision_diff_print(call, store, &one, call->arg_count == 2 ? call->args[1] : NULL, err);
    else if (ok && options->revisions)
        ok = revisions_print(call, store, &one, err);
    else if (ok && (options->revision.is_given || options->raw))
        ok = revision_print(call, store, &one, options->revision.number, err);
    else
        ok = ok && print_event(call, store, &one, err);
    one_event_release(&one);
    return ok;
}

int
command_show(struct call *call, struct err *err)
{
    int64_t id = 0;
    if (call->arg_count != 1 && !(call->arg_count == 2 && call->options.command.diff)) {
        err_set(err, ERR_USAGE, "redrive show needs the id of one event; redrive events lists them");
        return STATUS_USAGE;
    }
    const struct command_options *options = &call->options.command;
    if (options->as_sent && (options->raw || options->revisions || options->revision.is_given)) {
        err_set(err, ERR_USAGE,
                "give --as-sent without --raw, --revisions and --revision: it is what would be sent now");
        return STATUS_USAGE;
    }
    if ((options->diff && (options->as_sent || options->revisions || options->revision.is_given)) ||
        (options->revisions && (options->raw || options->revision.is_given))) {
        err_set(err, ERR_USAGE, "give --revisions, or --revision N or --diff with or without --raw");
        return STATUS_USAGE;
    }
    struct store *store = NULL;
    bool ok = command_event_id(call->args[0], &id, err) && command_store(call, STORE_READ, &store, err) &&
              command_show_show(call, store, id, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
