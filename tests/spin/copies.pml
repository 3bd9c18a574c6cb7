/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.pml - a source, two dependents, the copies that a rule asks for, and workers that overlap and die.
 *
 * The source's value changes several times; each change leaves an intent for a visit. A dependent names the source or
 * does not; whenever it begins to, its entry and an intent for its copy commit with it. Copies lock the dependent, and
 * visits go through the entries one commit at a time. In every state a dependent that names the source has the
 * source's value or there is open work for either (what a verification relies on). When nothing moves any more, the
 * copies are right.
 *
 * guards: G34 G69 G71
 */
#define CHANGES 2
#define NAMINGS 2
#define CRASHES 1

byte source;      /* its value, 0 .. CHANGES */
byte copied[2];   /* of the dependents */
bool names[2];    /* whether a dependent names the source */
bool entry[2];    /* the entries of the rule's index */
bool locked[2];   /* rows of the dependents */
bool asks[2];     /* open intents for copies */
byte changed;     /* open intents for visits: a bit for each change */
bool visit_locked, has_visit;
byte covers, place; /* of the visit */
byte namings, crashes;

#define is_settled(d) (!names[d] || copied[d] == source || asks[d] || changed)

proctype writer_of_source()
{
	do
	:: d_step { source < CHANGES -> changed = changed | (1 << source); source++ }
	:: break
	od
}

/* A write of a dependent waits for the lock of its row. */
proctype writer_of_dependents()
{
	byte d;

	do
	:: namings < NAMINGS ->
		if
		:: d = 0
		:: d = 1
		fi;
		atomic { !locked[d] ->
			namings++;
			names[d] = !names[d];
			copied[d] = 0;
			asks[d] = names[d];
#ifndef NO_G34
			entry[d] = names[d]
#endif
		}
	:: break
	od
}

#ifdef NO_G34
/* The index is an eventual one: its entries come later. */
proctype indexer()
{
end:	do
	:: d_step { entry[0] != names[0] -> entry[0] = names[0] }
	:: d_step { entry[1] != names[1] -> entry[1] = names[1] }
	od
}
#endif

/* Copy to the dependent d, whose lock is free; the caller's statements commit with it. */
inline lock_and_read()
{
#ifdef NO_G69
	seen = source;
#endif
	atomic { !locked[d] -> locked[d] = true }
#ifndef NO_G69
	seen = source
#endif
}

inline write_copy()
{
	if
	:: names[d] -> copied[d] = seen
	:: else
	fi;
	asks[d] = false;
	locked[d] = false
}

proctype copier()
{
	byte d, seen;

end:	do
	:: asks[0] || asks[1] ->
		if
		:: asks[0] -> d = 0
		:: asks[1] -> d = 1
		fi;
		lock_and_read();
		if
		:: d_step { write_copy() }
		:: d_step { crashes < CRASHES -> crashes++; locked[d] = false }
		fi
	od
}

proctype visitor()
{
	byte d, seen;

end:	do
	:: changed ->
		atomic { !visit_locked -> visit_locked = true }
		d_step {
			if
			:: !has_visit && changed -> has_visit = true; covers = changed; place = 0
			:: else
			fi
		}
		if
		:: !has_visit -> skip
		:: has_visit && place < 2 ->
			d = place;
			if
			:: entry[d] ->
				lock_and_read();
				if
				:: d_step { write_copy(); place++ }
				:: d_step { crashes < CRASHES -> crashes++; locked[d] = false }
				fi
			:: else -> place++
			fi
		:: has_visit && place == 2 ->
			d_step {
#ifdef NO_G71
				changed = 0;
#else
				changed = changed & ~covers;
#endif
				has_visit = false
			}
		fi;
		visit_locked = false
	od
}

init
{
	atomic {
		run writer_of_source();
		run writer_of_dependents();
		run copier();
		run visitor();
#ifdef NO_G34
		run indexer()
#endif
	}
	do
	:: assert(is_settled(0) && is_settled(1))
	:: timeout -> break
	od;
	assert(!names[0] || copied[0] == source);
	assert(!names[1] || copied[1] == source)
}
