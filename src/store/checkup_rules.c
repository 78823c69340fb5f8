#include "store/checkup_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct judgement checkup_rules_judge(enum checkup_verdict verdict, const char *remedy,
                                            const char *format, ...) __attribute__((format(printf, 3, 4)));

static struct judgement
checkup_rules_judge(enum checkup_verdict verdict, const char *remedy, const char *format, ...)
{
    struct judgement judgement = {.verdict = verdict};
    va_list args;
    va_start(args, format);
    vsnprintf(judgement.sentence, sizeof judgement.sentence, format, args);
    va_end(args);
    snprintf(judgement.remedy, sizeof judgement.remedy, "%s", verdict == CHECKUP_OK ? "" : remedy);
    return judgement;
}

enum { LEAST_SERVER = 130000 }; // gen_random_uuid() without an extension

struct judgement
checkup_judge_version(int server, const char *where)
{
    return checkup_rules_judge(server >= LEAST_SERVER ? CHECKUP_OK : CHECKUP_WRONG,
                               "upgrade PostgreSQL to 13 or newer", "PostgreSQL %d.%d %s", server / 10000,
                               server % 10000, where);
}

// Settings that must not be off, and the consequence if they are.
static const struct switch_rule {
    const char *name;
    enum checkup_verdict verdict;
    const char *why;
} switches[] = {
    {"fsync", CHECKUP_WRONG, "a crash of the server can lose decisions, and then events can be sent twice"},
    {"full_page_writes", CHECKUP_WRONG,
     "a crash of the server can lose decisions, and then events can be sent twice"},
    // The program's own writing transactions ask for it themselves.
    {"synchronous_commit", CHECKUP_NOTE,
     "what redrive decides is written synchronously all the same; what consumers write is not"},
};

static const struct switch_rule *
find_switch(const char *name)
{
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (strcmp(switches[i].name, name) == 0)
            return &switches[i];
    return NULL;
}

bool
checkup_judge_setting(const char *name, const char *setting, struct judgement *judgement)
{
    if (strcmp(name, "synchronous_standby_names") == 0 && setting[0] == '\0') {
        *judgement =
            checkup_rules_judge(CHECKUP_NOTE,
                                "if failover is automatic, or decisions of the last moments can be lost: "
                                "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (…)'; SELECT "
                                "pg_reload_conf();",
                                "no synchronous standby");
        return true;
    }
    const struct switch_rule *rule = find_switch(name);
    if (!rule)
        return false;
    bool is_off = strcmp(setting, "off") == 0;
    char remedy[120];
    snprintf(remedy, sizeof remedy, "ALTER SYSTEM SET %.40s = on; SELECT pg_reload_conf();", name);
    *judgement = checkup_rules_judge(is_off ? rule->verdict : CHECKUP_OK, remedy, "%s is %s%s%s", name,
                                     setting, is_off ? ": " : "", is_off ? rule->why : "");
    return true;
}

// A chunk in doubt is searched for from ten minutes before it was claimed by the server's clock, among
// records that bear this host's time: half of that is the most that may be between the two.
enum { CLOCK_LIMIT_S = 5, CLOCK_DANGER_S = 300 };

struct judgement
checkup_judge_clock(double ahead_s)
{
    double distance = ahead_s < 0 ? -ahead_s : ahead_s;
    bool is_danger = distance > CLOCK_DANGER_S;
    return checkup_rules_judge(
        is_danger                  ? CHECKUP_WRONG
        : distance > CLOCK_LIMIT_S ? CHECKUP_NOTE
                                   : CHECKUP_OK,
        is_danger ? "set both clocks by NTP (chronyc makestep): a chunk in doubt would be searched "
                    "for at the wrong place, so nothing is published from here"
                  : "set both clocks by NTP (chronyc makestep); decisions use the server's clock, "
                    "only ages on this host are off",
        "the server's clock is %.1f s %s of this host's", distance, ahead_s < 0 ? "behind" : "ahead");
}

bool
checkup_judge_encoding(const char *encoding, struct judgement *judgement)
{
    if (strcmp(encoding, "UTF8") == 0)
        return false;
    *judgement = checkup_rules_judge(
        CHECKUP_WRONG, "move the table to a database with ENCODING 'UTF8'",
        "the database's encoding is %s: texts are converted on the way, so payloads can be "
        "refused or changed",
        encoding);
    return true;
}

struct judgement
checkup_judge_owner(const struct owner_seen *seen)
{
    static const char remedy[] = "redrive migrate --owner redrive_owner gives it to a role without login";
    if (seen->attribute && !seen->is_table_owner_super && strcmp(seen->owner, seen->table_owner) != 0)
        return checkup_rules_judge(CHECKUP_WRONG, remedy,
                                   "the schema redrive belongs to %s, who %s, and a trigger on %s would give "
                                   "such rights to its owner, %s",
                                   seen->owner, seen->attribute, seen->table, seen->table_owner);
    if (seen->may_log_in)
        return checkup_rules_judge(
            CHECKUP_NOTE, remedy,
            "the schema redrive belongs to %s, who may log in: whoever has that login may change the audit",
            seen->owner);
    return checkup_rules_judge(CHECKUP_OK, "", "the schema redrive belongs to %s, who has no login",
                               seen->owner);
}

struct judgement
checkup_judge_link(const struct link_seen *seen)
{
    static const char remedy[] =
        "connect with sslmode=verify-full and sslrootcert=FILE, in the conninfo or the service file";
    if (seen->tls)
        return checkup_rules_judge(seen->is_verified || seen->is_local ? CHECKUP_OK : CHECKUP_NOTE, remedy,
                                   "the connection is encrypted (%s), the server's certificate %s", seen->tls,
                                   seen->is_verified ? "and name are verified" : "is not verified");
    if (seen->is_local)
        return checkup_rules_judge(CHECKUP_OK, "", "the connection stays on this host");
    return checkup_rules_judge(
        CHECKUP_NOTE, remedy, "the connection to %s is not encrypted: what it carries can be read on the way",
        seen->host);
}
