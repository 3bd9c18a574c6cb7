/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.pml - an index comes and goes under writers and workers that know either catalogue.
 *
 * One source key. The catalogue changes through the write fence: none -> BUILDING -> READY -> DROPPING. Who
 * writes enters the fence and reads the catalogue in a later statement. From BUILDING on a writer
 * leaves an intent; the builder reconciles the key once, a worker whenever there is an intent. When nothing moves, an index that
 * became READY has the entry of its source; one that was dropped has none, although some worker was late.
 *
 * guards: G1
 */
mtype = { NONE, BUILDING, READY, DROPPING };

mtype catalogue = NONE;
byte source = 1;   /* entities: the version of the key */
byte entry;        /* the index table: the version its entry was made from; 0: no entry */
byte open;         /* intents of the key: a bit for each row */
bool state_locked; /* index_state */
byte inside;       /* transactions that hold the fence shared */
bool closed;       /* the fence is held exclusively */

inline begin()
{
#ifdef NO_G1
	known = catalogue; /* in one statement with the fence: a snapshot from before the lock */
	atomic { !closed -> inside++ }
#else
	atomic { !closed -> inside++ }
	known = catalogue
#endif
}

/* A catalogue change: waits for all who are inside, holds back who comes. */
inline change(to)
{
	atomic { !closed -> closed = true }
	inside == 0;
	d_step { catalogue = to; closed = false }
}

inline reconcile()
{
	begin();
	atomic { !state_locked -> state_locked = true }
	seen = open;
	reading = source;
	d_step {
		if
		:: known == BUILDING || known == READY -> entry = reading
		:: else
		fi;
		open = open & ~seen;
		state_locked = false;
		inside--
	}
}

proctype server(byte id)
{
	mtype known;
	begin();
	d_step {
		source++;
		if
		:: known == BUILDING || known == READY -> open = open | (1 << id)
		:: else
		fi;
		inside--
	}
}

proctype worker()
{
	mtype known;
	byte reading, seen;
end:	do
	:: open -> reconcile()
	od
}

proctype builder()
{
	mtype known;
	byte reading, seen;
	change(BUILDING);
	reconcile();
	change(READY);
	if
	:: skip
	:: change(DROPPING);
	   entry = 0 /* the purge, in transactions of its own */
	fi
}

proctype check()
{
	timeout;
	assert(!open);
	assert(catalogue == READY || catalogue == DROPPING);
	assert(catalogue != READY || entry == source);
	assert(catalogue != DROPPING || entry == 0)
}

init
{
	atomic { run server(0); run server(1); run worker(); run worker(); run builder(); run check() }
}
