#include "tests/broker/fixture.h"

int
broker_fixture_set_up(void **state)
{
    struct broker_fixture *fixture = *state;
    world_make(&fixture->world, 0);
    make_topic(fixture->topic, fixture->stem, fixture->partitions, NULL, NULL);
    return 0;
}

int
broker_fixture_tear_down(void **state)
{
    struct broker_fixture *fixture = *state;
    world_end(&fixture->world);
    return 0;
}

void
broker_fixture_fail(struct broker_fixture *fixture, int count)
{
    test_sql(
        fixture->world.admin,
        "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, source_id, "
        "kafka_topic, kafka_partition) SELECT 'e' || i, 't', jsonb_build_object('i', i), 'boom', 's' || i, "
        "'%s', i %% %d FROM generate_series(1, %d) i",
        fixture->topic, fixture->partitions, count);
}
