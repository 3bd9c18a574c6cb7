/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_chunk.h - how an import divides its entities: into chunks, each of which is one transaction, and answers, each
 * of which tells the result of some chunks.
 *
 * A transaction locks its rows until its commit, so a writer of one of them waits as long as the chunk takes, and so do
 * the writes that share a transaction with that writer's. Large chunks cost less per entity. So chunks are small while
 * others are at work, and large otherwise. How often an import is answered does not depend on that.
 *
 * Pure: no I/O, no clock.
 */
#ifndef DOMAIN_WRITES_IMPORT_CHUNK_H
#define DOMAIN_WRITES_IMPORT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

enum {
    /* An answer is due after so many entities, or at the end of a message. */
    IMPORT_ANSWER_ENTITIES = 1000,
    /* Or after so many that were refused: keeps an answer below LIMIT_REPLY_BYTES. */
    IMPORT_ANSWER_REJECTIONS = 300,
};

/*
 * The size of the next chunk of `left` entities that are to be answered together; 0 if left is 0. A chunk of a larger
 * message always has more than LIMIT_BATCH_OPERATIONS entities: fewer would not be treated as an import's.
 *
 * beside_others  other operations were at work lately
 */
size_t import_chunk_entities(size_t left, bool beside_others);

#endif
