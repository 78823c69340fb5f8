#include "tests/unit/answers.h"

#include "base/alloc.h"

const int64_t answers_now = INT64_C(1767323045) * US_PER_SECOND;

static struct reply *
groups_reply(const struct answers *answers, const struct request *request)
{
    struct reply *reply = reply_create(REPLY_GROUPS, request->number);
    struct group_list *list = &reply->groups.list;
    reply->is_last = true;
    list->groups = arena_array(&reply->arena, (size_t)answers->groups + 1, sizeof *list->groups);
    list->count = list->total = (size_t)answers->groups;
    for (int i = 0; i < answers->groups; i++) {
        list->groups[i] = (struct event_group){
            .key = (uint64_t)i + 1,
            .value = arena_printf(&reply->arena, "%016x", i + 1),
            .count = 100000 / (i + 1),
            .first_at = answers_now - 7200 * US_PER_SECOND,
            .last_at = answers_now,
            .per_minute = 90 - i,
            .category = CATEGORY_DATA,
            .types = {{.name = "order.created", .count = 5}},
            .topics = {{.name = "orders.events", .count = 5}},
            .text =
                {.pattern =
                     "could not execute statement; SQL [n/a]; constraint [orders_pkey]; nested exception is "
                     "org.hibernate.exception.ConstraintViolationException: could not execute statement",
                 .error_class = "org.springframework.dao.DataIntegrityViolationException",
                 .frame = "com.acme.orders.OrderRepository.save(OrderRepository.java:88)",
                 .sample = "could not execute statement; SQL [n/a]; constraint [orders_pkey]"},
        };
        for (int h = 0; h < GROUP_HEAT; h++)
            list->groups[i].heat[h] = (uint32_t)h;
        list->events += list->groups[i].count;
    }
    return reply;
}

static struct reply *
list_reply(const struct answers *answers, const struct request *request)
{
    struct reply *reply = reply_create(REPLY_LIST, request->number);
    reply->is_last = reply->list.is_first = true;
    reply->list.ids = alloc_array((size_t)answers->events + 1, sizeof *reply->list.ids);
    reply->list.count = (size_t)answers->events;
    reply->list.total = reply->list.scanned = answers->events;
    for (int i = 0; i < answers->events; i++)
        reply->list.ids[i] = answers->events - i;
    return reply;
}

static struct reply *
rows_reply(const struct answers *answers, const struct request *request)
{
    struct reply *reply = reply_create(REPLY_ROWS, request->number);
    struct rows_reply *rows = &reply->rows;
    reply->is_last = true;
    rows->events = arena_array(&reply->arena, request->id_count, sizeof *rows->events);
    rows->count = request->id_count;
    for (size_t i = 0; i < rows->count; i++) {
        static const char payload[] =
            "{\"lines\": [{\"sku\": \"A1\", \"quantity\": 3}], \"amount\": 1200.50, "
            "\"currency\": \"BRL\", \"customer\": \"c-88218\", \"order_id\": \"A-82114\"}";
        rows->events[i] = (struct event){
            .id = request->ids[i],
            .status = answers->status,
            .created_at = answers_now,
            .event_type = BYTES("order.created"),
            .source_id = BYTES("c-88218"),
            .topic = BYTES("orders.events"),
            .error_message =
                BYTES("could not execute statement; SQL [n/a]; constraint [orders_pkey]; nested exception "
                      "is org.hibernate.exception.ConstraintViolationException: could not execute statement"),
            .payload = BYTES(payload),
            .payload_size = sizeof payload - 1,
        };
    }
    return reply;
}

static struct reply *
event_reply(const struct answers *answers, const struct request *request)
{
    struct reply *reply = reply_create(REPLY_EVENT, request->number);
    reply->is_last = true;
    reply->detail.event = (struct event){.id = request->id,
                                         .created_at = answers_now,
                                         .status = answers->status,
                                         .event_type = BYTES("order.created"),
                                         .topic = BYTES("orders.events"),
                                         .error_message = BYTES("connect to pay-3 timed out"),
                                         .payload = BYTES("{\"amount\": 12}"),
                                         .payload_size = sizeof "{\"amount\": 12}" - 1};
    return reply;
}

static struct reply *
operations_reply(const struct answers *answers, const struct request *request)
{
    bool is_one = request->kind == REQUEST_OPERATION;
    struct reply *reply = reply_create(is_one ? REPLY_OPERATION : REPLY_OPERATIONS, request->number);
    struct operations_reply *operations = &reply->operations;
    reply->is_last = true;
    operations->list = arena_array(&reply->arena, answers->operation_count + 1, sizeof *operations->list);
    for (size_t i = 0; i < answers->operation_count; i++)
        if (!is_one || answers->operations[i].no == request->operation)
            operations->list[operations->count++] = answers->operations[i];
    return reply;
}

static struct reply *
answer_to(const struct answers *answers, const struct request *request)
{
    switch ((int)request->kind) {
    case REQUEST_GROUPS:
        return groups_reply(answers, request);
    case REQUEST_LIST:
    case REQUEST_COLLECT:
        return list_reply(answers, request);
    case REQUEST_ROWS:
        return rows_reply(answers, request);
    case REQUEST_EVENT:
        return event_reply(answers, request);
    case REQUEST_OPERATIONS:
    case REQUEST_OPERATION:
        return operations_reply(answers, request);
    default:
        return NULL;
    }
}

void
answer_all(struct world *world, const struct answers *answers)
{
    for (struct request *request; (request = take_request(world)); request_destroy(request)) {
        struct reply *reply = answer_to(answers, request);
        if (reply)
            tell(world, reply);
    }
}
