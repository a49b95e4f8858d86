# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server of chat completions that says what the fixtures of tests/fixtures/exchanges say; no model is behind it.

The name of the model in a question is the role that asks. Which of several questions about the same it is, the prompts
say ("attempt 2"). Every reply that was handed over counts as paid."""
import http.server
import json
import pathlib
import re
import threading

ROLES = ("rewriter", "planner", "coder", "debugger", "generator", "optimizer", "reflector", "transformer", "config_search")
EXCHANGES = pathlib.Path(__file__).resolve().parent.parent / "fixtures/exchanges"


class Script:
    """The rules of docs/formats/scripts.md."""

    def __init__(self, folder):
        self.rules = json.loads((folder / "script.json").read_text())["rules"]
        for rule in self.rules:
            if "file" in rule:
                rule["text"] = (folder / rule["file"]).read_text()

    def reply(self, role, question, repetition):
        for rule in self.rules:
            place = question
            if "after" in rule:
                if rule["after"] not in question:
                    continue
                place = question[question.rindex(rule["after"]):]
            if (rule.get("role", role) == role and rule.get("repetition", repetition) == repetition
                    and all(part in place for part in rule.get("contains", []))
                    and not any(part in place for part in rule.get("lacks", []))):
                return rule["text"]
        return None


def repetition_in(question):
    """From 0, as data/prompts say it."""
    said = re.findall(r"(?:This was (?:asked|planned) before\.|An earlier attempt to mend it) .*attempt (\d+)\.", question,
                      re.IGNORECASE)
    return int(said[-1]) - 1 if said else 0


def text_of(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class FixtureModel:
    """Serves on the loopback interface until `close`."""

    def __init__(self):
        self.lock = threading.Condition()
        self.script, self.paid, self.asked, self.hold_from = None, [], 0, None
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.send(200, {"object": "list", "data": []})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                key = body["model"] + json.dumps(body["messages"], sort_keys=True)
                with model.lock:
                    model.asked += 1
                    model.lock.notify_all()
                    # A reply that is held is never given: the test kills who waits for it.
                    if model.hold_from is not None and len(model.paid) >= model.hold_from:
                        while model.hold_from is not None:
                            model.lock.wait()
                        self.close_connection = True
                        return
                    question = "".join(text_of(message) + "\n" for message in body["messages"])
                    text = model.script.reply(body["model"], question, repetition_in(question))
                    if text is not None:
                        model.paid.append(key)
                if text is None:
                    self.send(404, {"error": {"message": "no rule of the script fits", "type": "not_found_error"}})
                    return
                usage = {"prompt_tokens": len(question) // 4, "completion_tokens": max(1, len(text) // 4)}
                usage["total_tokens"] = sum(usage.values())
                if body.get("stream"):
                    self.stream(body["model"], text, usage)
                else:
                    self.send(200, {"id": "fixture", "object": "chat.completion", "created": 1, "model": body["model"],
                                    "choices": [{"index": 0, "finish_reason": "stop",
                                                 "message": {"role": "assistant", "content": text}}], "usage": usage})
                with model.lock:
                    model.lock.notify_all()

            def send(self, status, document):
                data = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, name, text, usage):
                pieces = [text[i:i + 64] for i in range(0, len(text), 64)]
                chunks = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}]}
                          for piece in pieces]
                chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
                common = {"id": "fixture", "object": "chat.completion.chunk", "created": 1, "model": name}
                lines = ["data: " + json.dumps({**common, **chunk}) + "\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]
                data = "".join(lines).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def models(self):
        """A file of models (docs/formats/models.md) in which this server is the model of every role."""
        return {"models": {role: {"provider": "openai", "base_url": f"http://127.0.0.1:{self.port}/v1", "model": role,
                                  "stream": role != "coder", "prices": {"input": 1, "output": 2}} for role in ROLES},
                "roles": {role: {"model": role} for role in ROLES}}

    def use(self, system):
        """Answers as the fixtures of this system from now on; nothing is paid yet."""
        with self.lock:
            self.script = Script(EXCHANGES / system)
            self.paid, self.asked = [], 0

    def hold(self, replies):
        """After so many replies none is given any more; None: all are, but for those already held."""
        with self.lock:
            self.hold_from = replies
            self.lock.notify_all()

    def wait_for(self, what, seconds=120):
        """Waits until `what(self)`, looked at whenever something was asked or answered; whether it came to be."""
        with self.lock:
            return self.lock.wait_for(lambda: what(self), seconds)

    def close(self):
        self.hold(None)
        self.server.shutdown()
        self.server.server_close()
