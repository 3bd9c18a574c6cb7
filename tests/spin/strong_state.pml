/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strong_state.pml - a write that brings the entries of an index in other partitions along (store/entities/state_rows.c),
 * beside a reconcile of the same keys (store/indexes/source_keys.c, store/indexes/reconcile.c) while the index is built.
 *
 * Both lock the index state rows that their snapshot shows, one after another, and take the manifest as it is then. The
 * reconcile makes the missing rows, begins anew if another process has made one, and then reads the sources. The write holds
 * the locks of its entities; it plans by the manifests, makes the missing rows where it has an entry or its entity had one,
 * and begins anew if one is there already. At rest each key has the entry of its value and no other, and its manifest says so.
 *
 * guards: G40 MAKE ORDER
 */
#define KEYS 2
#define WRITER 1
#define WORKER 2

byte source[KEYS];   /* the value of the entity; 0: none */
byte entries[KEYS];  /* a bit for each value that has an entry */
bool stands[KEYS];   /* the state row is committed */
byte made[KEYS];     /* which row of the key it is */
byte manifest[KEYS]; /* the value that it names */
byte owner[KEYS];    /* the process that has locked the row or, while the row does not exist, inserts it; 0: none */
byte done;

#ifdef NO_ORDER
#define AT(k) (me == WRITER -> KEYS - 1 - (k) : (k))
#else
#define AT(k) (k)
#endif
#define SEEN(k) (seen[k] && stands[k] && made[k] == which[k])
#define BIT(value) ((value) == 0 -> 0 : 1 << (value))

/* Locks the rows that are there; known[] has what they name. */
inline hold()
{
	d_step { /* a snapshot */
		k = 0;
		do
		:: k < KEYS ->
			seen[k] = stands[k];
			which[k] = made[k];
			mine[k] = false;
			known[k] = 0;
			k++
		:: else -> break
		od;
		k = 0; all = true
	}
	do
	:: k < KEYS ->
		atomic {
			!SEEN(AT(k)) || owner[AT(k)] == 0;
			if
			:: SEEN(AT(k)) -> owner[AT(k)] = me; mine[AT(k)] = true; known[AT(k)] = manifest[AT(k)]
			:: else
			fi;
			k++
		}
	:: else -> break
	od;
	k = 0
}

/* Inserts a row, or waits for the process that inserts it; all: no other process has inserted one. */
inline make()
{
	atomic {
		stands[AT(k)] || owner[AT(k)] == 0;
		if
		:: stands[AT(k)] -> all = false
		:: else -> owner[AT(k)] = me; mine[AT(k)] = true
		fi
	}
}

/* The entry of `wanted` in the place of the one that was known, and the manifest with it. */
inline write_entry(value)
{
	entries[k] = (entries[k] & ~BIT(known[k])) | BIT(value);
	if
	:: value != 0 && !stands[k] -> stands[k] = true; made[k]++; manifest[k] = value
	:: value != 0 && stands[k] -> manifest[k] = value
	:: value == 0 -> stands[k] = false
	fi
}

inline let_go()
{
	k = 0;
	do
	:: k < KEYS ->
		if
		:: mine[k] -> mine[k] = false; owner[k] = 0
		:: else
		fi;
		k++
	:: else -> break
	od
}

proctype writer(byte me)
{
	bool seen[KEYS], mine[KEYS], all;
	byte which[KEYS], known[KEYS], value[KEYS];
	byte k;

	k = 0;
	do
	:: k < KEYS -> if :: value[k] = 0 :: value[k] = 1 :: value[k] = 2 fi; k++
	:: else -> break
	od;
again:
	hold();
#ifdef NO_G40
	atomic { /* what the stored state asks for counts, and no process is blocked */
		k = 0;
		do
		:: k < KEYS -> known[k] = source[k]; k++
		:: else -> break
		od;
		let_go();
		k = KEYS
	}
#endif
	do
	:: k < KEYS && all ->
		if
#ifdef NO_MAKE
		:: !mine[AT(k)] && value[AT(k)] != 0 -> make()
#else
		:: !mine[AT(k)] && (value[AT(k)] != 0 || source[AT(k)] != 0) -> make()
#endif
		:: else
		fi;
		k++
	:: else -> break
	od;
	atomic {
		if
		:: !all -> let_go(); goto again
		:: else
		fi;
		k = 0;
		do
		:: k < KEYS ->
			source[k] = value[k];
			if
#ifdef NO_G40
			:: true -> write_entry(value[k])
#else
			:: mine[k] -> write_entry(value[k])
#endif
			:: else
			fi;
			k++
		:: else -> break
		od;
		let_go()
	}
	done++
}

proctype worker(byte me)
{
	bool seen[KEYS], mine[KEYS], all;
	byte which[KEYS], known[KEYS], value[KEYS];
	byte k;

again:
	hold();
	do
	:: k < KEYS ->
		if
		:: !mine[AT(k)] -> make()
		:: else
		fi;
		k++
	:: else -> break
	od;
	atomic {
		if
		:: !all -> let_go(); goto again
		:: else -> k = 0
		fi
	}
	d_step { /* the sources, in one statement */
		do
		:: k < KEYS -> value[k] = source[k]; k++
		:: else -> break
		od
	}
	atomic {
		k = 0;
		do
		:: k < KEYS -> write_entry(value[k]); k++
		:: else -> break
		od;
		let_go()
	}
	done++
}

proctype check()
{
	timeout;
	assert(done == 3);
	assert(entries[0] == BIT(source[0]) && entries[1] == BIT(source[1]));
	assert(stands[0] == (source[0] != 0) && (!stands[0] || manifest[0] == source[0]));
	assert(stands[1] == (source[1] != 0) && (!stands[1] || manifest[1] == source[1]))
}

init
{
	atomic {
		/* The builder has come by at neither key, or at the second. */
		source[0] = 1;
		if
		:: source[1] = 1
		:: source[1] = 1; entries[1] = BIT(1); stands[1] = true; made[1] = 1; manifest[1] = 1
		fi;
		run writer(WRITER); run worker(WORKER); run worker(3); run check()
	}
}
