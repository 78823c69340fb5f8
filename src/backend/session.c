#include "backend/session.h"

#include <string.h>
#include "base/utf8.h"

void
session_reply(struct session *session, struct reply *reply)
{
    // A screen that reads slowly slows its backend down, never the other way round; at the end the mailbox is
    // closed.
    if (!mailbox_put(session->replies, reply, -1))
        reply_destroy(reply);
}

void
session_error(struct session *session, uint64_t number, const struct err *err)
{
    struct reply *reply = reply_create(REPLY_ERROR, number);
    reply->err = *err;
    reply->is_last = true;
    session_reply(session, reply);
}

static void
note_trouble(struct session *session, const struct err *err)
{
    struct bytes text = bytes_of(err->text);
    size_t len = utf8_cut(text, sizeof session->link.trouble - 1);
    memcpy(session->link.trouble, text.data, len);
    session->link.trouble[len] = '\0';
}

static void
send_link(struct session *session)
{
    if (session->link_changed)
        session->link_changed(session);
}

bool
session_failed(struct session *session, uint64_t number, const struct err *err)
{
    if (err->kind == ERR_UNREACHABLE && !session->link.is_lost) {
        session->link.is_lost = true;
        session->link.attempts = 0;
        session->link.retry_at = clock_mono() + store_backoff(0);
        note_trouble(session, err);
        send_link(session);
    }
    if (number)
        session_error(session, number, err);
    else if (err->kind != ERR_UNREACHABLE)
        session_error(session, 0, err);
    return false;
}

bool
session_connect(struct session *session)
{
    if (session->store && !session->link.is_lost)
        return true;
    if (clock_mono() < session->link.retry_at)
        return false;

    struct err err = {0};
    struct store *opened = NULL;
    bool ok = session->store ? store_reconnect(session->store, &err)
                             : store_open(&opened, &session->settings->store, &err);
    if (opened)
        atomic_store(&session->store, opened);
    if (ok) {
        session->link.is_lost = false;
        session->link.attempts = 0;
        return true;
    }
    session->link.is_lost = true;
    session->link.attempts++;
    session->link.retry_at = clock_mono() + store_backoff(session->link.attempts);
    note_trouble(session, &err);
    send_link(session);
    return false;
}

void
session_refuse(struct session *session, const struct request *request)
{
    struct err err = {0};
    err_set(&err, ERR_UNREACHABLE, "PostgreSQL cannot be reached: %s · r retry", session->link.trouble);
    session_error(session, request->number, &err);
}
