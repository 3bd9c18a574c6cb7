#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The REST protocol of Azure Tables with nothing but Python's own library: what an SDK sends and gets.

usage: azure_rest.py [ADDRESS]

ADDRESS is http://127.0.0.1:10002/devstoreaccount1 if it is not given: the server of ./dev run, without authentication.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:10002/devstoreaccount1"


def send(method, path, body=None, **headers):
    """The parsed reply and its headers; paths are relative to the account, names of headers have _ for -."""
    named = {"Accept": "application/json;odata=nometadata", "Content-Type": "application/json", "x-ms-version": "2019-02-02"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{ADDRESS}/{path}", data, named, method=method)
    with urllib.request.urlopen(request) as reply:
        text = reply.read()
        return json.loads(text) if text else None, reply.headers


def entity(table, partition_key, row_key):
    """The path of an entity: quotes are doubled, and all is percent-encoded."""
    keys = (urllib.parse.quote(key.replace("'", "''"), safe="") for key in (partition_key, row_key))
    return "{}(PartitionKey='{}',RowKey='{}')".format(table, *keys)


def query(table, **options):
    """All entities, page by page: a page ends with a continuation, which is sent back as it came."""
    while True:
        text = urllib.parse.urlencode({name.replace("_", "$"): value for name, value in options.items()})
        page, headers = send("GET", f"{table}()?{text}")
        yield from page["value"]
        options["NextPartitionKey"] = headers["x-ms-continuation-NextPartitionKey"]
        if not options["NextPartitionKey"]:
            return


def main():
    table = "azureRest"
    send("POST", "Tables", {"TableName": table}, Prefer="return-no-content")
    for number, name in enumerate(("Ada", "Grace", "O'Neil")):
        send("PUT", entity(table, "sales", name), {"Age": 36 + number, "Visits@odata.type": "Edm.Int64", "Visits": "9007199254740993"})
    _, headers = send("GET", entity(table, "sales", "O'Neil"))
    etag = headers["ETag"]
    send("PATCH", entity(table, "sales", "O'Neil"), {"Age": 50}, If_Match=etag)
    try:
        send("PATCH", entity(table, "sales", "O'Neil"), {"Age": 51}, If_Match=etag)
    except urllib.error.HTTPError as error:
        print(error.code, json.load(error)["odata.error"]["code"])
    for found in query(table, _filter="PartitionKey eq 'sales' and Age ge 37", _select="RowKey,Age", _top=1):
        print(found["RowKey"], found["Age"])
    send("DELETE", f"Tables('{table}')")


if __name__ == "__main__":
    main()
