# SPDX-License-Identifier: Apache-2.0
"""KEDA's external scaler, which a worker serves, as KEDA calls it: by the field numbers of its documentation."""

import struct
import unittest

import grpc

from tavola_test import client, log_lines
from tavola_test.client import entity, raw_field
from tavola_test.collector import fields
from tavola_test.ports import free_port
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

SERVICE = "/externalscaler.ExternalScaler/"


def number_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


class Scaler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server()
        cls.address = f"127.0.0.1:{free_port()}"
        cls.stack.start_worker(TAVOLA_WORKER_SCALER_LISTEN=cls.address)
        cls.caller = cls.stack.connect()
        cls.addClassCleanup(cls.caller.channel.close)
        cls.caller.create_table(name="people")
        cls.caller.create_index(index={
            "name": "byCity", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "City"}]
        })
        wait_ready(cls.caller, "byCity")
        cls.keda = client.Client(cls.address)
        cls.addClassCleanup(cls.keda.channel.close)
        wait_for("the lag", cls.is_known)

    @classmethod
    def is_known(cls):
        try:
            cls.keda.raw(SERVICE + "IsActive", b"")
        except client.ApiError as error:
            assert error.code == "UNAVAILABLE", error
            return False
        return True

    def object(self, **metadata):
        pairs = [raw_field(3, raw_field(1, name.encode()) + raw_field(2, text.encode())) for name, text in metadata.items()]
        return raw_field(1, b"worker") + raw_field(2, b"default") + b"".join(pairs)

    def is_active(self):
        return dict(fields(self.keda.raw(SERVICE + "IsActive", self.object()))).get(1, 0) == 1

    def lag(self):
        reply = self.keda.raw(SERVICE + "GetMetrics", raw_field(1, self.object()) + raw_field(2, b"lagSeconds"))
        value = dict(fields(dict(fields(reply))[1]))
        self.assertEqual(value[1], b"lagSeconds")
        self.assertLessEqual(abs(number_of(value.get(3, 0)) - value.get(2, 0)), 0.5)
        return number_of(value.get(3, 0))

    def spec(self, **metadata):
        reply = self.keda.raw(SERVICE + "GetMetricSpec", self.object(**metadata))
        spec = dict(fields(dict(fields(reply))[1]))
        return spec[1], spec[2], number_of(spec[3])

    def refused(self, code, method, message):
        with self.assertRaises(client.ApiError) as caught:
            self.keda.raw(SERVICE + method, message)
        self.assertEqual(caught.exception.code, code, caught.exception)

    def test_the_metric_and_its_target(self):
        self.assertEqual(self.spec(), (b"lagSeconds", 5, 5.0))
        self.assertEqual(self.spec(scalerAddress=self.address, targetLagSeconds="30"), (b"lagSeconds", 30, 30.0))
        for bad in ("", "0", "-1", "five", "86401", "1.5"):
            self.refused("INVALID_ARGUMENT", "GetMetricSpec", self.object(targetLagSeconds=bad))
        self.refused("INVALID_ARGUMENT", "GetMetricSpec", b"\xff")
        self.refused("INVALID_ARGUMENT", "GetMetrics", raw_field(2, b"other"))
        self.refused("UNIMPLEMENTED", "GetNothing", b"")

    def test_the_lag_grows_while_work_waits_and_streams_are_told(self):
        wait_for("no work", lambda: not self.is_active() and self.lag() == 0)
        stream = self.keda.channel.unary_stream(SERVICE + "StreamIsActive")(self.object(), timeout=60)
        told = lambda: dict(fields(next(stream))).get(1, 0) == 1
        self.assertFalse(told())
        with self.stack.locked("index_state"):
            self.caller.insert_or_replace_entity(table="people", entity=entity("p", "r", City="Rome"))
            self.assertTrue(told())
            wait_for("activity", self.is_active)
            first = wait_for("a lag", self.lag)
            wait_for("a larger one", lambda: self.lag() > first)
        self.assertFalse(told())
        wait_for("no lag", lambda: not self.is_active() and self.lag() == 0)
        stream.cancel()
        with self.assertRaises(grpc.RpcError):
            next(stream)

    def test_a_connection_is_kept(self):
        """KEDA asks for days over one connection. A server hangs up on a connection with many calls of strangers."""
        for _ in range(3000):
            self.is_active()

    def test_without_the_database_nothing_is_known(self):
        before = self.stack.worker
        address = f"127.0.0.1:{free_port()}"
        argv = [before.process.args[-1]]
        lone = self.stack.start("lone", argv, self.stack.settings(
            {"TAVOLA_POSTGRES": "host=/none dbname=none", "TAVOLA_WORKER_SCALER_LISTEN": address}))
        self.addCleanup(lone.kill)
        wait_for("the listener", lambda: log_lines.of(lone.output(), "scaler"))
        with client.Client(address) as keda:
            for method, message in (("IsActive", b""), ("GetMetrics", raw_field(2, b"lagSeconds"))):
                with self.assertRaises(client.ApiError) as caught:
                    keda.raw(SERVICE + method, message)
                self.assertEqual(caught.exception.code, "UNAVAILABLE")


if __name__ == "__main__":
    unittest.main()
