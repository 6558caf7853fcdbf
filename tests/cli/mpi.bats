# imp-mpi: three ranks give the bits of plain imp, and one that fails ends them all.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    load mpi
    mpi_setup
}

@test "mpi: three ranks train to the bits of one process, and take runs over from each other" {
    "$IMP" train "${tiny[@]}" --out alone
    ranks 3 train "${tiny[@]}" --out three
    cmp alone/model.safetensors three/model.safetensors
    diff <(cut -d, -f1-9 alone/log.csv) <(cut -d, -f1-9 three/log.csv)
    ranks 3 train "${tiny[@]}" --out parts --updates 3
    "$IMP" train --resume parts --updates 4 --quiet
    ranks 3 train --resume parts --updates 6 --quiet
    cmp alone/model.safetensors parts/model.safetensors
}

@test "mpi: three ranks agree on the updates that fit into a time" {
    timed=("${tiny[@]/--updates/--seed}")
    run --separate-stderr ranks 3 train "${timed[@]/--quiet/--tensorboard}" --minutes 0.05 --out run
    [ "$status" -eq 0 ]
    [ "$(grep -c "updates fit into 0.05 minutes" <<<"$stderr")" -eq 1 ]
    updates=$(/usr/bin/python3 -c 'import json; print(json.load(open("run/settings.json"))["updates"])')
    [ "$updates" -ge 10 ]
    "$IMP" model info run/model.safetensors >/dev/null
    # what is left goes on with one process, by the same settings
    "$IMP" train --resume run --quiet
}

@test "mpi: three ranks evaluate, cluster and predict alike" {
    "$IMP" train "${tiny[@]}" --out alone --updates 1
    for words in "" "--unsupervised --lambda 20"; do
        # shellcheck disable=SC2086 # words are options
        "$IMP" eval --model alone/model.safetensors --episodes 7 --quiet $words >one
        # shellcheck disable=SC2086
        ranks 3 eval --model alone/model.safetensors --episodes 7 --quiet $words >three
        diff one three
    done
    blobs
    for words in "dp-means" "dp-means --order random" "imp --sigma 1 --steps 2"; do
        # shellcheck disable=SC2086
        "$IMP" cluster x.npy --lambda 100 --method $words --json >one
        # shellcheck disable=SC2086
        ranks 3 cluster parts --lambda 100 --method $words --json --memory 0 >three
        cmp one three
    done
    npy y.npy 'np.arange(60) % 30'
    npy s.npy 'np.load("x.npy")[:60]'
    "$IMP" fit --support s.npy --labels y.npy -o m.safetensors >/dev/null
    for json in "" --json; do
        # shellcheck disable=SC2086
        "$IMP" predict m.safetensors x.npy --open-set -o one.npy $json >one
        # shellcheck disable=SC2086
        ranks 3 predict m.safetensors parts --open-set -o three.npy $json >three
        cmp one three
        cmp one.npy three.npy
    done
}

@test "mpi: two ranks share the runs of a table, to the results of one process" {
    small=(tied --data glyphs --updates 2 --episodes 5 --seeds 1)
    "$IMP" paper "${small[@]}" --runs runs1 --out out1 --quiet
    ranks 2 paper "${small[@]}" --runs runs2 --out out2 --quiet
    for run in ablation-imp-seed1 ablation-imp-tied-seed1; do
        cmp "runs1/$run/model.safetensors" "runs2/$run/model.safetensors"
        # All but how long it took.
        diff <(grep -vE '"(seconds|images_per_second)":' "out1/omniglot/$run.json") \
            <(grep -vE '"(seconds|images_per_second)":' "out2/omniglot/$run.json")
    done
    cmp out1/omniglot/README.md out2/omniglot/README.md
    # What is done is done for any number of ranks.
    before=$(stat -c %i out1/omniglot/*.json)
    ranks 2 paper "${small[@]}" --runs runs1 --out out1 --quiet
    [ "$(stat -c %i out1/omniglot/*.json)" = "$before" ]
}

@test "mpi: three ranks embed pictures alike, broken ones too" {
    "$IMP" data export glyphs drawings --alphabets 2 --fewest-characters 2 --most-characters 2 >/dev/null
    broken=$(find drawings -name '*.png' | sort | tail -n 1)
    head -c 100 "$broken" >cut && mv cut "$broken"
    "$IMP" embed drawings --skip-broken -o one.npy
    ranks 3 embed drawings --skip-broken -o three.npy
    cmp one.npy three.npy
    cmp one.txt three.txt
    run --separate-stderr ranks 3 embed drawings -o none.npy
    [ "$status" -eq 1 ]
    [ "$(grep -c "imp embed: $broken: " <<<"$stderr")" -eq 1 ]
    [ ! -e none.npy ]
}

@test "mpi: ranks without standard streams write nothing into files that is not theirs" {
    ranks 2 train "${tiny[@]}" --out open
    mpirun --oversubscribe -np 2 sh -c 'exec "$@" <&- >&- 2>&-' - "$IMP_MPI" train "${tiny[@]}" \
        --out closed
    cmp open/model.safetensors closed/model.safetensors
    [ "$(wc -l <closed/log.jsonl)" -eq "$(wc -l <open/log.jsonl)" ]
    [ "$(wc -l <closed/log.csv)" -eq "$(wc -l <open/log.csv)" ]
}

@test "mpi: an error of all ranks is told once, one of a single rank with its name" {
    run --separate-stderr ranks 3 train --out here --updates none
    [ "$status" -eq 2 ]
    [ "$(grep -c "imp train: option '--updates'" <<<"$stderr")" -eq 1 ]
    run --separate-stderr ranks 3 demo
    [ "$status" -eq 2 ]
    [[ $stderr == *"imp: 'demo' cannot run on several processes; imp-mpi has train, "* ]]
    # Only one rank cannot read its part.
    blobs
    run --separate-stderr unlike cluster x.npy --lambda 100 -o out.npy
    [ "$status" -ne 0 ]
    [[ $stderr == *"imp cluster: cannot read 'x.npy': No such file or directory (rank 1 on "* ]]
    [ ! -e out.npy ]
    mv x.npy elsewhere
    run --separate-stderr unlike cluster x.npy --lambda 100 -o out.npy
    [ "$status" -ne 0 ]
    [ "$(grep -c "imp cluster: cannot read 'x.npy'" <<<"$stderr")" -ge 1 ]
    # Rank 0 speaks for both ranks that failed, unless it comes seconds after rank 2.
    ended="imp-mpi: rank 0 on $(hostname) failed while others went on, and ends the job"
    [[ $stderr == *"$ended"* || $stderr == *"(rank 2 on $(hostname))"* ]]
}

@test "mpi: ranks that would give other bits are refused" {
    cat >unlike <<'SCRIPT'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export IMP_ISA=portable
exec "$IMP_MPI" "$@"
SCRIPT
    chmod +x unlike
    "$IMP" train "${tiny[@]}" --out alone --updates 1
    run --separate-stderr mpirun --oversubscribe -np 3 ./unlike eval --model alone/model.safetensors
    if [ "$status" -eq 0 ]; then
        skip "this machine has but one instruction set"
    fi
    [[ $stderr == *"imp: rank 1 on "*" uses portable but rank 0 on "* ]]
}

@test "mpi: a rank with another file or another command line is refused" {
    blobs
    mkdir elsewhere
    npy elsewhere/x.npy 'np.load("x.npy")[:, :19]' # ranks would wait for each other for ever
    refused "'x.npy'" cluster x.npy --lambda 100 --method dp-means -o out.npy
    run --separate-stderr mpirun --oversubscribe -np 1 "$IMP_MPI" cluster x.npy --lambda 100 : \
        -np 1 "$IMP_MPI" cluster x.npy --lambda 101
    [ "$status" -eq 1 ]
    [[ $stderr == *"imp: rank 1 on "*" was given other words than rank 0 on "* ]]
}
