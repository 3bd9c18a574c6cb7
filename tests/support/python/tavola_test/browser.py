# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over WebDriver (Debian's chromium-driver)."""

import base64
import http.client
import json
import re
import shutil

from tavola_test.waiting import wait_for

CHROMEDRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name of a reference to an element
SIZE = 1280, 900
TAB, ENTER = "\ue004", "\ue007"


def is_there():
    return bool(CHROMEDRIVER and CHROMIUM)


class Browser:
    """One window. start(name, argv): starts a child process, as Stack.start does. scripts: whether pages may run JavaScript;
    without it only go, find, click, shown and screenshot work.
    """

    def __init__(self, start, profile, size=SIZE, scripts=True):
        self.driver = start("chromedriver", [CHROMEDRIVER, "--port=0"])
        ready = lambda: re.search(r"successfully on port (\d+)", self.driver.output())
        self.port = int(wait_for("chromedriver", ready, 30)[1])
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                     f"--window-size={size[0]},{size[1]}", "--force-prefers-reduced-motion"]
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments}}
        if not scripts:
            wanted["goog:chromeOptions"]["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}}, session=False)
        self.session = made["sessionId"]

    def ask(self, method, path, content=None, session=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        prefix = f"/session/{self.session}" if session else ""
        connection.request(method, prefix + path, None if method == "GET" else json.dumps(content or {}))
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise AssertionError(f"{path}: {answer['error']}: {answer['message']}")
        return answer

    def close(self):
        self.ask("DELETE", "")

    def begin_anew(self):
        """Another tab in place of the present one, of the usual size: it has no history, no session storage and no complaints, and nothing
        asks the page's server any more.
        """
        made = self.ask("POST", "/window/new", {"type": "tab"})["handle"]
        self.ask("DELETE", "/window")
        self.ask("POST", "/window", {"handle": made})
        self.size(*SIZE)
        self.complaints()

    def go(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value that the script returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, css):
        """The element; waits until it is there."""

        def look():
            found = self.ask("POST", "/elements", {"using": "css selector", "value": css})
            return found[0][ELEMENT] if found else None

        return wait_for(f"an element {css}", look)

    def click(self, css):
        self.ask("POST", f"/element/{self.find(css)}/click")

    def type(self, css, text):
        self.ask("POST", f"/element/{self.find(css)}/value", {"text": text})

    def press(self, *keys):
        actions = [step for key in keys for step in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def text(self, css="body"):
        return self.run("return (document.querySelector(arguments[0]) || {innerText: ''}).innerText", css)

    def shown(self, css):
        """The visible text of an element, as the browser shows it."""
        return self.ask("GET", f"/element/{self.find(css)}/text")

    def wait_for_text(self, text, css="body", seconds=20):
        wait_for(f"{text!r} in {css}", lambda: text in self.text(css), seconds)

    def size(self, width, height):
        self.ask("POST", "/window/rect", {"width": width, "height": height})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def complaints(self):
        """Errors and warnings of scripts, styles and the content security policy since the last call."""
        return [line["message"] for line in self.ask("POST", "/se/log", {"type": "browser"}) if line["level"] in ("SEVERE", "WARNING")]
