#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workers behind ssh: ssh_test.py KERNELSEARCH FOLDER. A real sshd on a port of the loopback interface, with a configuration, keys
and a folder of its own, for this user alone; a connection is cut while the run goes on.

Skipped with the reason where there is no sshd, which KERNELSEARCH_TEST_NETWORK=1 allows to install from Debian."""
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from desk import Desk, check, failures, whole, workers_left

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def needed_programs():
    if not (program("sshd") and program("ssh") and program("ssh-keygen")):
        if os.environ.get("KERNELSEARCH_TEST_NETWORK") != "1":
            skip("no sshd here, and KERNELSEARCH_TEST_NETWORK=1 is not set to install openssh-server")
        install = ". scripts/common.sh; need_packages openssh-server openssh-client"
        if subprocess.run(["bash", "-c", install], cwd=SOURCE, capture_output=True).returncode != 0:
            skip("openssh-server cannot be installed here")


class Server:
    """sshd for this user, in the foreground, so that it ends with us."""

    def __init__(self, folder):
        self.made = None
        if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):  # it wants this one where it runs as root
            os.mkdir("/run/sshd", 0o755)
            self.made = "/run/sshd"
        user = pwd.getpwuid(os.geteuid()).pw_name
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        for key in ("host_key", "key"):
            subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
        public = (folder / "host_key.pub").read_text().split()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public[0]} {public[1]}\n")
        (folder / "authorized_keys").write_text((folder / "key.pub").read_text())
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host_key\nPidFile none\nAuthorizedKeysFile {folder}/authorized_keys\n"
            f"AllowUsers {user}\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            "UsePAM no\nStrictModes no\nX11Forwarding no\nAllowTcpForwarding no\nAllowAgentForwarding no\nPrintMotd no\n")
        self.config = folder / "ssh_config"
        self.config.write_text(
            f"Host gpu3\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n  IdentityFile {folder}/key\n  IdentitiesOnly yes\n"
            f"  IdentityAgent none\n  UserKnownHostsFile {folder}/known_hosts\n  StrictHostKeyChecking yes\n  BatchMode yes\n  LogLevel ERROR\n")
        self.log = folder / "sshd.log"
        self.process = subprocess.Popen([program("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")], stderr=open(self.log, "w"))
        for _ in range(100):
            if subprocess.run([program("ssh"), "-F", str(self.config), "gpu3", "true"], capture_output=True).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.close()
        skip("sshd does not let this user in: " + (self.log.read_text().strip().splitlines() or ["no reason"])[-1])

    def connections(self):
        """The processes of sshd that serve one connection each."""
        return [int(pid) for pid in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]

    def close(self):
        self.process.terminate()
        self.process.wait()
        if self.made:
            os.rmdir(self.made)


def lanes_of(trials):
    text = json.dumps(trials)
    return {i for i in range(4) if f"lane {i} (ssh" in text}


def launch(server, desk):
    # A login has an environment of its own. Locks of their own: they would take turns on this one machine.
    return f"ssh -F {server.config} gpu3 \"env HOME={desk.path} KERNELSEARCH_LOCKS={desk.path}/locks_{{index}} {{worker}}\""


def none_left(name):
    for _ in range(150):
        if not workers_left(FOLDER):
            break
        time.sleep(0.2)
    check(f"{name}: no worker is left", not workers_left(FOLDER), workers_left(FOLDER))


def two_lanes(server):
    desk = Desk(COMMAND, FOLDER, "two_lanes")
    code = desk.run(desk.tune("twice", "--launch", launch(server, desk), "x2", "--worker", COMMAND, "--budget", "16"))
    check("two lanes: ends well", code == 0, desk.said()[-3000:])
    whole("two lanes", desk, 16)
    check("two lanes: both have measured", lanes_of(desk.trials()) == {0, 1}, desk.said()[-2000:])
    none_left("two lanes")


def cut_connection(server):
    desk = Desk(COMMAND, FOLDER, "cut_connection")
    process = desk.start(desk.tune("twice", "--launch", launch(server, desk), "x2", "--worker", COMMAND, "--budget", "60"))
    for _ in range(600):
        if (desk.path / "runs.db").exists() and len(desk.trials()) >= 5:
            break
        time.sleep(0.1)
    served = server.connections()
    check("cut connection: two are open", len(served) == 2, served)
    os.kill(served[0], signal.SIGKILL)
    code = process.wait(300)
    said = desk.said()
    check("cut connection: ends well", code == 0, said[-3000:])
    check("cut connection: the lane was lost and came back", "is lost: " in said and said.count("is ready on") == 3, said[-3000:])
    whole("cut connection", desk, 60)
    none_left("cut connection")


def wrong_key(server):
    desk = Desk(COMMAND, FOLDER, "wrong_key")
    code = desk.run(desk.tune("twice", "--launch", f"ssh -F {server.config} -o PubkeyAuthentication=no gpu3", "--budget", "4"))
    check("wrong key: the run says what ssh says", code == 4 and "Permission denied" in desk.said(), desk.said()[-2000:])


if __name__ == "__main__":
    needed_programs()
    FOLDER.mkdir(parents=True, exist_ok=True)
    FOLDER = FOLDER.resolve()
    with tempfile.TemporaryDirectory(prefix="kernelsearch-ssh-") as folder:
        server = Server(pathlib.Path(folder))
        try:
            for case in (two_lanes, cut_connection, wrong_key):
                case(server)
        finally:
            server.close()
    sys.exit(1 if failures else 0)
