// leaders: the brokers that lead partitions, as far as the reader of original records has met them. A
// connection to a distant broker takes many round trips: its name, TCP, TLS, versions, login. They are waited
// for once per broker, so that a partition which does not answer is told from a broker that is not there yet.
#ifndef REDRIVE_BROKER_LEADERS_H
#define REDRIVE_BROKER_LEADERS_H

#include <stdbool.h>
#include <stdint.h>
#include "broker/broker.h"

#define LEADERS_ANY (-1) // whichever broker answers, as for the question which one leads a partition
#define LEADERS_LEFT_ALONE (60 * INT64_C(1000000)) // µs, after a broker or a partition did not answer

// One that did not become reachable a moment ago: nothing is asked of it.
bool leaders_are_left_alone(struct broker *broker, int32_t id);
// Until when (clock_mono) an answer of this broker is waited for: three seconds and twice what it took
// last where it has answered lately, else ten seconds since it was asked first, and three in any case.
int64_t leaders_wait(struct broker *broker, int32_t id);
// It has answered, after `took` µs.
void leaders_note_answer(struct broker *broker, int32_t id, int64_t took);
// It has not, within leaders_wait. True: its connection works, so it is the partition that does not answer.
bool leaders_note_silence(struct broker *broker, int32_t id);

#endif
