#include "store/people/people.h"

#include <unistd.h>
#include "store/pg.h"
#include "store/rollup/categories.h"

// Who may see the categories may see all of people.sql (store/rollup/categories.h).

bool
people_token(struct store *store, int64_t *token, struct err *err)
{
    PGresult *r;
    *token = 0;
    if (store->categories != SEEN_READABLE)
        return true;
    if (!pg_ask(store, FOR_READING, "SELECT coalesce(sum(changed), 0)::int8 FROM redrive.group_care", NULL,
                &r, err))
        return false;
    *token = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

static const char cares_sql[] =
    "SELECT group_key, taken_by::text, taken_at, taken_until, note, noted_by::text, noted_at,"
    " snoozed_by::text, snoozed_at, snoozed_until, coalesce(snoozed_above, 0)"
    " FROM redrive.group_care WHERE taken_by IS NOT NULL OR note IS NOT NULL OR snoozed_by IS NOT NULL";

bool
people_read(struct store *store, struct arena *arena, struct people *people, struct err *err)
{
    PGresult *r;
    if (store->categories != SEEN_READABLE)
        return true;
    if (!pg_ask(store, FOR_READING, cares_sql, NULL, &r, err))
        return false;
    people->care_count = (size_t)PQntuples(r);
    people->cares = arena_array(arena, people->care_count, sizeof *people->cares);
    for (int i = 0; i < PQntuples(r); i++) {
        struct group_care *care = &people->cares[i];
        *care = (struct group_care){.group = (uint64_t)value_int8(r, i, 0)};
        care->taken.who = value_text(r, i, 1, arena);
        care->taken.at = value_time(r, i, 2);
        care->taken.until = value_time(r, i, 3);
        care->note.text = value_text(r, i, 4, arena);
        care->note.who = value_text(r, i, 5, arena);
        care->note.at = value_time(r, i, 6);
        care->snooze.who = value_text(r, i, 7, arena);
        care->snooze.at = value_time(r, i, 8);
        care->snooze.until = value_time(r, i, 9);
        care->snooze.above = value_int8(r, i, 10);
    }
    PQclear(r);
    people_sort(people);
    return true;
}

bool
presence_read(struct store *store, const char *screen, struct arena *arena, struct people *people,
              uint64_t *hash, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *hash = 0;
    if (store->categories != SEEN_READABLE)
        return true;
    param_uuid(&params, screen);
    if (!pg_ask(store, FOR_READING,
                "SELECT who::text, host, place, group_key, screen = $1, screen::text FROM redrive.presence"
                " WHERE seen_at > clock_timestamp() - interval '30 seconds' ORDER BY who, host, screen"
                " LIMIT 100",
                &params, &r, err))
        return false;
    people->here_count = (size_t)PQntuples(r);
    people->here = arena_array(arena, people->here_count, sizeof *people->here);
    for (int i = 0; i < PQntuples(r); i++) {
        people->here[i] = (struct presence){.who = value_text(r, i, 0, arena),
                                            .host = value_text(r, i, 1, arena),
                                            .place = value_text(r, i, 2, arena),
                                            .has_group = !value_is_null(r, i, 3),
                                            .is_this = value_bool(r, i, 4)};
        if (people->here[i].has_group)
            people->here[i].group = (uint64_t)value_int8(r, i, 3);
        for (int column = 0; column < 6; column++)
            *hash = *hash * 31 + bytes_hash(value_bytes(r, i, column));
    }
    PQclear(r);
    return true;
}

bool
presence_tell(struct store *store, const char *screen, const char *place, const uint64_t *group,
              struct err *err)
{
    struct params params = {0};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_uuid(&params, screen);
    param_text(&params, host);
    param_text(&params, place);
    if (group)
        param_int8(&params, (int64_t)*group);
    else
        param_null(&params);
    return pg_do(store, FOR_WRITING, "SELECT redrive.presence_tell($1, $2, $3, $4)", &params, err);
}

bool
people_events(struct store *store, uint64_t group, int64_t *events, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, (int64_t)group);
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT coalesce(sum(t.n), 0)::int8 FROM redrive.rollup_series s"
                " JOIN redrive.rollup_total t ON t.series = s.no WHERE s.group_key = $1",
                &params, &r, err))
        return false;
    *events = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
people_subject(struct store *store, uint64_t group, struct arena *arena, struct runbook_subject *subject,
               struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, (int64_t)group);
    if (!pg_ask(store, FOR_READING,
                "SELECT error_class, pattern, sample FROM redrive.rollup_group WHERE key = $1", &params, &r,
                err))
        return false;
    bool is_there = PQntuples(r) > 0;
    if (is_there) {
        struct bytes error_class = bytes_of(value_text(r, 0, 0, arena));
        struct bytes pattern = bytes_of(value_text(r, 0, 1, arena));
        *subject =
            (struct runbook_subject){.group = group,
                                     .category = store_category(store, group, error_class, pattern, NULL),
                                     .error_class = error_class,
                                     .message = bytes_of(value_text(r, 0, 2, arena))};
    }
    PQclear(r);
    return is_there || err_set(err, ERR_NOT_FOUND,
                               "nothing is known of this group; redrive watch or a screen counts groups");
}

static bool
people_may_write(struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

bool
group_take(struct store *store, uint64_t group, int64_t length, const char *note, struct arena *arena,
           const char **before, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    if (!people_may_write(store, err))
        return false;
    param_int8(&params, (int64_t)group);
    param_int8(&params, length);
    param_text(&params, note);
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.group_take($1, $2::int8 * interval '1 microsecond', $3)",
                &params, &r, err))
        return false;
    *before = value_text(r, 0, 0, arena);
    PQclear(r);
    return true;
}

bool
group_release(struct store *store, uint64_t group, struct err *err)
{
    struct params params = {0};
    if (!people_may_write(store, err))
        return false;
    param_int8(&params, (int64_t)group);
    return pg_do(store, FOR_WRITING, "SELECT redrive.group_release($1)", &params, err);
}

bool
group_note(struct store *store, uint64_t group, const char *note, struct err *err)
{
    struct params params = {0};
    if (!people_may_write(store, err))
        return false;
    param_int8(&params, (int64_t)group);
    param_text(&params, note);
    return pg_do(store, FOR_WRITING, "SELECT redrive.group_note($1, $2)", &params, err);
}

bool
group_snooze(struct store *store, uint64_t group, int64_t length, int64_t above, struct err *err)
{
    struct params params = {0};
    if (!people_may_write(store, err))
        return false;
    param_int8(&params, (int64_t)group);
    param_int8(&params, length);
    if (above > 0)
        param_int8(&params, above);
    else
        param_null(&params);
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.group_snooze($1, $2::int8 * interval '1 microsecond', $3)", &params, err);
}
