/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker.pml - the answer to COMMIT was lost: was it done?
 *
 * The transaction inserts a row into commit_markers that is its own. Who resolves inserts the same row on another
 * connection: it waits while the old transaction is open, and what it finds decides. "Not committed" is said
 * only when it never will be.
 *
 * guards: G6
 */
mtype = { OPEN, COMMITTED, ROLLED_BACK };
mtype transaction = OPEN;
bool marker;      /* a committed row in commit_markers, of the transaction or of the resolver */
bool answered_no; /* the caller was told that nothing happened */

/* The server end of the lost connection: the COMMIT may still be on its way. */
proctype backend()
{
	if
	:: d_step { !marker -> transaction = COMMITTED; marker = true }
	:: d_step { marker -> transaction = ROLLED_BACK } /* its own marker collides */
	:: transaction = ROLLED_BACK
	fi;
	assert(!(answered_no && transaction == COMMITTED))
}

proctype resolver()
{
#ifdef NO_G6
	if
	:: !marker -> answered_no = true /* a SELECT sees no row */
	:: else
	fi
#else
	if
	:: d_step { transaction != OPEN && !marker -> marker = true; answered_no = true } /* it waited */
	:: d_step { !marker && transaction == OPEN -> marker = true; answered_no = true } /* first: the other collides */
	:: transaction == COMMITTED
	fi
#endif
}

init
{
	atomic { run backend(); run resolver() }
}
