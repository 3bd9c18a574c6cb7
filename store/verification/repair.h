/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.h - mending differences that a report names.
 */
#ifndef STORE_VERIFICATION_REPAIR_H
#define STORE_VERIFICATION_REPAIR_H

#include "domain/operations/report_operations.h"
#include "store/jobs/job.h"

/*
 * Mend those that are there, of the job's index: their sources are reconciled by what is stored, not by what the
 * manifests say; those of a strong index under the locks of their entities; entries that name no source are deleted. To
 * do it twice is harmless, and what is right already is left as it is.
 */
MUST_USE enum status repair_differences(
    struct job *job, const struct report_difference *differences, size_t count, struct error *err);

#endif
