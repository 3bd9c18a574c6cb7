/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - see the header.
 */
#include "store/routes.h"

#include "store/access/audit_calls.h"
#include "store/access/service_calls.h"
#include "store/access/usage_calls.h"
#include "store/background/chunk_calls.h"
#include "store/background/range_delete.h"
#include "store/blobs/blob_calls.h"
#include "store/blobs/blob_put.h"
#include "store/blobs/blob_read.h"
#include "store/catalogue/table_calls.h"
#include "store/dead_letters/dead_letter_calls.h"
#include "store/feed/feed_read.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/lookup_read.h"
#include "store/indexes/replacement_calls.h"
#include "store/intents/queue_calls.h"
#include "store/jobs/job_calls.h"
#include "store/jobs/report_calls.h"
#include "store/queries/page_read.h"
#include "store/redrive_preview.h"
#include "store/sampling/advice_calls.h"
#include "store/sampling/sample_calls.h"
#include "store/transactions/transaction_calls.h"

static void redrive(struct session *session, struct operation *operation)
{
    if (operation->in.dead_letters.dry_run)
        redrive_preview_run(session, operation);
    else
        dead_letter_calls_redrive(session, operation);
}

static const struct route routes[] = {
    [OPERATION_GET] = { LANE_READ },
    [OPERATION_WRITE] = { LANE_WRITE },
    [OPERATION_PAGE] = { LANE_PAGE, page_read_run },
    [OPERATION_COUNT] = { LANE_PAGE, page_read_count },
    [OPERATION_EXPLAIN] = { LANE_PAGE, page_read_explain },
    [OPERATION_CHANGES] = { LANE_PAGE, feed_read_run },
    [OPERATION_CHANGES_WAIT] = { LANE_NONE },
    [OPERATION_LOOKUP] = { LANE_PAGE, lookup_read_run },
    [OPERATION_TABLE_CREATE] = { LANE_CHANGE, table_calls_create },
    [OPERATION_TABLE_GET] = { LANE_PAGE, table_calls_get },
    [OPERATION_TABLE_LIST] = { LANE_PAGE, table_calls_list },
    [OPERATION_TABLE_UPDATE] = { LANE_CHANGE, table_calls_update },
    [OPERATION_TABLE_DELETE] = { LANE_CHANGE, table_calls_delete },
    [OPERATION_INDEX_CREATE] = { LANE_CHANGE, index_calls_create },
    [OPERATION_INDEX_GET] = { LANE_BULK, index_calls_get },
    [OPERATION_INDEX_LIST] = { LANE_BULK, index_calls_list },
    [OPERATION_INDEX_VERIFY] = { LANE_PAGE, report_calls_start },
    [OPERATION_INDEX_REPORT] = { LANE_PAGE, report_calls_get },
    [OPERATION_INDEX_UPDATE] = { LANE_CHANGE, index_calls_update },
    [OPERATION_INDEX_DROP] = { LANE_CHANGE, index_calls_drop },
    [OPERATION_INDEX_REPLACE] = { LANE_CHANGE, replacement_calls_create },
    [OPERATION_INDEX_REPLACE_CANCEL] = { LANE_CHANGE, replacement_calls_cancel },
    [OPERATION_RANGE_DELETE] = { LANE_PAGE, range_delete_start },
    [OPERATION_JOB_GET] = { LANE_PAGE, job_calls_get },
    [OPERATION_JOB_LIST] = { LANE_PAGE, job_calls_list },
    [OPERATION_JOB_CONTROL] = { LANE_PAGE, job_calls_control },
    [OPERATION_JOB_WAIT] = { LANE_NONE },
    [OPERATION_TRANSACTION_SUBMIT] = { LANE_PAGE, .run_observed = transaction_calls_submit },
    [OPERATION_TRANSACTION_GET] = { LANE_PAGE, transaction_calls_get },
    [OPERATION_TRANSACTION_LIST] = { LANE_PAGE, transaction_calls_list },
    [OPERATION_TRANSACTION_WAIT] = { LANE_NONE },
    [OPERATION_TRANSACTION_CANCEL] = { LANE_PAGE, transaction_calls_cancel },
    [OPERATION_DEAD_LETTERS_LIST] = { LANE_PAGE, dead_letter_calls_list },
    [OPERATION_DEAD_LETTERS_REDRIVE] = { LANE_PAGE, redrive },
    [OPERATION_DEAD_LETTERS_DISCARD] = { LANE_PAGE, dead_letter_calls_discard },
    [OPERATION_QUEUES_LIST] = { LANE_PAGE, queue_calls_list },
    [OPERATION_QUEUE_CONTROL] = { LANE_PAGE, queue_calls_control },
    [OPERATION_BACKLOG] = { LANE_PAGE, queue_calls_backlog },
    [OPERATION_SAMPLES_STORE] = { LANE_PAGE, sample_calls_store },
    [OPERATION_HOT_PARTITIONS_LIST] = { LANE_PAGE, sample_calls_list_hot },
    [OPERATION_INDEX_ADVISE] = { LANE_PAGE, advice_calls_make },
    [OPERATION_AUDIT_STORE] = { LANE_PAGE, audit_calls_store },
    [OPERATION_AUDIT_LIST] = { LANE_PAGE, audit_calls_list },
    [OPERATION_SERVICE_PROPERTIES_GET] = { LANE_PAGE, service_calls_get },
    [OPERATION_SERVICE_PROPERTIES_SET] = { LANE_CHANGE, service_calls_set },
    [OPERATION_USAGE_GET] = { LANE_PAGE, usage_calls_get },
    [OPERATION_BLOB_BEGIN] = { LANE_BULK, blob_put_begin },
    [OPERATION_BLOB_APPEND] = { LANE_BLOB, blob_put_append },
    [OPERATION_BLOB_COMMIT] = { LANE_BLOB, blob_put_commit },
    [OPERATION_BLOB_GET] = { LANE_PAGE, blob_calls_get },
    [OPERATION_BLOB_READ] = { LANE_BLOB, blob_read_chunk },
    [OPERATION_BLOB_DELETE] = { LANE_PAGE, blob_calls_delete },
    [OPERATION_BLOB_LIST] = { LANE_PAGE, blob_calls_list },
    [OPERATION_BLOB_UPLOAD_GET] = { LANE_PAGE, blob_put_get_upload },
    [OPERATION_CHUNK_STORES_LIST] = { LANE_PAGE, chunk_calls_list },
    [OPERATION_CHUNKS_MOVE] = { LANE_PAGE, chunk_calls_move },
};

_Static_assert(ARRAY_LEN(routes) == OPERATION_KIND_COUNT, "a row for the last kind");

const struct route *routes_find(enum operation_kind kind)
{
    return &routes[kind];
}
