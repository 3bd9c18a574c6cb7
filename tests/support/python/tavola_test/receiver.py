# SPDX-License-Identifier: Apache-2.0
"""A service over HTTP that steps of transactions call."""

import dataclasses
import http.server
import ssl
import threading

HANG_UP = "hang up"


@dataclasses.dataclass
class Request:
    method: str
    path: str
    headers: dict
    body: bytes

    @property
    def key(self):
        return self.headers["Idempotency-Key"]


class Receiver:
    """Listens on a port of its own. requests: all that have arrived; answers: {path: what the next requests for it are
    answered: a status, (status, headers, body) or HANG_UP}, when there is nothing 200; a key that has had success gets the
    same answer again; hang(): answer nothing until go_on(); certificate: its certificate and key, for TLS.
    """

    def __init__(self, certificate=None):
        receiver = self
        self.requests, self.answers, self.done = [], {}, {}
        self.lock = threading.Lock()
        self.may_answer = threading.Event()
        self.may_answer.set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = Request(self.command, self.path, dict(self.headers), body)
                receiver.requests.append(request)
                receiver.may_answer.wait()
                answer = receiver.answer(request)
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

    def answer(self, request):
        with self.lock:
            if request.key in self.done:
                return self.done[request.key]
            answers = self.answers.get(request.path)
            answer = answers.pop(0) if answers else 200
            if isinstance(answer, int):
                answer = (answer, {}, b"done")
            if answer != HANG_UP and answer[0] < 300:
                self.done[request.key] = answer
            return answer

    def of(self, path):
        return [each for each in list(self.requests) if each.path == path]

    def each_once(self, path):
        """The first request of each key. A step may be carried out by two consumers at once, so a request may arrive more than once
        without a failure.
        """
        return list({each.key: each for each in reversed(self.of(path))}.values())[::-1]

    def hang(self):
        self.may_answer.clear()

    def go_on(self):
        self.may_answer.set()

    def close(self):
        self.go_on()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
