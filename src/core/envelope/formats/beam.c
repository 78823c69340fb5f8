// Apache Beam, BadRecord. Class org.apache.beam.sdk.errorhandling.BadRecord: record with
// humanReadableJsonRecord, encodedRecord (bytes of a coder of Beam, not of Kafka) and coder; failure with
// exception, exceptionStacktrace and description. Rows spell the names with underscores.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"failure.exception", FACT_ERROR_MESSAGE, AS_TEXT},
    {"failure.exceptionStacktrace", FACT_STACK, AS_TEXT},
    {"failure.exception_stacktrace", FACT_STACK, AS_TEXT},
    {"failure.description", FACT_NONE, AS_TEXT},
    {"record.coder", FACT_NONE, AS_TEXT},
    {0},
};
static const char *const shape[] = {"record", "failure", "failure.exception", NULL};
static const struct envelope_step steps[] = {{CHANGE_UNWRAP, "$.record.humanReadableJsonRecord", NULL},
                                             {CHANGE_UNWRAP, "$.record.human_readable_json_record", NULL},
                                             {0}};

const struct envelope_format envelope_beam = {
    .name = "beam",
    .title = "Apache Beam, BadRecord",
    .members = members,
    .shape = shape,
    .steps = steps,
    .inexact = "it is the record as Beam printed it, not the bytes of Kafka",
};
