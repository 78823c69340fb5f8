// forecast: a forecast as somebody makes it who has no Kafka and no settings of its own.
#ifndef REDRIVE_TESTS_FORECAST_H
#define REDRIVE_TESTS_FORECAST_H

#include "publish/forecast.h"

static inline bool
look_ahead(struct store *store, const struct preview_query *query, struct arena *arena,
           struct preview *preview, struct err *err)
{
    const struct plan_settings plan = {0};
    struct forecast forecast = {.store = store, .plan = &plan};
    bool ok = forecast_make(&forecast, query, arena, preview, err);
    forecast_release(&forecast);
    return ok;
}

#endif
