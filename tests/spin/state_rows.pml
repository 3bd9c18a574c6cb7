/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rows.pml - workers that lock the state rows of the same keys, which come and go (store/indexes/source_keys.c).
 *
 * One statement locks the rows that its snapshot shows, one after another; a second one inserts the missing rows. A row that
 * was deleted while a worker waited for its lock counts as missing. If another worker inserts the row at the same time, the
 * statement waits for that worker and gets no row. Each commit keeps or deletes each of its rows. No two workers wait for
 * each other.
 *
 * guards: ORDER LET_GO
 */
#define WORKERS 2
#define KEYS 3
#define ROUNDS 2

bool stands[KEYS]; /* committed */
byte made[KEYS];   /* which row of the key it is */
byte owner[KEYS];  /* the process that has locked the row or, while the row does not exist, inserts it; 0: none */
byte done;

#ifdef NO_ORDER
#define AT(k) (me == WORKERS -> KEYS - 1 - (k) : (k))
#else
#define AT(k) (k)
#endif
#define SEEN(k) (seen[k] && stands[k] && made[k] == which[k])

proctype worker(byte me)
{
	bool seen[KEYS], mine[KEYS], all;
	byte which[KEYS];
	byte k, rounds;

	do
	:: rounds == ROUNDS -> break
	:: else ->
again:	   skip;
	   d_step { /* a snapshot */
		k = 0;
		do
		:: k < KEYS -> seen[k] = stands[k] && !mine[k]; which[k] = made[k]; k++
		:: else -> break
		od;
		k = 0; all = true
	   }
	   do
	   :: k < KEYS ->
		atomic {
			!SEEN(AT(k)) || owner[AT(k)] == 0;
			if
			:: SEEN(AT(k)) -> owner[AT(k)] = me; mine[AT(k)] = true
			:: else
			fi;
			k++
		}
	   :: else -> break
	   od;
	   k = 0;
	   do
	   :: k < KEYS && mine[AT(k)] -> k++
	   :: k < KEYS && !mine[AT(k)] ->
		atomic {
			stands[AT(k)] || owner[AT(k)] == 0;
			if
			:: stands[AT(k)] -> all = false
			:: else -> owner[AT(k)] = me; mine[AT(k)] = true
			fi;
			k++
		}
	   :: k == KEYS -> break
	   od;
	   atomic { /* the end of the transaction, or the beginning of another */
		k = 0;
		do
		:: k < KEYS && !all ->
#ifndef NO_LET_GO
			if
			:: mine[k] -> mine[k] = false; owner[k] = 0
			:: else
			fi;
#endif
			k++
		:: k < KEYS && all ->
			assert(mine[k] && owner[k] == me);
			if
			:: stands[k]
			:: stands[k] -> stands[k] = false
			:: !stands[k]
			:: !stands[k] -> stands[k] = true; made[k]++
			fi;
			mine[k] = false;
			owner[k] = 0;
			k++
		:: k == KEYS -> break
		od;
		if
		:: all -> rounds++
		:: else -> goto again
		fi
	   }
	od;
	done++
}

proctype check()
{
	timeout;
	assert(done == WORKERS)
}

init
{
	atomic {
		if
		:: stands[1] = true
		:: skip
		fi;
		run worker(1); run worker(2); run check()
	}
}
