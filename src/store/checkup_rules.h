// checkup_rules: what was read of a PostgreSQL server, judged. Pure, so that every rule can be tried with a
// good value and a bad one; store/checkup reads them.
#ifndef REDRIVE_STORE_CHECKUP_RULES_H
#define REDRIVE_STORE_CHECKUP_RULES_H

#include "store/checkup.h"

struct judgement {
    enum checkup_verdict verdict;
    char sentence[500];
    char remedy[400]; // the statement or command that mends it; "" when nothing is to be done
};

// server_version as libpq tells it: 150004 is 15.4. `where`: host, database and user in words.
struct judgement checkup_judge_version(int server, const char *where);
// One row of pg_settings. False: there is nothing to say about it.
bool checkup_judge_setting(const char *name, const char *setting, struct judgement *judgement);
// How far the server's clock is ahead of this host's, in seconds.
struct judgement checkup_judge_clock(double ahead_s);
// False: it is the right one.
bool checkup_judge_encoding(const char *encoding, struct judgement *judgement);

struct link_seen {
    const char *host;
    bool is_local;    // does not leave this host
    const char *tls;  // its version; NULL: not encrypted
    bool is_verified; // sslmode=verify-full
};
struct judgement checkup_judge_link(const struct link_seen *seen);

#endif
