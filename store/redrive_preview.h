/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redrive_preview.h - the dry run of RedriveDeadLetters. Each kind of work is previewed by the room that does it.
 */
#ifndef STORE_REDRIVE_PREVIEW_H
#define STORE_REDRIVE_PREVIEW_H

struct operation;
struct session;

/*
 * What a redrive of the dead letters that the operation selects would change: out.dead_letters, with as many
 * differences as dead letters. Nothing is changed.
 */
void redrive_preview_run(struct session *session, struct operation *operation);

#endif
