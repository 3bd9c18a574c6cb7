# SPDX-License-Identifier: Apache-2.0
"""many_puts.py TARGET PUTS BYTES - that many puts of blobs at once, each of which tries again while the server is too busy to take
it. Prints how often puts were refused.
"""

import asyncio
import os
import random
import sys

import grpc

import wire

METHOD = "/tavola.v1.BlobService/PutBlob"
CONNECTIONS = 20
PART = 1 << 20


def requests(name, content):
    yield wire.message((1, [(1, name)]))
    for at in range(0, len(content), PART):
        yield wire.message((2, content[at:at + PART]))
    yield wire.message((3, 1))


async def put(channel, name, content):
    """The number of refusals."""
    refused = 0
    while True:
        try:
            await channel.stream_stream(METHOD)(requests(name, content)).read()
            return refused
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise
            refused += 1
            await asyncio.sleep(random.uniform(0.1, 1))


async def run(target, puts, content):
    channels = [grpc.aio.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(CONNECTIONS)]
    refused = await asyncio.gather(*(put(channels[n % CONNECTIONS], f"many/{n}", content) for n in range(puts)))
    print(sum(refused))


asyncio.run(run(sys.argv[1], int(sys.argv[2]), os.urandom(int(sys.argv[3]))))
