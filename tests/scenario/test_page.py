# SPDX-License-Identifier: Apache-2.0
"""The page at / of the HTTP port: in a browser under load where there is one, and its files without one."""

import functools
import http.client
import http.server
import json
import os
import re
import tempfile
import threading
import time
import unittest

from tavola_test import browser, metrics
from tavola_test.client import entity, key
from tavola_test.http_client import address_of
from tavola_test.processes import Child, run_program
from tavola_test.settings import SOURCE
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

PAUSE = 1
DEAD = 4  # the dead letters of GIVEN_UP, and that of the entity of PageCase.fill whose age is a word
GIVEN_UP = """
insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
select 1, e.table_id, e.partition_key, e.row_key, e.bucket, 0, true, 10, 'INTERNAL: the disk is full', ''
from entities e join tables t using (table_id) where t.live and t.name = 'people' and e.row_key in ('0002', '0003', '0004')"""
VIEWS = ["overview", "tables", "indexes", "transactions", "dead-letters", "hot"]
SCREENSHOTS = os.environ.get("TEST_SCREENSHOTS")  # a folder for a picture of each view


def setUpModule():
    if not browser.is_there():
        print("left out: the page in a browser: Debian's chromium and chromium-driver are not installed", flush=True)


@functools.cache
def shared_browser():
    """One for all tests: its start costs more than most of them. Each test has a server, and thus an origin, of its own."""
    folder = tempfile.TemporaryDirectory(prefix="tb-")
    unittest.addModuleCleanup(folder.cleanup)
    started = browser.Browser(lambda name, argv: Child(argv, {}, os.path.join(folder.name, name + ".log")), os.path.join(folder.name, "profile"))
    unittest.addModuleCleanup(started.driver.kill)
    unittest.addModuleCleanup(started.close)
    return started


class PageCase(unittest.TestCase):
    SETTINGS = {}

    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.metrics = os.path.join(self.stack.folder, "metrics")
        self.stack.start_server(TAVOLA_HTTP_LISTEN="127.0.0.1:0", TAVOLA_METRICS_LISTEN="unix:" + self.metrics, **self.SETTINGS)
        self.worker_metrics = os.path.join(self.stack.folder, "worker-metrics")
        self.stack.start_worker(TAVOLA_WORKER_METRICS_LISTEN="unix:" + self.worker_metrics)
        self.port = address_of(self.stack)[1]

    def get(self, path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path)
        reply = connection.getresponse()
        content = reply.read().decode()
        connection.close()
        return reply, content

    def fill(self, caller):
        caller.create_table(name="people")
        caller.create_index(index={"name": "byCity", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "City"}]})
        caller.create_index(index={"name": "byAge", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "Age", "width": 2}]})
        wait_ready(caller, "byCity")
        wait_ready(caller, "byAge")
        caller.load("people", [entity("sales", f"{n:04}", City=f"city {n % 7}", Age=n % 90) for n in range(120)])
        caller.insert_entity(table="people", entity=entity("<b>bold", "1", City="<script>", Age="old"))
        step = {"delete_if_exists": {"table": "people", "key": key(("sales", "0001"))}}
        caller.submit_transaction(transaction_id="gone-1", steps=[step])
        caller.wait_transaction(transaction_id="gone-1", timeout=30)


class Files(PageCase):
    def test_the_files_are_self_contained(self):
        page, html = self.get("/")
        self.assertEqual((page.status, page.getheader("Content-Type")), (200, "text/html; charset=utf-8"))
        policy = page.getheader("Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        for path in re.findall(r'(?:src|href)="(/[^"]+)"', html):
            self.assertEqual(self.get(path)[0].status, 200, path)
            self.assertNotRegex(self.get(path)[1], r"https?://(?!www\.w3\.org/)")
        self.assertIn("needs JavaScript", html)
        head, nothing = self.get("/", "HEAD")
        self.assertEqual((head.status, nothing), (200, ""))
        self.assertNotEqual(self.get("/script.js", "POST")[0].status, 200)


@unittest.skipUnless(browser.is_there(), "chromium and chromium-driver are not installed")
class InABrowser(PageCase):
    def open(self, path="/"):
        self.browser = shared_browser()
        self.addCleanup(self.browser.begin_anew)
        self.browser.go(f"http://127.0.0.1:{self.port}{path}")

    def show(self, view, argument=""):
        self.browser.run("location.hash = arguments[0]", f"#/{view}{argument}")
        wait_for(view, lambda: self.browser.run("return document.getElementById('view').dataset.shown") == view)

    def picture(self, name):
        if SCREENSHOTS:
            self.browser.screenshot(os.path.join(SCREENSHOTS, name + ".png"))

    def test_every_view_shows_what_there_is(self):
        with self.stack.connect() as caller:
            self.fill(caller)
            digit = {"name": "byDigit", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "Age", "width": 1}], "on_violation": 2}
            caller.wait_operation(operation_id=caller.create_index(index=digit).status.build.operation_id, timeout=30)
        self.open()
        for view in VIEWS:
            self.show(view)
            self.picture(view)
            self.assertEqual(self.browser.text("#notice"), "", view)
            self.assertEqual(self.browser.complaints(), [], view)
            self.check_names(view)
        self.show("tables")
        self.browser.wait_for_text("people")
        self.show("indexes")
        self.browser.wait_for_text("byCity")
        self.browser.wait_for_text("build failed")
        self.show("transactions", "/gone-1")
        self.browser.wait_for_text("delete if exists people sales / 0001")
        self.picture("transaction")
        self.check_numbers()
        self.browser.size(360, 740)
        for view in VIEWS:
            self.show(view)
            wide = self.browser.run("return document.documentElement.scrollWidth - innerWidth")
            self.assertLessEqual(wide, 0, f"{view} does not fit a narrow screen")
        self.picture("narrow")

    def check_names(self, view):
        """Everything that can be used has a name for readers of the screen."""
        nameless = self.browser.run("""return [...document.querySelectorAll('button, a, input, select, textarea, [role=img]')].filter((node) =>
            !(node.getAttribute('aria-label') || node.textContent.trim() || node.closest('label')?.textContent.trim())).map((node) => node.outerHTML)""")
        self.assertEqual(nameless, [], view)

    def check_numbers(self):
        """The counts of the page are those of /metrics."""
        with self.stack.connect() as caller:
            taken = lambda: caller.list_server_samples().samples
            wait_for("a sample", taken, 30)
            wait_for("calls in a sample", lambda: sum(sample.calls for sample in taken()) > 0, 30)
            told = metrics.read(self.metrics)
            self.assertLessEqual(sum(sample.calls for sample in taken()), told.value("tavola_calls_total"))
        self.show("overview")
        self.browser.wait_for_text("Calls a second", seconds=30)
        self.picture("overview")

    def plotted(self, title):
        """The newest value of a plot, as its label for readers of the screen says it."""
        label = self.browser.run("return document.querySelector(`svg[aria-label^='${arguments[0]}:']`)?.getAttribute('aria-label')", title)
        return label and re.match(r"[^:]*: (.*) now", label)[1]

    def test_lag_and_dead_letters_are_plotted(self):
        """Work that waits, and work that was given up: the newest sample is what the worker's /metrics say."""
        with self.stack.connect() as caller:
            self.fill(caller)
            caller.control_queue(control=PAUSE)
            told = lambda: metrics.read(self.worker_metrics)
            wait_for("a worker that pauses", lambda: told().value("tavola_queue_paused", queue="q0") == 4)
            self.stack.sql(GIVEN_UP)
            since = time.monotonic()
            caller.insert_entity(table="people", entity=entity("sales", "waits", City="Rome", Age=1))
            wait_for("the worker's gauges", lambda: told().value("tavola_dead_letters", state="dead") == DEAD, 30)
            taken = lambda: [sample.backlog for sample in caller.list_server_samples().samples if sample.HasField("backlog")]
            wait_for("a sample of them", lambda: taken() and (taken()[-1].dead_letters, taken()[-1].lag.ToTimedelta().total_seconds() > 0) == (DEAD, True), 40)
        self.open("/#/overview")
        wait_for("the plots", lambda: self.plotted("Dead letters") == str(DEAD), 30)
        number, unit = wait_for("the lag", lambda: self.plotted("Lag of the workers")).split()
        lag = float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60}[unit]
        self.assertGreater(lag, 0)
        wait_for("as much in /metrics", lambda: told().value("tavola_worker_lag_seconds") >= lag)
        self.assertLess(lag, time.monotonic() - since + 5, "it cannot be older than the write; the plot rounds")
        self.check_names("overview")
        self.picture("backlog")
        self.browser.size(360, 740)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth - innerWidth"), 0)
        self.assertEqual(self.plotted("Dead letters"), str(DEAD))
        self.picture("backlog-narrow")

    def test_entities_are_queried_written_and_deleted(self):
        with self.stack.connect() as caller:
            self.fill(caller)
            self.open("/#/tables/people")
            self.browser.wait_for_text("50 shown")
            self.browser.type("input[name=filter]", "City eq 'city 3' and Age lt 40" + browser.ENTER)
            self.browser.wait_for_text("rows and", "caption")
            wait_for("the filter", lambda: "50 shown" not in self.browser.text("caption"))
            self.picture("browse")
            self.browser.run("[...document.querySelectorAll('button')].find((b) => b.textContent == 'Plan').click()")
            self.browser.wait_for_text("Plan", "dialog")
            self.picture("plan")
            self.browser.run("document.querySelector('dialog').close()")
            self.browser.click("td button")
            self.browser.run("""const editor = document.querySelector('dialog textarea'), entity = JSON.parse(editor.value);
                entity.properties.City = { stringValue: 'Rome' }; editor.value = JSON.stringify(entity);
                [...document.querySelectorAll('dialog button')].find((b) => b.textContent == 'Save').click()""")
            count = lambda text: caller.count_entities(query={"table": "people", "filter": text}).count
            wait_for("the change", lambda: count("City eq 'Rome'") == 1)

    def test_hot_partitions_are_a_map_over_ranges_of_keys(self):
        """One cell for each partition that was sampled, in the order of their keys; the one with most accesses is the darkest."""
        loads = {"alpha": 20, "delta": 200, "mike": 60, "zulu": 10}
        with self.stack.connect() as caller:
            caller.create_table(name="people")
            hot = lambda: {found.partition_key for found in caller.list_hot_partitions(limit=100).partitions}

            def sampled():
                for partition, count in loads.items():
                    for number in range(count):
                        caller.insert_or_replace_entity(table="people", entity=entity(partition, f"{number}", N=number))
                return loads.keys() <= hot()

            wait_for("samples", sampled, 60)
        self.open("/#/hot")
        self.browser.wait_for_text("default / people", "figcaption")
        cells = self.browser.run("""return [...document.querySelectorAll('.ranges li')].map((cell) =>
            [cell.getAttribute('aria-label').split(':')[0], Number(cell.firstChild.style.opacity)])""")
        self.assertEqual([name for name, _ in cells], sorted(name for name, _ in cells))
        self.assertLessEqual(loads.keys(), {name for name, _ in cells})
        self.assertEqual(max(cells, key=lambda cell: cell[1]), ["delta", 1])
        self.check_names("hot")
        self.picture("hot")
        self.browser.size(360, 740)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth - innerWidth"), 0)

    @unittest.skipUnless(SCREENSHOTS, "for the pictures of docs/page.md")
    def test_the_overview_under_load(self):
        """Two minutes of reads and writes, so that the plots have something to show."""
        with self.stack.connect() as caller:
            self.fill(caller)
            self.open()
            until = time.monotonic() + 130
            number = 0
            while time.monotonic() < until:
                number += 1
                caller.insert_or_replace_entity(table="people", entity=entity("sales", f"{number % 500:04}", City=f"city {number % 7}", Age=number % 90))
                caller.lookup("byCity", [f"city {number % 7}"])
                time.sleep(0.002 * (1 + number // 2000 % 3))
            self.show("overview")
            self.browser.wait_for_text("Calls a second", seconds=30)
            self.browser.run("scrollTo(0, 0)")
            self.picture("overview")

    def test_text_is_shown_as_text(self):
        with self.stack.connect() as caller:
            self.fill(caller)
        self.open("/#/tables/people")
        self.browser.wait_for_text("<b>bold")
        self.assertEqual(self.browser.run("return document.querySelectorAll('main b, main script').length"), 0)

    def test_the_keyboard_is_enough(self):
        self.open()
        self.browser.wait_for_text("Overview", "#view")
        seen = []
        for _ in range(len(VIEWS) + 1):
            self.browser.press(browser.TAB)
            seen.append(self.browser.run("return document.activeElement.textContent"))
        self.assertEqual(seen, ["Skip to the content", "Overview", "Tables", "Indexes", "Transactions", "Dead letters", "Hot partitions"])
        self.browser.press(browser.ENTER)
        wait_for("the view", lambda: self.browser.run("return document.getElementById('view').dataset.shown") == "hot")

    def test_without_javascript_it_says_what_there_is_instead(self):
        self.browser = browser.Browser(self.stack.start, os.path.join(self.stack.folder, "profile"), scripts=False)
        self.addCleanup(self.browser.close)
        self.browser.go(f"http://127.0.0.1:{self.port}/")
        self.assertIn("This page needs JavaScript", self.browser.shown("noscript"))
        self.assertIn("tavola doctor", self.browser.shown("noscript"))
        self.picture("noscript")

    def test_a_server_that_goes_away(self):
        self.open()
        self.browser.wait_for_text("Overview", "#view")
        self.stack.server.kill()
        self.browser.wait_for_text("does not answer", "#notice", 30)


class Blank(http.server.BaseHTTPRequestHandler):
    """An empty page at every path."""

    def do_GET(self):  # pylint: disable=invalid-name # http.server calls it
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


CALL = """
const [port, path, method, body] = arguments;
const headers = { "Accept": "application/json;odata=nometadata" };
if (body) headers["Content-Type"] = "application/json";
return fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
    .then(async (reply) => [reply.status, await reply.text()], (error) => [0, String(error)]);
"""
GET = "/tavola.v1.EntityService/GetEntity"
ADA = "/devstoreaccount1/people(PartitionKey='sales',RowKey='1')"
RULE = ("<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>{}</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>"
        "<MaxAgeInSeconds>0</MaxAgeInSeconds><ExposedHeaders>*</ExposedHeaders><AllowedHeaders>*</AllowedHeaders></CorsRule></Cors>"
        "</StorageServiceProperties>")


@unittest.skipUnless(browser.is_there(), "chromium and chromium-driver are not installed")
class FetchFromAnotherOrigin(PageCase):
    """A script in a page that another server has sent calls by fetch(). A browser takes names below localhost for this machine."""

    def setUp(self):
        super().setUp()
        pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Blank)
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        self.addCleanup(pages.server_close)
        self.addCleanup(pages.shutdown)
        self.pages = pages.server_address[1]
        with self.stack.connect() as caller:
            caller.create_table(name="people")
            caller.insert_entity(table="people", entity=entity("sales", "1", Name="Ada"))
        self.browser = shared_browser()
        self.addCleanup(self.browser.begin_anew)

    def call(self, path, method="GET", body=None):
        return self.browser.run(CALL, self.port, path, method, body)

    def get_entity(self):
        return self.call(GET, "POST", json.dumps({"table": "people", "key": {"partitionKey": "sales", "rowKey": "1"}}))

    def test_a_method_is_called_from_a_page_of_this_machine_only(self):
        self.browser.go(f"http://localhost:{self.pages}/")
        status, text = self.get_entity()
        self.assertEqual((status, json.loads(text)["entity"]["properties"]["Name"]), (200, {"stringValue": "Ada"}))

        self.browser.go(f"http://elsewhere.localhost:{self.pages}/")
        self.assertEqual(self.get_entity(), [0, "TypeError: Failed to fetch"])

    def test_an_entity_is_read_and_written_as_the_rules_of_the_account_say(self):
        origin = f"http://elsewhere.localhost:{self.pages}"
        self.browser.go(origin)
        self.assertEqual(self.call(ADA)[0], 0)
        self.set_rule(origin)

        wait_for("the rule", lambda: self.call(ADA)[0] == 200, 20)
        self.assertEqual(self.call(ADA, "PUT", '{"Name": "Grace"}')[0], 204)
        self.assertEqual(json.loads(self.call(ADA)[1])["Name"], "Grace")
        self.assertEqual(self.call(ADA, "DELETE")[0], 0)

    def set_rule(self, origin):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("PUT", "/devstoreaccount1/?restype=service&comp=properties", RULE.format(origin))
        self.assertEqual(connection.getresponse().status, 202)
        connection.close()


@unittest.skipUnless(browser.is_there(), "chromium and chromium-driver are not installed")
class WithAuthentication(InABrowser):
    SETTINGS = {"TAVOLA_AUTHENTICATION": "required"}

    def account(self, name, *words):
        done = run_program("tavola", "account", "create", name, *words, settings={"TAVOLA_POSTGRES": self.stack.postgres, "TAVOLA_ALLOW_DATA_LOSS": "on"})
        account_key = re.search(r"tvk1\S+", done.stdout)[0]
        return run_program("tavola", "token", "create", name, settings={"TAVOLA_ACCOUNT_KEY": account_key}).stdout.strip()

    test_every_view_shows_what_there_is = test_entities_are_queried_written_and_deleted = None
    test_text_is_shown_as_text = test_the_keyboard_is_enough = test_a_server_that_goes_away = None
    test_hot_partitions_are_a_map_over_ranges_of_keys = test_the_overview_under_load = None
    test_lag_and_dead_letters_are_plotted = None
    test_without_javascript_it_says_what_there_is_instead = None

    def test_a_token_that_ends_while_the_page_is_open(self):
        done = run_program("tavola", "account", "create", "short", settings={"TAVOLA_POSTGRES": self.stack.postgres, "TAVOLA_ALLOW_DATA_LOSS": "on"})
        account_key = re.search(r"tvk1\S+", done.stdout)[0]
        create = lambda seconds: run_program("tavola", "token", "create", "short", seconds, settings={"TAVOLA_ACCOUNT_KEY": account_key}).stdout.strip()
        self.open("/#/indexes")
        self.browser.wait_for_text("asks callers for a token")
        self.browser.type("input[name=given]", create("8") + browser.ENTER)
        self.browser.wait_for_text("Indexes", "#view h2")
        self.browser.wait_for_text("The token was refused", seconds=40)  # by itself: the view refreshes every five seconds
        self.assertEqual(self.browser.text("#view h2"), "Who are you?")
        self.browser.type("input[name=given]", create("600") + browser.ENTER)
        self.browser.wait_for_text("Indexes", "#view h2")

    def test_a_token_opens_its_own_account(self):
        plain, admin = self.account("plain"), self.account("boss", "--administrator")
        self.open()
        self.browser.wait_for_text("asks callers for a token")
        self.picture("token")
        self.browser.type("input[name=given]", "nonsense" + browser.ENTER)
        self.browser.wait_for_text("The token was refused")
        self.browser.type("input[name=given]", plain + browser.ENTER)
        self.browser.wait_for_text("Shown to administrators only.")
        self.browser.run("[...document.querySelectorAll('button')].find((b) => b.textContent == 'Forget the token').click()")
        self.browser.type("input[name=given]", admin + browser.ENTER)
        self.browser.wait_for_text("Queues of work")
        stored = self.browser.run("return JSON.stringify([localStorage.length, sessionStorage.length, document.cookie, location.href])")
        self.assertNotIn(admin, stored)
        self.assertIn('[0,0,""', stored)
        self.browser.go(f"http://127.0.0.1:{self.port}/")
        self.browser.wait_for_text("asks callers for a token")


if __name__ == "__main__":
    unittest.main()
