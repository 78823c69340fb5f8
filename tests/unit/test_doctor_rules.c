// What doctor makes of what it reads: each rule with a value that is right and one that is not, and the
// command that mends it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "broker/probe/private.h"
#include "broker/probe/rules.h"
#include "store/checkup_rules.h"

static const struct broker_settings settings = {.brokers = "kafka-1:9092"};
static struct probe probe;

static int
begin(void **state)
{
    (void)state;
    memset(&probe, 0, sizeof probe);
    return 0;
}

// The next finding of the probe, in order. Words "" of a remedy: there is none.
static void
assert_finds(size_t i, bool is_ok, const char *sentence, const char *remedy)
{
    if (i >= probe.count)
        fail_msg("finding %zu, \"%s\", is missing", i, sentence);
    const struct finding *finding = &probe.findings[i];
    bool is_as_wanted = finding->is_ok == is_ok && strstr(finding->sentence, sentence) &&
                        (*remedy ? strstr(finding->remedy, remedy) != NULL : !*finding->remedy);
    if (!is_as_wanted)
        fail_msg("%s: %s -> %s", finding->is_ok ? "ok" : "wrong", finding->sentence, finding->remedy);
}

// --- Kafka's settings ---

struct setting_case {
    const char *name, *good, *good_too, *bad, *why, *remedy;
};

static void
assert_settings(const char *topic, const struct setting_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct broker_property values[] = {{cases[i].name, cases[i].good},
                                                 {cases[i].name, cases[i].good_too},
                                                 {cases[i].name, cases[i].bad}};
        begin(NULL);
        probe_judge_settings(&settings, topic, values, 3, &probe);
        assert_int_equal(probe.count, 3);
        assert_finds(0, true, cases[i].name, "");
        assert_finds(1, true, cases[i].good_too, "");
        assert_finds(2, false, cases[i].why, cases[i].remedy);
    }
}

static void
brokers_are_judged(void **state)
{
    (void)state;
    static const struct setting_case cases[] = {
        {"default.replication.factor", "3", "5", "2", "may be lost with one broker",
         "put default.replication.factor=3 into server.properties"},
        {"min.insync.replicas", "2", "3", "1", "min.insync.replicas is 1: an acknowledged record",
         "kafka-configs.sh --bootstrap-server kafka-1:9092 --alter --entity-type brokers --entity-default "
         "--add-config min.insync.replicas=2"},
        {"unclean.leader.election.enable", "false", "false", "true", "may become leader and lose records",
         "--entity-type brokers --entity-default --add-config unclean.leader.election.enable=false"},
        {"transaction.state.log.replication.factor", "3", "4", "1", "the fate of transactions may be lost",
         "put transaction.state.log.replication.factor=3 into server.properties"},
        {"transaction.state.log.min.isr", "2", "3", "1", "known to one broker only",
         "put transaction.state.log.min.isr=2 into server.properties"},
        {"offsets.topic.replication.factor", "3", "4", "2", "markers may be lost",
         "put offsets.topic.replication.factor=3 into server.properties"},
        {"offsets.retention.minutes", "1440", "10080", "1439", "expire before they are refreshed",
         "put offsets.retention.minutes=1440 into server.properties"},
        {"transaction.max.timeout.ms", "30000", "900000", "29999", "need 30 s",
         "put transaction.max.timeout.ms=30000 into server.properties"},
        {"transactional.id.expiration.ms", "86400000", "604800000", "86399999", "expire early",
         "put transactional.id.expiration.ms=86400000 into server.properties"},
    };
    assert_settings(NULL, cases, sizeof cases / sizeof *cases);
}

static void
topics_are_judged(void **state)
{
    (void)state;
    static const struct setting_case cases[] = {
        {"min.insync.replicas", "2", "3", "1", "min.insync.replicas of the topic redrive.marker is 1: ",
         "kafka-configs.sh --bootstrap-server kafka-1:9092 --alter --entity-type topics --entity-name "
         "redrive.marker --add-config min.insync.replicas=2"},
        {"unclean.leader.election.enable", "false", "false", "true", "may become leader and lose records",
         "--entity-name redrive.marker --add-config unclean.leader.election.enable=false"},
    };
    assert_settings("redrive.marker", cases, sizeof cases / sizeof *cases);

    // What has no rule, or no value, says nothing; nor has a topic the rules of a broker.
    const struct broker_property others[] = {{"log.dirs", "/tmp"}, {"min.insync.replicas", NULL}};
    begin(NULL);
    probe_judge_settings(&settings, NULL, others, 2, &probe);
    probe_judge_settings(&settings, "t", &(struct broker_property){"offsets.retention.minutes", "1"}, 1,
                         &probe);
    assert_int_equal(probe.count, 0);
}

static void
copies_are_judged(void **state)
{
    (void)state;
    probe_judge_copies(&settings, "redrive.marker", 3, &probe);
    probe_judge_copies(&settings, "redrive.marker", 2, &probe);
    probe_judge_brokers(3, &probe);
    probe_judge_brokers(1, &probe);
    assert_finds(0, true, "the topic redrive.marker has 3 copies", "");
    assert_finds(1, false, "the topic redrive.marker has 2 copies",
                 "kafka-reassign-partitions.sh --bootstrap-server kafka-1:9092");
    assert_finds(2, false, "the cluster has 1 broker: no topic has three copies", "production needs three");
}

static void
queues_are_judged(void **state)
{
    (void)state;
    const int64_t day = 24 * 3600 * US_PER_SECOND;
    const struct broker_property good[] = {
        {"retention.ms", "604800000"}, {"cleanup.policy", "delete"}, {"min.insync.replicas", "2"}};
    const struct broker_property bad[] = {
        {"retention.ms", "86400000"}, {"cleanup.policy", "compact,delete"}, {"min.insync.replicas", "1"}};
    struct queue_seen seen = {.topic = "orders-dlq",
                              .source = "orders",
                              .partitions = 3,
                              .source_partitions = 3,
                              .copies = 3,
                              .brokers = 3,
                              .oldest = day,
                              .values = good,
                              .count = 3};
    probe_judge_queue(&settings, &seen, &probe);
    assert_finds(0, true, "the dead letter queue orders-dlq keeps what it gets", "");
    seen.oldest = 12 * day;
    seen.partitions = 12;
    seen.other = "orders.DLT";
    probe_judge_queue(&settings, &seen, &probe);
    assert_finds(1, true, "keeps records for 7 days, and the oldest pending event waits for 12",
                 "--entity-name orders-dlq --add-config retention.ms=1123200000");
    assert_finds(2, true, "has 12 partitions, more than orders, which has 3",
                 "create it again with fewer when it is empty");
    assert_finds(3, true, "orders-dlq and orders.DLT are dead letter queues of the same topic",
                 "one of them");
    seen = (struct queue_seen){
        .topic = "orders-dlq", .copies = 2, .brokers = 3, .values = bad, .count = 3, .oldest = day};
    probe_judge_queue(&settings, &seen, &probe);
    assert_finds(4, false, "keeps records for 24 h", "--add-config retention.ms=604800000");
    assert_finds(5, false, "cleanup.policy of the dead letter queue orders-dlq is compact,delete",
                 "--add-config cleanup.policy=delete");
    assert_finds(6, false, "the topic orders-dlq has 2 copies", "kafka-reassign-partitions.sh");
    assert_finds(7, false, "min.insync.replicas of the dead letter queue orders-dlq is 1",
                 "--add-config min.insync.replicas=2");
    seen.count = 0;
    probe_judge_queue(&settings, &seen, &probe);
    assert_finds(8, true, "may not be read", "allow DescribeConfigs on it");
}

static void
settings_that_may_not_be_read_are_noted(void **state)
{
    (void)state;
    probe_judge_unread(&settings, &probe);
    assert_finds(0, true, "is not known",
                 "kafka-acls.sh --bootstrap-server kafka-1:9092 --add --allow-principal User:ANONYMOUS "
                 "--operation DescribeConfigs --cluster");
}

// --- Kafka's rights ---

static void
each_missing_right_is_a_finding(void **state)
{
    (void)state;
    static const struct {
        struct rights_seen seen;
        const char *sentence, *remedy; // NULL: nothing is missing
    } cases[] = {
        {{.marker_topic = TOPIC_KNOWN}, NULL, NULL},
        {{.lacks_transactions = true},
         "Write on transactional ids that begin with redrive. is missing",
         "--operation Write --operation Describe --transactional-id redrive. --resource-pattern-type "
         "prefixed"},
        {{.lacks_group = true},
         "Read on groups that begin with redrive. is missing",
         "--operation Read --operation Describe --group redrive. --resource-pattern-type prefixed"},
        {{.lacks_marker_topic = true},
         "Read on the topic redrive.marker is missing",
         "--operation Read --operation Describe --topic redrive.marker"},
        {{.marker_topic = TOPIC_DENIED},
         "Read on the topic redrive.marker is missing",
         "--operation Read --operation Describe --topic redrive.marker"},
        {{.marker_topic = TOPIC_MISSING},
         "the topic redrive.marker is missing",
         "kafka-topics.sh --bootstrap-server kafka-1:9092 --create --topic redrive.marker --partitions 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        probe_judge_rights(&settings, &cases[i].seen, &probe);
        assert_int_equal(probe.count, cases[i].sentence != NULL);
        if (cases[i].sentence)
            assert_finds(0, false, cases[i].sentence, cases[i].remedy);
    }

    const struct rights_seen all = {true, TOPIC_DENIED, true, true};
    begin(NULL);
    probe_judge_rights(&settings, &all, &probe);
    assert_int_equal(probe.count, 3);
}

static void
targets_are_judged(void **state)
{
    (void)state;
    probe_judge_target(&settings, "orders", true, MAY, MAY, &probe);
    probe_judge_target(&settings, "orders", true, MAY_NOT, MAY, &probe);
    probe_judge_target(&settings, "orders", true, MAY, MAY_NOT, &probe);
    probe_judge_target(&settings, "orders", true, MAY, MAY_PERHAPS, &probe);
    probe_judge_target(&settings, "orders", false, MAY, MAY, &probe);
    assert_int_equal(probe.count, 5);
    assert_finds(0, true, "the topic orders may be written to and read", "");
    assert_finds(1, false, "Write on the topic orders is missing",
                 "--operation Write --operation Describe --topic orders");
    assert_finds(2, false, "Read on the topic orders is missing",
                 "--operation Read --operation Describe --topic orders");
    assert_finds(3, true, "was not found out", "");
    assert_finds(4, false, "the topic orders does not exist", "--to");
    begin(NULL);
    probe_judge_target(&settings, "orders", true, MAY_NOT, MAY_NOT, &probe);
    assert_int_equal(probe.count, 2);
}

// The ACL is for whoever these settings log in as.
static void
rights_are_for_the_right_one(void **state)
{
    (void)state;
    const struct broker_property user[] = {{"security.protocol", "sasl_ssl"}, {"sasl.username", "redrive"}},
                                 certificate[] = {{"security.protocol", "SSL"}};
    const struct rights_seen seen = {.lacks_group = true};
    probe_judge_rights(&(struct broker_settings){"k:1", user, 2}, &seen, &probe);
    probe_judge_rights(&(struct broker_settings){"k:1", certificate, 1}, &seen, &probe);
    probe_judge_rights(&(struct broker_settings){0}, &seen, &probe);
    assert_finds(0, false, "", "--bootstrap-server k:1 --add --allow-principal User:redrive --operation");
    assert_finds(1, false, "", "--allow-principal 'User:<the subject of its certificate>' --operation");
    assert_finds(2, false, "", "--bootstrap-server HOST:PORT --add --allow-principal User:ANONYMOUS");
}

// --- clocks ---

static void
clocks_are_judged(void **state)
{
    (void)state;
    static const struct {
        double broker, store; // seconds ahead of this host's
        bool is_ok, has_remedy;
    } cases[] = {{0, 0, true, false},       {5, 0, true, false},    {5.5, 5.5, true, true},
                 {-5.5, 0, true, true},     {0, 5.5, true, true},   {300, 0, true, true},
                 {300.5, 0.5, false, true}, {-301, 0, false, true}, {200, -101, false, true},
                 {0, 301, false, true},     {200, 200, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        probe.clock.is_known = true;
        probe.clock.ahead = (int64_t)(cases[i].broker * US_PER_SECOND);
        probe_clocks(&settings, (int64_t)(cases[i].store * US_PER_SECOND), &probe);
        assert_int_equal(probe.count, 1);
        assert_finds(0, cases[i].is_ok, "the clock of broker 0 is",
                     cases[i].has_remedy ? "chronyc makestep" : "");
    }
    begin(NULL);
    probe.clock.is_known = true;
    probe_clocks(&settings, TIME_ABSENT, &probe);
    assert_null(strstr(probe.findings[0].sentence, "PostgreSQL"));
    begin(NULL);
    probe_clocks(&settings, 0, &probe);
    assert_finds(0, true, "is not known", "--add-config message.timestamp.type=LogAppendTime");
    begin(NULL);
    snprintf(probe.cluster.name, sizeof probe.cluster.name, "mockCluster1567");
    probe.clock.is_known = true;
    probe.clock.ahead = -1795863933 * US_PER_SECOND; // its records bear no time
    probe_clocks(&settings, 0, &probe);
    assert_finds(0, true, "they are a demo", "");
}

// A broker's time is known no better than its answer was quick.
static void
a_slow_answer_accuses_nobody(void **state)
{
    (void)state;
    const int64_t second = US_PER_SECOND, start = 1000 * second;
    probe_note_clock(&probe, 7, start, start, start + 30 * second);
    assert_int_equal(probe.clock.ahead, -15 * second);
    probe_clocks(&settings, TIME_ABSENT, &probe);
    assert_finds(0, true, "the clock of broker 7 is 15.0 s behind this host's", "");
    probe.clock.ahead = -21 * second;
    probe_clocks(&settings, TIME_ABSENT, &probe);
    assert_finds(1, true, "is 21.0 s behind", "chronyc makestep");
    probe.clock.ahead = -316 * second;
    probe_clocks(&settings, TIME_ABSENT, &probe);
    assert_finds(2, false, "is 316.0 s behind", "chronyc makestep");

    // The quickest of several stands, and none that our own clock was set back in.
    probe_note_clock(&probe, 8, start + 3 * second, start, start + 2 * second);
    assert_int_equal(probe.clock.ahead, 2 * second);
    probe_note_clock(&probe, 9, start, start, start + 2 * second);
    probe_note_clock(&probe, 9, start, start, start - second);
    assert_int_equal(probe.clock.broker, 8);
    assert_int_equal(probe.clock.give, second);
}

static void
assert_judged(const struct judgement *judgement, enum checkup_verdict verdict, const char *sentence,
              const char *remedy)
{
    bool is_as_wanted = judgement->verdict == verdict && strstr(judgement->sentence, sentence) &&
                        (*remedy ? strstr(judgement->remedy, remedy) != NULL : !*judgement->remedy);
    if (!is_as_wanted)
        fail_msg("%d: %s -> %s", (int)judgement->verdict, judgement->sentence, judgement->remedy);
}

static void
the_servers_clock_is_judged(void **state)
{
    (void)state;
    static const struct {
        double ahead;
        enum checkup_verdict verdict;
        const char *sentence, *remedy;
    } cases[] = {
        {0, CHECKUP_OK, "0.0 s ahead", ""},
        {-5, CHECKUP_OK, "5.0 s behind", ""},
        {5.1, CHECKUP_NOTE, "5.1 s ahead", "chronyc makestep"},
        {-300, CHECKUP_NOTE, "300.0 s behind", "chronyc makestep"},
        {300.1, CHECKUP_WRONG, "300.1 s ahead", "nothing is published from here"},
        {-301, CHECKUP_WRONG, "301.0 s behind", "chronyc makestep"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judgement judgement = checkup_judge_clock(cases[i].ahead);
        assert_judged(&judgement, cases[i].verdict, cases[i].sentence, cases[i].remedy);
    }
}

// --- PostgreSQL ---

static void
durability_is_judged(void **state)
{
    (void)state;
    static const struct {
        const char *name, *setting;
        enum checkup_verdict verdict;
        const char *sentence, *remedy;
    } cases[] = {
        {"fsync", "on", CHECKUP_OK, "fsync is on", ""},
        {"fsync", "off", CHECKUP_WRONG, "events can be sent twice",
         "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();"},
        {"full_page_writes", "on", CHECKUP_OK, "full_page_writes is on", ""},
        {"full_page_writes", "off", CHECKUP_WRONG, "events can be sent twice",
         "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();"},
        {"synchronous_commit", "on", CHECKUP_OK, "synchronous_commit is on", ""},
        {"synchronous_commit", "local", CHECKUP_OK, "synchronous_commit is local", ""},
        {"synchronous_commit", "off", CHECKUP_NOTE, "what consumers write is not",
         "ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf();"},
        {"synchronous_standby_names", "", CHECKUP_NOTE, "no synchronous standby",
         "ALTER SYSTEM SET synchronous_standby_names"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judgement judgement;
        assert_true(checkup_judge_setting(cases[i].name, cases[i].setting, &judgement));
        assert_judged(&judgement, cases[i].verdict, cases[i].sentence, cases[i].remedy);
    }
    struct judgement judgement;
    assert_false(checkup_judge_setting("synchronous_standby_names", "ANY 1 (b)", &judgement));
    assert_false(checkup_judge_setting("work_mem", "off", &judgement));
}

static void
versions_encoding_and_link_are_judged(void **state)
{
    (void)state;
    struct judgement judgement = checkup_judge_version(130000, "at db");
    assert_judged(&judgement, CHECKUP_OK, "PostgreSQL 13.0 at db", "");
    judgement = checkup_judge_version(120022, "at db");
    assert_judged(&judgement, CHECKUP_WRONG, "PostgreSQL 12.22", "upgrade PostgreSQL to 13");
    assert_false(checkup_judge_encoding("UTF8", &judgement));
    assert_true(checkup_judge_encoding("LATIN1", &judgement));
    assert_judged(&judgement, CHECKUP_WRONG, "encoding is LATIN1", "ENCODING 'UTF8'");

    static const struct {
        struct link_seen seen;
        enum checkup_verdict verdict;
        const char *sentence, *remedy;
    } links[] = {
        {{"db", false, "TLSv1.3", true}, CHECKUP_OK, "(TLSv1.3), the server's certificate and name", ""},
        {{"db", false, "TLSv1.3", false}, CHECKUP_NOTE, "certificate is not verified", "sslmode=verify-full"},
        {{"/run", true, "TLSv1.3", false}, CHECKUP_OK, "is not verified", ""},
        {{"/run", true, NULL, false}, CHECKUP_OK, "stays on this host", ""},
        {{"db", false, NULL, false}, CHECKUP_NOTE, "to db is not encrypted", "sslmode=verify-full"},
    };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        judgement = checkup_judge_link(&links[i].seen);
        assert_judged(&judgement, links[i].verdict, links[i].sentence, links[i].remedy);
    }
}

static void
the_schemas_owner_is_judged(void **state)
{
    (void)state;
    const struct {
        struct owner_seen seen;
        enum checkup_verdict verdict;
        const char *sentence, *remedy;
    } owners[] = {
        {{"redrive_owner", NULL, false, "public.dlq_events", "app", false}, CHECKUP_OK, "has no login", ""},
        {{"app", NULL, true, "public.dlq_events", "app", false}, CHECKUP_NOTE, "may log in", "--owner"},
        {{"postgres", "is a superuser", true, "public.dlq_events", "app", false},
         CHECKUP_WRONG,
         "belongs to postgres, who is a superuser, and a trigger on public.dlq_events would give such rights "
         "to its owner, app",
         "redrive migrate --owner redrive_owner"},
        {{"keeper", "may create roles", false, "public.dlq_events", "app", false},
         CHECKUP_WRONG,
         "who may create roles",
         "--owner"},
        {{"postgres", "is a superuser", true, "public.dlq_events", "postgres", true},
         CHECKUP_NOTE,
         "may log in",
         "--owner"},
        {{"postgres", "is a superuser", true, "public.dlq_events", "root", true},
         CHECKUP_NOTE,
         "may log in",
         "--owner"},
    };
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        struct judgement judgement = checkup_judge_owner(&owners[i].seen);
        assert_judged(&judgement, owners[i].verdict, owners[i].sentence, owners[i].remedy);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(brokers_are_judged, begin),
        cmocka_unit_test_setup(topics_are_judged, begin),
        cmocka_unit_test_setup(copies_are_judged, begin),
        cmocka_unit_test_setup(queues_are_judged, begin),
        cmocka_unit_test_setup(settings_that_may_not_be_read_are_noted, begin),
        cmocka_unit_test_setup(each_missing_right_is_a_finding, begin),
        cmocka_unit_test_setup(targets_are_judged, begin),
        cmocka_unit_test_setup(rights_are_for_the_right_one, begin),
        cmocka_unit_test_setup(clocks_are_judged, begin),
        cmocka_unit_test_setup(a_slow_answer_accuses_nobody, begin),
        cmocka_unit_test_setup(the_servers_clock_is_judged, begin),
        cmocka_unit_test_setup(durability_is_judged, begin),
        cmocka_unit_test_setup(versions_encoding_and_link_are_judged, begin),
        cmocka_unit_test(the_schemas_owner_is_judged),
    };
    return cmocka_run_group_tests_name("doctor_rules", tests, NULL, NULL);
}
