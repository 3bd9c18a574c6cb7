/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_view.h - prints the partitions with most accesses, for `tavola top` and `tavola hot`.
 */
#ifndef CLIENT_HOT_VIEW_H
#define CLIENT_HOT_VIEW_H

#include <stdbool.h>

#include "client/api_client.h"

/*
 * Print the `limit` partitions with most accesses in the last minute, or with is_hour in the last hour. With
 * with_remedy, a partition with a pattern is followed by its remedy and an example of a better key. false:
 * the call failed; the cause is on standard error.
 */
bool hot_view_print(struct api_client *client, bool is_hour, int limit, bool with_remedy);

#endif
