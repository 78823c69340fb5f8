// private: shared by the files of this folder.
#ifndef REDRIVE_INGEST_PRIVATE_H
#define REDRIVE_INGEST_PRIVATE_H

#include "ingest/ingester.h"
#include "ingest/letter.h"

// Sessions of PostgreSQL that write beside each other, each the letters of its own partitions: one alone
// keeps one processor busy, and waits for it.
enum { WRITERS = 2 };
// At most, but for what is read together: letters of a chunk; bytes of all chunks that are read, and one
// record.
enum { CHUNK_LETTERS = 3000, CHUNK_BYTES = 4 << 20, READ_ROOM = 256 };
enum { KAFKA_MS = 10000 }; // that a question may take

// A partition that is read.
struct part {
    struct ingest_position position; // as PostgreSQL has it once what is being written is
    const struct topic_rule *rule;   // NULL: nothing is said of its topic
    size_t writer;                   // whose chunks have its letters
    // Beyond that, in the chunk:
    int64_t to;          // -1: nothing
    int64_t last_offset; // of its last letter; -1: none
    uint32_t last_crc;
    bool is_checked; // the last record is the one that was taken in; until then it is read once more
    bool is_changed; // it is another one
    int64_t end;     // where Kafka says that it ends; -1: not known
    int64_t target;  // INGEST_ONCE: where that was at first; -1: not known
};

// Letters of one transaction (chunk.c).
struct chunk {
    struct arena arena;
    void **messages; // that the letters are views of
    size_t message_count;
    struct ingest_letter *letters;
    size_t letter_count;
    size_t bytes;
    bool has_moved;   // some partition is beyond its position
    int64_t begun_at; // of clock_mono, with its first message
};

// A chunk on its way into PostgreSQL, while the next one of these partitions is read (writing.c).
struct writing {
    struct lane *lane;
    bool is_under_way, is_over; // given to the lane; taken from it
    struct store *store;
    struct ingester ingester;
    struct chunk chunk;
    struct ingest_stretch *stretches;
    size_t stretch_count;
    struct ingest_arrays *arrays; // of the chunk; NULL: it was expected to be mixed
    struct ingest_arrays *used;   // of one that was written, for their memory; NULL: none
    int mixed_chunks;             // so many from here on are taken for mixed ones
    bool expects_mixed;           // there were some of these when the last chunk was finished
    // What became of it:
    bool is_written;
    struct ingest_taken taken;
    struct err err;
};

// Of clock_mono; 0: not yet.
struct reading_times {
    int64_t claimed_at;
    int64_t moved_at;    // something was read, or reading began
    int64_t alone_since; // all is read but what others hold; 0: it is not
    int64_t tried_again_at;
    int64_t told_at, told_missing, told_trouble; // lines of the log
};

struct reading {
    const struct ingest_settings *settings;
    struct arena *arena; // of the report
    struct ingest_report *report;
    struct store *store;  // of the first writer's thread, while that writes: writing_finish
    struct store *beside; // of the second one; NULL: it has none
    struct tail *tail;
    char cluster[64];
    struct ingester ingester;
    bool is_registered;

    // What is read (partitions.c). The arena has topics and parts, and is new at each assignment.
    struct arena parts_arena;
    struct part *parts; // as starts
    struct tail_start *starts;
    size_t part_count;
    int32_t total;     // partitions that there are
    bool wants_assign; // something is to be looked at again

    struct tail_item *items; // that were read together
    struct arena read_arena; // theirs
    bool is_drained;         // they were all that there was at the moment
    size_t writer_count;
    struct chunk chunks[WRITERS]; // what was read for each and is not being written yet
    struct writing writings[WRITERS];
    struct schema_cache *schemas;

    struct reading_times times;
    int64_t told_letters;
};

bool reading_is_stopped(const struct reading *reading);

// partitions.c: a sign of life every two seconds, and the partitions that are read from now on.
bool partitions_tend(struct reading *reading, struct err *err) MUST_CHECK;
// INGEST_ONCE and INGEST_DRY: is everything read?
bool partitions_are_done(struct reading *reading);
// INGEST_ONCE and INGEST_DRY: false, where a partition that is to be read gives nothing.
bool partitions_tell_unread(const struct reading *reading, struct err *err) MUST_CHECK;
void partitions_release(struct reading *reading);

// chunk.c: reads what there is, for a moment at most. *is_full: something is to be written.
bool chunks_read(struct reading *reading, bool *is_full, struct err *err) MUST_CHECK;
// Is this writer's chunk to be written now? CHUNK_ENOUGH: if the writer is free; otherwise it may grow.
enum chunk_due { CHUNK_SMALL, CHUNK_ENOUGH, CHUNK_DUE };
enum chunk_due chunk_is_due(const struct reading *reading, size_t writer);
// Forgets what was read for this writer and is not being written.
void chunk_drop(struct reading *reading, size_t writer);
void chunks_drop(struct reading *reading);
void chunk_empty(struct chunk *chunk);
void chunk_release(struct chunk *chunk);

// writing.c: begins to write the chunks that are due, each when what its writer is writing is finished.
bool chunks_take(struct reading *reading, struct err *err) MUST_CHECK;
void writing_begin(struct reading *reading);
void writing_end(struct reading *reading);
bool writing_is_under_way(const struct reading *reading);
// Waits until all that is being written is. False: some was not written, and what was read since does not
// follow what PostgreSQL has. A chunk stays until the next one is written or there is none.
bool writing_finish(struct reading *reading, struct err *err) MUST_CHECK;

#endif
