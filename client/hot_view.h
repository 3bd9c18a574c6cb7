/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_view.h - the partitions with most accesses as lines of text, for `tavola top` and `tavola hot`.
 */
#ifndef CLIENT_HOT_VIEW_H
#define CLIENT_HOT_VIEW_H

#include <stdbool.h>

#include "client/api_client.h"

/*
 * Ask for the first `limit` partitions of the last minute, or with is_hour of the last hour, and print them. with_remedy: below each
 * that looks like a pattern stand what helps and an example of a key. false: the call failed, and standard error has the cause.
 */
bool hot_view_print(struct api_client *client, bool is_hour, int limit, bool with_remedy);

#endif
