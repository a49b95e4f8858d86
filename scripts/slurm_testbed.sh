#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Slurm with four virtual nodes on this machine, for tests: no containers, no network beyond the loopback interface.
#   scripts/slurm_testbed.sh start DIR    then use the commands of Slurm with SLURM_CONF=DIR/slurm.conf
#   scripts/slurm_testbed.sh stop DIR
# As root. Installs slurm-wlm and munge from Debian unless KERNELSEARCH_TESTBED_INSTALL=0. DIR must not be there yet, or be
# of an earlier start; it is removed at the end. Exit code 77 and the reason where it cannot be: tests are skipped then.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() { die "usage: scripts/slurm_testbed.sh start|stop DIR"; }
skip() { printf '%s\n' "$*" >&2; exit 77; }

[ $# = 2 ] || usage
action=$1 dir=$2
nodes=4 controller_port=${KERNELSEARCH_TESTBED_PORT:-16817}

# ended FILE: ends the daemon of a pid file, if it is still the one that we started.
ended() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 0
  [ -n "$pid" ] && grep -qaE 'slurmctld|slurmd|munged' "/proc/$pid/cmdline" 2>/dev/null || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null || true
}

stop() {
  [ -d "$dir" ] || return 0
  local i
  export SLURM_CONF=$dir/slurm.conf
  [ -f "$SLURM_CONF" ] && timeout 10 scancel -u root 2>/dev/null || true
  for i in $(seq $nodes); do ended "$dir/slurmd-n$i.pid"; done
  ended "$dir/ctld.pid"
  ended "$dir/munge/munged.pid"
  rm -rf "$dir"
}

start() {
  [ "$(id -u)" = 0 ] || skip "Slurm's test bed has to be started as root"
  if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
    [ "${KERNELSEARCH_TESTBED_INSTALL:-1}" = 1 ] || skip "slurm-wlm and munge are not installed"
    (need_packages slurm-wlm munge) || skip "slurm-wlm and munge cannot be installed here"
  fi
  [ ! -e "$dir" ] || { [ -f "$dir/slurm.conf" ] && stop || die "$dir is there and is no test bed"; }
  mkdir -p "$dir/state" "$dir/munge"
  dir=$(cd "$dir" && pwd)
  local host i
  host=$(hostname -s)
  # A munged of its own, so that one of the machine is left alone.
  chown -R munge:munge "$dir/munge"
  chmod 755 "$dir" "$dir/munge"
  dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 status=none
  chown munge:munge "$dir/munge/key"
  chmod 400 "$dir/munge/key"
  local parent=$dir
  while [ "$parent" != / ]; do
    su -s /bin/sh munge -c "test -x '$parent'" || skip "the user munge cannot enter $parent: choose another folder"
    parent=$(dirname "$parent")
  done
  su -s /bin/sh munge -c "munged --key-file='$dir/munge/key' --socket='$dir/munge/socket' --pid-file='$dir/munge/munged.pid' \
    --log-file='$dir/munge/log' --seed-file='$dir/munge/seed' --force" >/dev/null 2>"$dir/munge.err" ||
    skip "munged does not start: $(cat "$dir/munge.err")"
  cat >"$dir/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdLogFile=$dir/slurmd-%n.log
SlurmctldPort=$controller_port
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
ReturnToService=2
MpiDefault=none
InactiveLimit=0
KillWait=2
CONF
  for i in $(seq $nodes); do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((controller_port + 183 + i)) CPUs=$(nproc)" >>"$dir/slurm.conf"
  done
  echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >>"$dir/slurm.conf"
  export SLURM_CONF=$dir/slurm.conf
  slurmctld 2>>"$dir/ctld.err" || { stop; skip "slurmctld does not start"; }
  for i in $(seq $nodes); do
    mkdir -p "$dir/spool-n$i"
    slurmd -N "n$i" 2>>"$dir/slurmd.err" || { stop; skip "slurmd does not start"; }
  done
  for _ in $(seq 100); do
    [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" = $nodes ] && { echo "$SLURM_CONF"; return 0; }
    sleep 0.2
  done
  sinfo >&2 || true
  tail -5 "$dir"/*.log >&2 || true
  stop
  skip "the nodes do not become idle"
}

case $action in
  start) start ;;
  stop) stop ;;
  *) usage ;;
esac
