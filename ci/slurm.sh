#!/usr/bin/env bash
# A Slurm of one node, on loopback, runs ci/shards/slurm.sh as a user would, on a plug-in in C: the merged report is the one of a run without
# shards; a task that is killed halfway and requeued by the command that was printed resumes, and the report is the same. By hand, on Debian,
# as root: it installs Slurm where it is missing. About 80 seconds on two cores.
#   ci/slurm.sh [COMMAND]      the command `conformance`; without it, it is compiled
source "$(dirname "$0")/env.sh"
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then skip "Slurm: it needs root and apt-get"; exit 0; fi
if ! command -v "${CC:-cc}" >/dev/null; then skip "Slurm: no C compiler ${CC:-cc}"; exit 0; fi
conformance="${1:-}"
[ -n "$conformance" ] || conformance_for full

work="$(mktemp -d)" policy=/usr/sbin/policy-rc.d pids=() no_start=""
clean() {
  # What waits first, so that it does not start when what runs is gone.
  { scancel --user=root --state=PENDING && scancel --user=root --signal=KILL --full && sleep 1; } >/dev/null 2>&1 || true
  if [ "${#pids[@]}" -gt 0 ]; then kill "${pids[@]}" 2>/dev/null || true; wait "${pids[@]}" 2>/dev/null || true; fi
  if [ -n "$no_start" ]; then rm -f "$policy"; fi
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
export SLURM_CONF="$work/slurm.conf"
failed() { tail -n 20 "$work"/*.log "$work"/job/*.out 2>/dev/null || true; say "Slurm: $*"; exit 1; }

installed() { command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged; } >/dev/null
if ! installed; then
  # The packages' own daemons are not wanted.
  if ! [ -e "$policy" ]; then no_start=1; printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod +x "$policy"; fi
  install=(apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge)
  export DEBIAN_FRONTEND=noninteractive
  { "${install[@]}" || { apt-get update -qq && "${install[@]}"; }; } >"$work/apt.log" 2>&1 || true
  installed || { skip "Slurm: apt-get can't install it: $(tail -n 1 "$work/apt.log")"; exit 0; }
fi

# Nothing of /etc is read: a key, ports and folders of its own. Two plug-ins need systemd or rights over control groups: they are off
# (before 23, Slurm has no word for it and needs none). A task may be requeued when its
# credential has expired, which takes 2 minutes by default.
mkdir -m 755 "$work/munge"
mkdir "$work/state" "$work/spool" "$work/job" "$work/bin"
chmod 755 "$work"
(umask 077 && head -c 128 /dev/urandom >"$work/munge.key")
host="$(hostname -s)"
slurmd -V | grep -q ' 2[0-2]\.' || echo "CgroupPlugin=disabled" >"$work/cgroup.conf"
cat >"$SLURM_CONF" <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=sched_interval=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=3
PartitionName=main Nodes=ALL Default=YES
END
ln -s "$(realpath "$conformance")" "$work/bin/conformance"
PATH="$work/bin:$PATH"
# daemon COMMAND...: in the background, until the end.
daemon() { "$@" >>"$work/$1.log" 2>&1 & pids+=($!); }
daemon munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge/socket" --pid-file="$work/munged.pid" --seed-file="$work/munged.seed"
until [ -S "$work/munge/socket" ]; do kill -0 "${pids[0]}" 2>/dev/null || failed "munged does not run"; sleep 0.1; done
daemon slurmctld -D
daemon slurmd -D

# soon SECONDS WHAT COMMAND...: until the command says yes.
soon() { local end=$((SECONDS + $1)); until "${@:3}"; do [ "$SECONDS" -lt "$end" ] || failed "not within $1 s: $2"; sleep 0.1; done; }
idle() { [ "$(sinfo --noheader --format %T 2>/dev/null)" = idle ]; }
is() { [ "$(squeue --noheader --states=all --jobs "$1" --format %T 2>/dev/null)" = "$2" ]; }
soon 30 "the node is idle" idle
say "$(slurmctld -V) runs on 127.0.0.1, with three processors for jobs"

# In the full tier the first shard takes seconds, so that it can be killed halfway.
"${CC:-cc}" -O2 -ffp-contract=off -shared -fPIC -I conformance/include conformance/examples/c/spmm_csr.c -o "$work/job/kernel.so"
run=(--plugin ./kernel.so --contracts 'spmm.csr.f32*') shards="$PWD/ci/shards/slurm.sh"
cd "$work/job" || exit
conformance run --tier full "${run[@]}" --report whole >whole.out 2>&1 || failed "the run without shards"
say "a run without shards: $(tail -n 1 whole.out)"

# submit OUT: sets $array and $merge, and $again, what is printed for a task that was killed.
submit() {
  OUT="$PWD/$1" SHARDS=3 CPUS=1 TIER=full sh "$shards" "${run[@]}" >"$1.said" || failed "ci/shards/slurm.sh: $(cat "$1.said")"
  again="$(sed -n 's/^  \(scontrol requeue .*\)/\1/p' "$1.said")"
  array="$(sed -n 's/^array \([0-9]*\) .*/\1/p' "$1.said")" merge="$(sed -n 's/.* job \([0-9]*\) merges.*/\1/p' "$1.said")"
}
# merged OUT: its merged report is that of the run without shards, but for the machine and what took how long.
merged() {
  soon 300 "the merge job ends well" is "$merge" COMPLETED
  python3 - "$1/merged/report.json" whole/report.json <<'END' || failed "the merged report is not the one of the run without shards"
import json, sys
reports = [json.load(open(name)) for name in sys.argv[1:]]
for report in reports: del report["environment"], report["timings"]
sys.exit(len({json.dumps(report) for report in reports}) - 1)
END
}
submit first
merged first
say "an array of three tasks and a job that merges: $(tail -n 1 "slurm-$merge.out"); the report is the same"

submit second
journal="second/shard-1/journal.jsonl"
begun() { [ -f "$journal" ] && [ "$(wc -l <"$journal")" -gt 150 ]; }
soon 60 "the first task has judged cases" begun
scancel --signal=KILL --full "${array}_1"
soon 60 "the killed task is gone" is "${array}_1" CANCELLED
if [ -e second/shard-1/report.json ]; then failed "the first task was done before it was killed"; fi
eval "${again/TASK/1}"
merged second
resumed="$(grep '^resuming: ' "slurm-${array}_1.out")" || failed "the requeued task did not resume"
say "a task killed halfway, and requeued: $resumed; $(tail -n 1 "slurm-$merge.out"); the report is the same"
