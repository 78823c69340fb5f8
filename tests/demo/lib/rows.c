// Rows of failed events by COPY, in its text form: https://www.postgresql.org/docs/current/sql-copy.html
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "tests/demo/lib/failures.h"

PGconn *
demo_connect(const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    if (PQstatus(conn) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(conn));
        exit(1);
    }
    PQclear(demo_run(conn, "SET client_min_messages = warning"));
    return conn;
}

PGresult *
demo_run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN)
        return result;
    fprintf(stderr, "%s", PQerrorMessage(conn));
    exit(1);
}

int64_t
demo_now(PGconn *conn)
{
    PGresult *result = demo_run(conn, "SELECT (extract(epoch FROM localtimestamp) * 1000000)::bigint");
    int64_t now = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return now;
}

void
rows_begin(PGconn *conn)
{
    PQclear(demo_run(
        conn, "COPY public.dlq_events (event_id, event_type, source_table, source_id, event_payload,"
              " error_message, stack_trace, retry_count, status, created_at, last_retry_at, resolved_at,"
              " resolved_by, kafka_offset, kafka_partition, kafka_topic, correlation_id) FROM STDIN"));
}

static void
add_field(struct strbuf *line, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        switch (text[i]) {
        case '\\':
            strbuf_add_text(line, "\\\\");
            break;
        case '\n':
            strbuf_add_text(line, "\\n");
            break;
        case '\t':
            strbuf_add_text(line, "\\t");
            break;
        default:
            strbuf_add_char(line, text[i]);
        }
    }
    strbuf_add_char(line, '\t');
}

static void
add_text(struct strbuf *line, const char *text)
{
    add_field(line, text, strlen(text));
}

static void
add_null(struct strbuf *line)
{
    strbuf_add_text(line, "\\N\t");
}

static void
add_wall(struct strbuf *line, int64_t wall)
{
    time_t seconds = (time_t)(wall / US_PER_SECOND);
    struct tm tm;
    char text[32];
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    strbuf_printf(line, "%s.%06d\t", text, (int)(wall % US_PER_SECOND));
}

void
rows_add(PGconn *conn, const struct failed_event *event)
{
    static const char *const statuses[] = {"PENDING", "RESOLVED", "DISCARDED"};
    static struct strbuf line; // kept from row to row
    strbuf_reset(&line);
    add_text(&line, event->event_id);
    add_text(&line, event->type);
    add_text(&line, event->table);
    add_text(&line, event->source_id);
    add_field(&line, event->payload.data, event->payload.len);
    add_field(&line, event->error.data, event->error.len);
    if (event->stack.len)
        add_field(&line, event->stack.data, event->stack.len);
    else
        add_null(&line);
    strbuf_printf(&line, "%d\t%s\t", event->retries, statuses[event->status]);
    add_wall(&line, event->created);
    if (event->retries)
        add_wall(&line, event->created);
    else
        add_null(&line);
    if (event->status == DEMO_PENDING) {
        add_null(&line);
        add_null(&line);
    } else {
        add_wall(&line, event->resolved);
        add_text(&line, event->resolved_by);
    }
    if (event->offset < 0)
        add_null(&line);
    else
        strbuf_printf(&line, "%" PRId64 "\t", event->offset);
    strbuf_printf(&line, "%d\t%s\t%s\n", event->partition, event->topic, event->correlation);
    if (PQputCopyData(conn, line.data, (int)line.len) != 1) {
        fprintf(stderr, "%s", PQerrorMessage(conn));
        exit(1);
    }
}

void
rows_end(PGconn *conn)
{
    bool sent = PQputCopyEnd(conn, NULL) == 1;
    PGresult *result;
    while ((result = PQgetResult(conn))) {
        sent = sent && PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    if (!sent) {
        fprintf(stderr, "%s", PQerrorMessage(conn));
        exit(1);
    }
}
