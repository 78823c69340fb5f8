// event_state: what the parts of the view of one event share.
#ifndef REDRIVE_UI_VIEWS_EVENTS_EVENT_STATE_H
#define REDRIVE_UI_VIEWS_EVENTS_EVENT_STATE_H

#include "async/message.h"
#include "core/filter/filter.h"
#include "ui/views/decide/decide.h"
#include "ui/views/events/payload.h"
#include "ui/widgets/pager.h"

struct view_of_event {
    struct decide decide; // first: see decide.h
    int64_t id;
    uint64_t number, why_number;
    struct filter *filter;         // of the list: what it found is marked; NULL: none
    struct pager *pager;           // everything, or all but the payload where there is room beside
    struct pager *payload;         // beside
    const struct link_list *links; // of the settings
    size_t links_at, link_count;   // lines of the pager
    bool is_beside;
    bool by_clock; // its times are told so
    bool has_focus_beside;
    enum payload_form form;
    struct arena arena; // of the reply
    struct event_detail detail;
    bool is_there;
    struct err err; // why it is not
};

// event_sections.c: puts all that is known of the event into the pagers.
void event_build(struct view_of_event *view, struct moments moments);

#endif
