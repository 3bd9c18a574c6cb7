/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.pml - one step of a transaction, delivered more than once, beside a client that writes the same entity.
 *
 * The step sets the entity to 1; the client, which has seen that, sets it to 2. No redelivery may overwrite the 2.
 *
 * guards: G14
 */
#define DELIVERIES 3

byte value;          /* of the entity */
bool done;           /* transactions: the step's mark */
bool locked;         /* transactions: the row's lock */
bool client_wrote;
byte deliveries;

proctype worker()
{
#ifdef NO_G14
	bool was_done;
#endif
end:	do
	:: atomic { deliveries < DELIVERIES -> deliveries++ }
#ifdef NO_G14
	   was_done = done; /* looked at before the lock, marked after the effect */
	   if
	   :: !was_done -> value = 1; done = true
	   :: else
	   fi
#else
	   atomic { !locked -> locked = true }
	   if
	   :: d_step { !done -> value = 1; done = true; locked = false } /* one commit */
	   :: locked = false                                            /* done, or a crash */
	   fi
#endif
	od
}

proctype client()
{
end:	d_step { value == 1 -> value = 2; client_wrote = true }
}

proctype check()
{
	timeout;
	assert(!client_wrote || value == 2)
}

init
{
	atomic { run worker(); run worker(); run client(); run check() }
}
