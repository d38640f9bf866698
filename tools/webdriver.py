"""A WebDriver client of the standard library alone: as much as the tests of the pages need."""

import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
]


def missing():
    """The programs that are not installed."""
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


class Browser:
    """One headless Chromium with a profile of its own, gone at the end."""

    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="varnorm-browser-")
        # At this level it says its port and little more: the pipe does not fill up.
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0", "--log-level=SEVERE"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.base = f"http://127.0.0.1:{self._port()}"
        flags = [*FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        options = {"binary": shutil.which("chromium"), "args": flags}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        started = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += f"/session/{started['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(10)
            shutil.rmtree(self.profile, ignore_errors=True)

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.strip().rstrip(".").split()[-1])
        raise RuntimeError("chromedriver did not start")

    def _call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()[:600]}") from None

    def open(self, address):
        """Loads a page and waits for it."""
        self._call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        """The value of a script's `return`."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def size(self, width, height):
        """Makes the page see a screen of this size, however small."""
        self._devtools("Emulation.setDeviceMetricsOverride",
                       {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, name):
        """`light` or `dark`."""
        self._devtools("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def _devtools(self, command, parameters):
        self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector):
        """One element."""
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        """As a user clicks."""
        self._call("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        """Keys into a field; a path into a file field chooses the file."""
        self._call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def text(self, selector):
        """What the element shows."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def wait(self, script, *arguments, seconds=20):
        """Until the script returns something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script, *arguments)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"never came true: {script}")

    def complaints(self):
        """What the console has to say since it was last asked: warnings and errors."""
        entries = self._call("POST", "/se/log", {"type": "browser"})
        return [e["message"] for e in entries if e["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path):
        """The window as a PNG."""
        pathlib.Path(path).write_bytes(base64.b64decode(self._call("GET", "/screenshot")))
