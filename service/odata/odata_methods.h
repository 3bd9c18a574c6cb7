/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_methods.h - the methods of the Azure Tables door: one for each action.
 */
#ifndef SERVICE_ODATA_ODATA_METHODS_H
#define SERVICE_ODATA_ODATA_METHODS_H

#include "odata/odata_action.h"
#include "service/call.h"

enum { ODATA_METHODS = 17 };

extern const struct method *const odata_methods[ODATA_METHODS];

/* The method of an action; NULL: the action has none. */
const struct method *odata_methods_find(enum odata_action action);

#endif
