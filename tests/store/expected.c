#include "expected.h"

#define ZONE "Asia/Kolkata"

// Texts that repeat, differ in case, are absent, empty, long, of other scripts, hard to match; numbers and
// times at the ends of their ranges; records with keys, headers and bytes that are no UTF-8; corrected
// payloads; events in operations and events that came back.
static const char rows_sql[] =
    "INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload,"
    " error_message, stack_trace, retry_count, status, resolved_by, created_at, kafka_topic,"
    " kafka_partition, kafka_offset, correlation_id)"
    " SELECT 'e-' || i, (ARRAY['order.created', 'order.updated', 'payment.failed', ''])[1 + i %% 4],"
    " CASE i %% 5 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'orders' END,"
    " CASE WHEN i %% 3 > 0 THEN 'A-' || i %% 40 END,"
    " CASE WHEN i %% 31 = 0 THEN '[1, {\"amount\": 77}]' WHEN i %% 37 = 0 THEN '\"just text\"' ELSE"
    " jsonb_build_object('amount', i %% 97, 'who', CASE i %% 4 WHEN 0 THEN 'Ana' WHEN 1 THEN E'Jo\\u00e3o'"
    " ELSE 'rui' END, 'note', repeat('x', i %% 50), 'big', 9007199254740992 + i %% 3, 'price', (i %% 7) /"
    " 2.0, 'flag', i %% 2 = 0, 'none', NULL, 'odd key', i %% 3, 'quote', 'say \"hi\" \\ ' || i %% 5, 'lines',"
    " jsonb_build_array(jsonb_build_object('sku', 'S' || i %% 6))) END,"
    " CASE i %% 9 WHEN 0 THEN 'Timeout after ' || i || ' ms' WHEN 1 THEN 'connect to host-' || i %% 13 ||"
    " ': TIMEOUT' WHEN 2 THEN 'duplicate key value' WHEN 3 THEN U&'\\017Focket closed' WHEN 4 THEN"
    " 'Socket closed by peer' WHEN 5 THEN repeat('a', 40 + i %% 3000) || '!' WHEN 6 THEN '' WHEN 7 THEN"
    " E'Liga\\u00c7\\u00c3O recusada: \\u00fcber 100%% _a\\\\b\\nsecond line' ELSE 'pay-' || i || ':443 "
    "refused' END,"
    " CASE WHEN i %% 3 > 0 THEN 'at com.acme.Gateway.charge(Gateway.java:' || i %% 40 || ')' WHEN i %% 2 = 0"
    " THEN '' END,"
    " CASE WHEN i %% 13 = 0 THEN NULL WHEN i %% 17 = 0 THEN 255 + i %% 3 ELSE i %% 6 END,"
    " CASE WHEN i %% 11 = 0 THEN 'RESOLVED' WHEN i %% 29 = 0 THEN 'DISCARDED' ELSE 'PENDING' END,"
    " CASE WHEN i %% 11 = 0 THEN 'Rui' WHEN i %% 7 = 0 THEN 'auto' END,"
    " CASE WHEN i %% 19 = 0 THEN NULL WHEN i %% 17 = 0 THEN timestamp '2019-05-05 23:59:59.75' WHEN i %% 23"
    " = 0 THEN timestamp '1969-12-31 23:59:59.5' ELSE (now() AT TIME ZONE '" ZONE "') - ((i * 37 %% 36) *"
    " 600 + 300.6) * interval '1 s' END,"
    " (ARRAY['orders.events', 'orders_dlq', 'Pay.DLT', NULL])[1 + i %% 4],"
    " CASE WHEN i %% 6 > 0 THEN i %% 12 END, CASE WHEN i %% 6 > 0 THEN i * 1000000007::bigint END,"
    " CASE WHEN i %% 8 > 0 THEN ('7f000000-0000-4000-8000-' || lpad((i %% 90)::text, 12, '0'))::uuid END"
    " FROM generate_series(1, %d) AS i;"
    "UPDATE public.dlq_events SET error_message = repeat('-', 1100000) || ' timeout' WHERE id = 777;"
    // A megabyte that no LIKE and no pattern finds anything in but at its end.
    "UPDATE public.dlq_events SET stack_trace = repeat('-', 1100000) || 'Gateway' WHERE id = 778;"
    "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names,"
    " header_values) SELECT id, 'orders.events', 0, id, CASE WHEN id %% 20 > 0 THEN convert_to('c-' || id %% "
    "9,"
    " 'UTF8') END, CASE WHEN id %% 50 = 0 THEN '\\xff'::bytea || ' raw ana' WHEN id %% 70 = 0 THEN NULL ELSE"
    " convert_to('{\"amount\":' || id %% 90 || '.50,\"who\":\"R\\u00fai\"}', 'UTF8') END,"
    " ARRAY['trace', 'Kind', 'trace'], ARRAY[convert_to('t-' || id %% 4, 'UTF8'), NULL, '\\xc328'::bytea]"
    " FROM public.dlq_events WHERE id %% 10 = 0;"
    // Dead letters that were taken in, from queues of three names.
    "UPDATE redrive.record SET format = (ARRAY['spring-dlt', 'connect', 'unknown'])[1 + dlq_id %% 3],"
    " topic = (ARRAY['billing-dlq', 'central', 'orders_dlq', 'Pay.DLT'])[1 + dlq_id %% 4], cluster = 'k',"
    " generation = 1, identity = dlq_id, consumer = CASE WHEN dlq_id %% 3 > 0 THEN 'billing-' || dlq_id %% 2 "
    "END"
    " WHERE dlq_id %% 30 > 0;"
    "INSERT INTO redrive.revision (dlq_id, no, payload) SELECT id, n, convert_to('{\"amount\":' || n * "
    "1000 ||"
    " ',\"who\":\"mended\"}', 'UTF8') FROM public.dlq_events, generate_series(1, 2) AS n WHERE id %% 15 = 0;"
    "INSERT INTO redrive.returned (dlq_id, operation_no, sent_id, sent_at, known_by, times) SELECT id, 1, "
    "id,"
    " now(), 'row', 1 + id %% 4 FROM public.dlq_events WHERE id %% 16 = 0;";

// What PostgreSQL's predicates are about: the payload as a search sees it.
static const char view_sql[] =
    "CREATE VIEW public.seen AS SELECT e.*, raw.key, raw.header_names, raw.header_values, raw.dlq_id IS NOT"
    " NULL AS has_raw, raw.format, raw.consumer, CASE WHEN raw.format IS NOT NULL THEN raw.topic WHEN"
    " e.kafka_topic ~* '[-._](dlq|dlt)$' THEN e.kafka_topic END AS queue, p.bytes, CASE WHEN p.bytes = "
    "'\\xff'::bytea || ' raw ana' THEN E'\\x1a raw ana' ELSE"
    " convert_from(p.bytes, 'UTF8') END AS payload, CASE WHEN p.bytes <> '\\xff'::bytea || ' raw ana' THEN"
    " convert_from(p.bytes, 'UTF8')::jsonb END AS j FROM public.dlq_events e LEFT JOIN redrive.record raw ON"
    " raw.dlq_id = e.id LEFT JOIN LATERAL (SELECT r.payload FROM redrive.revision r WHERE r.dlq_id = e.id"
    " ORDER BY no DESC LIMIT 1) rev ON true CROSS JOIN LATERAL (SELECT CASE WHEN rev.payload IS NOT NULL THEN"
    " rev.payload WHEN raw.dlq_id IS NOT NULL THEN raw.value ELSE convert_to(e.event_payload::text, 'UTF8')"
    " END AS bytes) p;";

#define AGE "(now() - created_at AT TIME ZONE '" ZONE "')"
#define NUMBER(path) "CASE WHEN jsonb_typeof(j->'" path "') = 'number' THEN (j->>'" path "')::numeric END"

// The predicate is over the view above; NULL: what is derived or has no decision, said by filter_match.
static const struct term {
    const char *text;
    const char *sql;
    bool is_bare; // an expression without field: two of them would be one
} terms[] = {
    {"timeout", "error_message ~* 'timeout'", true},
    {"Timeout", "error_message ~ 'Timeout'", true},
    {"socket", "error_message ~* U&'(s|\\017F)ocket'", true},
    {"closed", "error_message ~* 'closed'", true},
    {"t[io]meout", "error_message ~* 't[io]meout'", true},
    {"time.*\\d{3}", "error_message ~* 'time[^\\n]*[0-9]{3}'", true},
    {"^connect", "error_message ~* '^connect'", true},
    {"refused$", "error_message ~* 'refused$'", true},
    {"pay-\\d+:443", "error_message ~* 'pay-[0-9]+:443'", true},
    {"\"closed by\"", "error_message ~* 'closed by'", true},
    {"/closed by|key value/", "error_message ~* 'closed by|key value'", true},
    {"/closed|host-1:/", "error_message ~* 'closed|host-1:'", true},
    {"/Closed|host-1:/", "error_message ~ 'Closed|host-1:'", true},
    {"/after 1\\d+ ms/", "error_message ~* 'after 1[0-9]+ ms'", true},
    {"/host-1\\d: timeout/", "error_message ~* 'host-1[0-9]: timeout'", true},
    {"T.m.out", "error_message ~ 'T[^\\n]m[^\\n]out'", true},
    {"/T.M.OUT$/", "error_message ~ 'T[^\n]M[^\n]OUT$'", true},
    {"\"liga..o recu\"", "error_message LIKE E'Liga\\u00c7\\u00c3O recu%'", true},
    {"/a..O .*: .ber/", "error_message LIKE E'Liga\\u00c7\\u00c3O %: _ber%'", true},
    {"aaaa(a+)+[bc]!aa", "false", true},
    {"error:=\"\"", "error_message = ''", false},
    {"error:\"after 12\"", "error_message ~* 'after 12'", false},
    {"error:=\"duplicate key value\"", "error_message = 'duplicate key value'", false},
    {"error:=\"Duplicate key value\"", "error_message = 'Duplicate key value'", false},
    {"\"liga\xc3\xa7\xc3\xa3o\"", "error_message LIKE E'Liga\\u00c7\\u00c3O%'", true},
    {"\xc3\x9c"
     "ber",
     "error_message LIKE E'%\\u00dcber%'", true},
    {"\xc3\xbc"
     "ber",
     "error_message LIKE E'%\\u00fcber%'", true},
    {"\"100% _a\\\\\"", "strpos(error_message, E'100% _a\\\\') > 0", true},
    {"^second", "false", true},
    {"(?m)^second", "error_message LIKE E'%\\nsecond%'", true},
    {"\"\xc5\xbfocket\"", "error_message ~* U&'(s|\\017F)ocket'", true},
    {"(a+)+[bc]$", NULL, true},
    {"stack:gateway", "stack_trace ~* 'gateway'", false},
    {"stack:Gateway", "stack_trace ~ 'Gateway'", false},
    {"stack:java:1\\d", "stack_trace ~* 'java:1[0-9]'", false},
    {"stack:=\"\"", "stack_trace = ''", false},
    {"stack:^$", "stack_trace = ''", false},
    {"class:.", NULL, false},
    {"class:timeout", NULL, false},
    {"payload:ana", "payload ~* 'ana'", false},
    {"payload:Ana", "payload ~ 'Ana'", false},
    {"payload:xxxxxxxx", "payload ~* 'xxxxxxxx'", false},
    {"payload:mended", "payload ~* 'mended'", false},
    {"payload:/\"amount\": 7/", "payload ~* '\"amount\": 7'", false},
    {"payload:/7\\d?, .big/", "payload ~* '7[0-9]?, .big'", false},
    {"payload:99254.*3,", "payload ~* '99254[^\n]*3,'", false},
    {"payload:9\\d.2547", "payload ~* '9[0-9][^\n]2547'", false},
    {"payload:jo\xc3\xa3o", "payload ~* E'jo\\u00e3o'", false},
    {"payload:\"r\xc3\x9a"
     "i\"",
     "payload ~* E'R\\u00dai' AND false OR payload LIKE E'%R\\u00dai%'", false},
    {"payload:\"just text\"", "payload ~* 'just text'", false},
    {"payload:..raw", "payload ~* '[^\\n][^\\n]raw'", false},
    {"key:c-1", "convert_from(key, 'UTF8') ~* 'c-1'", false},
    {"key:=c-2", "convert_from(key, 'UTF8') = 'c-2'", false},
    {"key:x", "convert_from(key, 'UTF8') ~* 'x'", false},
    {"header:trace=t-1", "convert_from(header_values[1], 'UTF8') ~* 't-1'", false},
    {"header:TRACE==t-2", "convert_from(header_values[1], 'UTF8') = 't-2'", false},
    {"header:trace=.[(]", "header_names IS NOT NULL", false},
    {"header:kind=.", "false", false},
    {"type:order", "event_type ~* 'order'", false},
    {"type:=order.created", "event_type = 'order.created'", false},
    {"type:^$", "event_type = ''", false},
    {"source:orders", "source_table ~* 'orders'", false},
    {"source:=\"\"", "source_table = ''", false},
    {"source:^o?", "source_table ~* '^o?'", false},
    {"source-id:a-1", "source_id ~* 'a-1'", false},
    {"source-id:=A-1", "source_id = 'A-1'", false},
    {"event-id:e-1.*5$", "event_id ~* 'e-1.*5$'", false},
    {"event-id:=e-77", "event_id = 'e-77'", false},
    {"correlation:7f0.*1$", "correlation_id::text ~* '7f0.*1$'", false},
    {"correlation:=7f000000-0000-4000-8000-000000000005",
     "correlation_id = '7f000000-0000-4000-8000-000000000005'", false},
    {"topic:orders", "kafka_topic ~* 'orders'", false},
    {"topic:=orders_dlq", "kafka_topic = 'orders_dlq'", false},
    {"topic:.", "kafka_topic ~ '.'", false},
    {"queue:orders", "queue ~* 'orders'", false},
    {"queue:dlt", "queue ~* 'dlt'", false},
    {"dlq-topic:=central", "queue = 'central'", false},
    {"queue:=orders.events", "false", false},
    {"format:connect", "format = 'connect'", false},
    {"format:=unknown", "format = 'unknown'", false},
    {"format:.", "format IS NOT NULL", false},
    {"consumer:billing", "consumer IS NOT NULL", false},
    {"consumer:=billing-1", "consumer = 'billing-1'", false},
    {"partition:3", "kafka_partition = 3", false},
    {"partition:>7", "kafka_partition > 7", false},
    {"partition:0..2", "kafka_partition BETWEEN 0 AND 2", false},
    {"offset:>=500000003500", "kafka_offset >= 500000003500", false},
    {"offset:..7000000049", "kafka_offset <= 7000000049", false},
    {"offset:1000000007", "kafka_offset = 1000000007", false},
    {"id:100..900", "id BETWEEN 100 AND 900", false},
    {"id:<=50", "id <= 50", false},
    {"retries:2..4", "coalesce(retry_count, 0) BETWEEN 2 AND 4", false},
    {"retries:0", "coalesce(retry_count, 0) = 0", false},
    {"retries:>255", "retry_count > 255", false},
    {"retries:255", "retry_count = 255", false},
    {"age:<2h", AGE " < interval '2 h'", false},
    {"age:>30m", AGE " > interval '30 m'", false},
    {"age:1h..3h", AGE " BETWEEN interval '1 h' AND interval '3 h'", false},
    {"created:>2020-01-01", "created_at >= '2020-01-02'", false},
    {"created:2019-05-05", "created_at >= '2019-05-05' AND created_at < '2019-05-06'", false},
    {"created:2019-05-05T23:59", "created_at >= '2019-05-05 23:59' AND created_at < '2019-05-06'", false},
    {"created:2019-05-05T23:59:59", "created_at >= '2019-05-05 23:59:59' AND created_at < '2019-05-06'",
     false},
    {"created:>2019-05-05T23:59:59.75", "created_at > '2019-05-05 23:59:59.75'", false},
    {"created:<1970-01-01", "created_at < '1970-01-01'", false},
    {"created:\"..2019-05-05 23:59:59.74\"", "created_at <= '2019-05-05 23:59:59.74'", false},
    {"resolved-by:rui", "resolved_by ~* 'rui'", false},
    {"resolved-by:=auto", "resolved_by = 'auto'", false},
    {"group:a", NULL, false},
    {"group:0", NULL, false},
    {"kind:transient", NULL, false},
    {"kind:unknown", NULL, false},
    {"status:pending", "status = 'PENDING'", false},
    {"status:resolved", "status = 'RESOLVED'", false},
    {"status:all", "true", false},
    {"is:edited", "id % 15 = 0", false},
    {"is:back", "id % 16 = 0", false},
    {"is:quarantined", "id % 16 = 0 AND 1 + id % 4 >= 3", false},
    {"is:new", AGE " < interval '1 h'", false},
    {"is:busy",
     "EXISTS (SELECT FROM redrive.item i WHERE i.dlq_id = id AND i.is_live AND"
     " i.dlq_id IN (40, 41, 42, 43))",
     false},
    {"has:stack", "stack_trace <> ''", false},
    {"has:raw", "has_raw", false},
    {"$.amount>50", NUMBER("amount") " > 50", false},
    {"$.amount<=7.5", NUMBER("amount") " <= 7.5", false},
    {"$.amount=2000", NUMBER("amount") " = 2000", false},
    {"$.amount~^5", "(j->>'amount') ~ '^5'", false},
    {"$.price=1.50", NUMBER("price") " = 1.5", false},
    {"$.price=15e-1", NUMBER("price") " = 1.5", false},
    {"$.big>9007199254740992", NUMBER("big") " > 9007199254740992", false},
    {"$.big=9007199254740993", NUMBER("big") " = 9007199254740993", false},
    {"$.who~^a", "(j->>'who') ~* '^a'", false},
    {"$.who=rui", "(j->>'who') = 'rui'", false},
    {"$.who=jo\xc3\xa3o", "false", false},
    {"$.who=\"Jo\xc3\xa3o\"", "(j->>'who') = E'Jo\\u00e3o'", false},
    {"$.who~JO\xc3\x83O", "false", false},
    {"$.who~jo\xc3\xa3o", "(j->>'who') = E'Jo\\u00e3o'", false},
    {"$.who>5", "false", false},
    {"$.quote~\"say \\\"hi\\\" ..1\"", "(j->>'quote') ~ '1$'", false},
    {"$.flag=true", "(j->'flag') = 'true'", false},
    {"$.none=null", "(j->'none') = 'null'", false},
    {"$.none?", "j ? 'none'", false},
    {"$.missing?", "false", false},
    {"$['odd key']=1", NUMBER("odd key") " = 1", false},
    {"$.lines[0].sku=S3", "(j#>>'{lines,0,sku}') = 'S3'", false},
    {"$.lines[1]?", "false", false},
    {"$.lines~S4", "(j->>'lines') ~ 'S4'", false},
    {"$[1].amount=77", "(j#>>'{1,amount}') = '77'", false},
};
enum { TERMS = sizeof terms / sizeof *terms };
_Static_assert((int)TERMS <= (int)EXPECTED_TERMS, "room for every term");

const char *
expected_term(size_t i)
{
    return terms[i].text;
}

struct filter *
expected_parse(const struct expected *expected, const char *text)
{
    struct filter *filter;
    struct filter_context context = {.zone_us = store_info(expected->store)->zone_us,
                                     .new_after = TIME_ABSENT};
    assert_works(store_now(expected->store, &context.now, &err));
    assert_works(filter_parse(&filter, bytes_of(text), &context, &err));
    return filter;
}

const struct event *
expected_event(const struct expected *expected, int64_t id)
{
    const struct event *event = &expected->page.events[expected->page.count - (size_t)id];
    assert_int_equal(event->id, id);
    return event;
}

static void
ask_filter(struct expected *expected, size_t term)
{
    struct filter *filter = expected_parse(expected, terms[term].text);
    for (int64_t id = 1; id <= EXPECTED_EVENTS; id++)
        expected->says[term][id] = (unsigned char)filter_match(filter, expected_event(expected, id));
    filter_destroy(filter);
}

static void
ask_server(struct expected *expected, size_t term)
{
    struct strbuf sql = {0};
    strbuf_printf(&sql, "SELECT id FROM public.seen WHERE %s", terms[term].sql);
    PGresult *r = PQexec(expected->world.admin, strbuf_text(&sql));
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s\nin %s", PQerrorMessage(expected->world.admin), strbuf_text(&sql));
    for (int i = 0; i < PQntuples(r); i++)
        expected->says[term][strtoll(PQgetvalue(r, i, 0), NULL, 10)] = FILTER_YES;
    PQclear(r);
    strbuf_release(&sql);
}

static void
begin(struct expected *expected, const char *but)
{
    *expected = (struct expected){.terms = TERMS};
    world_make(&expected->world, 0);
    test_sql(expected->world.admin, rows_sql, EXPECTED_EVENTS);
    test_sql(expected->world.admin, "%s", view_sql);
    test_sql(expected->world.admin, "%s; UPDATE redrive.install SET zone = '" ZONE "'", but);
    make_operation(&expected->world, expected->world.store, ACTION_DISCARD, 40, 43);
    expected->rules = category_rules_create(NULL, NULL);
    expected->settings = (struct store_settings){.conninfo = expected->world.conninfo,
                                                 .table = "public.dlq_events",
                                                 .program = "test",
                                                 .zone = ZONE,
                                                 .rules = expected->rules};
    assert_works(store_open(&expected->store, &expected->settings, &err));
    struct event_query query = {.fields = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD |
                                          EVENT_RAW | EVENT_GROUP | EVENT_KNOWN,
                                .limit = EXPECTED_EVENTS};
    assert_works(store_events(expected->store, &query, &expected->page, &err));
    assert_int_equal(expected->page.count, EXPECTED_EVENTS);

    expected->backlog = backlog_create();
    for (size_t i = 0; i < expected->page.count; i++)
        if (expected->page.events[i].status == EVENT_PENDING)
            backlog_add(expected->backlog, &expected->page.events[i], 1);
    backlog_ids(expected->backlog, PIVOT_ERROR, NULL, false, &expected->ids, &expected->count);
    for (size_t i = 0; i < TERMS; i++)
        if (terms[i].sql)
            ask_server(expected, i);
        else
            ask_filter(expected, i);
}

void
expected_begin(struct expected *expected)
{
    begin(expected, "");
}

void
expected_begin_alone(struct expected *expected)
{
    begin(expected, "DELETE FROM redrive.record; DELETE FROM redrive.revision");
}

void
expected_end(struct expected *expected)
{
    free(expected->ids);
    backlog_destroy(expected->backlog);
    event_page_release(&expected->page);
    store_close(expected->store);
    category_rules_destroy(expected->rules);
    world_end(&expected->world);
}

// What stands around the i-th term.
static void
write_term(const struct expected_filter *filter, size_t i, struct strbuf *text)
{
    bool is_any = filter->join == EXPECTED_ANY || (filter->join == EXPECTED_ANY_FIRST && i < 2);
    bool has_bracket = filter->join == EXPECTED_ANY_FIRST && filter->count > 1;
    if (i > 0)
        strbuf_add_text(text, is_any ? " or " : " ");
    if (i == 0)
        strbuf_add_text(text, filter->join == EXPECTED_NOT_ALL ? "not (" : has_bracket ? "(" : "");
    const struct term *term = &terms[filter->terms[i]];
    strbuf_printf(text, "%s%s%s", filter->inverted[i] ? "!" : "",
                  term->is_bare && filter->join != EXPECTED_ALL ? "error:" : "", term->text);
    if (has_bracket && i == 1)
        strbuf_add_char(text, ')');
}

void
expected_add(struct expected_filter *filter, size_t term, bool is_inverted)
{
    for (size_t i = 0; i < filter->count && filter->join == EXPECTED_ALL; i++)
        if (terms[term].is_bare && terms[filter->terms[i]].is_bare)
            return;
    filter->terms[filter->count] = term;
    filter->inverted[filter->count++] = is_inverted;
    struct strbuf text = {0};
    for (size_t i = 0; i < filter->count; i++)
        write_term(filter, i, &text);
    if (filter->join == EXPECTED_NOT_ALL)
        strbuf_add_char(&text, ')');
    snprintf(filter->text, sizeof filter->text, "%s", strbuf_text(&text));
    strbuf_release(&text);
}

// No, undecided and yes as numbers whose smallest is their and, and whose largest their or.
static int
level(enum filter_verdict verdict)
{
    return verdict == FILTER_YES ? 2 : verdict == FILTER_UNDECIDED;
}

enum filter_verdict
expected_says(const struct expected *expected, const struct expected_filter *filter, int64_t id)
{
    static const enum filter_verdict verdicts[] = {FILTER_NO, FILTER_UNDECIDED, FILTER_YES};
    int all = 2;
    for (size_t i = 0; i < filter->count; i++) {
        int one = level(expected->says[filter->terms[i]][id]);
        one = filter->inverted[i] ? 2 - one : one;
        bool is_any = filter->join == EXPECTED_ANY || (filter->join == EXPECTED_ANY_FIRST && i == 1);
        bool is_larger = one > all;
        if (i == 0 || is_any == is_larger)
            all = one;
    }
    return verdicts[filter->join == EXPECTED_NOT_ALL ? 2 - all : all];
}
