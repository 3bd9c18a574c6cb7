/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_form.h - the stored form of a key sketch, by which servers exchange their counts. Pure.
 */
#ifndef DOMAIN_SAMPLING_SAMPLE_FORM_H
#define DOMAIN_SAMPLING_SAMPLE_FORM_H

#include "base/arena.h"
#include "domain/sampling/key_sketch.h"

/*
 * Encode a sketch, in the arena. Counters with less than a hundredth of its accesses are left out.
 */
struct str sample_form_write(const struct key_sketch *sketch, struct arena *arena);

/* false: the bytes are not a sketch, and *out is undefined. The counters lie in the arena. */
bool sample_form_read(struct str bytes, struct arena *arena, struct key_sketch *out);

#endif
