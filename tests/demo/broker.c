// broker [TOPIC…]: librdkafka's mock cluster in a process of its own, with the demo's topics and these, until
// SIGTERM. Prints BROKERS=… when it is there.
//
// It speaks the protocol, transactions included, but promises nothing: what it holds is in memory, and an
// abort does not hide records. So redrive's probe calls it "at least once". It cannot be asked to make a
// topic: it begins with redrive's own.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include "broker/marker.h"
#include "broker/probe/probe.h"
#include "tests/demo/lib/failures.h"

enum { PARTITIONS = 4 };

int
main(int argc, char **argv)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    // Before librdkafka's threads, which inherit the mask: sigwait must be the only one to get them.
    sigprocmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);

    char reason[512];
    rd_kafka_t *host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), reason, sizeof reason);
    rd_kafka_mock_cluster_t *cluster = host ? rd_kafka_mock_cluster_new(host, 1) : NULL;
    if (!cluster) {
        fprintf(stderr, "broker: %s\n", host ? "no mock cluster" : reason);
        return 1;
    }
    for (size_t i = 0; i < demo_topic_count; i++) {
        rd_kafka_mock_topic_create(cluster, demo_topics[i].name, demo_topics[i].partitions, 1);
        if (demo_topics[i].letters)
            rd_kafka_mock_topic_create(cluster, demo_topics[i].letters, 1, 1);
    }
    rd_kafka_mock_topic_create(cluster, MARKER_TOPIC, 2, 1);
    rd_kafka_mock_topic_create(cluster, PROBE_TOPIC, 1, 1);
    for (int i = 1; i < argc; i++)
        rd_kafka_mock_topic_create(cluster, argv[i], PARTITIONS, 1);
    printf("BROKERS=%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);

    int signal;
    sigwait(&signals, &signal);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(host);
    return 0;
}
