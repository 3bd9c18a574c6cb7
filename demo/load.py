"""Loading many entities: several streams of large messages, each answered when it is committed."""

import concurrent.futures
import contextlib

_STREAMS = 3
_MESSAGE = 1000  # entities


def _requests(client, table, entities):
    for begin in range(0, len(entities), _MESSAGE):
        part = entities[begin : begin + _MESSAGE]
        yield client.pb.ImportEntitiesRequest(
            table=table if begin == 0 else "", entities=[client.entity(*one) for one in part]
        )


def _stream(client, table, entities, progress):
    committed = 0
    for reply in client.import_entities(_requests(client, table, entities)):
        if reply.rejected:
            first = reply.rejected[0]
            raise RuntimeError(f"import: {first.key.row_key} was refused: {first.error.message}")
        progress.add(reply.committed - committed)
        committed = reply.committed
    if committed != len(entities):
        raise RuntimeError(f"import: {committed} of {len(entities)} entities were committed")


@contextlib.contextmanager
def loading(client, table, entities, progress):
    """While the body of the `with` runs the streams go on; it ends when they have ended.

    entities: a list of (key, properties). The value is a function that waits for so many commits.
    """
    with concurrent.futures.ThreadPoolExecutor(_STREAMS) as pool:
        streams = [
            pool.submit(_stream, client, table, entities[number::_STREAMS], progress) for number in range(_STREAMS)
        ]

        def wait_for(count):
            failed = lambda: any(stream.done() and stream.exception() for stream in streams)
            with progress.changed:
                while progress.done < count and not failed():
                    progress.changed.wait(0.1)

        yield wait_for
        for stream in streams:
            stream.result()
