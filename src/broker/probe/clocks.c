// probe_clocks: the difference between the clocks on which the search for a chunk in doubt relies, for
// `redrive doctor`.
#include "broker/probe/private.h"

#include <math.h>
#include <stdio.h>
#include "base/clock.h"

// A chunk in doubt is searched for from ten minutes before PostgreSQL says it was claimed, in topics whose
// records may bear their broker's time: half of that is the most that may be between the two.
static const double LIMIT_S = 5, DANGER_S = 300;

#define SYNCHRONISE                                                                                          \
    "set the clocks of the brokers, of PostgreSQL's host and of this one by NTP: chronyc makestep"

// The broker's time lies between the two of ours: half way is the best guess, and half of it the most that
// the guess is wrong by.
void
probe_note_clock(struct probe *probe, int32_t broker, int64_t stamped_at, int64_t sent_at,
                 int64_t reported_at)
{
    int64_t give = (reported_at - sent_at) / 2;
    bool was_set = give < 0; // our own, meanwhile
    if (was_set || (probe->clock.is_known && probe->clock.give <= give))
        return;
    probe->clock.is_known = true;
    probe->clock.broker = broker;
    probe->clock.ahead = stamped_at - (sent_at + give);
    probe->clock.give = give;
}

static const char *
direction(double seconds)
{
    return seconds < 0 ? "behind" : "ahead of";
}

static void
probe_clocks_judge(double of_us, double of_store, bool has_store, struct probe *probe)
{
    char beside[80] = "";
    double give = (double)probe->clock.give / US_PER_SECOND; // a slow answer accuses nobody
    double worst = (has_store && fabs(of_store) > fabs(of_us) ? fabs(of_store) : fabs(of_us)) - give;
    if (has_store)
        snprintf(beside, sizeof beside, " and %.1f s %s PostgreSQL's", fabs(of_store), direction(of_store));
    const char *danger =
        worst > DANGER_S ? ": a chunk in doubt would be searched for at the wrong place" : "";
    if (worst > LIMIT_S && worst <= DANGER_S)
        probe_note(probe, SYNCHRONISE, "the clock of broker %d is %.1f s %s this host's%s",
                   (int)probe->clock.broker, fabs(of_us), direction(of_us), beside);
    else
        probe_found(probe, worst <= DANGER_S, SYNCHRONISE,
                    "the clock of broker %d is %.1f s %s this host's%s%s", (int)probe->clock.broker,
                    fabs(of_us), direction(of_us), beside, danger);
}

void
probe_clocks(const struct broker_settings *settings, int64_t postgresql_ahead, struct probe *probe)
{
    char remedy[PROBE_REMEDY];
    bool has_store = postgresql_ahead != TIME_ABSENT;
    if (broker_is_mock(probe->cluster.name)) { // it stamps no record
        probe_note(probe, "", "the brokers' clock is this host's: they are a demo");
        return;
    }
    if (probe->clock.is_known) {
        probe_clocks_judge((double)probe->clock.ahead / US_PER_SECOND,
                           has_store ? (double)(probe->clock.ahead - postgresql_ahead) / US_PER_SECOND : 0,
                           has_store, probe);
        return;
    }
    snprintf(remedy, sizeof remedy,
             "let it tell: kafka-configs.sh --bootstrap-server %.100s --alter --entity-type topics "
             "--entity-name " PROBE_TOPIC " --add-config message.timestamp.type=LogAppendTime",
             settings->brokers ? settings->brokers : "HOST:PORT");
    probe_note(probe, remedy,
               "the brokers' clock is not known: no record was sent to " PROBE_TOPIC
               ", or it leaves the time to the sender");
}
