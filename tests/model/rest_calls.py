# SPDX-License-Identifier: Apache-2.0
"""Calls of the model through the Azure Tables door: half of those that REST can say, with the answers of gRPC's messages.

What REST has no form for goes over gRPC: conditions as text, descending queries, request ids, cancelled calls, transactions. So
both doors are judged by one reference, in one history.
"""

import base64
import datetime
import http.client
import json
import os
import random
import re
import socket
import time
import urllib.parse

from calls import Answer, Caller, content_of
from tavola_test import client

VERBS = {
    "InsertEntity": "POST",
    "ReplaceEntity": "PUT",
    "MergeEntity": "PATCH",
    "InsertOrReplaceEntity": "PUT",
    "InsertOrMergeEntity": "PATCH",
    "DeleteEntity": "DELETE",
}
ACTIONS = {"insert": "InsertEntity", "replace": "ReplaceEntity", "merge": "MergeEntity", "insert_or_replace": "InsertOrReplaceEntity",
           "insert_or_merge": "InsertOrMergeEntity", "delete": "DeleteEntity"}
CONDITIONAL = ("ReplaceEntity", "MergeEntity", "DeleteEntity")
CODES = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 409: "ALREADY_EXISTS", 412: "ABORTED"}
EPOCH = datetime.datetime(1970, 1, 1)
OURS = "rest:"  # what tokens of pages begin with that this door has given


class Absent(Exception):
    """REST has no form for the call."""


class RestError(Exception):
    """A refusal, with the members of client.ApiError that the model reads."""

    def __init__(self, status, text, headers):
        problem = json.loads(text)["odata.error"]
        self.message = problem["message"]["value"]
        self.reason = re.sub("(?<!^)(?=[A-Z])", "_", problem["code"]).upper()
        assert headers.get("x-ms-error-code") in (None, problem["code"]), headers
        self.code = CODES[status]
        index = re.match(r"(\d+):", self.message)
        self.metadata = {"operation_index": index[1]} if index else {}
        self.entity = None
        super().__init__(f"{status} {text}")


# ---- values ----


def time_of(text):
    """(seconds, nanoseconds) of a time with up to seven digits."""
    whole, _, digits = text.rstrip("Z").partition(".")
    seconds = (datetime.datetime.fromisoformat(whole) - EPOCH) // datetime.timedelta(seconds=1)
    return seconds, int(digits.ljust(9, "0")) if digits else 0


def text_of_time(seconds, nanos):
    moment = EPOCH + datetime.timedelta(seconds=seconds)
    return f"{moment.isoformat(timespec='seconds')}.{nanos // 100:07}Z"


def annotated(kind, payload):
    """(the type's name or None, the JSON value)"""
    if kind == "int64":
        return "Edm.Int64", str(payload)
    if kind == "datetime":
        return "Edm.DateTime", text_of_time(*payload)
    if kind == "guid":
        return "Edm.Guid", payload
    if kind == "binary":
        return "Edm.Binary", base64.b64encode(payload).decode()
    if kind == "double":
        number = client.struct.unpack("<d", payload)[0]
        if number != number or number in (float("inf"), float("-inf")):
            return "Edm.Double", "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
        return None, number
    return None, payload


def json_of(entity):
    out = {"PartitionKey": entity.partition_key, "RowKey": entity.row_key}
    for name, kind, payload in content_of(entity):
        if not name:
            raise Absent("expires")
        kind, value = annotated(kind, payload)
        if kind:
            out[f"{name}@odata.type"] = kind
        out[name] = value
    return out


def set_value(value, kind, found):
    if kind == "Edm.Int64":
        value.int64_value = int(found)
    elif kind == "Edm.DateTime":
        value.datetime_value.seconds, value.datetime_value.nanos = time_of(found)
        value.datetime_value.SetInParent()
    elif kind == "Edm.Guid":
        value.guid_value = found
    elif kind == "Edm.Binary":
        value.binary_value = base64.b64decode(found)
    elif kind == "Edm.Double" or isinstance(found, float):
        value.double_value = float(found)
    elif isinstance(found, bool):
        value.boolean_value = found
    elif isinstance(found, int):
        value.int32_value = found
    else:
        value.string_value = found


def entity_of(found):
    out = client.Entity(partition_key=found["PartitionKey"], row_key=found["RowKey"], etag=found["odata.etag"])
    out.timestamp.seconds, out.timestamp.nanos = time_of(found["Timestamp"])
    for name, value in found.items():
        if "odata." in name or name in ("PartitionKey", "RowKey", "Timestamp") or value is None:
            continue
        set_value(out.properties[name], found.get(f"{name}@odata.type"), value)
    return out


# ---- requests ----


def field_of(message, name, default=""):
    """A field of a message, or of a dictionary that is to become one."""
    return message.get(name, default) if isinstance(message, dict) else getattr(message, name, default)


def path_of(table, key):
    partition, row = (urllib.parse.quote(part.replace("'", "''"), safe="") for part in key)
    return f"/{table}(PartitionKey='{partition}',RowKey='{row}')"


def headers_of(method, precondition):
    """If-Match, which the conditional writes need: without it they would be upserts."""
    etag, condition = field_of(precondition, "if_match"), field_of(precondition, "condition")
    if condition or bool(etag) != (method in CONDITIONAL):
        raise Absent("the condition")
    return {"If-Match": etag} if etag else {}


def write_request(method, table, target, precondition):
    """(verb, path, headers, body) of one write."""
    headers = headers_of(method, precondition)
    if method == "DeleteEntity":
        return "DELETE", path_of(table, (field_of(target, "partition_key"), field_of(target, "row_key"))), headers, None
    body = json.dumps(json_of(target))
    path = f"/{table}" if method == "InsertEntity" else path_of(table, (target.partition_key, target.row_key))
    return VERBS[method], path, {**headers, "Content-Type": "application/json"}, body


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class RestCaller(Caller):
    """Like Caller; every second call of those that REST knows goes through the door."""

    def __init__(self, made):
        super().__init__(made)
        self.random = random.Random(id(self))
        self.door = None

    def call(self, method, timeout=20, **fields):
        token = fields.get("page_token", "")
        if "request_id" in fields or timeout != 20 or (not token.startswith(OURS) and (token or self.random.random() < 0.5)):
            return super().call(method, timeout, **fields)
        called = time.monotonic()
        try:
            send = getattr(self, "send_" + method, self.send_write if method in VERBS else None)
            if not send:
                raise Absent(method)
            answer = Answer(called, None, reply=send(method, **fields))
        except (Absent, ConnectionRefusedError, FileNotFoundError):
            return super().call(method, timeout, **fields)
        except RestError as error:
            answer = Answer(called, None, error=error)
        except (OSError, http.client.HTTPException):
            answer = Answer(called, None)
            self.door = None
        answer.answered = time.monotonic()
        if not answer.is_known and not self.made.accepts():
            self.reconnect()
        return answer

    def request(self, verb, path, headers=None, body=None):
        """(status, text, headers). Statuses from 500 on say nothing about the effect."""
        if not self.door:
            self.door = Connection(os.path.join(self.made.folder, "http"), 20)
            self.door.connect()
        self.door.request(verb, "/default" + path, body, {"Accept": "application/json;odata=minimalmetadata", **(headers or {})})
        reply = self.door.getresponse()
        text = reply.read().decode()
        if reply.status >= 500:
            raise http.client.HTTPException(text)
        if reply.status >= 400:
            raise RestError(reply.status, text, reply.headers)
        return reply.status, text, reply.headers

    # methods

    def reply_of(self, method):
        return client.types.message(self.methods[method][1].output_type.full_name)()

    def send_write(self, method, table, precondition=None, entity=None, key=None):
        status, text, headers = self.request(*write_request(method, table, key if method == "DeleteEntity" else entity, precondition or {}))
        reply = self.reply_of(method)
        reply.result.etag = headers["ETag"] or ""
        if method == "InsertEntity":
            assert status == 201, text
            made = entity_of(json.loads(text))
            assert content_of(made) == content_of(entity) and made.etag == reply.result.etag, text
            reply.result.timestamp.CopyFrom(made.timestamp)
        else:
            assert (status, text) == (204, ""), (status, text)
        reply.SetInParent()
        return reply

    def send_ExecuteBatch(self, method, table, operations):
        if not operations:
            raise Absent("an empty batch")
        lines = ["--b", "Content-Type: multipart/mixed; boundary=c", ""]
        for operation in operations:
            action = operation.WhichOneof("action")
            verb, path, headers, body = write_request(ACTIONS[action], table, getattr(operation, action), operation.precondition)
            named = [f"{name}: {value}" for name, value in {**headers, "Prefer": "return-no-content"}.items()]
            lines += ["--c", "Content-Type: application/http", "", f"{verb} http://localhost/default{path} HTTP/1.1", *named, "", body or ""]
        _, text, _ = self.request("POST", "/$batch", {"Content-Type": "multipart/mixed; boundary=b"}, "\r\n".join([*lines, "--c--", "--b--", ""]))
        reply = self.reply_of(method)
        for answer in re.findall(r"HTTP/1\.1 (\d+) [^\r]*\r\n(.*?)\r\n\r\n(.*?)\r\n--", text, re.S):
            status, headers, body = int(answer[0]), dict(line.split(": ", 1) for line in answer[1].split("\r\n") if ": " in line), answer[2]
            if status >= 500:
                raise http.client.HTTPException(body)
            if status >= 400:
                raise RestError(status, body, headers)
            reply.results.add(etag=headers.get("ETag", ""))
        return reply

    def send_GetEntity(self, method, table, key, options):
        _, text, headers = self.request("GET", path_of(table, (field_of(key, "partition_key"), field_of(key, "row_key"))) + "?" + select_of(options))
        reply = self.reply_of(method)
        reply.entity.CopyFrom(entity_of(json.loads(text)))
        assert headers["ETag"] == reply.entity.etag, text
        return reply

    def send_QueryEntities(self, method, query, page_size, options, page_token=""):
        if query["descending"]:
            raise Absent("descending")
        asked = {"$filter": query["filter"], "$top": page_size or 1000, "NextPartitionKey": page_token.removeprefix(OURS)}
        _, text, headers = self.request("GET", f"/{query['table']}()?{urllib.parse.urlencode(asked)}&{select_of(options)}")
        reply = self.reply_of(method)
        reply.entities.extend(entity_of(found) for found in json.loads(text)["value"])
        token = headers["x-ms-continuation-NextPartitionKey"]
        reply.next_page_token = OURS + token if token else ""
        return reply


def select_of(options):
    return "$select=" + ",".join(["PartitionKey", "RowKey", "Timestamp", *options["select"]]) if options["select"] else ""
