/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_build.h - building an index while writes go on, and validating it, a chunk at a time.
 */
#ifndef STORE_BUILDS_INDEX_BUILD_H
#define STORE_BUILDS_INDEX_BUILD_H

#include "store/jobs/job.h"

/* One chunk of a job of the kind "build". */
MUST_USE enum status index_build_chunk(struct job *job, struct error *err);

#endif
