#include "core/topic_share.h"

double
topic_share_percent(const struct topic_share *share)
{
    if (share->covered == 0 || share->written == 0)
        return -1;
    // A consumer may write one message down twice.
    double percent = 100.0 * (double)share->arrived / (double)share->written;
    return percent > 100 ? 100 : percent;
}

struct topic_share
topic_shares_sum(const struct topic_shares *shares)
{
    struct topic_share sum = {0};
    for (size_t i = 0; i < shares->count; i++) {
        const struct topic_share *share = &shares->topics[i];
        if (share->covered == 0)
            continue;
        sum.written += share->written;
        sum.arrived += share->arrived;
        sum.covered = share->covered > sum.covered ? share->covered : sum.covered;
    }
    return sum;
}

size_t
topic_shares_known(const struct topic_shares *shares)
{
    size_t known = 0;
    for (size_t i = 0; i < shares->count; i++)
        known += shares->topics[i].covered > 0;
    return known;
}

void
topic_share_add(const struct topic_share *share, struct strbuf *out)
{
    double percent = topic_share_percent(share);
    if (percent < 0)
        strbuf_add_text(out, "not known");
    else if (percent > 0 && percent < 0.01)
        strbuf_add_text(out, "<0.01%");
    else
        strbuf_printf(out,
                      percent == 0   ? "%.0f%%"
                      : percent < 1  ? "%.2f%%"
                      : percent < 10 ? "%.1f%%"
                                     : "%.0f%%",
                      percent);
}
