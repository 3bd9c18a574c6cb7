/* SPDX-License-Identifier: Apache-2.0 */
/* codec_scaler.c - see the header. */
#include "api/codec_scaler.h"

#include "api/codec.h"
#include "base/digits.h"
#include "base/wire.h"
#include "private/externalscaler.pb-c.h"

enum { DEFAULT_TARGET_SECONDS = 5, MAX_TARGET_SECONDS = 86400, US_PER_SECOND = 1000000 };

enum { PAIR_KEY = 1, PAIR_VALUE = 2 };

static enum status read_number(struct str text, int64_t *out, struct error *err)
{
    uint64_t seconds;

    if (!digits_parse_unsigned(text, MAX_TARGET_SECONDS, &seconds) || seconds == 0)
        return error_set(
            err, STATUS_INVALID, "targetLagSeconds is not a number from 1 to %d", MAX_TARGET_SECONDS);
    *out = (int64_t)seconds;
    return STATUS_OK;
}

enum status codec_scaler_read_target(struct str request, struct arena *arena, int64_t *out, struct error *err)
{
    const Externalscaler__ScaledObjectRef *object;
    ProtobufCMessage *message;

    TRY(codec_unpack(&externalscaler__scaled_object_ref__descriptor, request, arena, &message, err));
    object = (const Externalscaler__ScaledObjectRef *)message;
    *out = DEFAULT_TARGET_SECONDS;
    for (size_t i = 0; i < object->n_scaler_metadata; i++) {
        struct str pair = codec_str(object->scaler_metadata[i]);

        if (str_equal(wire_find_bytes(pair, PAIR_KEY), str_of("targetLagSeconds")))
            return read_number(wire_find_bytes(pair, PAIR_VALUE), out, err);
    }
    return STATUS_OK;
}

enum status codec_scaler_check_question(struct str request, struct arena *arena, struct error *err)
{
    ProtobufCMessage *message;

    TRY(codec_unpack(&externalscaler__get_metrics_request__descriptor, request, arena, &message, err));
    if (str_equal(codec_str(((const Externalscaler__GetMetricsRequest *)message)->metric_name),
            str_of(CODEC_SCALER_METRIC)))
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "the only metric is " CODEC_SCALER_METRIC);
}

void codec_scaler_write_active(bool is_active, struct buf *out)
{
    Externalscaler__IsActiveResponse message = EXTERNALSCALER__IS_ACTIVE_RESPONSE__INIT;

    message.result = is_active;
    codec_pack(out, 0, &message.base);
}

void codec_scaler_write_spec(int64_t target_seconds, struct buf *out)
{
    Externalscaler__MetricSpec message = EXTERNALSCALER__METRIC_SPEC__INIT;

    message.metric_name = codec_bytes(str_of(CODEC_SCALER_METRIC));
    message.target_size = target_seconds;
    message.target_size_float = (double)target_seconds;
    codec_pack(out, 1, &message.base);
}

void codec_scaler_write_value(int64_t lag_us, struct buf *out)
{
    Externalscaler__MetricValue message = EXTERNALSCALER__METRIC_VALUE__INIT;

    message.metric_name = codec_bytes(str_of(CODEC_SCALER_METRIC));
    message.metric_value = (lag_us + US_PER_SECOND / 2) / US_PER_SECOND;
    message.metric_value_float = (double)lag_us / US_PER_SECOND;
    codec_pack(out, 1, &message.base);
}
