# SPDX-License-Identifier: Apache-2.0
"""TLS between callers and server, and between server and PostgreSQL."""

import os
import re
import shutil
import socket
import ssl
import tempfile
import unittest

import grpc

from tavola_test import credentials, log_lines, postgres, servers
from tavola_test.certificates import Authority, read
from tavola_test.client import ApiError, Client, entity, key, types
from tavola_test.ports import free_port
from tavola_test.processes import Child, run_program
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for


class TlsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority = Authority(cls.folder, "authority")
        cls.stranger = Authority(cls.folder, "stranger")
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)

    def serve(self, certificate, key_file, **settings):
        log = os.path.join(self.stack.folder, "tavolad.log")
        if os.path.exists(log):
            os.unlink(log)
        server = self.stack.start_server(
            wait=False,
            TAVOLA_LISTEN="127.0.0.1:0",
            TAVOLA_TLS_CERT=certificate,
            TAVOLA_TLS_KEY=key_file,
            **settings,
        )
        self.addCleanup(server.kill)
        return wait_for("the address", self.stack.listens_on)

    def connect(self, target, authority, certificate=None, key_file=None):
        pair = {"private_key": read(key_file), "certificate_chain": read(certificate)} if certificate else {}
        credentials = grpc.ssl_channel_credentials(root_certificates=read(authority.file), **pair)
        made = Client(target, credentials)
        self.addCleanup(made.channel.close)
        return made

    def fresh_copy(self, name, pair):
        """Copy certificate and key to paths that the test may overwrite."""
        copies = [os.path.join(self.folder, name + end) for end in (".crt", ".key")]
        for source, copy in zip(pair, copies):
            shutil.copy(source, copy)
        return copies

    def serial(self, target):
        """Of the certificate that the server presents."""
        host, port = target.rsplit(":", 1)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        with socket.create_connection((host, int(port))) as plain:
            with context.wrap_socket(plain) as wrapped:
                return wrapped.getpeercert(binary_form=True)


class Callers(TlsCase):
    def test_a_caller_that_trusts_the_authority_is_served(self):
        target = self.serve(*self.authority.sign("server"))
        caller = self.connect(target, self.authority)
        wait_for("SERVING", lambda: caller.health() == "SERVING")
        caller.create_table(name="overTls")
        caller.insert_entity(table="overTls", entity=entity("p", "r", A=1))
        self.assertEqual(caller.get_entity(table="overTls", key=key(("p", "r"))).entity.row_key, "r")
        for wrong in (self.connect(target, self.stranger), Client(target)):
            with self.assertRaises(ApiError) as caught:
                wrong.health()
            self.assertEqual(caught.exception.code, "UNAVAILABLE")
            wrong.channel.close()

    def test_a_signature_for_tls_only(self):
        printed = run_program("tavola", "account", "create", "acme", settings={"TAVOLA_POSTGRES": self.stack.postgres}).stdout
        first = credentials.key_of(printed.splitlines()[0].split()[-1])
        target = self.serve(*self.authority.sign("server"), TAVOLA_AUTHENTICATION="required")
        for given in (credentials.token(first), credentials.sas(first, "sealed", tls_only=True)):
            channel = grpc.ssl_channel_credentials(root_certificates=read(self.authority.file))
            with Client(target, channel, token=given) as caller:
                if given.startswith("tvt1."):
                    wait_for("SERVING", lambda: caller.health() == "SERVING")
                    caller.create_table(name="sealed")
                caller.insert_or_replace_entity(table="sealed", entity=entity("p", "r"))

    def test_only_callers_with_a_certificate_of_the_authority(self):
        target = self.serve(*self.authority.sign("server"), TAVOLA_TLS_CLIENT_CA=self.authority.file)
        good = self.connect(target, self.authority, *self.authority.sign("caller"))
        wait_for("SERVING", lambda: good.health() == "SERVING")
        for wrong in (
            self.connect(target, self.authority),
            self.connect(target, self.authority, *self.stranger.sign("other")),
        ):
            with self.assertRaises(ApiError) as caught:
                wrong.health()
            self.assertEqual(caught.exception.code, "UNAVAILABLE")

    def test_new_files_count_for_new_connections_and_bad_ones_change_nothing(self):
        certificate, key_file = self.fresh_copy("moving", self.authority.sign("first"))
        target = self.serve(certificate, key_file)
        early = self.connect(target, self.authority)
        wait_for("SERVING", lambda: early.health() == "SERVING")
        first = self.serial(target)
        self.fresh_copy("moving", self.authority.sign("second"))
        second = self.serial(target)
        self.assertNotEqual(first, second)
        self.assertEqual(early.health(), "SERVING")
        with open(certificate, "w", encoding="ascii") as file:
            file.write("nonsense")
        self.assertEqual(self.serial(target), second)
        shutil.copy(self.authority.sign("third")[0], certificate)
        self.assertEqual(self.serial(target), second, "a certificate without its key")
        shutil.copy(os.path.join(self.folder, "third.key"), key_file)
        self.assertNotEqual(self.serial(target), second)
        self.assertEqual(self.connect(target, self.authority).health(), "SERVING")
        said = [kept["why"] for kept in log_lines.of(self.stack.server.output(), "certificates_kept")]
        self.assertRegex(said[0], "not a file in PEM")
        self.assertRegex(said[-1], f"the key in {key_file} does not belong to the certificate in")

    def test_many_large_replies_at_once(self):
        """Small and large replies cross on one connection, whether they share packets or not."""
        made = {f"{i:03}": os.urandom(i * 997 % 60000) for i in range(80)}
        want = {row: entity("p", row, B=blob).properties for row, blob in made.items()}
        for joined in ("on", "off"):
            target = self.serve(*self.authority.sign("server"), TAVOLA_COALESCE_REPLIES=joined)
            caller = self.connect(target, self.authority)
            wait_for("SERVING", lambda: caller.health() == "SERVING")
            caller.create_table(name="large" + joined)
            caller.load("large" + joined, [entity("p", row, B=blob) for row, blob in made.items()])
            get, query = "/tavola.v1.EntityService/GetEntity", "/tavola.v1.EntityService/QueryEntities"
            begun = []
            for row in list(made) * 2:
                request = types.message("tavola.v1.GetEntityRequest")(table="large" + joined, key=key(("p", row)))
                begun.append((row, caller.start(get, request.SerializeToString())))
                if row.endswith("9"):
                    page = types.message("tavola.v1.QueryEntitiesRequest")(query={"table": "large" + joined})
                    begun.append((None, caller.start(query, page.SerializeToString())))
            for row, call in begun:
                reply = types.message("tavola.v1.QueryEntitiesResponse" if row is None else "tavola.v1.GetEntityResponse")
                answer = reply.FromString(call.result())
                for found in answer.entities if row is None else [answer.entity]:
                    self.assertEqual(found.properties, want[found.row_key])
                self.assertTrue(row is None or answer.entity.row_key == row)
            self.stack.server.kill()

    def test_settings_that_do_not_fit_together(self):
        certificate, key_file = self.authority.sign("server")
        other_key = self.authority.sign("other")[1]
        locked = os.path.join(self.folder, "locked.key")
        Authority.run("pkcs8", "-topk8", "-in", key_file, "-passout", "pass:secret", "-out", locked)
        for settings, text in (
            ({"TAVOLA_TLS_CERT": certificate}, "TAVOLA_TLS_KEY"),
            ({"TAVOLA_TLS_CLIENT_CA": certificate}, "TAVOLA_TLS_CLIENT_CA"),
            ({"TAVOLA_TLS_CERT": "/none.crt", "TAVOLA_TLS_KEY": key_file}, "/none.crt"),
            ({"TAVOLA_TLS_CERT": certificate, "TAVOLA_TLS_KEY": other_key},
             f"the key in {other_key} does not belong to the certificate in {certificate}"),
            ({"TAVOLA_TLS_CERT": key_file, "TAVOLA_TLS_KEY": key_file}, f"{key_file} has no readable certificate"),
            ({"TAVOLA_TLS_CERT": certificate, "TAVOLA_TLS_KEY": locked}, f"{locked} has no private key"),
        ):
            with self.subTest(settings=settings):
                result = run_program("tavolad", settings=self.stack.server_settings(**settings))
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(text, result.stderr)


class CommandLine(TlsCase):
    def test_options_and_settings(self):
        target = self.serve(*self.authority.sign("server"), TAVOLA_TLS_CLIENT_CA=self.authority.file)
        certificate, key_file = self.authority.sign("operator")
        options = ["--target", target, "--ca", self.authority.file, "--cert", certificate, "--key", key_file]

        def answers():
            return run_program("tavola", *options, "health").returncode == 0

        wait_for("health over TLS", answers)
        told = run_program("tavola", *options, "doctor", "--no-probe", "--all").stdout
        self.assertRegex(told, r"warning  certificates: the server's certificate is valid for [12] more days")
        self.assertRegex(told, rf"warning  certificates: {re.escape(certificate)} is valid for [12] more days")
        settings = {
            "TAVOLA_TARGET": target,
            "TAVOLA_CA": self.authority.file,
            "TAVOLA_CLIENT_CERT": certificate,
            "TAVOLA_CLIENT_KEY": key_file,
        }
        self.assertEqual(run_program("tavola", "health", settings=settings).returncode, 0)
        self.assertEqual(run_program("tavola", "--target", target, "health").returncode, 1)
        settings["TAVOLA_CLIENT_KEY"] = self.authority.sign("other")[1]
        self.assertIn("does not belong to the certificate", run_program("tavola", "health", settings=settings).stderr)

    def test_a_token_is_never_sent_in_plain_text(self):
        token = os.path.join(self.folder, "token")
        with open(token, "w", encoding="ascii") as file:
            file.write("secret\n")
        result = run_program("tavola", "--target", "192.0.2.1:1", "--token-file", token, "health")
        self.assertEqual(result.returncode, 1)
        self.assertIn("use TLS", result.stderr)
        self.assertNotIn("secret", result.stderr + result.stdout)
        result = run_program("tavola", "--token-file", "/none", "health")
        self.assertIn("/none", result.stderr)


class Postgres(TlsCase):
    """A PostgreSQL that accepts only TLS connections."""

    def start_postgres(self):
        certificate, key_file = self.authority.sign("postgres")
        self.port = free_port()
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "ssl": "on",
            "ssl_cert_file": certificate,
            "ssl_key_file": key_file,
        }
        cluster = postgres.Postgres(self.folder, settings, rules="hostssl all all 127.0.0.1/32 trust\n")
        cluster.hand_over(key_file)
        server = cluster.start(lambda argv: Child(argv, {}, os.path.join(self.folder, "cluster.log")))
        self.addCleanup(server.kill)

    def address(self, authority):
        return (
            f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres "
            f"sslmode=verify-full sslrootcert={authority.file}"
        )

    def migrate(self, authority):
        return run_program("tavola", "migrate", settings={"TAVOLA_POSTGRES": self.address(authority)})

    def test_every_connection_is_encrypted_and_the_certificate_is_checked(self):
        self.start_postgres()
        wait_for("PostgreSQL over TLS", lambda: self.migrate(self.authority).returncode == 0, 30)
        refused = self.migrate(self.stranger)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("certificate verify failed", refused.stderr)
        good = {"TAVOLA_POSTGRES": self.address(self.authority)}
        self.stack.start_server(**good)
        self.addCleanup(self.stack.server.kill)
        with self.stack.connect() as caller:
            caller.create_table(name="encrypted")
            caller.insert_entity(table="encrypted", entity=entity("p", "r", A=1))
        query = "select bool_and(ssl), count(*) > 3 from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'tavolad%'"
        self.assertEqual(servers.sql(self.address(self.authority), query), "t|t")


if __name__ == "__main__":
    unittest.main()
