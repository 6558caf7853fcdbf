# imp-mpi at length: any number of ranks, hosts that die, a full disk, a slow rank, MPICH.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    load mpi
    mpi_setup
    endless=("${tiny[@]}" --updates 100000)
    status=0
}

teardown() {
    hosts_down 3
}

# resumes_alike FOLDER: a run that was broken off ends as one that was not, on two ranks and alone.
resumes_alike() {
    local updates
    updates=$(($(tail -n 1 "$1/log.csv" | cut -d, -f1) + 3))
    cp -r "$1" alone
    "$IMP" train --resume alone --updates "$updates" --quiet
    ranks 2 train --resume "$1" --updates "$updates" --quiet
    "$IMP" train "${tiny[@]}" --updates "$updates" --out whole
    cmp alone/model.safetensors whole/model.safetensors
    cmp "$1/model.safetensors" whole/model.safetensors
}

# prepare_work: the files of work FOLDER COMMAND..., which does all that imp-mpi can do by that command.
prepare_work() {
    blobs
    npy y.npy 'np.arange(60) % 30'
    npy s.npy 'np.load("x.npy")[:60]'
    npy all.npy 'np.arange(9000) % 30'
    "$IMP" fit --support s.npy --labels y.npy -o m.safetensors >/dev/null
    vectors=(--data vectors:x.npy,all.npy --network linear:4 --way 5 --updates 6 --accumulate 4
        --validate-every 0 --quiet)
    "$IMP" train "${vectors[@]}" --out vectors
    "$IMP" data export glyphs drawings --alphabets 2 --fewest-characters 2 --most-characters 2 >/dev/null
}

work() {
    local to=$1
    shift
    mkdir "$to"
    "$@" train "${tiny[@]}" --out "$to/run"
    "$@" train "${tiny[@]}" --learner maml --inner-steps 1 --out "$to/maml"
    "$@" train "${vectors[@]}" --out "$to/vectors"
    "$@" eval --model "$to/run/model.safetensors" --episodes 7 --quiet >"$to/eval"
    "$@" cluster parts --lambda 100 --method dp-means --json >"$to/hard"
    "$@" cluster parts --lambda 100 --sigma 1 --json >"$to/soft"
    "$@" predict m.safetensors parts --open-set -o "$to/answers.npy" >"$to/predict"
    "$@" embed drawings -o "$to/drawings.npy"
    "$@" embed parts --model vectors/model.safetensors -o "$to/points.npy"
    "$@" paper tied --data glyphs --updates 2 --episodes 5 --seeds 1 --runs "$to/runs" \
        --out "$to/results" --quiet
    # Result files, logs and checkpoints also tell how long it took.
    find "$to" -name '*.json' -exec sed -i -E '/"(seconds|images_per_second)":/d' {} +
    find "$to" \( -name 'log.*' -o -name 'checkpoint*' \) -delete
}

@test "mpi: all commands give the bits of one process, by Open MPI and MPICH" {
    prepare_work
    work alone "$IMP"
    for count in 1 2 4 7; do
        work "ranks$count" ranks "$count"
        diff -r alone "ranks$count"
    done
    command -v mpicc.mpich >/dev/null || skip "there is no MPICH here"
    cmake -S "$BATS_TEST_DIRNAME/../.." -B build -DIMP_BUILD_TESTS=OFF -DBUILD_SHARED_LIBS=OFF \
        -DMPI_C_COMPILER=mpicc.mpich >/dev/null
    cmake --build build --target imp_mpi_command -j 2 >/dev/null
    ldd build/bin/imp-mpi | grep libmpich
    for count in 2 3; do
        work "mpich$count" mpirun.mpich -np "$count" build/bin/imp-mpi
        diff -r alone "mpich$count"
    done
}

@test "mpi: a rank with other points, models, data or settings is refused" {
    blobs
    mkdir elsewhere
    npy elsewhere/x.npy 'np.load("x.npy") + (np.arange(9000) == 8999)[:, None].astype("f4")'
    refused "'x.npy'" cluster x.npy --lambda 100 --method dp-means -o out.npy
    cp -r parts elsewhere
    npy elsewhere/parts/b.npy 'np.load("parts/a.npy")'
    refused "'parts'" cluster parts --lambda 100 --method dp-means -o out.npy
    npy y.npy 'np.arange(60) % 30'
    npy s.npy 'np.load("x.npy")[:60]'
    "$IMP" fit --support s.npy --labels y.npy -o m.safetensors >/dev/null
    "$IMP" forget m.safetensors --class 3 -o elsewhere/m.safetensors >/dev/null
    cp s.npy elsewhere
    refused "'m.safetensors'" predict m.safetensors s.npy -o out.npy

    "$IMP" train "${tiny[@]}" --out run --updates 1
    "$IMP" train "${tiny[@]}" --out elsewhere/run --updates 1 --seed 2
    refused "'run/model.safetensors'" eval --model run/model.safetensors --episodes 3 --quiet
    refused recipe train --resume run --updates 3 --quiet
    rm -r elsewhere/run && cp -r run elsewhere
    "$IMP" train --resume elsewhere/run --updates 2 --quiet
    refused checkpoint train --resume run --updates 3 --quiet
    rm -r elsewhere/run && cp -r run elsewhere
    "$IMP" data export glyphs drawings --alphabets 2 --fewest-characters 2 --most-characters 2 >/dev/null
    cp -r drawings elsewhere
    rm "$(find elsewhere/drawings -name '*.png' | sort | tail -n 1)"
    refused "'drawings'" embed drawings -o out.npy
    refused data eval --model run/model.safetensors --data drawings --way 2 --shot 1 --queries 1 \
        --task characters --episodes 3 --quiet
}

@test "mpi: a rank that is killed ends the job, which resumes to the same bits" {
    ranks 3 train "${endless[@]}" --out run 2>said &
    job=$!
    begun run 4
    kill -KILL "$(pgrep -n -f "^$IMP_MPI train .* --out run")"
    wait "$job" || status=$?
    [ "$status" -ne 0 ]
    grep -E "process rank [0-9] .*on node .* exited on signal 9" said
    [ "$(grep -c "^imp-mpi: lost rank [0-2] on $(hostname), whose process was ended; the job ends$" said)" -eq 1 ]
    resumes_alike run
}

@test "mpi: SIGTERM at any rank saves, as Ctrl-C does" {
    ranks 3 train "${endless[@]}" --out run 2>said &
    job=$!
    begun run 4
    kill -TERM "$(pgrep -n -f "^$IMP_MPI train .* --out run")"
    wait "$job" || status=$?
    [ "$status" -eq 130 ]
    grep "stopped after update .*; continue with: imp train --resume run" said
    resumes_alike run
}

@test "mpi: a rank that is slow is waited for" {
    ranks 3 train "${tiny[@]}" --updates 100 --out run &
    job=$!
    begun run 2
    slow=$(pgrep -n -f "^$IMP_MPI train .* --out run")
    kill -STOP "$slow"
    sleep 5
    kill -CONT "$slow"
    wait "$job"
    "$IMP" train "${tiny[@]}" --updates 100 --out alone
    cmp run/model.safetensors alone/model.safetensors
}

@test "mpi: a full disk of rank 0 ends the job with a sentence" {
    mkdir small
    mount -t tmpfs -o size=200k none small || skip "this user cannot mount"
    run --separate-stderr timeout 1800 mpirun --oversubscribe -np 3 "$IMP_MPI" train "${endless[@]}" --out small/run
    ls -l small/run
    umount small
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    [[ $stderr == *"imp train: cannot write "*"No space left on device"* ]]
    [[ $stderr == *"imp-mpi: rank 0 on $(hostname) failed while others went on, and ends the job"* ]]
}

@test "mpi: a host that is cut off ends the job within seconds, which resumes to the same bits" {
    hosts_up 3
    "$IMP" train "${tiny[@]}" --out alone
    on_hosts 3 train "${tiny[@]}" --out three
    cmp alone/model.safetensors three/model.safetensors
    rm -r alone three
    on_hosts 3 train "${endless[@]}" --out run >said 2>&1 &
    job=$!
    begun run 4
    ip link set impv2 down
    wait "$job" || status=$?
    [ "$status" -ne 0 ]
    [ "$(grep -c "^imp-mpi: lost rank 1 on imphost2, which cannot be reached any more; the job ends$" said)" -eq 1 ]
    resumes_alike run
}
