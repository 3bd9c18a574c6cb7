# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on the loopback address, which a test lets answer, hang and hang up."""

import dataclasses
import http.client
import http.server
import ssl
import threading

HANG_UP = "hang up"


@dataclasses.dataclass
class Request:
    method: str
    path: str
    headers: http.client.HTTPMessage  # names in any case
    body: bytes


class LoopbackServer:
    """Listens on a port of its own. A subclass has respond(request), which gives (status, headers, body) or HANG_UP. hang(): answer
    nothing, or nothing for these paths, until go_on(); certificate: its certificate and key, for TLS.
    """

    def __init__(self, certificate=None):
        owner = self
        self.requests = []  # all that have arrived
        self.hanging = None  # the paths without an answer; empty: all; None: none
        self.changed = threading.Condition()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = Request(self.command, self.path, self.headers, body)
                owner.requests.append(request)
                with owner.changed:
                    owner.changed.wait_for(lambda: not owner.hangs(request.path))
                answer = owner.respond(request)
                if answer == HANG_UP:
                    self.close_connection = True
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_PUT = do_POST

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """The product may hang up."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"{'https' if certificate else 'http'}://{self.host}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def respond(self, request):
        raise NotImplementedError

    def hangs(self, path):
        return self.hanging is not None and (not self.hanging or path in self.hanging)

    def hang(self, *paths):
        self.set_hanging(paths)

    def go_on(self):
        self.set_hanging(None)

    def set_hanging(self, paths):
        with self.changed:
            self.hanging = paths
            self.changed.notify_all()

    def close(self):
        self.go_on()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
