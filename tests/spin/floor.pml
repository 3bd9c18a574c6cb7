/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.pml - versions of one key through deletion, purge and return.
 *
 * Servers write the key: version = max(stored version, floor) + 1. A delete leaves a dead row, which the sweeper
 * takes away once the floor has been raised past its version. However it goes, no version comes twice (I7).
 *
 * guards: G3 G4
 */
byte floor;
bool row_there, row_dead, row_locked;
byte row_version;
byte highest;    /* the highest version ever committed */
byte inside;     /* transactions that hold the fence shared */
bool closed;

/* A server that creates the key or writes to it, or deletes it. */
proctype server(bool deletes)
{
	byte known_floor, version;
	bool absent;
	atomic { !closed -> inside++ }
	known_floor = floor;
#ifdef NO_G4
	atomic { !row_locked || !row_there; absent = !row_there; row_locked = row_there } /* nothing there, nothing locked */
#else
	atomic { !row_locked -> row_locked = true; absent = !row_there } /* locked, or created */
#endif
	version = (absent || row_version < known_floor -> known_floor : row_version) + 1;
	d_step {
		if
		:: deletes && (absent || row_dead) /* nothing to delete */
		:: else ->
			assert(version > highest);
			highest = version; row_version = version; row_there = true; row_dead = deletes
		fi;
		row_locked = false;
		inside--
	}
}

proctype sweeper()
{
	byte most;
end:	row_there && row_dead;
	most = row_version;
#ifdef NO_G3
	floor = most; /* without waiting for who has read the old floor */
#else
	atomic { !closed -> closed = true }
	inside == 0;
	d_step { floor = most; closed = false }
#endif
	d_step {
		if
		:: row_there && row_dead && !row_locked && row_version <= floor -> row_there = false; row_version = 0
		:: else
		fi
	}
}

init
{
	atomic { run server(false); run server(true); run server(false); run server(false); run sweeper() }
}
