#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The client against litellm's proxy, a server that no one of this project wrote: litellm_test.py ASK_MODEL FOLDER.

The proxy answers with fixed texts (mock_response) and speaks both interfaces; no model is asked and no key needed.
Where litellm comes from, and when this is skipped: tests/support/litellm_proxy.py."""
import json
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "support")]
from litellm_proxy import LitellmProxy  # noqa: E402

ASK, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
TEXT = "Tile the loops, then unroll the inner one by four."


def proxy_models(port):
    return [
        {"model_name": "mock", "litellm_params": {"model": "openai/mock", "api_key": "unused", "mock_response": TEXT}},
        # The proxy asks itself: so it translates streams between the interfaces instead of making them up.
        {"model_name": "through", "litellm_params": {
            "model": "hosted_vllm/mock", "api_base": f"http://127.0.0.1:{port}/v1", "api_key": "os.environ/LITELLM_KEY"}},
        {"model_name": "busy", "litellm_params": {
            "model": "openai/mock", "api_key": "unused", "mock_response": "litellm.RateLimitError"}},
        {"model_name": "broken", "litellm_params": {
            "model": "openai/mock", "api_key": "unused", "mock_response": "litellm.InternalServerError"}},
    ]


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
    proxy = LitellmProxy(FOLDER, proxy_models)
    port = proxy.port
    environment = {**proxy.environment, "WRONG_KEY": "sk-wrong-key-9876543210"}
    try:
        (FOLDER / "models.json").write_text(json.dumps(model_file(port)))

        def ask(model, *more):
            done = subprocess.run([ASK, str(FOLDER / "models.json"), model, "How do I make it faster?", *more],
                                  capture_output=True, text=True, env=environment, timeout=120)
            text = done.stdout + done.stderr
            check(f"{model}: no key in what is said", proxy.key not in text and "9876543210" not in text, "a key")
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
        proxy.close()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
