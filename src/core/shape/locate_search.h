// locate_search: single passes over a payload that look for paths, members, values and positions. Private to
// the room. Offsets that are SIZE_MAX: not found.
#ifndef REDRIVE_CORE_SHAPE_LOCATE_SEARCH_H
#define REDRIVE_CORE_SHAPE_LOCATE_SEARCH_H

#include "core/shape/locate.h"

// What a path of a message leads to.
struct path_search {
    size_t rooted; // the value at the whole path
    // The value whose path ends with the most steps of the message's path; and their number. A payload may be
    // wrapped, and a message may put the name of a method or type before the path.
    size_t ending;
    size_t ending_steps;
    // The value that the first steps lead to, and their number.
    size_t beginning;
    size_t beginning_steps;
    bool is_object; // that value
};
// `is_loose`: in names only letters and digits count, without case: postalCode is postal_code.
void search_path(struct bytes payload, const struct locate_where *where, bool is_loose,
                 struct path_search *search);

struct name_search {
    size_t count;       // of members with that name
    size_t first;       // value of the first
    size_t odd_sibling; // an element without the member, in an array where others have it
    size_t around;      // the innermost object around `position`, if it has no such member
};
// `position` may be SIZE_MAX.
void search_name(struct bytes payload, struct bytes name, bool is_loose, size_t position,
                 struct name_search *search);

// The member of that name of the object at an offset.
size_t search_member(struct bytes payload, size_t object, struct bytes name);
// The first value with this content.
size_t search_value(struct bytes payload, struct bytes content);
// The value at an offset, or the last one before it; of a member its name belongs to it, and
// of the payload the blanks before it.
size_t search_offset(struct bytes payload, size_t offset);
// The offset of a position, which is in the units of *where; SIZE_MAX: behind the end of the payload.
size_t search_position(struct bytes payload, const struct locate_where *where);

#endif
