// demo_broker: the broker of `make demo` (librdkafka's mock cluster), which knows transactions and promises
// nothing.
#ifndef REDRIVE_TESTS_BROKER_DEMO_BROKER_H
#define REDRIVE_TESTS_BROKER_DEMO_BROKER_H

// Starts it with these further topics, which nobody can make later; ends with NULL. It ends with this
// process.
void demo_broker_start(const char *const topics[]);
void demo_broker_stop(void);
// Its address, HOST:PORT.
const char *demo_broker(void);

#endif
