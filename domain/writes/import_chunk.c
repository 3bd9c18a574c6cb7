/* SPDX-License-Identifier: Apache-2.0 */
/* import_chunk.c - see the header. */
#include "domain/writes/import_chunk.h"

#include "domain/limits.h"

enum { SMALL_CHUNK = LIMIT_BATCH_OPERATIONS + 1 };

size_t import_chunk_entities(size_t left, bool beside_others)
{
    size_t chunks = beside_others ? left / SMALL_CHUNK : 1;

    return chunks > 1 ? (left + chunks - 1) / chunks : left;
}
