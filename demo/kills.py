"""The disturbances: each at a moment at which the indexes are behind, or it would prove nothing."""

import time

from stack import SERVER, WORKER

FLUSH = "redis"
ORDER = (WORKER, FLUSH, WORKER, SERVER, WORKER, FLUSH, WORKER, SERVER, WORKER)
_PATIENCE = 30  # seconds until something is open


def _wait_for_open_intents(client, index, traffic):
    """Their number; it has gone down once before: the worker that is hit now was at work."""
    deadline = time.monotonic() + _PATIENCE
    before, worked = 0, False
    while time.monotonic() < deadline:
        count = client.index_status(index).lag.open_intents
        worked = worked or count < before
        before = count
        if worked and count > 0:
            return count
        traffic.check()
    raise RuntimeError(f"no moment with open intents and a working worker for {_PATIENCE} s")


def disturb(story, stack, client, index, traffic):
    """Carry out ORDER, spread over the traffic's updates."""
    for number, what in enumerate(ORDER):
        traffic.wait_for_updates((number + 1) * traffic.target // (len(ORDER) + 1))
        stack.check()
        count = _wait_for_open_intents(client, index, traffic)
        begin = time.monotonic()
        if what == FLUSH:
            stack.flush_redis()
            story.say(f"Redis flushed           with {count:5} open intents, after {traffic.updates:,} updates")
            continue
        stack.kill(what)
        stack.start(what)
        if what == SERVER:
            client.wait_until_serving(stack.check)
        story.say(
            f"{what + ' killed':<23} with {count:5} open intents, after {traffic.updates:,} updates; "
            f"back after {(time.monotonic() - begin) * 1000:.0f} ms"
        )
