/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_form.h - the stored form of a key sketch, in which servers leave their counts to each other.
 *
 * Pure.
 */
#ifndef DOMAIN_SAMPLING_SAMPLE_FORM_H
#define DOMAIN_SAMPLING_SAMPLE_FORM_H

#include "base/arena.h"
#include "domain/sampling/key_sketch.h"

/* The bytes of a sketch. Counters with less than a hundredth of its accesses are left out. In the arena. */
struct str sample_form_write(const struct key_sketch *sketch, struct arena *arena);

/* false: the bytes are of no sketch; *out is then undefined. The counters lie in the arena. */
bool sample_form_read(struct str bytes, struct arena *arena, struct key_sketch *out);

#endif
