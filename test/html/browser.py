"""Chromium without a window, told what to do through a pipe: the DevTools
protocol, of which this knows what tests of a page need."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    """The path of a browser, or None."""
    return next((p for p in map(shutil.which, NAMES) if p), None)


class Failure(Exception):
    """The browser did not do what it was told to."""


class Browser:
    """One page in a browser of its own."""

    def __init__(self, width=1400, height=1000, flags=()):
        self.dir = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        self.read, self.write = theirs[0], ours[1]
        self.rest = b""
        self.last = 0
        self.events = []
        # The browser reads from 3 and writes to 4. What it finds there first
        # is moved out of the way.
        wires = (os.dup(ours[0]), os.dup(theirs[1]))

        def plug():
            high = [os.dup2(wire, 60 + i) for i, wire in enumerate(wires)]
            for i, wire in enumerate(high):
                os.dup2(wire, 3 + i)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--disable-extensions",
             f"--user-data-dir={self.dir.name}",
             f"--window-size={width},{height}", *flags, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=plug)
        for wire in (*wires, ours[0], theirs[1]):
            os.close(wire)
        self.session = None
        target = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in target if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=page["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.dir.cleanup()

    def message(self, seconds):
        """The next thing that the browser says."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise Failure("the browser says nothing")
            got = os.read(self.read, 1 << 20)
            if not got:
                raise Failure("the browser has ended")
            self.rest += got
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        """Tell the browser something, and what it answers."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            m = self.message(60)
            if m.get("id") == self.last:
                if "error" in m:
                    raise Failure(f"{method}: {m['error']['message']}")
                return m["result"]
            if "method" in m:
                self.events.append(m)

    def run(self, script):
        """The value of an expression of JavaScript, or of its promise."""
        r = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                      returnByValue=True)
        if "exceptionDetails" in r:
            details = r["exceptionDetails"]
            raise Failure(details.get("exception", {}).get(
                "description", details["text"]) + " in " + script)
        return r["result"].get("value")

    def open(self, path, hash=""):
        """Show a file, and wait until its script has run."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + hash)
        self.wait("document.readyState === 'complete' && "
                  "location.protocol === 'file:'")

    def wait(self, condition, seconds=30):
        """Until that is true."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise Failure("never came true: " + condition)
            time.sleep(0.02)

    def settle(self):
        """Until what was done is drawn."""
        self.run("new Promise(done => setTimeout(() => requestAnimationFrame("
                 "() => requestAnimationFrame(done)), 90))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, modifiers=0):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1,
                       modifiers=modifiers)
        self.settle()

    def key(self, key, text=None):
        """Press a key: "ArrowDown", or "/" with the same text."""
        code = {"Enter": 13, "Escape": 27, "Backspace": 8}.get(key, 0)
        text = text or (key if len(key) == 1 else None)
        down = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key,
                  windowsVirtualKeyCode=code, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key,
                  windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def trouble(self):
        """What was logged or thrown, and what was asked of a network."""
        said = []
        for e in self.events:
            p = e["params"]
            if e["method"] == "Runtime.exceptionThrown":
                d = p["exceptionDetails"]
                said.append(d.get("exception", {}).get("description",
                                                       d["text"]))
            elif e["method"] == "Runtime.consoleAPICalled":
                said.append(f"console.{p['type']}")
            elif e["method"] == "Log.entryAdded":
                said.append(p["entry"]["text"])
            elif e["method"] == "Network.requestWillBeSent":
                url = p["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    said.append("asked the network for " + url)
                elif url.startswith("file:") and p.get("type") != "Document":
                    said.append("asked for another file, " + url)
        return said

    def picture(self, path):
        """Save what is seen."""
        shot = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
