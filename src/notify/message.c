#include "notify/message.h"

#include <string.h>
#include "base/base64.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/value.h"

enum { MOST_SUMMARY = 1024, ENCODED_WORD = 45 }; // of PagerDuty; bytes of text in an encoded word of a header

static const char *
state_word(const struct alert_notice *notice)
{
    return notice->is_firing ? "firing" : "resolved";
}

// --- Alertmanager ---

static void
alertmanager_write(const struct alert_destination *destination, const struct alert_notice *notice,
                   struct strbuf *out)
{
    struct value *alerts = value_array(), *alert = value_object(), *labels = value_object(),
                 *annotations = value_object();
    (void)destination;
    value_add_text(labels, "alertname", notice->rule);
    value_add_text(labels, "severity", notice->severity);
    value_add_text(labels, "table", notice->table);
    for (size_t i = 0; i < notice->label_count; i++)
        value_add_text(labels, notice->labels[i].name, notice->labels[i].value);
    value_add_text(annotations, "summary", notice->summary);
    if (notice->description)
        value_add_text(annotations, "description", notice->description);
    if (notice->runbook)
        value_add_text(annotations, "runbook_url", notice->runbook);
    value_add_text(annotations, "condition", notice->condition);
    value_add(alert, "labels", labels);
    value_add(alert, "annotations", annotations);
    int64_t since = notice->since < notice->at ? notice->since : notice->at;
    value_add_time(alert, "startsAt", since, 0);
    if (!notice->is_firing)
        value_add_time(alert, "endsAt", notice->at, 0);
    value_add(alerts, NULL, alert);
    value_dump(alerts, out);
    value_destroy(alerts);
}

// --- Slack ---

// Three characters have a meaning of their own in Slack's texts.
static void
add_slack(struct strbuf *out, const char *text)
{
    struct strbuf visible = {0};
    text_visible(&visible, bytes_of(text), false);
    for (const char *c = strbuf_text(&visible); *c; c++)
        if (*c == '&')
            strbuf_add_text(out, "&amp;");
        else if (*c == '<')
            strbuf_add_text(out, "&lt;");
        else if (*c == '>')
            strbuf_add_text(out, "&gt;");
        else
            strbuf_add_char(out, *c);
    strbuf_release(&visible);
}

static void
slack_write(const struct alert_destination *destination, const struct alert_notice *notice,
            struct strbuf *out)
{
    struct strbuf text = {0};
    struct value *object = value_object();
    (void)destination;
    strbuf_add_text(&text, notice->is_firing ? "*firing* " : "*resolved* ");
    add_slack(&text, notice->severity);
    strbuf_add_text(&text, ": *");
    add_slack(&text, notice->rule);
    strbuf_add_text(&text, "* in ");
    add_slack(&text, notice->table);
    strbuf_add_text(&text, "\n");
    add_slack(&text, notice->summary);
    if (notice->is_firing && notice->description) {
        strbuf_add_text(&text, "\n");
        add_slack(&text, notice->description);
    }
    if (notice->is_firing && notice->runbook) {
        strbuf_add_text(&text, "\n");
        add_slack(&text, notice->runbook);
    }
    value_add_bytes(object, "text", strbuf_bytes(&text));
    value_dump(object, out);
    value_destroy(object);
    strbuf_release(&text);
}

// --- PagerDuty ---

// It takes four words; others are teams' own.
static const char *
pagerduty_severity(const char *severity)
{
    static const char *const known[] = {"critical", "error", "warning", "info"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(severity, known[i]) == 0)
            return severity;
    return strcmp(severity, "page") == 0 ? "critical" : "warning";
}

static struct value *
pagerduty_payload(const struct alert_notice *notice)
{
    struct value *payload = value_object(), *details = value_object();
    struct strbuf summary = {0};
    strbuf_printf(&summary, "%s: %s in %s", notice->rule, notice->summary, notice->table);
    struct bytes text = strbuf_bytes(&summary);
    value_add_bytes(payload, "summary",
                    bytes_slice(text, 0, utf8_cut(text, text.len < MOST_SUMMARY ? text.len : MOST_SUMMARY)));
    value_add_text(payload, "source", notice->table);
    value_add_text(payload, "severity", pagerduty_severity(notice->severity));
    value_add_time(payload, "timestamp", notice->since, 0);
    value_add_text(payload, "class", notice->condition);
    value_add_text(details, "severity", notice->severity);
    if (notice->description)
        value_add_text(details, "description", notice->description);
    for (size_t i = 0; i < notice->label_count; i++)
        value_add_text(details, notice->labels[i].name, notice->labels[i].value);
    value_add(payload, "custom_details", details);
    strbuf_release(&summary);
    return payload;
}

static void
pagerduty_write(const struct alert_destination *destination, const struct alert_notice *notice,
                struct strbuf *out)
{
    struct value *event = value_object();
    value_add_text(event, "routing_key", destination->key);
    value_add_text(event, "event_action", notice->is_firing ? "trigger" : "resolve");
    value_add_text(event, "dedup_key", notice->fingerprint);
    if (notice->is_firing) {
        value_add(event, "payload", pagerduty_payload(notice));
        value_add_text(event, "client", "redrive");
        if (notice->runbook) {
            struct value *links = value_array(), *link = value_object();
            value_add_text(link, "href", notice->runbook);
            value_add_text(link, "text", "runbook");
            value_add(links, NULL, link);
            value_add(event, "links", links);
        }
    }
    value_dump(event, out);
    value_destroy(event);
}

// --- a mail ---

static bool
is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

// As encoded words where it is not ASCII (RFC 2047, section 2), each of whole characters.
static void
add_header(struct strbuf *out, const char *name, const char *text)
{
    struct strbuf visible = {0};
    text_visible(&visible, bytes_of(text), false);
    const char *rest = strbuf_text(&visible);
    strbuf_printf(out, "%s: ", name);
    if (is_ascii(rest))
        strbuf_add_text(out, rest);
    else
        while (*rest) {
            size_t len = strnlen(rest, ENCODED_WORD);
            while (len > 1 && ((unsigned char)rest[len] & 0xc0) == 0x80)
                len--;
            strbuf_add_text(out, "=?UTF-8?B?");
            base64_add(out, (struct bytes){rest, len});
            strbuf_add_text(out, "?=");
            rest += len;
            if (*rest)
                strbuf_add_text(out, "\n ");
        }
    strbuf_add_char(out, '\n');
    strbuf_release(&visible);
}

static void
add_line(struct strbuf *out, const char *name, const char *text)
{
    if (!text)
        return;
    strbuf_printf(out, "%-12s", name);
    text_visible(out, bytes_of(text), false);
    strbuf_add_char(out, '\n');
}

static void
mail_write(const struct alert_destination *destination, const struct alert_notice *notice, struct strbuf *out)
{
    char since[TIME_TEXT], at[TIME_TEXT];
    struct strbuf subject = {0};
    strbuf_printf(&subject, "[%s] %s: %s", state_word(notice), notice->rule, notice->summary);
    if (destination->from)
        add_header(out, "From", destination->from);
    if (destination->to)
        add_header(out, "To", destination->to);
    add_header(out, "Subject", strbuf_text(&subject));
    strbuf_add_text(out, "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
                         "Content-Transfer-Encoding: 8bit\nAuto-Submitted: auto-generated\n\n");
    text_visible(out, bytes_of(notice->summary), false);
    strbuf_add_text(out, "\n\n");
    add_line(out, "first", notice->is_firing ? notice->description : NULL);
    add_line(out, "runbook", notice->runbook);
    add_line(out, "alert", notice->rule);
    add_line(out, "state", state_word(notice));
    add_line(out, "severity", notice->severity);
    add_line(out, "condition", notice->condition);
    add_line(out, "table", notice->table);
    for (size_t i = 0; i < notice->label_count; i++)
        add_line(out, notice->labels[i].name, notice->labels[i].value);
    add_line(out, "since", time_rfc3339(notice->since, 0, since));
    if (!notice->is_firing)
        add_line(out, "until", time_rfc3339(notice->at, 0, at));
    add_line(out, "fingerprint", notice->fingerprint);
    strbuf_release(&subject);
}

typedef void write_fn(const struct alert_destination *destination, const struct alert_notice *notice,
                      struct strbuf *out);

void
message_write(const struct alert_destination *destination, const struct alert_notice *notice,
              struct strbuf *out)
{
    static write_fn *const writers[CHANNELS] = {[CHANNEL_ALERTMANAGER] = alertmanager_write,
                                                [CHANNEL_SLACK] = slack_write,
                                                [CHANNEL_PAGERDUTY] = pagerduty_write,
                                                [CHANNEL_COMMAND] = mail_write};
    writers[destination->channel](destination, notice, out);
}
