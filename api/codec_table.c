/*
 * codec_table.c - see the header.
 */
#include "api/codec_table.h"

#include "api/codec_error.h"
#include "domain/limits.h"
#include "domain/reason.h"

Tavola__V1__Table *codec_table_message(const struct table_view *table, struct arena *arena)
{
    Tavola__V1__Table *out = ARENA_NEW(arena, Tavola__V1__Table);

    tavola__v1__table__init(out);
    out->name = codec_bytes(table->name);
    out->created = codec_timestamp(table->created, arena);
    out->index = codec_bytes(table->index);
    return out;
}

static Tavola__V1__Error *run_error(const struct run_view *run, struct arena *arena)
{
    Tavola__V1__Error *out;

    if (run->state != RUN_FAILED && run->error.len == 0)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__Error);
    tavola__v1__error__init(out);
    out->code = codec_status_code(STATUS_INTERNAL);
    out->reason = codec_bytes(str_of(reason_info(REASON_INTERNAL_ERROR)->name));
    out->message = codec_bytes(codec_text(run->error, arena));
    return out;
}

Tavola__V1__Operation *codec_run_message(const struct run_view *run, struct arena *arena)
{
    Tavola__V1__Operation *out = ARENA_NEW(arena, Tavola__V1__Operation);

    tavola__v1__operation__init(out);
    out->operation_id = codec_bytes(run->operation_id);
    out->kind = codec_bytes(run->kind);
    out->target = codec_bytes(run->target);
    out->state = (Tavola__V1__OperationState)run->state;
    out->done = run->done;
    out->total = run->total;
    out->started = codec_timestamp(run->started, arena);
    out->ended = codec_timestamp(run->ended, arena);
    out->error = run_error(run, arena);
    return out;
}

enum status codec_operation_id_check(struct str id, struct error *err)
{
    bool good = id.len > 0 && id.len <= LIMIT_TRANSACTION_ID_BYTES;

    for (size_t i = 0; good && i < id.len; i++)
        good = id.data[i] > ' ' && id.data[i] <= '~';
    if (!good)
        return error_reason(err, REASON_OPERATION_NOT_FOUND, "no operation can have such an id");
    return STATUS_OK;
}
