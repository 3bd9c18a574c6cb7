/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_walk.pml - a builder that plans before it locks, beside writers and workers.
 *
 * One source key of a table whose index is BUILDING: 0 is no entity, other numbers are versions. Writers change it or delete it, and
 * leave an intent each. A worker locks the index state row, or makes it, removes the intents that it sees, reads the
 * source, and writes entry and manifest; without an entry the row goes. The builder reads source and manifest without a lock, then
 * makes or changes the row if it is as it was read, reads the version again, and writes the entry only if that is what it
 * has planned with; otherwise it puts the row back and reconciles. When nothing moves the entry is that of the source.
 *
 * guards: G8
 */
byte source = 1;   /* entities: the version; 0: dead */
byte entry;        /* the index table: the version its entry was made from; 0: no entry */
byte manifest;     /* index_state: the same; 0: no row */
byte open;         /* intents of the key: a bit for each row */
bool state_locked; /* index_state: a process holds the row's lock, or inserts the row */
bool built;

inline reconcile()
{
	atomic { !state_locked -> state_locked = true }
	seen = open;
	reading = source;
	d_step {
		entry = reading;
		manifest = reading;
		open = open & ~seen;
		state_locked = false
	}
}

proctype writer(byte id; byte version)
{
	d_step { source = version; open = open | (1 << id) }
}

proctype worker()
{
	byte reading, seen;
end:	do
	:: open -> reconcile()
	od
}

proctype builder()
{
	byte reading, seen, planned, was;
	planned = source;
	was = manifest;
	if
	:: planned == was -> skip /* its entry is there, or it has none */
	:: planned == 0 && was != 0 -> reconcile()
	:: planned != was && planned != 0 ->
	   atomic { !state_locked -> state_locked = true }
	   if
	   :: manifest != was -> d_step { state_locked = false }; reconcile()
	   :: manifest == was ->
#ifdef NO_G8
	      reading = planned;
#else
	      reading = source;
#endif
	      if
	      :: reading == planned -> d_step { entry = planned; manifest = planned; state_locked = false }
	      :: else -> d_step { state_locked = false }; reconcile()
	      fi
	   fi
	fi;
	built = true
}

proctype check()
{
	timeout;
	assert(built && !open);
	assert(entry == source && manifest == source)
}

init
{
	atomic {
		run writer(0, 2);
		run writer(1, 0);
		run writer(2, 3);
		run worker();
		run worker();
		run builder();
		run check()
	}
}
