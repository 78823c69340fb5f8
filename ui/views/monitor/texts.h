// texts: every sentence of the monitor. Verb and number first, the remedy last.
#ifndef REDRIVE_UI_VIEWS_MONITOR_TEXTS_H
#define REDRIVE_UI_VIEWS_MONITOR_TEXTS_H

#include <inttypes.h>
#include "ui/views/texts.h"

#define MSG_PANEL_OF "panel %d of %d"
#define MSG_PANELS_OF "panels %d-%d of %d"
#define MSG_SPAN "last %s"
#define MSG_COUNTED "counted %s"
#define MSG_COUNTING_TABLE "counting: this reads every event of the table"
#define MSG_MORE "+%zu more"
#define MSG_NOT_WATCHED "Nothing is known of this time yet; it is written while redrive runs."
#define MSG_NOTHING_PENDING "nothing pending"
#define MSG_HOURS_UNKNOWN "The hours are counted at the moment."
#define MSG_NO_ARRIVALS "none arrived in 7 days"
#define MSG_NONE_RESOLVED "nothing resolved yet"
#define MSG_NO_RESULTS "no reprocess began in this time"
#define MSG_NO_ALERT "No alert fires."
#define MSG_NOT_EVALUATED "No alerts were evaluated yet; run: redrive watch"
#define MSG_EVALUATED_AGO "evaluated %s ago; is redrive watch running?"
#define MSG_FIRING "%zu firing"
#define MSG_NO_WORKER "No worker is alive; run: redrive work"
#define MSG_NO_POLICY "No policy acts by itself."
#define MSG_HALTED "%zu halted"
#define MSG_NO_LETTER_TOPIC "No topic is read; run: redrive ingest"
#define MSG_LETTERS_IN "in %.0f/s, %s left"
#define MSG_LETTERS_LEFT "%s left"
#define MSG_LETTERS_UNKNOWN "not known"
#define MSG_NOT_READ "%s  not read"
#define MSG_LETTER_ALARMS "%s  %" PRId64 " alarm%s"
#define MSG_SHARE_OF "%s of %s"
#define MSG_SHARE_FIGURES "%s  %s"
#define MSG_SHARE_UNKNOWN "It is not known how much is written; run: redrive work"
#define MSG_NONE_RUNS "no operation is running"

#endif
