#include "store/operations/turns.h"

#include <stdio.h>
#include <string.h>
#include "store/operations/slot_row.h"
#include "store/pg.h"

static const char *const reasons[] = {
    [STOP_NONE] = "",       [STOP_COPY] = "copy", [STOP_ELSEWHERE] = "elsewhere",
    [STOP_AHEAD] = "ahead", [STOP_GONE] = "gone",
};

const char *
stop_reason_name(enum stop_reason reason)
{
    return reasons[reason];
}

// Of `redrive.turn t`; $1 is the cluster.
#define TURN_COLUMNS                                                                                         \
    "SELECT t.no, t.id::text, t.before_no, t.before_id::text, t.is_confirmed, t.finished_no, t.at, t.stop, " \
    "t.stopped_at, t.stop_detail, t.holder, (SELECT i.id::text FROM redrive.install i), t.cluster FROM "

static void
read_turn(const PGresult *r, const char *worker, struct turn *turn)
{
    *turn = (struct turn){
        .last.no = value_int8(r, 0, 0),
        .before.no = value_int8(r, 0, 2),
        .is_confirmed = value_bool(r, 0, 4),
        .finished_no = value_int8(r, 0, 5),
        .is_mine = worker && bytes_equal_text(value_bytes(r, 0, 10), worker),
        .at = value_time(r, 0, 6),
        .stopped_at = value_time(r, 0, 8),
    };
    value_copy(r, 0, 1, turn->last.id, sizeof turn->last.id);
    value_copy(r, 0, 3, turn->before.id, sizeof turn->before.id);
    for (enum stop_reason reason = STOP_COPY; reason <= STOP_GONE; reason++)
        if (bytes_equal_text(value_bytes(r, 0, 7), reasons[reason]))
            turn->stop = reason;
    value_copy(r, 0, 9, turn->stop_detail, sizeof turn->stop_detail);
    char install[UUID_SIZE];
    value_copy(r, 0, 11, install, sizeof install);
    snprintf(turn->group, sizeof turn->group, "redrive.%s.lease", install);
}

// One row of redrive.turn, which the statement answers with.
static bool
ask_turn(struct store *store, enum purpose purpose, const char *sql, struct params *params,
         const char *worker, struct turn *turn, struct err *err)
{
    PGresult *r;
    *turn = (struct turn){0};
    if (!pg_ask(store, purpose, sql, params, &r, err))
        return false;
    if (PQntuples(r) == 1)
        read_turn(r, worker, turn);
    PQclear(r);
    return true;
}

static bool
turns_may_change(const struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

bool
turn_take(struct store *store, const char *cluster, const char *worker, int64_t since, struct turn *turn,
          struct err *err)
{
    if (!turns_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, worker);
    param_int8(&params, since);
    param_int4(&params, PQbackendPID(store->conn)); // a pooler makes up one of its own
    return ask_turn(store, FOR_WRITING, TURN_COLUMNS "redrive.turn_take($1, $2, $3, $4) t", &params, worker,
                    turn, err);
}

bool
turn_write(struct store *store, const char *cluster, const char *worker, const struct turn_mark *kafka,
           const char *id, struct turn *turn, struct err *err)
{
    if (!turns_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, worker);
    param_int8(&params, kafka->no);
    param_uuid(&params, kafka->id[0] ? kafka->id : NULL);
    param_uuid(&params, id);
    return ask_turn(store, FOR_WRITING, TURN_COLUMNS "redrive.turn_write($1, $2, $3, $4, $5) t", &params,
                    worker, turn, err);
}

static bool
do_numbered(struct store *store, const char *sql, const char *cluster, const char *worker, int64_t no,
            struct err *err)
{
    if (!turns_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, worker);
    param_int8(&params, no);
    return pg_do(store, FOR_WRITING, sql, &params, err);
}

bool
turn_confirm(struct store *store, const char *cluster, const char *worker, int64_t no, struct err *err)
{
    return do_numbered(store, "SELECT redrive.turn_confirm($1, $2, $3)", cluster, worker, no, err);
}

bool
turn_finish(struct store *store, const char *cluster, const char *worker, int64_t no, struct err *err)
{
    return do_numbered(store, "SELECT redrive.turn_finish($1, $2, $3)", cluster, worker, no, err);
}

bool
turn_stop(struct store *store, const char *cluster, enum stop_reason reason, const char *detail,
          struct err *err)
{
    if (!turns_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, reasons[reason]);
    param_text(&params, detail);
    return pg_do(store, FOR_WRITING, "SELECT redrive.turn_stop($1, $2, $3)", &params, err);
}

bool
turn_read(struct store *store, const char *cluster, struct turn *turn, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    return pg_has_schema(store, err) &&
           ask_turn(store, FOR_READING, TURN_COLUMNS "redrive.turn t WHERE t.cluster = $1", &params, NULL,
                    turn, err);
}

bool
turn_stopped(struct store *store, char cluster[64], struct turn *turn, struct err *err)
{
    PGresult *r;
    *turn = (struct turn){0};
    cluster[0] = '\0';
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                TURN_COLUMNS "redrive.turn t WHERE t.stop IS NOT NULL ORDER BY t.stopped_at DESC LIMIT 1",
                NULL, &r, err))
        return false;
    if (PQntuples(r) == 1) {
        read_turn(r, NULL, turn);
        value_copy(r, 0, 12, cluster, 64);
    }
    PQclear(r);
    return true;
}

bool
turn_slots(struct store *store, const char *cluster, struct turn_slot *slots, size_t room, size_t *count,
           struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *count = 0;
    if (!pg_has_schema(store, err))
        return false;
    param_text(&params, cluster);
    if (!pg_ask(store, FOR_READING,
                "SELECT " SLOT_COLUMNS SLOT_UNFINISHED_COLUMNS
                ", n.txn_id FROM redrive.turn_slots($1) s" SLOT_UNFINISHED_JOIN
                " JOIN redrive.turn_next_names($1) n ON n.no = s.no ORDER BY s.no",
                &params, &r, err))
        return false;
    for (int row = 0; row < PQntuples(r) && *count < room; row++) {
        struct turn_slot *slot = &slots[(*count)++];
        slot_row_read(r, row, &slot->slot);
        slot_row_read_unfinished(r, row, &slot->unfinished);
        value_copy(r, row, SLOT_COLUMN_COUNT + SLOT_UNFINISHED_COLUMN_COUNT, slot->next_txn_id,
                   sizeof slot->next_txn_id);
    }
    PQclear(r);
    return true;
}
