// writer: the thread of the backend that asks for and steers operations, so that freezing a million events
// does not stop the reader.
#ifndef REDRIVE_BACKEND_WRITER_H
#define REDRIVE_BACKEND_WRITER_H

#include "backend/session.h"
#include "base/uuid.h"
#include "store/operations/operations.h"

struct writer {
    struct session session;
    struct {                       // preview.c says who may touch these when
        _Atomic uint64_t running;  // number of the preview that runs; 0: none
        _Atomic uint64_t unwanted; // nobody waits for this one, or any before it
        atomic_bool is_interrupting;
    } preview;
    struct {
        char screen[UUID_SIZE];
        char place[64]; // what the screen shows; "": not said yet, and nothing is told
        bool has_group;
        uint64_t group;
        bool has_changed; // since it was told
        bool is_refused;  // this session may not tell
        int64_t told_at;  // clock_mono
    } presence;
};

// preview.c
void writer_preview_request(struct writer *writer, const struct request *request);
// For the reader's thread: previews up to this one are not waited for any more. Returns when none of them
// runs.
void writer_preview_end(struct writer *writer, uint64_t last);

// newer.c
void writer_newer_request(struct writer *writer, const struct request *request);

// steering.c
void writer_steer_request(struct writer *writer, const struct request *request);
void writer_decide_request(struct writer *writer, const struct request *request);
void writer_confirm_request(struct writer *writer, const struct request *request);
void writer_wake_worker(struct writer *writer);    // starts a worker where none is alive
void writer_resume_waiting(struct writer *writer); // starts a worker where operations wait and none is alive

// stop.c
void writer_stop_request(struct writer *writer, const struct request *request);
void writer_copy_request(struct writer *writer, const struct request *request);
void writer_adopt_count_request(struct writer *writer, const struct request *request);
void writer_adopt_request(struct writer *writer, const struct request *request);

// recipe.c
void writer_recipe_request(struct writer *writer, const struct request *request);

// category.c
void writer_category_request(struct writer *writer, const struct request *request);

// people.c
void writer_care_request(struct writer *writer, const struct request *request);
void writer_presence_request(struct writer *writer, const struct request *request);
void writer_presence_step(struct writer *writer); // tells that this screen is open, where that is due

// monitor.c
void writer_mark_request(struct writer *writer, const struct request *request);
void writer_alert_request(struct writer *writer, const struct request *request);

// correct.c
void writer_correct_request(struct writer *writer, const struct request *request);
void writer_record_request(struct writer *writer, const struct request *request);

#endif
