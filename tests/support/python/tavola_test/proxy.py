# SPDX-License-Identifier: Apache-2.0
"""A network that is slow, silent or cut: a proxy from a TCP port to a Unix socket, in a thread of its own."""

import asyncio
import random
import threading

CHUNK = 65536


class Proxy:
    """Listens on a free port of 127.0.0.1 (port); connections go to the socket at `path`.

    delay(seconds)  every chunk, either way, is held up for a random time of up to so many seconds; 0: no more
    silence(on)     nothing passes, nothing is closed; what came meanwhile passes afterwards
    cut(on)         all connections are reset, and new ones at once
    """

    def __init__(self, path):
        self.path = path
        self.seconds = 0
        self.is_cut = False
        self.writers = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.port = self.call(self.listen())

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    async def listen(self):
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def accept(self, reader, writer):
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_unix_connection(self.path)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, there_writer}
        self.writers |= pair
        await asyncio.wait(
            {
                asyncio.ensure_future(self.pump(reader, there_writer)),
                asyncio.ensure_future(self.pump(there_reader, writer)),
            }
        )
        self.writers -= pair
        for each in pair:
            each.transport.abort()

    async def pump(self, reader, writer):
        """Copy until one side closes or breaks; then close the other side."""
        try:
            while data := await reader.read(CHUNK):
                if self.seconds:
                    await asyncio.sleep(random.random() * self.seconds)
                await self.flowing.wait()
                writer.write(data)
                await writer.drain()
            writer.close()
        except OSError:
            writer.transport.abort()

    def delay(self, seconds):
        self.seconds = seconds

    def silence(self, on):
        self.loop.call_soon_threadsafe(self.flowing.clear if on else self.flowing.set)

    def cut(self, on):
        async def abort():
            self.is_cut = on
            for writer in self.writers if on else ():
                writer.transport.abort()

        self.call(abort())

    def stop(self):
        self.cut(True)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
