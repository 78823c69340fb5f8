// contract: the table of dead letters as consumers know it, and as nobody may change it.
#ifndef REDRIVE_TESTS_LIB_CONTRACT_H
#define REDRIVE_TESTS_LIB_CONTRACT_H

#define CONTRACT_TABLE                                                                                       \
    "CREATE TABLE public.dlq_events ("                                                                       \
    " id bigserial PRIMARY KEY,"                                                                             \
    " event_id varchar(50) NOT NULL,"                                                                        \
    " event_type varchar(50) NOT NULL,"                                                                      \
    " source_table varchar(50),"                                                                             \
    " source_id varchar(50),"                                                                                \
    " event_payload jsonb NOT NULL,"                                                                         \
    " error_message text NOT NULL,"                                                                          \
    " stack_trace text,"                                                                                     \
    " retry_count integer DEFAULT 0,"                                                                        \
    " max_retries integer DEFAULT 3,"                                                                        \
    " status varchar(20) DEFAULT 'PENDING',"                                                                 \
    " created_at timestamp DEFAULT current_timestamp,"                                                       \
    " last_retry_at timestamp,"                                                                              \
    " resolved_at timestamp,"                                                                                \
    " resolved_by varchar(50),"                                                                              \
    " kafka_offset bigint,"                                                                                  \
    " kafka_partition integer,"                                                                              \
    " kafka_topic varchar(100),"                                                                             \
    " correlation_id uuid);"

#define CONTRACT_INDEXES                                                                                     \
    "CREATE INDEX ON public.dlq_events (status);"                                                            \
    "CREATE INDEX ON public.dlq_events (created_at);"                                                        \
    "CREATE INDEX ON public.dlq_events (source_id);"                                                         \
    "CREATE INDEX ON public.dlq_events (event_type);"

#endif
