#include "async/message.h"

#include <stdlib.h>
#include <string.h>
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
    free(request->path);
    list_query_release(&request->list);
    free(request->texts.scope);
    free(request->texts.filter);
    free(request->texts.target_topic);
    free(request->reason);
    free(request->alert.rule);
    free(request->care.note);
    free(request->recipe.text);
    free(request->recipe.name);
    free(request->exported.file);
    free(request->exported.command);
    arena_release(&request->correct.arena);
    free(request);
}

void
request_drop(void *request)
{
    request_destroy(request);
}

struct list_query
list_query_copy(const struct list_query *query)
{
    struct list_query copy = *query;
    copy.filter = query->filter ? alloc_text(query->filter) : NULL;
    copy.reason = query->reason ? alloc_text(query->reason) : NULL;
    copy.path = query->path ? alloc_text(query->path) : NULL;
    copy.order_path = query->order_path ? alloc_text(query->order_path) : NULL;
    copy.ids = NULL;
    if (query->ids) {
        copy.ids = alloc_array(query->id_count + 1, sizeof *copy.ids);
        memcpy(copy.ids, query->ids, query->id_count * sizeof *copy.ids);
    }
    return copy;
}

void
list_query_release(struct list_query *query)
{
    free(query->ids);
    free(query->filter);
    free(query->path);
    free(query->order_path);
    free(query->reason);
    query->reason = NULL;
    query->path = query->order_path = NULL;
    query->ids = NULL;
    query->filter = NULL;
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
    shape_destroy(reply->shape);
    for (int i = 0; i < CORRECT_OUTCOMES; i++)
        free(reply->recipe.classes[i].ids);
    free(reply->recipe.departing.ids);
    arena_release(&reply->arena);
    free(reply);
}

void
reply_drop(void *reply)
{
    reply_destroy(reply);
}
