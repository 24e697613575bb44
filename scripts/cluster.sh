#!/usr/bin/env bash
# A Slurm cluster on this one machine, for trials; all state is in DIR. As root, with `scripts/packages.sh fleet`.
#
#     scripts/cluster.sh start DIR [N] [--no-requeue-exit] [--rate R]   prints the SLURM_CONF to export
#     scripts/cluster.sh kill DIR NODE           the machine dies: its slurmd, its steps, its network
#     scripts/cluster.sh boot DIR NODE           the machine comes back
#     scripts/cluster.sh run DIR NODE COMMAND…   runs a command on the machine
#     scripts/cluster.sh stop DIR                ends what it started, by pid
#
# The nodes are n0, n1, …: each has a host name, an address (10.83.0.10 and up), and namespaces for its
# processes and network; the file system is shared. This machine is 10.83.0.1. R limits what a node receives, in
# the words of tc(8), such as 160mbit. Slurm notices after 10 s that a node is dead. With --no-requeue-exit, the site
# does not start a job again that ends with 75. The site has two licenses, hub:2.
set -euo pipefail

usage() {
    echo "usage: cluster.sh start DIR [N] [--no-requeue-exit] [--rate R] | kill|boot DIR NODE |" \
        "run DIR NODE COMMAND… | stop DIR" >&2
    exit 64
}
[ $# -ge 2 ] || usage
action=$1 dir=$(realpath -m "$2")
shift 2
net=10.83.0
export SLURM_CONF=$dir/slurm.conf
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

free_port() {
    python3 -c 'import socket, sys; s = socket.socket(); s.bind((sys.argv[1], 0)); print(s.getsockname()[1])' "$1"
}

# Whether the process of a pid file is one of this cluster: a number may have been given to another process.
lives() {
    local process
    process=$(cat "$1" 2>/dev/null) || return 1
    { tr '\0' ' ' <"/proc/${process:-none}/cmdline"; } 2>/dev/null | grep -qF -- "$dir"
}

# Ends the process of a pid file with a signal, and waits until it is gone.
end() {
    local signal=$1 file=$2
    lives "$file" || return 0
    kill "-$signal" "$(cat "$file" 2>/dev/null)" 2>/dev/null || true
    for _ in {1..100}; do
        lives "$file" || break
        sleep 0.1
    done
    ! lives "$file" || kill -KILL "$(cat "$file" 2>/dev/null)" 2>/dev/null || true
}

wait_for() {
    local what=$1
    shift
    for _ in {1..300}; do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    echo "error: $what; see $dir/log" >&2
    exit 69
}

is_apart() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
has_child() { [ -n "$(cat "/proc/$1/task/$1/children" 2>/dev/null)" ]; }
is_idle() { [ "$(sinfo -h -N -o %T -n "$1" 2>/dev/null)" = idle ]; }
is_listening() { [ -S "$dir/munge.sock" ]; }
answers() { scontrol ping 2>/dev/null | grep -q UP; }

# Starts the machine NUMBER; its first process ends everything on it when it ends.
boot() {
    local number=$1 parent link
    link=$(cat "$dir/bridge")n$number
    # `lives` finds the folder among the arguments.
    setsid unshare --net --uts --pid --mount --fork --kill-child=KILL --mount-proc \
        bash -c '
            echo "$2" >/proc/sys/kernel/hostname
            ip link set lo up
            until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
            ip address add "$3/24" dev eth0
            ip link set eth0 up
            slurmd -D -f "$1/slurm.conf" -N "$2" &
            # A slurmd that ends alone leaves its steps.
            wait
            exec -a "node $1" sleep infinity
        ' node "$dir" "n$number" "$net.$((number + 10))" </dev/null >>"$dir/log/n$number.log" 2>&1 &
    parent=$!
    wait_for "n$number has no namespace" is_apart "$parent"
    wait_for "n$number has no process" has_child "$parent"
    tr -d ' ' <"/proc/$parent/task/$parent/children" >"$dir/n$number.pid"
    ip link delete "$link" 2>/dev/null || true
    ip link add "$link" type veth peer name eth0 netns "$(cat "$dir/n$number.pid")"
    ip link set "$link" master "$(cat "$dir/bridge")" up
    [ ! -s "$dir/rate" ] || tc qdisc add dev "$link" root tbf rate "$(cat "$dir/rate")" burst 256k latency 20ms
}

start() {
    local nodes=4 requeue=RequeueExit=75 rate="" host bridge
    while [ $# -gt 0 ]; do
        case "$1" in
        --no-requeue-exit) requeue="" ;;
        --rate) rate=$2 && shift ;;
        [1-9]*) nodes=$1 ;;
        *) usage ;;
        esac
        shift
    done
    if ip -o -4 address | grep -qF " $net."; then
        echo "error: the network $net.0/24 is in use here; \`unshare --net\` gives another one" >&2
        exit 69
    fi
    mkdir -p "$dir"/{spool,log,state}
    chmod 755 "$dir"
    bridge=fleet$((RANDOM % 10000))
    echo "$bridge" >"$dir/bridge"
    echo "$rate" >"$dir/rate"
    echo "$nodes" >"$dir/nodes"
    ip link add "$bridge" type bridge
    ip address add "$net.1/24" dev "$bridge"
    ip link set "$bridge" up
    ip link set lo up
    host=$(hostname -s)
    {
        cat <<CONF
ClusterName=fleet
SlurmctldHost=$host($net.1)
SlurmctldPort=$(free_port "$net.1")
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
SlurmdTimeout=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
$requeue
Licenses=hub:2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
        for ((i = 0; i < nodes; i++)); do
            echo "NodeName=n$i NodeHostname=n$i NodeAddr=$net.$((i + 10)) Port=$(free_port "$net.1")" \
                "CPUs=1 State=UNKNOWN"
        done
    } >"$SLURM_CONF"
    [ -f "$dir/munge.key" ] || head -c 1024 /dev/urandom >"$dir/munge.key"
    chmod 400 "$dir/munge.key"
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.sock" --pid-file="$dir/munge.pid" \
        --log-file="$dir/log/munge.log" --seed-file="$dir/munge.seed" 2>/dev/null
    wait_for "munged does not listen" is_listening
    slurmctld -f "$SLURM_CONF"
    wait_for "slurmctld does not answer" answers
    for ((i = 0; i < nodes; i++)); do boot "$i"; done
    for ((i = 0; i < nodes; i++)); do wait_for "n$i is not idle" is_idle "n$i"; done
    echo "$SLURM_CONF"
}

stop() {
    local file link
    for file in "$dir"/n[0-9]*.pid; do end KILL "$file"; done
    end TERM "$dir/slurmctld.pid"
    end TERM "$dir/munge.pid"
    [ -f "$dir/bridge" ] || return 0
    for ((i = 0; i < $(cat "$dir/nodes"); i++)); do
        link=$(cat "$dir/bridge")n$i
        ip link delete "$link" 2>/dev/null || true
    done
    ip link delete "$(cat "$dir/bridge")" 2>/dev/null || true
}

case $action in
start)
    # What fails half-way leaves nothing.
    trap stop EXIT
    start "$@"
    trap - EXIT
    ;;
kill)
    [ $# -eq 1 ] || usage
    end KILL "$dir/$1.pid"
    ip link delete "$(cat "$dir/bridge")$1" 2>/dev/null || true
    ;;
boot)
    [ $# -eq 1 ] || usage
    boot "${1#n}"
    ;;
run)
    [ $# -ge 2 ] || usage
    lives "$dir/$1.pid" || { echo "error: $1 is not running" >&2; exit 69; }
    node=$1
    shift
    exec nsenter --net --uts --pid --mount --wd="$PWD" --target "$(cat "$dir/$node.pid")" "$@"
    ;;
stop) stop ;;
*) usage ;;
esac
