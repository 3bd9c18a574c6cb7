/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_form.pml - an effect outside the database: three short transactions instead of one.
 *
 * T1 (ours) locks the state row, reads the source, draws a sequence number and notes the keys it is about to write.
 * T2 (there) writes each key, or a tombstone, where what stands there is older, as long as the epoch is the remembered one.
 * T3 (ours) settles, when no later T1 has taken over. A worker may stop between any two of them for as long as it
 * likes, or for ever; tombstones of an earlier epoch are purged. When nothing moves any more, what
 * lives there is what the source is.
 *
 * guards: G15 G16 G16_EPOCH G17
 */
#define WRITES 2
#define CRASHES 1

#define TRIES 6 /* T1s of an epoch: each that takes over makes another try necessary */
#define KEYS 2  /* of entries: bit 0 is A, bit 1 is B */

byte source;         /* a bit for the entry that is wanted, or 0 */
byte open;           /* intents */
byte epoch = 1;      /* catalogue: raised through the fence */
byte n;              /* index_state: sequence within the epoch */
byte state_seq;      /* index_state: epoch * 16 + n of the newest T1 */
byte keys;           /* index_state: every key that may stand there */
byte there_seq[KEYS]; /* the other store: 0 nothing, else the sequence of what stands there */
byte live;           /* the other store: a bit for each key that is an entry; else it is a tombstone */
byte writes, crashes;

proctype server()
{
	do
	:: d_step { writes < WRITES -> source = 1; open = open | (1 << writes); writes++ }
	:: d_step { writes < WRITES -> source = 2; open = open | (1 << writes); writes++ }
	:: d_step { writes < WRITES -> source = 0; open = open | (1 << writes); writes++ }
	:: break
	od
}

#ifdef NO_G16_EPOCH
#define EPOCH_HOLDS true
#else
#define EPOCH_HOLDS (remembered == epoch)
#endif

#ifdef NO_G16
#define NEWER(k) true
#else
#define NEWER(k) (there_seq[k] < seq)
#endif

inline write(k)
{
	d_step {
		if
		:: EPOCH_HOLDS && NEWER(k) -> there_seq[k] = seq; live = live | (1 << k)
		:: else
		fi
	}
}

inline bury(k)
{
	d_step {
		if
		:: EPOCH_HOLDS && NEWER(k) -> there_seq[k] = seq; live = live & ~(1 << k)
		:: else
		fi
	}
}

proctype worker()
{
	byte seen, wanted, seq, remembered, mine;
end:	do
	:: d_step {
		open && n < TRIES -> /* T1 */
		seen = open; wanted = source;
		n++; seq = epoch * 16 + n; state_seq = seq;
		remembered = epoch;
#ifdef NO_G15
		mine = keys | wanted;
#else
		keys = keys | wanted;
		mine = keys;
#endif
	   }
	   if /* T2 */
	   :: wanted == 1 -> write(0)
	   :: wanted == 2 -> write(1)
	   :: wanted == 0
	   fi;
	   if
	   :: atomic { crashes < CRASHES -> crashes++; goto end }
	   :: skip
	   fi;
	   if
	   :: (mine & ~wanted) & 1 -> bury(0)
	   :: else
	   fi;
	   if
	   :: (mine & ~wanted) & 2 -> bury(1)
	   :: else
	   fi;
	   d_step { /* T3 */
		if
#ifdef NO_G17
		:: true ->
#else
		:: state_seq == seq && remembered == epoch ->
#endif
			keys = wanted; open = open & ~seen
		:: else
		fi
	   }
	od
}

/* Raises the epoch through the fence, then purges tombstones that are older. */
proctype sweeper()
{
	d_step { epoch = 2; n = 0 }
	d_step {
		if
		:: !(live & 1) && there_seq[0] < 32 -> there_seq[0] = 0
		:: else
		fi
	}
	d_step {
		if
		:: !(live & 2) && there_seq[1] < 32 -> there_seq[1] = 0
		:: else
		fi
	}
}

proctype check()
{
	timeout;
	assert(n == TRIES || (open == 0 && live == source))
}

init
{
	atomic { run server(); run worker(); run worker(); run sweeper(); run check() }
}
