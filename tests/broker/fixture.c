#include "tests/broker/fixture.h"

int
stage_set(void **state)
{
    struct fixture *stage = *state;
    world_make(&stage->world, 0);
    make_topic(stage->topic, stage->stem, stage->partitions, NULL, NULL);
    return 0;
}

int
stage_clear(void **state)
{
    struct fixture *stage = *state;
    world_end(&stage->world);
    return 0;
}

void
stage_fail(struct fixture *stage, int count)
{
    test_sql(
        stage->world.admin,
        "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, source_id, "
        "kafka_topic, kafka_partition) SELECT 'e' || i, 't', jsonb_build_object('i', i), 'boom', 's' || i, "
        "'%s', i %% %d FROM generate_series(1, %d) i",
        stage->topic, stage->partitions, count);
}
