/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_lock.pml - one source key, its state row with the manifest, workers that overlap and die.
 *
 * The key's value is absent, A or B, and so is its entry. Every write leaves an intent. Workers reconcile as
 * long as there is an intent, and once more for a message that comes twice. When nothing moves any more,
 * the entries are those of the source, and the manifest names exactly them (I2).
 *
 * guards: G8 G9 G10
 */
#define WRITES 3
#define DOUBLES 1
#define CRASHES 1

#define A 1
#define B 2

byte source;       /* entities: 0 absent, or A, or B */
byte entries;      /* the index table: a bit for each entry that stands there */
byte manifest;     /* index_state: the entries that it says stand there */
byte open;         /* intents: a bit for each row */
bool state_locked;
byte writes, doubles, crashes;

proctype server()
{
	do
	:: d_step { writes < WRITES -> source = A; open = open | (1 << writes); writes++ }
	:: d_step { writes < WRITES -> source = B; open = open | (1 << writes); writes++ }
	:: d_step { writes < WRITES -> source = 0; open = open | (1 << writes); writes++ }
	:: break
	od
}

proctype worker()
{
	byte seen, wanted, known;
end:	do
	:: if
	   :: open
	   :: atomic { doubles < DOUBLES -> doubles++ }
	   fi;
#ifdef NO_G8
	   seen = open;
	   wanted = source;
#endif
	   atomic { !state_locked -> state_locked = true }
#ifndef NO_G8
#ifndef NO_G9
	   seen = open;
#endif
	   wanted = source;
#endif
#ifdef NO_G9
	   seen = open;
#endif
	   known = manifest;
#ifdef NO_G10
	   d_step { manifest = wanted; open = open & ~seen } /* a commit of its own, before the entries' */
	   if
	   :: atomic { crashes < CRASHES -> crashes++; state_locked = false; goto end }
	   :: d_step { entries = (entries & ~known) | wanted; state_locked = false }
	   fi
#else
	   if
	   :: atomic { crashes < CRASHES -> crashes++; state_locked = false } /* rolled back */
	   :: d_step {
		entries = (entries & ~known) | wanted;
		manifest = wanted;
		open = open & ~seen;
		state_locked = false
	      }
	   fi
#endif
	od
}

proctype check()
{
	timeout;
	assert(open == 0);
	assert(entries == source);
	assert(manifest == source)
}

init
{
	atomic { run server(); run worker(); run worker(); run check() }
}
