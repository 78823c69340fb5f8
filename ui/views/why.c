#include "ui/views/why.h"

#include "ui/views/groups/explain.h"

uint64_t
why_ask(struct app *app, int64_t id)
{
    struct request *request = request_create(REQUEST_WHY);
    request->id = id;
    return app_send(app, request);
}

bool
why_receive(struct app *app, uint64_t number, const struct reply *reply)
{
    if (!number || reply->number != number)
        return false;
    if (reply->kind != REPLY_WHY) {
        app_say_err(app, &reply->err);
        return true;
    }
    app_open(app, &view_explain, &(struct explain_argument){.explanation = &reply->explanation});
    return true;
}
