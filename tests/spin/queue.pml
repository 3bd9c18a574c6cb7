/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.pml - an intent, a queue that forgets, messages that come twice, workers that die.
 *
 * One source key. A server commits the entity together with an intent and hints at it in the stream; the
 * relay publishes what is open; the stream may be flushed, and workers may die, at any step. When nothing
 * can move any more, no intent is open and the entry is what the source is.
 *
 * guards: G7 G9 G10
 */
#define FLUSHES 1
#define CRASHES 1

byte source;       /* entities: the version of the key */
byte entry;        /* the index: the version it was made from */
byte open;         /* intents: a bit for each row that exists */
byte next_id;      /* ids are drawn when a transaction begins: the order of commits is another */
bool state_locked; /* index_state: the lock of the key's row */
byte mark;         /* only without G7: the relay's cursor over ids */
byte flushes, crashes;

chan stream = [2] of { byte };  /* full: a hint is dropped */
chan pending = [2] of { byte }; /* claimed, not acknowledged */

#ifdef NO_G7
#define VISIBLE (open & ~((1 << mark) - 1))
#else
#define VISIBLE open
#endif

proctype server()
{
	byte id;
	atomic { id = next_id; next_id++ }
	d_step { source++; open = open | (1 << id) } /* one commit */
	if
	:: atomic { nfull(stream) -> stream ! id }
	:: skip /* the hint is lost */
	fi
}

proctype relay()
{
	byte id;
end:	do
	:: atomic {
		empty(stream) && empty(pending) && VISIBLE ->
		if
		:: VISIBLE & 1 -> id = 0
		:: VISIBLE & 2 -> id = 1
		fi;
		stream ! id
#ifdef NO_G7
		; mark = id + 1
#endif
	   }
	od
}

proctype worker()
{
	byte id, seen, reading;
end:	do
	:: if
	   :: atomic { nfull(pending) && stream ? [id] -> stream ? id; pending ! id }
	   :: atomic { pending ? [id] -> pending ? <id> } /* of one who is dead, or only slow */
	   fi;
	   atomic { !state_locked -> state_locked = true }
#ifdef NO_G9
	   reading = source;
	   seen = open;
#else
	   seen = open;
	   reading = source;
#endif
#ifdef NO_G10
	   open = open & ~seen; /* intents removed in a commit of their own, before the entries' */
#endif
	   if
	   :: atomic { crashes < CRASHES -> crashes++; state_locked = false; goto end } /* rolled back */
	   :: d_step { entry = reading; open = open & ~seen; state_locked = false } /* one commit */
	   fi;
	   if
	   :: atomic { crashes < CRASHES -> crashes++ } /* not acknowledged: comes again */
	   :: atomic { pending ?? [eval(id)] -> pending ?? eval(id) }
	   :: atomic { !(pending ?? [eval(id)]) -> skip }
	   fi
	od
}

/* FLUSHALL; the relay sees that its epoch key is gone and begins anew. */
proctype flush()
{
end:	do
	:: d_step {
		flushes < FLUSHES -> flushes++;
		do
		:: nempty(stream) -> stream ? _
		:: empty(stream) -> break
		od;
		do
		:: nempty(pending) -> pending ? _
		:: empty(pending) -> break
		od;
		mark = 0
	   }
	od
}

/* Goes on when nothing else can. */
proctype check()
{
	timeout;
	assert(open == 0);
	assert(entry == source)
}

init
{
	atomic {
		run server(); run server();
		run relay(); run worker(); run worker(); run flush(); run check()
	}
}
