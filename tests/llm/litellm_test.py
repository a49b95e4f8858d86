#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The client against litellm's proxy, a server that no one of this project wrote: litellm_test.py ASK_MODEL FOLDER.

The proxy answers with fixed texts (mock_response) and speaks both interfaces; no model is asked and no key needed.
litellm is taken from where it is installed, or from a virtual environment in FOLDER, which is made where
KERNELSEARCH_TEST_NETWORK=1 allows to. Exits with 77 (skipped) where there is none."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ASK, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
KEY = "sk-test-litellm-0123456789"
TEXT = "Tile the loops, then unroll the inner one by four."


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def litellm_program():
    for program in (os.environ.get("KERNELSEARCH_LITELLM"), FOLDER / "venv/bin/litellm", shutil.which("litellm")):
        if program and os.access(program, os.X_OK):
            return str(program)
    if os.environ.get("KERNELSEARCH_TEST_NETWORK") != "1":
        skip("litellm is not installed, and KERNELSEARCH_TEST_NETWORK=1 is not set to install it into the build folder")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for command in ([sys.executable, "-m", "venv", str(FOLDER / "venv")],
                    [str(FOLDER / "venv/bin/pip"), "install", "-q", "litellm[proxy]"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            skip("litellm cannot be installed: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1])
    return str(FOLDER / "venv/bin/litellm")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(program, port, environment):
    config = {
        "model_list": [
            {"model_name": "mock", "litellm_params": {"model": "openai/mock", "api_key": "unused", "mock_response": TEXT}},
            # The proxy asks itself: so it translates streams between the interfaces instead of making them up.
            {"model_name": "through", "litellm_params": {
                "model": "hosted_vllm/mock", "api_base": f"http://127.0.0.1:{port}/v1", "api_key": "os.environ/LITELLM_KEY"}},
            {"model_name": "busy", "litellm_params": {
                "model": "openai/mock", "api_key": "unused", "mock_response": "litellm.RateLimitError"}},
            {"model_name": "broken", "litellm_params": {
                "model": "openai/mock", "api_key": "unused", "mock_response": "litellm.InternalServerError"}},
        ],
        "general_settings": {"master_key": "os.environ/LITELLM_KEY"},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
    log = open(FOLDER / "proxy.log", "w")
    server = subprocess.Popen([program, "--config", str(FOLDER / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)],
                              stdout=log, stderr=log, env=environment, cwd=FOLDER)
    for _ in range(240):
        if server.poll() is not None:
            skip("the proxy ends at its start: " + (FOLDER / "proxy.log").read_text()[-300:])
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                    f"http://127.0.0.1:{port}/health/liveliness", timeout=1):
                return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    server.terminate()
    skip("the proxy does not start within two minutes")


def model_file(port):
    models = {}
    for provider, base in (("openai", f"http://127.0.0.1:{port}/v1"), ("anthropic", f"http://127.0.0.1:{port}")):
        for model in ("mock", "through", "busy", "broken", "absent"):
            for stream in (True, False):
                models[f"{provider}-{model}-{'stream' if stream else 'whole'}"] = {
                    "provider": provider, "base_url": base, "model": model, "key_env": "LITELLM_KEY", "stream": stream,
                    "prices": {"input": 1, "output": 2}, "timeouts": {"first_byte": 60, "total": 90}}
    models["wrong-key"] = {"provider": "openai", "base_url": f"http://127.0.0.1:{port}/v1", "model": "mock", "key_env": "WRONG_KEY"}
    return {"models": models}


failures = []


def check(what, truth, told):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    if not truth:
        failures.append(what)


def main():
    program = litellm_program()
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment.update(LITELLM_KEY=KEY, WRONG_KEY="sk-wrong-key-9876543210", LITELLM_LOCAL_MODEL_COST_MAP="True",
                       LITELLM_TELEMETRY="False")
    server = start(program, port, environment)
    try:
        (FOLDER / "models.json").write_text(json.dumps(model_file(port)))

        def ask(model, *more):
            done = subprocess.run([ASK, str(FOLDER / "models.json"), model, "How do I make it faster?", *more],
                                  capture_output=True, text=True, env=environment, timeout=120)
            text = done.stdout + done.stderr
            check(f"{model}: no key in what is said", KEY not in text and "9876543210" not in text, "a key")
            return json.loads(done.stdout) if done.returncode == 0 else {"failure": "exit", "error": text}

        for provider in ("openai", "anthropic"):
            for way in ("stream", "whole"):
                for model in ("mock", "through"):
                    told = ask(f"{provider}-{model}-{way}")
                    name = f"{provider} {model} {way}"
                    check(f"{name}: the text", told.get("text") == TEXT, told)
                    check(f"{name}: complete at once", told.get("finish") == "stop" and told.get("attempts") == 1, told)
                    check(f"{name}: usage", told.get("input", 0) > 0 and told.get("output", 0) > 0, told)
        schema = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
                             "additionalProperties": False})
        told = ask("openai-mock-stream", schema)
        check("a schema is taken", told.get("text") == TEXT, told)
        for provider in ("openai", "anthropic"):
            told = ask(f"{provider}-busy-whole")
            check(f"{provider}: 429 is tried again, then said", told.get("failure") == "rate_limited" and told.get("attempts") == 2, told)
            told = ask(f"{provider}-absent-whole")
            check(f"{provider}: no such model", told.get("failure") == "configuration" and told.get("attempts") == 1, told)
        told = ask("openai-broken-stream")
        check("500 is tried again, then said", told.get("failure") == "server" and told.get("attempts") == 2, told)
        told = ask("wrong-key")
        check("a wrong key is not tried again", told.get("failure") in ("authentication", "configuration")
              and told.get("attempts") == 1, told)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
