/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique.pml - two entities, two values of a unique index and their owners' rows: two writers, one that swaps both values
 * in one commit, a builder that meets two entities with one value, locking them or not, and a crash.
 *
 * The owner of a value has the value and its only entry; no other entity has an entry for it (I10). That holds after
 * every commit. Locks are taken in one order, so no process waits for ever.
 *
 * guards: G35 G36 G37 G49
 */
#define WRITES 1
#define CRASHES 1

#define A 1
#define B 2

byte has[3];          /* the value of each entity: 0 none, or A, or B. [0] belongs to no entity */
byte owner[3];        /* of each value, by its number: 0: none, or entity 1 or 2 */
bool entry[3];        /* whether an entity has its entry */
bool entity_lock[3];
bool owner_lock[3];
byte crashes;
bool built;

inline check_all()
{
	assert(owner[A] == 0 || has[owner[A]] == A);
	assert(owner[B] == 0 || has[owner[B]] == B);
	assert(entry[1] == (has[1] != 0 && owner[has[1]] == 1));
	assert(entry[2] == (has[2] != 0 && owner[has[2]] == 2))
}

inline lock_owners() /* both, in their order: what is wanted and what is released */
{
	atomic { !owner_lock[A] -> owner_lock[A] = true };
	atomic { !owner_lock[B] -> owner_lock[B] = true }
}

inline read_owners()
{
	d_step { of_a = owner[A]; of_b = owner[B] }
}

inline unlock()
{
	owner_lock[A] = false;
	owner_lock[B] = false;
	entity_lock[1] = entity_lock[1] && !mine1;
	entity_lock[2] = entity_lock[2] && !mine2
}

/* What is planned in of_a and of_b becomes true, with the values and the entries, or nothing does. */
inline commit(new1, new2)
{
	if
	:: atomic { crashes < CRASHES -> crashes++; unlock() }
	:: atomic {
		owner[A] = of_a;
		owner[B] = of_b;
		has[1] = (mine1 -> new1 : has[1]);
		has[2] = (mine2 -> new2 : has[2]);
		entry[1] = (mine1 -> (new1 == A && of_a == 1) || (new1 == B && of_b == 1) : entry[1]);
		entry[2] = (mine2 -> (new2 == A && of_a == 2) || (new2 == B && of_b == 2) : entry[2]);
		check_all();
		unlock()
	   }
	fi
}

proctype writer(byte me)
{
	byte of_a, of_b, want, writes;
	bool mine1, mine2, refused;

	mine1 = me == 1;
	mine2 = me == 2;
	do
	:: writes == WRITES -> break
	:: writes < WRITES ->
	   writes++;
	   if
	   :: want = A
	   :: want = B
	   :: want = 0
	   fi;
	   atomic { !entity_lock[me] -> entity_lock[me] = true };
#ifdef NO_G36
	   read_owners();
	   lock_owners();
#else
	   lock_owners();
	   read_owners();
#endif
	   refused = false;
	   if
	   :: want != has[me] ->
		d_step { of_a = (of_a == me -> 0 : of_a); of_b = (of_b == me -> 0 : of_b) }
	   :: else
	   fi;
	   d_step {
		if
		:: want == A && (of_a == 0 || of_a == me) -> of_a = me
		:: want == B && (of_b == 0 || of_b == me) -> of_b = me
		:: want == 0 || want == has[me] -> skip
		:: else ->
#ifdef NO_G37
		   of_a = (want == A -> me : of_a);
		   of_b = (want == B -> me : of_b)
#else
		   refused = true
#endif
		fi
	   }
	   if
	   :: refused -> atomic { unlock() }
	   :: else -> commit(want, want)
	   fi
	od
}

/* Both entities in one operation: everything is released before anything is taken. */
proctype swapper()
{
	byte of_a, of_b, new1, new2;
	bool mine1 = true, mine2 = true, refused;

	atomic { !entity_lock[1] -> entity_lock[1] = true };
	atomic { !entity_lock[2] -> entity_lock[2] = true };
#ifdef NO_G36
	read_owners();
	lock_owners();
#else
	lock_owners();
	read_owners();
#endif
	d_step { new1 = has[2]; new2 = has[1] }
	if
	:: new1 == new2 -> atomic { unlock() } /* nothing to swap */
	:: else ->
	   d_step {
		of_a = 0;
		of_b = 0;
		of_a = (new1 == A -> 1 : (new2 == A -> 2 : 0));
		of_b = (new1 == B -> 1 : (new2 == B -> 2 : 0))
	   }
	   commit(new1, new2)
	fi
}

inline claim(seen)
{
	d_step {
		of_a = (seen == A && of_a == 0 -> me : of_a);
		of_b = (seen == B && of_b == 0 -> me : of_b)
	}
}

/* As a chunk of a build: the entity is not locked, and is looked at again behind the locks of the owners. */
inline build_unlocked()
{
	seen = has[me];
	lock_owners();
	read_owners();
#ifdef NO_G49
	is_same = true;
#else
	is_same = seen == has[me];
#endif
	if
	:: is_same ->
	   claim(seen);
	   if
	   :: atomic { crashes < CRASHES -> crashes++; unlock() }
	   :: atomic {
		owner[A] = of_a;
		owner[B] = of_b;
		entry[me] = (seen == A && of_a == me) || (seen == B && of_b == me);
		check_all();
		unlock()
	      }
	   fi
	:: else -> atomic { unlock() }
	fi
}

inline build_locked()
{
	mine1 = me == 1;
	mine2 = me == 2;
#ifdef NO_G35
	seen = has[me];
#endif
	atomic { !entity_lock[me] -> entity_lock[me] = true };
#ifndef NO_G35
	seen = has[me];
#endif
#ifdef NO_G36
	read_owners();
	lock_owners();
#else
	lock_owners();
	read_owners();
#endif
	claim(seen);
	commit(has[me], has[me]);
	mine1 = false;
	mine2 = false
}

/* In the order of keys: the first that has a value owns it. */
proctype builder()
{
	byte of_a, of_b, me, seen;
	bool mine1, mine2, is_same;

	for (me : 1 .. 2) {
		if
		:: build_unlocked()
		:: skip
		fi;
		if
		:: !is_same -> build_locked()
		:: else -> is_same = false
		fi
	}
	built = true
}

proctype watch()
{
	timeout;
	assert(built);
	assert(!entity_lock[1] && !entity_lock[2] && !owner_lock[A] && !owner_lock[B]);
	check_all()
}

init
{
	d_step { has[1] = A; has[2] = A }
	atomic { run writer(1); run writer(2); run swapper(); run builder(); run watch() }
}
