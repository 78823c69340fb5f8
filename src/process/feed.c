#include "process/feed.h"

#include <sys/wait.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/child.h"

enum { NAP_US = 10000 };

// What it writes is of no use, but it may not wait for somebody to read it.
static void
drain(struct child *child)
{
    char away[4096];
    size_t count;
    while (child_read(child, away, sizeof away, &count) == CHILD_DONE)
        ;
    child_listen(child);
}

// Until both of its outputs are closed, as they are when it has ended.
static bool
feed_through(const struct feed *feed, struct child *child, int64_t deadline)
{
    struct bytes rest = feed->input;
    size_t count;
    while (clock_mono() < deadline && (!feed->is_wanted || feed->is_wanted(feed->context))) {
        enum child_transfer transfer = child_write(child, rest, &count);
        rest = bytes_slice(rest, count, rest.len);
        if (transfer == CHILD_GONE || rest.len == 0)
            child_finish(child);
        drain(child);
        if (child->out < 0 && child->err < 0)
            return true;
        if (transfer != CHILD_DONE || rest.len == 0)
            clock_sleep(NAP_US);
    }
    return false;
}

bool
feed_run(const struct feed *feed, struct err *err)
{
    struct child child;
    int64_t deadline = clock_mono() + feed->time;
    if (!child_start(&child, &(struct child_program){.path = feed->argv[0], .argv = feed->argv}, err))
        return false;
    bool is_through = feed_through(feed, &child, deadline);
    child_end(&child, is_through ? deadline : 0);
    if (child.is_known && WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0)
        return true;
    if (!is_through && clock_mono() < deadline)
        return err_set(err, ERR_CANCELLED, "%s was given up", feed->argv[0]);
    struct strbuf how = {0};
    child_describe(&child, &how);
    err_set(err, ERR_DATA, "%s %s%s", feed->argv[0], strbuf_text(&how),
            is_through ? "" : "; it did not end in time");
    strbuf_release(&how);
    return false;
}
