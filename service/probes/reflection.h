/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflection.h - answers of grpc.reflection.v1 and v1alpha (the two are the same on the wire) from the
 * descriptor set that the build has put into the program.
 */
#ifndef SERVICE_PROBES_REFLECTION_H
#define SERVICE_PROBES_REFLECTION_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Append the ServerReflectionResponse to one ServerReflectionRequest. A symbol or file that does not exist is
 * answered with an error in the response.
 * STATUS_INVALID  INVALID_INPUT: the request is malformed
 */
MUST_USE enum status reflection_answer(
    struct str request, struct arena *arena, struct buf *out, struct error *err);

#endif
