/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.h - repairs the differences that a report names.
 */
#ifndef STORE_VERIFICATION_REPAIR_H
#define STORE_VERIFICATION_REPAIR_H

#include "domain/operations/report_operations.h"
#include "store/jobs/job.h"

/*
 * Repair those of these differences that still exist in the job's index: their sources are
 * reconciled with the stored entries instead of the manifests; those of a strong index under the
 * locks of their entities; entries that name no source are deleted. Repeating the call does no
 * harm, and entries that are right are not changed.
 */
MUST_USE enum status repair_differences(
    struct job *job, const struct report_difference *differences, size_t count, struct error *err);

#endif
