# SPDX-License-Identifier: Apache-2.0
"""Watch a table's change feed, and apply the changes to a copy."""

from tavola_test import client
from tavola_test.client import ApiError
from tavola_test.settings import TIMEOUT_FACTOR

WatchRequest = client.types.message("tavola.v1.WatchEntitiesRequest")
WatchResponse = client.types.message("tavola.v1.WatchEntitiesResponse")
METHOD = "/tavola.v1.EntityService/WatchEntities"


class Watch:
    """A watch and the changes that it has returned so far; read() waits for the next message."""

    def __init__(self, caller, table, text="", token="", timeout=120, **options):
        request = WatchRequest(table=table, filter=text, resume_token=token, options=options)
        rpc = caller.channel.unary_stream(METHOD, WatchRequest.SerializeToString, WatchResponse.FromString)
        self.call = rpc(request, timeout=timeout * TIMEOUT_FACTOR)
        self.changes = []
        self.token = token
        self.bookmarks = 0

    def read(self):
        try:
            message = next(self.call)
        except client.grpc.RpcError as error:
            raise ApiError(error) from None
        assert message.resume_token
        self.token = message.resume_token
        self.changes += message.changes
        self.bookmarks += not message.changes
        return message

    def begin(self):
        """The first message, which comes at once: every change after it is sent."""
        self.read()
        return self

    def until(self, count):
        """Read until the watch has returned this many changes."""
        while len(self.changes) < count:
            self.read()
        return self.changes

    def close(self):
        self.call.cancel()


def apply(state, changes):
    """The copy of the table after these changes."""
    for change in changes:
        place = change.entity.partition_key, change.entity.row_key
        if change.deleted:
            state.pop(place, None)
        else:
            state[place] = change.entity.SerializeToString(deterministic=True)


def everything(caller, table):
    return {
        (found.partition_key, found.row_key): found.SerializeToString(deterministic=True)
        for found in caller.query(table)
    }
