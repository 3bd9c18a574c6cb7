/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_report.h - requests to verify and repair indexes, and reports.
 */
#ifndef API_CODEC_REPORT_H
#define API_CODEC_REPORT_H

#include "api/codec_entity.h"
#include "domain/operations/operation.h"
#include "tavola/v1/index_service.pb-c.h"

/* Decode what is to be verified. A range, keys and a report exclude each other. */
MUST_USE enum status codec_report_verify_decode(const Tavola__V1__VerifyIndexRequest *request,
    struct arena *arena, struct operation_verify *out, struct error *err);
MUST_USE enum status codec_report_repair_decode(const Tavola__V1__RepairIndexRequest *request,
    struct arena *arena, struct operation_verify *out, struct error *err);

Tavola__V1__IndexReport *codec_report_message(const struct report_view *report, struct arena *arena);
Tavola__V1__IndexDifference *codec_report_difference_message(
    const struct report_difference *difference, struct arena *arena);

#endif
