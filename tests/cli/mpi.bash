# For the tests of imp-mpi: several ranks on this machine, and hosts that are network namespaces.

# mpi_setup: skips where there is no MPI; a folder to work in and a small run.
mpi_setup() {
    if [ -z "${IMP_MPI:-}" ] || ! command -v mpirun >/dev/null; then
        skip "there is no imp-mpi here, or no mpirun"
    fi
    cd "$BATS_TEST_TMPDIR" || return
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$BATS_TEST_TMPDIR
    export ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 # MPI has leaks of its own
    tiny=(--data glyphs --size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool --task alphabets
        --way 2 --modes 3 --queries 2 --updates 6 --accumulate 4 --validate-every 3
        --validation-episodes 5 --checkpoint-every 2 --log-every 1 --quiet)
}

# ranks N COMMAND...: imp-mpi with that many ranks.
ranks() {
    local count=$1
    shift
    mpirun --oversubscribe -np "$count" "$IMP_MPI" "$@"
}

# unlike COMMAND...: three ranks, of which rank 1 works in the folder elsewhere.
unlike() {
    mkdir -p elsewhere
    cat >unlike <<'SCRIPT'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || cd elsewhere
exec "$IMP_MPI" "$@"
SCRIPT
    chmod +x unlike
    mpirun --oversubscribe -np 3 ./unlike "$@"
}

# refused WHAT COMMAND...: rank 1 has another WHAT there; rank 0 alone says so, and nothing is written.
refused() {
    run --separate-stderr unlike "${@:2}"
    [ "$status" -eq 1 ]
    [ "$(grep -c "rank 1 has another $1 than rank 0; all ranks need the same" <<<"$stderr")" -eq 1 ]
    [ ! -e out.npy ] && [ ! -e elsewhere/out.npy ]
}

# blobs: points in 30 clusters, as a file and as shards.
blobs() {
    npy x.npy '(8 * np.random.RandomState(1).randn(30, 20)[np.arange(9000) % 30] + np.random.RandomState(2).randn(9000, 20)).astype("float32")'
    mkdir parts
    npy parts/a.npy 'np.load("x.npy")[:100]'
    npy parts/b.npy 'np.load("x.npy")[100:]'
}

# hosts_up N: namespaces imphost1 .. N with addresses 10.77.0.1 .. N on a bridge; skips where that is
# not allowed. hosts_down N takes them away again.
hosts_up() {
    if ! ip link add impbr type bridge 2>/dev/null; then
        skip "this user cannot make network namespaces"
    fi
    ip link set impbr up
    for i in $(seq "$1"); do
        ip netns add "imphost$i"
        ip link add "impv$i" type veth peer name eth0 netns "imphost$i"
        ip link set "impv$i" master impbr up
        ip -n "imphost$i" addr add "10.77.0.$i/24" dev eth0
        ip -n "imphost$i" link set eth0 up
        ip -n "imphost$i" link set lo up
    done
    # What ssh would do, for a host that is a namespace: agent ADDRESS COMMAND...
    cat >"$BATS_TEST_TMPDIR/agent" <<'AGENT'
#!/bin/sh
number=${1##*.}
shift
exec ip netns exec "imphost$number" unshare --uts sh -c "hostname imphost$number; $*"
AGENT
    chmod +x "$BATS_TEST_TMPDIR/agent"
}

hosts_down() {
    for i in $(seq "$1"); do
        ip netns del "imphost$i" 2>/dev/null
        ip link del "impv$i" 2>/dev/null
    done
    ip link del impbr 2>/dev/null || true
}

# on_hosts N COMMAND...: imp-mpi with a rank on each of the hosts, which find out within seconds
# that one of them is gone.
on_hosts() {
    local hosts
    hosts=$(seq -s, -f '10.77.0.%g' "$1")
    shift
    ip netns exec imphost1 unshare --uts sh -c 'hostname imphost1; exec "$@"' sh mpirun \
        --host "$hosts" --mca plm_rsh_agent "$BATS_TEST_TMPDIR/agent" --mca btl tcp,self \
        --mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24 \
        --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 1 \
        --mca oob_tcp_keepalive_probes 5 "$IMP_MPI" "$@"
}

# begun FOLDER N: waits until a run has logged so many updates.
begun() {
    until [ -e "$1/log.csv" ] && [ "$(wc -l <"$1/log.csv")" -gt "$2" ]; do
        sleep 0.1
    done
}
