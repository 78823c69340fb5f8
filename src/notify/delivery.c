#include "notify/delivery.h"

#include <string.h>
#include "base/strbuf.h"
#include "http/client.h"
#include "notify/message.h"
#include "process/feed.h"

// Alertmanager's address is that of its start page; the path of its API follows.
static void
add_url(const struct alert_destination *destination, struct strbuf *out)
{
    strbuf_add_text(out, destination->url);
    if (destination->channel != CHANNEL_ALERTMANAGER)
        return;
    if (out->data[out->len - 1] != '/')
        strbuf_add_char(out, '/');
    strbuf_add_text(out, "api/v2/alerts");
}

static bool
post(const struct alert_destination *destination, struct bytes body, delivery_wanted_fn *is_wanted,
     void *context, struct err *err)
{
    struct strbuf url = {0};
    add_url(destination, &url);
    bool ok = http_client_post(
        &(struct http_post){.url = strbuf_text(&url),
                            .type = "application/json",
                            .body = body,
                            .token = destination->channel == CHANNEL_PAGERDUTY ? NULL : destination->key,
                            .ca = destination->ca,
                            .is_wanted = is_wanted,
                            .context = context},
        err);
    explicit_bzero(url.data, url.len);
    strbuf_release(&url);
    return ok;
}

bool
delivery_make(const struct alert_destination *destination, const struct alert_notice *notice,
              delivery_wanted_fn *is_wanted, void *context, struct err *err)
{
    struct strbuf body = {0};
    message_write(destination, notice, &body);
    bool ok = destination->channel == CHANNEL_COMMAND
                  ? feed_run(&(struct feed){.argv = destination->argv,
                                            .input = strbuf_bytes(&body),
                                            .time = DELIVERY_LONGEST,
                                            .is_wanted = is_wanted,
                                            .context = context},
                             err)
                  : post(destination, strbuf_bytes(&body), is_wanted, context, err);
    explicit_bzero(body.data, body.len); // of PagerDuty it holds the key
    strbuf_release(&body);
    return ok;
}
