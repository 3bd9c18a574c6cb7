# SPDX-License-Identifier: Apache-2.0
"""Loads many entities: several streams of large messages, each answered once it is committed. If the server of a
stream is killed, the stream begins again behind the last answered message: repeats are harmless.
"""

import concurrent.futures
import contextlib

import grpc

_STREAMS = 3
_MAX_ENTITIES, _MIN_ENTITIES, _MESSAGES = 1000, 20, 60  # entities of a message: few where there is little to load


def message_size(total):
    return max(_MIN_ENTITIES, min(_MAX_ENTITIES, total // _MESSAGES))


def _requests(client, table, entities, size):
    for begin in range(0, len(entities), size):
        part = entities[begin : begin + size]
        yield client.pb.ImportEntitiesRequest(
            table=table if begin == 0 else "", entities=[client.entity(*one) for one in part]
        )


def _attempt(client, table, entities, size, counter):
    """Entities of the messages that were answered, and whether that is all of them."""
    committed = 0
    try:
        for reply in client.import_entities(_requests(client, table, entities, size)):
            if reply.rejected:
                first = reply.rejected[0]
                raise RuntimeError(f"import: {first.key.row_key} was refused: {first.error.message}")
            counter.add(reply.committed - committed)
            committed = reply.committed
    except grpc.RpcError as error:
        if not client.is_worth_another_try(error):
            raise
        client.retries += 1
        return committed, False
    if committed != len(entities):
        raise RuntimeError(f"import: {committed} of {len(entities)} entities were committed")
    return committed, True


def _stream(client, table, entities, size, counter):
    is_done = not entities
    while not is_done:
        committed, is_done = _attempt(client, table, entities, size, counter)
        whole = committed // size * size
        if not is_done:
            counter.add(whole - committed)
            entities = entities[whole:]
            is_done = not entities


@contextlib.contextmanager
def loading(client, table, entities, counter):
    """While the body of the `with` runs the streams go on; it ends when they have ended. entities: a list of (key,
    properties). The value is a function that waits for a number of commits; false: the load had ended before.
    """
    size = message_size(len(entities))
    with concurrent.futures.ThreadPoolExecutor(_STREAMS) as pool:
        streams = [
            pool.submit(_stream, client, table, entities[number::_STREAMS], size, counter) for number in range(_STREAMS)
        ]

        def wait_for(count):
            with counter.changed:
                while counter.done < count and not all(stream.done() for stream in streams):
                    counter.changed.wait(0.1)
            return not all(stream.done() for stream in streams)

        yield wait_for
        for stream in streams:
            stream.result()
