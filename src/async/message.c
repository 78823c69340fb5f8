#include "async/message.h"

#include <stdlib.h>
#include "base/alloc.h"

struct request *
request_create(enum request_kind kind)
{
    struct request *request = alloc_bytes(sizeof *request);
    request->kind = kind;
    return request;
}

void
request_destroy(struct request *request)
{
    if (!request)
        return;
    free(request->ids);
    free(request->list.filter);
    free(request->texts.scope);
    free(request->texts.filter);
    free(request->texts.target_topic);
    free(request->reason);
    arena_release(&request->correct.arena);
    free(request);
}

void
request_drop(void *request)
{
    request_destroy(request);
}

struct reply *
reply_create(enum reply_kind kind, uint64_t number)
{
    struct reply *reply = alloc_bytes(sizeof *reply);
    reply->kind = kind;
    reply->number = number;
    return reply;
}

void
reply_destroy(struct reply *reply)
{
    if (!reply)
        return;
    free(reply->list.ids);
    arena_release(&reply->arena);
    free(reply);
}

void
reply_drop(void *reply)
{
    reply_destroy(reply);
}
