# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a whole program with loop hints and runs its benchmark, for problems that `loop_hints.py program` made.

The kernel's text is the problem's description of the program (docs/llvm.md). A call runs the benchmark once: its one
output is the digest of all that the program printed and wrote, which the reference has of the build without hints.
"""

import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


class Failed(Exception):
    """A command of the program's that did not end well: what it was and what it said."""


def run(command, folder, seconds=None):
    """Standard output as bytes, and the (wall, processor) seconds that the command took."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = dict(os.environ, PATH=os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"), LC_ALL="C")
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=seconds, env=environment)
    except OSError as error:
        raise Failed(f"{command[0]} cannot be started: {error.strerror}")
    except subprocess.TimeoutExpired:
        raise Failed(f"`{' '.join(command)}` was not done within {seconds:g} s")
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}: {said[-1500:]}")
    return done.stdout, (wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


class Program:
    """A program's files in a folder, to be built there and run."""

    def __init__(self, description, files, folder):
        self.description, self.folder = description, pathlib.Path(folder)
        for name in description["files"]:
            to = self.folder / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(pathlib.Path(files, name), to)

    def build(self, flags):
        """Runs the build's commands; `flags` is a list of the compiler's, hints and all."""
        compiler = self.description["compiler"]
        for command in self.description["build"]:
            run([word.replace("${FLAGS}", " ".join(flags)).replace("${COMPILER}", compiler) for word in command], self.folder)

    def benchmark(self):
        """(what must be the same whatever the hints, seconds) of one run of the benchmark."""
        printed, (wall, processor) = run(self.description["benchmark"], self.folder)
        how = self.description["time"]
        if isinstance(how, dict):
            text = printed.decode(errors="replace")
            found = re.search(how["pattern"], text)
            if not found:
                raise Failed(f"the benchmark printed no time: nothing matches {how['pattern']} in {text[-500:]!r}")
            seconds = float(found[1]) * UNITS[how["unit"]]
        else:
            seconds = {"wall": wall, "processor": processor}[how]
        return self.result(printed), seconds

    def checked(self):
        """What the further commands say, which are not timed."""
        return b"".join(self.result(run(command, self.folder)[0]) for command in self.description["checks"])

    def result(self, printed):
        """What was printed but for times, and the files that the program writes as results.

        These are removed, so that the next run must write them again.
        """
        how, said = self.description["time"], printed
        if isinstance(how, dict):
            said = re.sub(how["pattern"].encode(), b"", printed)
        for name in self.description["outputs"]:
            path = self.folder / name
            if not path.exists():
                raise Failed(f"the program has not written {name}")
            content = path.read_bytes()
            path.unlink()
            said += f"\0{name} {len(content)}\0".encode() + content
        return said

    def digest(self, printed, checked):
        return hashlib.sha256(hashlib.sha256(checked).digest() + printed).digest()


def serve():
    import json

    import kernelsearch_external
    import loop_hints

    files = pathlib.Path(__file__).resolve().parent
    scratch = tempfile.TemporaryDirectory()

    def build(source, configuration):
        description = json.loads(source)
        program = Program(description, files, tempfile.mkdtemp(dir=scratch.name))
        plan = pathlib.Path(scratch.name, "plan.hints")
        plan.write_text("\n".join(loop_hints.plan_lines(description["name"], configuration)) + "\n")
        try:
            program.build(loop_hints.hinted_flags(description["flags"], files / loop_hints.PLUGIN, plan))
            checked = program.checked()
        except Failed as failed:
            raise kernelsearch_external.Declined(str(failed))

        def kernel(digest):
            try:
                printed, seconds = program.benchmark()
            except Failed as failed:
                raise kernelsearch_external.Declined(str(failed))
            digest[:] = program.digest(printed, checked)
            return seconds

        return kernel

    kernelsearch_external.serve(build, name="whole program", version="1", device="this processor", times=True)


if __name__ == "__main__":
    serve()
