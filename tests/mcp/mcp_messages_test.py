#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every message of `kernelsearch mcp` against closed schemas: mcp_messages_test.py KERNELSEARCH FOLDER.

Each line that the server writes must be one JSON-RPC message; each result and notification must fit the schema that the
official SDK has for the method and the revision, closed so that no field may be more and none null; each tool's schemas
must be schemas, and what a tool returns must fit the one it gives. Packages (PyPI: mcp, jsonschema) come from a virtual
environment in FOLDER, which is made where KERNELSEARCH_TEST_NETWORK=1 allows to; exits with 77 (skipped) without."""
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests/support")]
from python_environment import run_inside  # noqa: E402

from dot_kernels import RIGHT, SUMS_APART  # noqa: E402

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
run_inside(FOLDER, ("mcp>=2", "jsonschema"))

import jsonschema  # noqa: E402
from mcp_types.methods import SERVER_NOTIFICATIONS, SERVER_RESULTS  # noqa: E402
from pydantic import TypeAdapter  # noqa: E402

MODERN, ERAS = "2026-07-28", ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
ID = {"type": ["string", "integer"]}
ENVELOPES = {
    "result": {"type": "object", "additionalProperties": False, "required": ["jsonrpc", "id", "result"],
               "properties": {"jsonrpc": {"const": "2.0"}, "id": ID, "result": {"type": "object"}}},
    "error": {"type": "object", "additionalProperties": False, "required": ["jsonrpc", "error"],
              "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string", "integer", "null"]}, "error": {
                  "type": "object", "additionalProperties": False, "required": ["code", "message"],
                  "properties": {"code": {"type": "integer"}, "message": {"type": "string", "minLength": 1}, "data": {}}}}},
    "method": {"type": "object", "additionalProperties": False, "required": ["jsonrpc", "method"],
               "properties": {"jsonrpc": {"const": "2.0"}, "method": {"type": "string"}, "params": {"type": "object"}}},
}
TEXTS = ("prompt", "apply")  # tools that answer with a text and no data
failures, checked = [], {}


def check(what, truth, told=""):
    if not truth:
        print(f"FAILED  {what}: {told}", flush=True)
        failures.append(what)


def closed(schema):
    """No other fields than those named, unless it says so, and nothing null that may be left out."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("default", 0) is None and "anyOf" in schema:
        schema = {**schema, "anyOf": [one for one in schema["anyOf"] if one != {"type": "null"}]}
    schema = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        schema.setdefault("additionalProperties", False)
    return schema


validators = {}


def validator(table, method, version):
    if (method, version) not in table:
        return None
    key = (id(table), method, version)
    if key not in validators:
        schema = closed(TypeAdapter(table[(method, version)]).json_schema(by_alias=True))
        validators[key] = jsonschema.Draft202012Validator(schema)
    return validators[key]


def faults(schema, document):
    found = schema if hasattr(schema, "iter_errors") else jsonschema.Draft202012Validator(schema)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:300] for error in found.iter_errors(document)]


class Server:
    """Talks to one server; every line that comes is checked."""

    def __init__(self, version, desk):
        self.version, self.asked, self.next, self.lines, self.tools = version, {}, 0, queue.Queue(), {}
        self.process = subprocess.Popen(
            [COMMAND, "mcp", "--output-schemas", "--root", str(SOURCE / "tests/fixtures/problems"), "--store", str(desk / "runs.db")], cwd=desk,
            env={**os.environ, "HOME": str(desk), "XDG_CACHE_HOME": str(desk), "XDG_DATA_HOME": str(desk)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, document):
        self.process.stdin.write((document if isinstance(document, str) else json.dumps(document)) + "\n")
        self.process.stdin.flush()

    def params(self, params, progress):
        meta = {}
        if self.version == MODERN:
            meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}
        if progress:
            meta["progressToken"] = f"p{self.next}"
        return {**params, **({"_meta": meta} if meta else {})}

    def send(self, method, params=None, progress=False):
        self.next += 1
        self.asked[self.next] = method
        self.write({"jsonrpc": "2.0", "id": self.next, "method": method, "params": self.params(params or {}, progress)})
        return self.next

    def message(self):
        line = self.lines.get(timeout=120)
        check("the server lives", line is not None)
        if line is None:
            raise SystemExit("the server ended: " + self.process.stderr.read())
        document = json.loads(line)
        kinds = [kind for kind in ENVELOPES if kind in document]
        check("a message is one of three", len(kinds) == 1, line[:300])
        kind = kinds[0]
        check(f"{self.version}: the envelope", not (told := faults(ENVELOPES[kind], document)), told)
        if kind == "result":
            method = self.asked[document["id"]]
            schema = validator(SERVER_RESULTS, method, self.version)
            check(f"{self.version} {method}: the revision has it", schema is not None)
            if schema is not None:
                check(f"{self.version} {method}: the result", not (told := faults(schema, document["result"])), told)
            checked[(self.version, method)] = checked.get((self.version, method), 0) + 1
        elif kind == "method":
            schema = validator(SERVER_NOTIFICATIONS, document["method"], self.version)
            check(f"{self.version} {document['method']}: the revision has it", schema is not None)
            check(f"{self.version} {document['method']}: the notification", not (told := faults(schema, document)), told)
            checked[(self.version, document["method"])] = checked.get((self.version, document["method"]), 0) + 1
        return document

    def answer(self, number):
        while True:
            document = self.message()
            if document.get("id") == number and "method" not in document:
                return document

    def ask(self, method, params=None, progress=False):
        return self.answer(self.send(method, params, progress))

    def call(self, tool, arguments=None, progress=False, error=False):
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments or {}}, progress)
        result = answer.get("result", {})
        check(f"{self.version} {tool}: {'an error' if error else 'works'}", result.get("isError", False) is error, answer)
        content = result.get("structuredContent")
        blocks = [block["text"] for block in result.get("content", [])]
        if not error:
            # Data once in the stateless revision, and again as text for clients that read nothing else.
            wanted = 1 if tool in TEXTS or self.version == MODERN else 2
            check(f"{self.version} {tool}: {wanted} blocks of text", len(blocks) == wanted, len(blocks))
        if tool in TEXTS and not error:
            check(f"{self.version} {tool}: a text and no data", content is None and len(blocks[0]) > 100, answer)
            return blocks[0]
        if self.version >= "2025-06-18" and not error:
            check(f"{self.version} {tool}: fits its output schema", content is not None
                  and not (told := faults(self.tools[tool]["outputSchema"], content)), content if content is None else told)
        if self.version < "2025-06-18":
            check(f"{self.version} {tool}: no structured content before 2025-06-18", content is None)
        if content is None and not error:
            content = json.loads(blocks[-1])
        return content


def play(version, desk):
    server = Server(version, desk)
    if version == MODERN:
        discovered = server.ask("server/discover")["result"]
        check("discover names the revisions", discovered["supportedVersions"] == list(reversed(ERAS)), discovered)
    else:
        agreed = server.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                           "clientInfo": {"name": "test", "version": "1"}})["result"]
        check(f"{version}: agreed", agreed["protocolVersion"] == version, agreed)
        server.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.ask("ping")
    for tool in server.ask("tools/list")["result"]["tools"]:
        server.tools[tool["name"]] = tool
        for name in ("inputSchema", "outputSchema"):
            if name in tool:
                jsonschema.Draft202012Validator.check_schema(tool[name])
    check(f"{version}: seventeen tools", len(server.tools) == 17, sorted(server.tools))

    server.call("list_methods")
    server.call("list_methods", {"folder": "strategies"})
    server.call("list_methods", {"name": "loop_tiling"})
    server.call("list_methods", {"backend": "cuda", "trait": "matmul"})
    server.call("describe_problem", {"problem": "dot"})
    run = server.call("start_run", {"problem": "dot", "policy": "random", "budget": "4"})["run"]
    server.call("step", {"run": run, "trials": 2}, progress=True)
    server.call("submit_kernel", {"run": run, "settings": {"LANES": 8}})
    if version in (ERAS[0], MODERN):  # the end of a run compares finalists in pairs, by far the slowest of these calls
        server.call("step", {"run": run})
    run = server.call("start_run", {"problem": "dot", "policy": "submit", "strategies": ["tile"], "budget": "20"})["run"]
    server.call("submit_kernel", {"run": run, "device": RIGHT, "parent": 0, "strategies": ["tile"]}, progress=True)
    wrong = server.call("submit_kernel", {"run": run, "device": RIGHT.replace("i < n", "i + 1 < n"), "answers": True})
    server.call("submit_kernel", {"run": run, "device": "no code"})
    server.call("step", {"run": run, "decline": "no"})
    server.call("status")
    server.call("status", {"run": run, "trials": 3})
    for code in ("source", "regions", "none"):
        server.call("best", {"run": run, "code": code})
    server.call("explain_verdict", {"run": run, "trial": wrong["trial"]["trial"], "code": True})
    server.call("explain_verdict", {"run": run, "trial": 0})
    server.call("describe_problem", {"run": run})
    server.call("prompt", {"run": run})
    server.call("apply", {"run": run, "name": "unrolling", "trial": 1})
    tiled = server.call("submit_kernel", {"run": run, "device": SUMS_APART, "parent": 0, "tunables": {"SUMS": [4, 8, 16]},
                                          "constraints": ["SUMS * UNROLL <= 64"]})["trial"]["trial"]
    server.call("tune", {"run": run, "trial": tiled, "trials": 2}, progress=True)
    server.call("profile", {"run": run, "trial": tiled, "counters": True}, progress=True)
    server.call("validate", {"run": run, "trial": tiled}, progress=True)
    server.call("compare", {"run": run, "trial": tiled}, progress=True)
    server.call("checkpoints", {"run": run, "action": "name", "name": "tiled", "trial": tiled, "note": "sums apart"})
    server.call("checkpoints", {"run": run, "action": "compare", "name": "tiled", "from": "start"})
    server.call("checkpoints", {"run": run, "action": "branch", "name": "other", "from": "start"})
    server.call("checkpoints", {"run": run, "action": "switch", "name": "main"})
    server.call("checkpoints", {"run": run, "action": "restore", "name": "start"})
    server.call("checkpoints", {"run": run})
    for kind in ("text", "json", "html"):
        server.call("report", {"run": run, "format": kind})
    server.call("cancel", {"run": run})
    for tool, arguments in (("start_run", {"problem": "../x"}), ("step", {}), ("best", {"run": 0}), ("status", {"x": 1}),
                            ("describe_problem", {}), ("apply", {"run": run, "name": "none"}), ("prompt", {"run": 99}),
                            ("tune", {"run": run, "trials": 0}), ("compare", {"run": run, "trial": tiled, "against": tiled}),
                            ("validate", {"run": run, "trial": 999}), ("profile", {"run": run, "trial": -1}),
                            ("checkpoints", {"run": run, "action": "drop"})):
        server.call(tool, arguments, error=True)

    # A call that is cancelled has no answer; a long one reports first.
    run = server.call("start_run", {"problem": "dot", "policy": "exhaustive", "budget": "all"})["run"]
    number = server.send("tools/call", {"name": "step", "arguments": {"run": run}}, progress=True)
    while "method" not in server.message():
        pass
    server.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "enough"}})
    server.call("cancel", {"run": run})

    # What is no request of the revision.
    for line, code in (("{", -32700), ("[]", -32600), ('"text"', -32600), ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
                       ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600)):
        server.write(line)
        message = server.message()
        while "error" not in message:
            message = server.message()
        check(f"{version} {line}: its error", message["error"]["code"] == code, message)
    for method, params, code in (("resources/list", {}, -32601), ("tools/call", {"name": "none", "arguments": {}}, -32602),
                                 ("tools/call", {}, -32602)):
        answer = server.ask(method, params)
        check(f"{version} {method} {params}: its error", answer.get("error", {}).get("code") == code, answer)
    server.process.stdin.close()
    while (line := server.lines.get(timeout=60)) is not None:
        check(f"{version}: messages to the end", "jsonrpc" in json.loads(line))
    check(f"{version}: ends with its input", server.process.wait(60) == 0)


def main():
    desk = FOLDER / "messages"  # one for all, so that what one revision had measured the next ones need not measure again
    shutil.rmtree(desk, ignore_errors=True)
    desk.mkdir(parents=True)
    for version in ERAS:
        play(version, desk)
    for (version, method), count in sorted(checked.items()):
        print(f"{version} {method}: {count} checked")
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
