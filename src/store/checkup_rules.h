// checkup_rules: judges the values that store/checkup reads from a PostgreSQL server. Pure, so that tests can
// try every rule with a good value and a bad one.
#ifndef REDRIVE_STORE_CHECKUP_RULES_H
#define REDRIVE_STORE_CHECKUP_RULES_H

#include "store/checkup.h"

struct judgement {
    enum checkup_verdict verdict;
    char sentence[500];
    char remedy[400]; // the statement or command that solves it; "": nothing to do
};

// server_version as libpq returns it: 150004 is 15.4. `where`: host, database and user in words.
struct judgement checkup_judge_version(int server, const char *where);
// One row of pg_settings. False: no judgement.
bool checkup_judge_setting(const char *name, const char *setting, struct judgement *judgement);
// ahead_s: seconds by which the server's clock is ahead of this host's.
struct judgement checkup_judge_clock(double ahead_s);
// False: the encoding is right.
bool checkup_judge_encoding(const char *encoding, struct judgement *judgement);

// Changes of events run with the rights of the owner of the schema redrive, and so does a trigger on the
// table.
struct owner_seen {
    const char *owner;
    const char *attribute; // the first that it has beyond a plain role, in words; NULL: none
    bool may_log_in;
    const char *table, *table_owner;
    bool is_table_owner_super;
};
struct judgement checkup_judge_owner(const struct owner_seen *seen);

struct link_seen {
    const char *host;
    bool is_local;    // within this host
    const char *tls;  // its version; NULL: not encrypted
    bool is_verified; // sslmode=verify-full
};
struct judgement checkup_judge_link(const struct link_seen *seen);

#endif
