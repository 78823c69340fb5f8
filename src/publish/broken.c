#include "publish/broken.h"

#ifdef REDRIVE_KILL_POINTS

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const struct {
    const char *name, *words;
} rules[BROKEN_COUNT] = {
    [BROKEN_NOTHING] = {"nothing", "the protocol as it ships"},
    [BROKEN_FINISH_FIRST] = {"finish-first", "chunks are finished before the marker is committed"},
    [BROKEN_NO_FENCE] = {"no-fence", "after init the fence in PostgreSQL is not compared"},
    [BROKEN_UNSTABLE] = {"unstable-read", "the marker is read without require-stable"},
    [BROKEN_READ_EARLY] = {"early-read", "the marker is read before the fence"},
    [BROKEN_LEASE_ALONE] = {"lease-alone", "claims are released by the age of the lease"},
    [BROKEN_SAME_EPOCH] = {"same-epoch", "after doubt the same epoch is used again"},
    [BROKEN_NO_NONCE] = {"no-nonce", "a marker is believed without the write before it"},
    [BROKEN_NO_TURN] = {"no-turn", "workers start without a turn"},
    [BROKEN_TURN_ALONE] = {"turn-alone", "a turn does not fence the slots"},
    [BROKEN_TURN_EARLY] = {"turn-early", "a publisher reads the turn before it fences its slot"},
    [BROKEN_NO_ENDS] = {"no-ends", "where the topics end is not noted before the first record"},
    [BROKEN_TURN_UNREAD] = {"turn-unread", "a publisher does not read the turn"},
};

static enum broken chosen = BROKEN_COUNT; // BROKEN_COUNT: the environment was not asked yet

static enum broken
rule_named(const char *name)
{
    for (enum broken rule = BROKEN_NOTHING; rule < BROKEN_COUNT; rule++)
        if (strcmp(rules[rule].name, name) == 0)
            return rule;
    die("REDRIVE_BROKEN=%s: there is no such rule", name);
}

bool
broken(enum broken rule)
{
    if (chosen == BROKEN_COUNT) {
        const char *wish = getenv("REDRIVE_BROKEN");
        chosen = wish && *wish ? rule_named(wish) : BROKEN_NOTHING;
    }
    return chosen == rule;
}

void
broken_choose(enum broken rule)
{
    chosen = rule;
}

const char *
broken_name(enum broken rule)
{
    return rules[rule].name;
}

const char *
broken_words(enum broken rule)
{
    return rules[rule].words;
}

#else

// An empty file is none in ISO C.
typedef int broken_rules_are_not_compiled;

#endif
