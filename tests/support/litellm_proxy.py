# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""litellm's proxy, a server that no one of this project wrote, for tests.

litellm is taken from $KERNELSEARCH_LITELLM, the path, or a virtual environment in the folder given, which is made
where KERNELSEARCH_TEST_NETWORK=1 allows to. Exits with 77 (skipped) where there is none."""
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

from python_environment import environment, skip


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class LitellmProxy:
    """Runs from its making until `close`. `models` is the proxy's model_list, or a function from the port to it."""

    key = "sk-test-litellm-0123456789"

    def __init__(self, folder, models):
        given = os.environ.get("KERNELSEARCH_LITELLM")
        program = given if given and os.access(given, os.X_OK) else shutil.which("litellm")
        if program is None:
            program = os.path.join(os.path.dirname(environment(folder, ("litellm[proxy]",))), "litellm")
        self.port = free_port()
        self.environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.environment.update(LITELLM_KEY=self.key, LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_TELEMETRY="False")
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "model_list": models(self.port) if callable(models) else models,
            "general_settings": {"master_key": "os.environ/LITELLM_KEY"},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        }
        file = folder / f"config-{self.port}.yaml"
        file.write_text(json.dumps(config))  # JSON is YAML
        self.log = folder / f"proxy-{self.port}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([program, "--config", str(file), "--host", "127.0.0.1", "--port", str(self.port)],
                                            stdout=log, stderr=log, env=self.environment, cwd=folder)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(240):
            if self.process.poll() is not None:
                skip("the proxy ends at its start: " + self.log.read_text()[-300:])
            try:
                with opener.open(f"http://127.0.0.1:{self.port}/health/liveliness", timeout=1):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        self.close()
        skip("the proxy does not start within two minutes")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
