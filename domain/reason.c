/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason.c - the table of reasons. One row says everything about a reason, so that the code on the
 * wire, its status and the page of errors cannot drift apart.
 */
#include "domain/reason.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static const struct reason_info reasons[] = {
    [REASON_INVALID_INPUT] = { "INVALID_INPUT", STATUS_INVALID,
        "A part of the request is malformed, contradictory or not permitted here.",
        "Read the message: it names the part, where it goes wrong and what is allowed." },
    [REASON_INVALID_RESOURCE_NAME] = { "INVALID_RESOURCE_NAME", STATUS_INVALID,
        "The name of a table or index holds a character it may not hold, or begins with a digit.",
        "Use letters A-Z and digits only, beginning with a letter." },
    [REASON_OUT_OF_RANGE_INPUT] = { "OUT_OF_RANGE_INPUT", STATUS_OUT_OF_RANGE,
        "A value lies outside its range: a character that keys may not hold, a DateTime outside the years "
        "1601 to 9999, or the name of a table or index shorter than 3 or longer than 63 characters.",
        "Escape the characters / \\ # ? and controls in keys; keep dates and names in their range." },
    [REASON_PROPERTIES_NEED_VALUE] = { "PROPERTIES_NEED_VALUE", STATUS_INVALID,
        "A part that must be given, such as the entity or its key, is missing.",
        "Set the missing field. A partition or row key that is not set is the empty string, which is a legal "
        "key." },
    [REASON_PROPERTY_NAME_INVALID] = { "PROPERTY_NAME_INVALID", STATUS_INVALID,
        "A property's name is empty, holds a character it may not hold, or is PartitionKey, RowKey or "
        "Timestamp.",
        "Begin with a letter or underscore, go on with letters, digits and underscores." },
    [REASON_PROPERTY_NAME_TOO_LONG] = { "PROPERTY_NAME_TOO_LONG", STATUS_INVALID,
        "A property's name is longer than 255 UTF-16 code units.", "Shorten the name." },
    [REASON_PROPERTY_VALUE_TOO_LARGE] = { "PROPERTY_VALUE_TOO_LARGE", STATUS_INVALID,
        "A string is longer than 32,768 UTF-16 code units, a binary longer than 65,536 bytes, or a key "
        "longer than 512 UTF-16 code units or 1,024 bytes of UTF-8.",
        "Split the value over several properties or entities, or shorten the key." },
    [REASON_TOO_MANY_PROPERTIES] = { "TOO_MANY_PROPERTIES", STATUS_INVALID,
        "The entity has, or would have after the merge, more than 252 properties, or in a table with wide "
        "entities more than 100,000.",
        "Spread the properties over several entities, or use a table with wide entities." },
    [REASON_DUPLICATE_PROPERTIES_SPECIFIED] = { "DUPLICATE_PROPERTIES_SPECIFIED", STATUS_INVALID,
        "One property is named twice in one entity.", "Send every property once." },
    [REASON_ENTITY_TOO_LARGE] = { "ENTITY_TOO_LARGE", STATUS_INVALID,
        "The names and values of the entity, after the merge if it is one, exceed 1 MiB, or in a table with "
        "wide entities 16 MiB as they are stored. A read: the wide entity has more than 3 MiB.",
        "Spread the properties over several entities, or keep the bulk elsewhere. A read: name the "
        "properties that are needed in select, or scan with in_parts." },
    [REASON_REQUEST_BODY_TOO_LARGE] = { "REQUEST_BODY_TOO_LARGE", STATUS_LIMIT,
        "The request is larger than 4 MiB.", "Send it in parts; do not repeat it as it is." },
    [REASON_INVALID_DUPLICATE_ROW] = { "INVALID_DUPLICATE_ROW", STATUS_INVALID,
        "Two operations of one batch name the same entity.", "Keep one operation per entity." },
    [REASON_COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS] = { "COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_"
                                                               "PARTITIONS",
        STATUS_INVALID, "The operations of one batch name different partitions.",
        "Send one batch per partition, or submit a transaction: it may span partitions and tables." },
    [REASON_NOT_IMPLEMENTED] = { "NOT_IMPLEMENTED", STATUS_UNIMPLEMENTED,
        "The request is well formed, but this version does not honour a part of it.",
        "Read the message for the part; the documentation lists what is supported." },
    [REASON_TABLE_ALREADY_EXISTS] = { "TABLE_ALREADY_EXISTS", STATUS_EXISTS,
        "There is a table or index of this name; names are compared without case.",
        "Use the table that is there, or choose another name." },
    [REASON_TABLE_NOT_FOUND] = { "TABLE_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no table or index of this name in the account.",
        "Create the table first, and check the spelling and the account." },
    [REASON_RESOURCE_NOT_FOUND] = { "RESOURCE_NOT_FOUND", STATUS_NOT_FOUND,
        "The entity, or the table to delete, does not exist.",
        "Check the keys; insert it if it should be there." },
    [REASON_ENTITY_ALREADY_EXISTS] = { "ENTITY_ALREADY_EXISTS", STATUS_EXISTS,
        "An insert found an entity with the same keys.",
        "Replace, merge or upsert it, or choose other keys. After a lost answer it may be your own insert." },
    [REASON_UPDATE_CONDITION_NOT_SATISFIED] = { "UPDATE_CONDITION_NOT_SATISFIED", STATUS_STALE,
        "The precondition does not hold: the entity has changed since the ETag in if_match was read, or does "
        "not match the condition (`clause` is the part that fails).",
        "Read the entity again, or take it from the details, and decide anew on what is there now." },
    [REASON_PAGE_TOKEN_INVALID] = { "PAGE_TOKEN_INVALID", STATUS_INVALID,
        "The page token is damaged, or belongs to another query, another table or an earlier table of "
        "this name.",
        "Send the token with the query it came from, or begin again without one." },
    [REASON_PLAN_TOO_EXPENSIVE] = { "PLAN_TOO_EXPENSIVE", STATUS_PRECONDITION,
        "The query would take a costlier access path than its max_plan, or the table's default_max_plan, "
        "allows; or it is to give the pages of a list index in descending order, and a value has too many "
        "members.",
        "Narrow the filter to a partition and a range of row keys, look up in an index (ExplainQuery says "
        "what "
        "would help), set max_plan to the path that is named, or read the list in ascending order." },
    [REASON_INDEX_NOT_FOUND] = { "INDEX_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no index of this name in the account.", "Check the spelling; list the indexes." },
    [REASON_INDEX_EXISTS] = { "INDEX_EXISTS", STATUS_EXISTS, "There is an index of this name already.",
        "Use it, drop it first, or choose another name." },
    [REASON_INDEX_NOT_READY] = { "INDEX_NOT_READY", STATUS_PRECONDITION,
        "The index is still being built or validated, or is being dropped; or it is to be replaced while it "
        "is being built or "
        "replaced.",
        "Wait for its operation to finish." },
    [REASON_INDEX_OWNED] = { "INDEX_OWNED", STATUS_PRECONDITION,
        "The table holds the entries of an index, and only the index writes them.",
        "Write to the indexed table; drop the index to remove its entries." },
    [REASON_INDEX_KEY_VIOLATION] = { "INDEX_KEY_VIOLATION", STATUS_INVALID,
        "The entity cannot have its entry in an index of the table that refuses such entities (on_violation "
        "REJECT).",
        "Give the property that the message names a value the index can hold, or leave it out." },
    [REASON_DATABASE_DISTRIBUTED] = { "DATABASE_DISTRIBUTED", STATUS_PRECONDITION,
        "The database is distributed over nodes, and a STRONG index in other partitions needs one "
        "PostgreSQL.",
        "Declare the index EVENTUAL and ask look-ups for freshness, or keep its entries in the same "
        "partition." },
    [REASON_UNIQUE_VIOLATION] = { "UNIQUE_VIOLATION", STATUS_EXISTS,
        "Another entity owns the value that this one would have in a unique index of the table.",
        "Read the metadata for the index and its properties; choose another value, or change the other "
        "entity first." },
    [REASON_REQUEST_ID_REUSED] = { "REQUEST_ID_REUSED", STATUS_EXISTS,
        "A write with this request_id and another content, or to an earlier table of this name, was decided "
        "before; "
        "nothing was done.",
        "Use a new id for a new write; repeat a write with exactly the same content." },
    [REASON_TRANSACTION_NOT_FOUND] = { "TRANSACTION_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no transaction of this id, or it ended so long ago that it is no longer kept.",
        "Check the id; submit the transaction if it never was." },
    [REASON_TRANSACTION_ID_REUSED] = { "TRANSACTION_ID_REUSED", STATUS_EXISTS,
        "A transaction of this id with other steps was submitted before.",
        "Use a new id for new steps; repeat a submission with exactly the same steps." },
    [REASON_TRANSACTION_ID_EXPIRED] = { "TRANSACTION_ID_EXPIRED", STATUS_INVALID,
        "The id was made longer ago than finished transactions are kept, so the transaction may have run.",
        "Find out by reading what it would have written; submit under a new id if it did not run." },
    [REASON_TRANSACTION_STARTED] = { "TRANSACTION_STARTED", STATUS_PRECONDITION,
        "A step of the transaction has run, or it has ended: it cannot be cancelled any more.",
        "Let it end, and submit another that undoes what it did." },
    [REASON_STEP_NOT_CONFIGURED] = { "STEP_NOT_CONFIGURED", STATUS_PRECONDITION,
        "The operator has not configured steps of this kind: the message names the setting.",
        "Ask the operator for the setting, or do without such steps." },
    [REASON_FILE_EXISTS] = { "FILE_EXISTS", STATUS_EXISTS,
        "A write_file step has found a file of this name with other content. Shown in the transaction's "
        "timeline and its dead letter.",
        "Choose another name in a new transaction; or move the file away and redrive the dead letter." },
    [REASON_FILE_CHANGED] = { "FILE_CHANGED", STATUS_PRECONDITION,
        "A file that append_file steps write was cut, moved or removed, or another program has written to "
        "it. "
        "Shown in the timeline and the dead letter.",
        "Put the file back as it was and redrive the dead letter, or append to another file." },
    [REASON_FILE_TOO_LARGE] = { "FILE_TOO_LARGE", STATUS_LIMIT,
        "An append_file step would make the file larger than 1 GiB, or the account appends to 10,000 files "
        "already. Shown in the timeline of the transaction, which ends as FAILED.",
        "Append to another file; a day or a month in its name bounds it." },
    [REASON_FILE_PATH_BLOCKED] = { "FILE_PATH_BLOCKED", STATUS_PRECONDITION,
        "A part of a step's path is no folder, or is a symbolic link, or the name is too long for the file "
        "system. Shown in the timeline and the dead letter.",
        "Choose another path; or remove what is in the way and redrive the dead letter." },
    [REASON_FILE_STORAGE_FULL] = { "FILE_STORAGE_FULL", STATUS_LIMIT,
        "The disk of TAVOLA_FILE_ROOT, or a quota on it, is full. Shown in the timeline; the step is tried "
        "again for some hours.",
        "Make room." },
    [REASON_FILE_STORAGE_FAILED] = { "FILE_STORAGE_FAILED", STATUS_INTERNAL,
        "The file system of TAVOLA_FILE_ROOT reports an error, or the directory does not exist or is not "
        "writable. Shown in the timeline; the step is tried again for some hours.",
        "Read the message, and make the directory writable for the workers." },
    [REASON_HTTP_CALL_REFUSED] = { "HTTP_CALL_REFUSED", STATUS_PRECONDITION,
        "The receiver of an http_call step has answered with a redirection or with an error that a repeat "
        "does "
        "not cure (4xx but 408, 425 and 429). Shown in the timeline and the dead letter.",
        "Read the code in the message; mend the receiver and redrive the dead letter, or submit another "
        "transaction." },
    [REASON_HTTP_CALL_FAILED] = { "HTTP_CALL_FAILED", STATUS_INTERNAL,
        "The receiver of an http_call step could not be reached, has not answered in time, or has answered "
        "408, "
        "425, 429 or 5xx. Shown in the timeline; the step is tried again for some hours.",
        "Read the message, and bring the receiver back." },
    [REASON_OPERATION_NOT_FOUND] = { "OPERATION_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no long-running operation of this id, or it ended too long ago.",
        "Check the id; list the operations." },
    [REASON_TOO_MANY_OPERATIONS] = { "TOO_MANY_OPERATIONS", STATUS_LIMIT,
        "100 long-running operations of the account have not ended; nothing was begun.",
        "Wait for some of them, or cancel them; ListOperations has them." },
    [REASON_SNAPSHOT_RUNNING] = { "SNAPSHOT_RUNNING", STATUS_PRECONDITION,
        "A scan of the account holds a snapshot already, or the server holds as many as it may.",
        "Wait until the other scan has ended, or scan without a snapshot." },
    [REASON_SNAPSHOT_ENDED] = { "SNAPSHOT_ENDED", STATUS_TIMEOUT,
        "The scan has held its snapshot for the longest time that the server allows; it cannot be resumed.",
        "Read faster, narrow the filter, or scan without a snapshot; operators: TAVOLA_SNAPSHOT_SECONDS." },
    [REASON_QUOTA_EXCEEDED] = { "QUOTA_EXCEEDED", STATUS_LIMIT,
        "The account has as many tables, indexes, entities or bytes as it may have; nothing was created or "
        "written. Metadata: what, limit, actual.",
        "Delete what is not needed, or ask the operator for a higher quota. Deleted entities and bytes count "
        "until the next count: GetAccountUsage." },
    [REASON_REPORT_NOT_FOUND] = { "REPORT_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no report of this id, it is of another index, or newer ones have taken its place.",
        "Check the id; verify the index again." },
    [REASON_NOT_FRESH_ENOUGH] = { "NOT_FRESH_ENOUGH", STATUS_PRECONDITION,
        "The index did not become as fresh as the read requires before the deadline, or cannot without an "
        "operator: work was given up as a dead letter.",
        "Read the message: use a longer deadline, require less freshness, or ask an operator to look at the "
        "dead letter." },
    [REASON_TOKEN_EXPIRED] = { "TOKEN_EXPIRED", STATUS_PRECONDITION,
        "The consistency token is from before a fail-over or restore of the database, or of a table that is "
        "not the index's source any more.",
        "Read the entity again; it shows the current state. Use tokens of newer writes." },
    [REASON_CHANGE_FEED_OFF] = { "CHANGE_FEED_OFF", STATUS_PRECONDITION, "The table keeps no change feed.",
        "Switch it on with UpdateTable, or `tavola table set NAME --change-feed on`; the feed holds the "
        "changes from then on." },
    [REASON_QUERY_SAMPLING_OFF] = { "QUERY_SAMPLING_OFF", STATUS_PRECONDITION,
        "No shapes of this table's queries are kept.",
        "Set `sample_queries` with UpdateTable, or `tavola table set NAME --sample-queries on`, and ask "
        "again when queries have come." },
    [REASON_RESYNC_REQUIRED] = { "RESYNC_REQUIRED", STATUS_PRECONDITION,
        "The changes after the token are not available: they are older than the retention of the feed, the "
        "feed or the table was replaced in between, or the database has failed over.",
        "Watch without a token, read the whole table after the first message, then apply the changes that "
        "follow." },
    [REASON_OPERATION_NOT_CONTROLLABLE] = { "OPERATION_NOT_CONTROLLABLE", STATUS_PRECONDITION,
        "The operation has ended, or is of a kind that cannot be cancelled because its work must be "
        "finished.",
        "Drop an index instead of cancelling its build; pause or throttle what cannot be cancelled." },
    [REASON_CATALOGUE_CHANGE_BLOCKED] = { "CATALOGUE_CHANGE_BLOCKED", STATUS_UNAVAILABLE,
        "A change of tables or indexes waits until every open write has ended, and one did not end in time; "
        "nothing "
        "was done.",
        "Repeat later; the message names the session that is in the way. Operators: end it "
        "(pg_terminate_backend)." },
    [REASON_OUTCOME_UNKNOWN] = { "OUTCOME_UNKNOWN", STATUS_MAYBE_DONE,
        "The connection to the database was lost while it committed: the write may or may not be there.",
        "Read before writing again, or repeat a write that is harmless when done twice." },
    [REASON_NO_AUTHENTICATION_INFORMATION] = { "NO_AUTHENTICATION_INFORMATION", STATUS_UNAUTHENTICATED,
        "The call carries no credentials, which this server requires.",
        "Send the metadata `authorization: Bearer <token>`; docs/security.md says where tokens come from." },
    [REASON_AUTHENTICATION_FAILED] = { "AUTHENTICATION_FAILED", STATUS_UNAUTHENTICATED,
        "The token is damaged, forged, not valid yet or expired, or its account, key or stored policy is "
        "no longer there. The answer does not say which.",
        "Make a new token; compare clocks; `tavola sas explain` shows what a signature says." },
    [REASON_AUTHORIZATION_FAILURE] = { "AUTHORIZATION_FAILURE", STATUS_DENIED,
        "The token is valid, but not for this request: it is for another table or account, the write is "
        "outside its range of keys, or it does not allow the method.",
        "Use a token that covers the request; read the message for what is missing." },
    [REASON_AUTHORIZATION_PERMISSION_MISMATCH] = { "AUTHORIZATION_PERMISSION_MISMATCH", STATUS_DENIED,
        "The shared access signature lacks a permission that the request needs.",
        "Read the message for the letter; ask for a signature that has it. Upserts need both a and u." },
    [REASON_AUTHORIZATION_SOURCE_IP_MISMATCH] = { "AUTHORIZATION_SOURCE_IP_MISMATCH", STATUS_DENIED,
        "The shared access signature may be used from other addresses only.",
        "Call from an address it names; behind a proxy the server sees the proxy's address." },
    [REASON_AUTHORIZATION_PROTOCOL_MISMATCH] = { "AUTHORIZATION_PROTOCOL_MISMATCH", STATUS_DENIED,
        "The shared access signature may be used over TLS only, and this server's address speaks plain text.",
        "Call an address that speaks TLS; a signature that was sent in plain text should be replaced." },
    [REASON_AUTHORIZATION_RESOURCE_TYPE_MISMATCH] = { "AUTHORIZATION_RESOURCE_TYPE_MISMATCH", STATUS_DENIED,
        "The account signature is not for resources of the type that the request is about.",
        "Ask for a signature with the type: s for the service, c for tables, o for entities." },
    [REASON_AUTHORIZATION_SERVICE_MISMATCH] = { "AUTHORIZATION_SERVICE_MISMATCH", STATUS_DENIED,
        "The account signature is not for the table service.", "Ask for a signature for the service t." },
    [REASON_BLOB_NOT_FOUND] = { "BLOB_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no blob of this name in the account.", "Check the name: ListBlobs has those that exist." },
    [REASON_BLOB_ALREADY_EXISTS] = { "BLOB_ALREADY_EXISTS", STATUS_EXISTS,
        "A put with if_absent found a blob of the name.",
        "Put without if_absent to replace it, or choose another name. After a lost answer it may be your own "
        "put: compare the sha256." },
    [REASON_BLOB_TOO_LARGE] = { "BLOB_TOO_LARGE", STATUS_INVALID, "The content has more than 64 GiB.",
        "Divide it into several blobs." },
    [REASON_BLOB_DIGEST_MISMATCH] = { "BLOB_DIGEST_MISMATCH", STATUS_INVALID,
        "The content that arrived does not have the size or the SHA-256 of the header; nothing was put.",
        "Find out where the bytes were changed or cut, and put the blob again." },
    [REASON_BLOB_CHANGED] = { "BLOB_CHANGED", STATUS_STALE,
        "The blob was replaced or deleted while it was being read, and the old content has been removed.",
        "Get the blob again. A content that is being read is kept for up to an hour." },
    [REASON_BLOB_DAMAGED] = { "BLOB_DAMAGED", STATUS_INTERNAL,
        "Stored bytes do not have the SHA-256 with which they were stored, or are missing.",
        "Put the blob again, or restore it from a backup, and have the disks of the database examined." },
    [REASON_BLOB_STORE_UNAVAILABLE] = { "BLOB_STORE_UNAVAILABLE", STATUS_UNAVAILABLE,
        "The store outside of the database that has, or is to take, chunks of the blob cannot be used now, "
        "has no "
        "room, or is not configured; nothing was put.",
        "Try again later; an upload with an upload_id goes on from its stored bytes. The server's log, and "
        "`tavola doctor` with the server's settings, say what is wrong." },
    [REASON_CHUNK_MOVE_REFUSED] = { "CHUNK_MOVE_REFUSED", STATUS_PRECONDITION,
        "Chunks of blobs cannot be moved now: the server is not configured with the store, another move has "
        "not ended, or programs of older versions may run.",
        "Read the message for the case: set the settings of the store on all servers and workers, wait for "
        "the other move or cancel it, or end the upgrade with tavola migrate --refuse-older." },
    [REASON_BLOB_PROPERTIES_REFUSED] = { "BLOB_PROPERTIES_REFUSED", STATUS_PRECONDITION,
        "blob_properties cannot be switched on while programs of older versions may run, nor off while "
        "entities of "
        "the table hold blobs; or an entity with blobs was to be moved to a table without blob_properties.",
        "Read the message for the case: end the upgrade with tavola migrate --refuse-older, delete the "
        "entities with "
        "blobs, or give the other table blob_properties." },
    [REASON_COPY_RULE_CONFLICT] = { "COPY_RULE_CONFLICT", STATUS_PRECONDITION,
        "A copy rule would go in a circle with others, or keep a property that another rule keeps; or a "
        "table "
        "was to be deleted or changed that a copy rule needs as it is. Metadata: index, the rule's index.",
        "Drop the index that is named, or declare another rule." },
    [REASON_UPLOAD_NOT_FOUND] = { "UPLOAD_NOT_FOUND", STATUS_NOT_FOUND,
        "There is no upload of this id: it was never begun, was abandoned for longer than a day, or is "
        "complete and its blob was replaced or deleted.",
        "Begin again, with offset 0 and a new upload_id." },
    [REASON_UPLOAD_OFFSET_MISMATCH] = { "UPLOAD_OFFSET_MISMATCH", STATUS_PRECONDITION,
        "The upload continues at another position than offset, or another stream has continued it. Metadata: "
        "stored.",
        "Ask GetUpload how far the upload has come, and continue there with one stream." },
    [REASON_SERVER_BUSY] = { "SERVER_BUSY", STATUS_LIMIT,
        "The server has more work than it can take on; nothing was done.",
        "Repeat with an exponential, jittered delay." },
    [REASON_SERVER_DRAINING] = { "SERVER_DRAINING", STATUS_UNAVAILABLE,
        "The server is stopping and takes no new work; nothing was done.",
        "Repeat: at once at another server if there is one, else after the delay in RetryInfo." },
    [REASON_STORE_UNAVAILABLE] = { "STORE_UNAVAILABLE", STATUS_UNAVAILABLE,
        "The database cannot be reached, or has no room or an I/O error; nothing was done.",
        "Repeat with an exponential, jittered delay; operators: check the database." },
    [REASON_OPERATION_TIMED_OUT] = { "OPERATION_TIMED_OUT", STATUS_TIMEOUT,
        "The deadline passed before the work could begin or end.",
        "Use a longer deadline; a write may be repeated under the same conditions." },
    [REASON_CANCELLED] = { "CANCELLED", STATUS_CANCELLED, "The caller gave up before the work began.",
        "Nothing: the caller asked for it." },
    [REASON_INTERNAL_ERROR] = { "INTERNAL_ERROR", STATUS_INTERNAL,
        "The server met a condition that it should never meet.",
        "Report it, with the request's id from the server's log." },
};

_Static_assert(ARRAY_LEN(reasons) == REASON_COUNT, "one row per reason");

const struct reason_info *reason_info(enum reason reason)
{
    assert((unsigned)reason < REASON_COUNT);
    return &reasons[reason];
}

const struct reason_info *reason_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(reasons); i++)
        if (strcmp(reasons[i].name, name) == 0)
            return &reasons[i];
    return NULL;
}

enum status reason_set(struct error *err, enum reason reason, const char *format, ...)
{
    const struct reason_info *info = reason_info(reason);
    va_list args;

    va_start(args, format);
    error_set_reason(err, info->status, info->name, format, args);
    va_end(args);
    return info->status;
}
