# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium driven by its own protocol over two pipes; no driver, no package."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def command():
    """The browser's command, or nothing."""
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


class Chromium:
    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="kernelsearch-chromium-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def pipes():
            # As 3 and 4; moved out of the way first, for they may have these numbers.
            high = [os.dup(to_read), os.dup(to_write)]
            while min(high) < 10:
                high = [os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        line = [command(), "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                "--disable-dev-shm-usage", f"--window-size={width},{height}", f"--user-data-dir={self.profile}", "about:blank"]
        if os.geteuid() == 0:
            line.insert(1, "--no-sandbox")  # it refuses root otherwise
        self.process = subprocess.Popen(line, preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.events = b"", 0, []

    def _message(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                return None
            got = os.read(self.back, 1 << 20)
            if not got:
                raise RuntimeError("the browser has ended")
            self.rest += got
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, wait=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + wait
        while (answer := self._message(until)) is not None:
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)
        raise RuntimeError(f"{method}: no answer within {wait} s")

    def close(self):
        try:
            self.call("Browser.close", wait=5)
        except RuntimeError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """A tab with all that it says and asks for."""

    def __init__(self, browser, width=1280, height=900, dark=False):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url, ready="document.querySelectorAll('section').length > 0"):
        self.call("Page.navigate", url=url)
        self.until(ready)

    def run(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression, wait=60):
        end = time.monotonic() + wait
        while not self.run(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"never true: {expression}")
            time.sleep(0.05)

    def click(self, selector):
        """A real click into the middle of what the selector finds first."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        place = self.run(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                         " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        self.drag(place, place)

    def drag(self, start, end):
        for kind, (x, y) in (("mouseMoved", start), ("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1 if kind != "mouseReleased" else 0, clickCount=1)

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            text = {"Enter": "\r"}.get(key, "") if kind == "keyDown" else ""
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text, modifiers=8 if shift else 0,
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}.get(key, 0))

    def _events(self, *methods):
        return [event["params"] for event in self.browser.events if event.get("sessionId") == self.session and event["method"] in methods]

    def errors(self):
        """What its console has of errors and warnings, and exceptions that nobody caught."""
        said = [event["entry"]["text"] for event in self._events("Log.entryAdded") if event["entry"]["level"] in ("error", "warning")]
        said += [str(event["args"]) for event in self._events("Runtime.consoleAPICalled") if event["type"] in ("error", "warning", "assert")]
        return said + [event["exceptionDetails"]["text"] + str(event["exceptionDetails"].get("exception", {}).get("description", ""))
                       for event in self._events("Runtime.exceptionThrown")]

    def asked_for(self):
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    def picture(self, path, clip=None):
        more = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1), "captureBeyondViewport": True} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
