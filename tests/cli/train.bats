# `imp train`: runs, recipes, resuming, and what goes wrong. Killing is in unit/train/test_kill.c.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load preload
    cd "$BATS_TEST_TMPDIR" || return
    tiny=(--size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool --task alphabets --way 2
        --modes 3 --queries 2 --updates 12 --validate-every 6 --validation-episodes 3
        --checkpoint-every 5 --log-every 4)
}

@test "a run leaves settings, logs, a checkpoint and a model" {
    run --separate-stderr "$IMP" train --out run "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ $stderr == *"12/12  loss "*"2-way accuracy "*"clusters "*"sigma "*"validation 2-way "*"images/s"* ]]
    [[ $stderr == *"the model is run/model.safetensors"* ]]
    [ "$(ls -A run | tr '\n' ' ')" = \
        "checkpoint.previous.safetensors checkpoint.safetensors log.csv log.jsonl model.safetensors settings.json " ]
    [ "$(cut -d, -f1 run/log.csv | tr '\n' ' ')" = "update 4 6 8 12 " ]
    [ "$(wc -l <run/log.jsonl)" -eq 4 ]
    grep -q '"way": 2' run/settings.json
}

@test "progress is cut to the width of the terminal" {
    /usr/bin/python3 - "$IMP" "${tiny[@]}" <<'CHECK'
import fcntl, os, pty, re, struct, sys, termios
imp, *options = sys.argv[1:]
for columns in (40, 200):
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(imp, [imp, "train", "--out", f"run{columns}", *options])
    said = b""
    try:
        while block := os.read(terminal, 4096):
            said += block
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    drawn = [re.sub(rb"\x1b\[K", b"", part) for part in re.split(rb"[\r\n]", said)]
    drawn = [part for part in drawn if part.startswith(b"[")]
    longest = max(map(len, drawn))
    assert longest == columns - 1 if columns == 40 else 60 < longest < columns, (columns, longest)
CHECK
}

@test "--quiet says nothing" {
    run --separate-stderr "$IMP" train --quiet --out run "${tiny[@]}"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ -z "$stderr" ]
}

@test "the threads do not change a bit" {
    "$IMP" train --quiet --out one --threads 1 "${tiny[@]}"
    "$IMP" train --quiet --out three --threads 3 "${tiny[@]}"
    cmp one/model.safetensors three/model.safetensors
}

@test "augmented pictures are the same on any number of threads and after a break" {
    shaky=(--augment-shift 0.1 --augment-turn 20 --augment-stroke 0.3)
    "$IMP" train --quiet --out whole --threads 1 "${tiny[@]}" "${shaky[@]}"
    "$IMP" train --quiet --out parts --threads 3 "${tiny[@]}" "${shaky[@]}" --updates 7
    "$IMP" train --quiet --resume parts --updates 12
    cmp whole/model.safetensors parts/model.safetensors
    "$IMP" train --quiet --out plain "${tiny[@]}"
    run cmp -s whole/model.safetensors plain/model.safetensors
    [ "$status" -eq 1 ]
    run --separate-stderr "$IMP" train --out bad "${tiny[@]}" --augment-zoom 4
    [ "$status" -eq 2 ]
    [[ $stderr == *"option '--augment-zoom' needs a number from 0 to 3, not '4'"* ]]
}

@test "averaged weights are kept, to the same bits on any number of threads and after a break" {
    for validation in 0 6; do
        mean=("${tiny[@]}" --average-weights 0.9 --validate-every $validation)
        "$IMP" train --quiet --out whole$validation --threads 1 "${mean[@]}"
        "$IMP" train --quiet --out parts$validation --threads 3 "${mean[@]}" --updates 7
        "$IMP" train --quiet --resume parts$validation --updates 12
        cmp whole$validation/model.safetensors parts$validation/model.safetensors
    done
    "$IMP" train --quiet --out plain "${tiny[@]}" --validate-every 0
    run cmp -s whole0/model.safetensors plain/model.safetensors
    [ "$status" -eq 1 ]
    run --separate-stderr "$IMP" train --out bad "${tiny[@]}" --average-weights 1
    [ "$status" -eq 2 ]
    [[ $stderr == *"'--average-weights' needs a number from 0 to 0.999999, not '1'"* ]]
}

@test "weights decay, to the same bits after a break" {
    decay=("${tiny[@]}" --optimizer adam --weight-decay 0.5)
    "$IMP" train --quiet --out whole --threads 1 "${decay[@]}"
    "$IMP" train --quiet --out parts --threads 2 "${decay[@]}" --updates 7
    "$IMP" train --quiet --resume parts --updates 12
    cmp whole/model.safetensors parts/model.safetensors
    "$IMP" train --quiet --out plain "${tiny[@]}" --optimizer adam
    run cmp -s whole/model.safetensors plain/model.safetensors
    [ "$status" -eq 1 ]
    run --separate-stderr "$IMP" train --out bad "${tiny[@]}" --weight-decay -1
    [ "$status" -eq 2 ]
    [[ $stderr == *"'--weight-decay' needs a number from 0 to 1000, not '-1'"* ]]
}

@test "maml trains to the same bits on any number of threads and after a break" {
    adapt=("${tiny[@]}" --learner maml --inner-rate 0.1 --inner-steps 2 --test-steps 3)
    "$IMP" train --quiet --out whole --threads 1 "${adapt[@]}"
    "$IMP" train --quiet --out parts --threads 3 "${adapt[@]}" --updates 7
    "$IMP" train --quiet --resume parts --updates 12
    cmp whole/model.safetensors parts/model.safetensors
    "$IMP" train --quiet --out first "${adapt[@]}" --first-order
    run cmp -s whole/model.safetensors first/model.safetensors
    [ "$status" -eq 1 ]
    run --separate-stderr "$IMP" eval --model whole/model.safetensors --episodes 10
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *"batch norm with statistics of each batch" ]]
    [[ ${lines[2]} =~ ^maml\ +[0-9.]+% ]]
    "$IMP" eval --model whole/model.safetensors --episodes 10 --test-steps 0 >none
    [ "${lines[2]}" != "$(sed -n 4p none)" ]
    run --separate-stderr "$IMP" eval --model whole/model.safetensors --episodes 10 --task classes \
        --way 3
    [ "$status" -eq 1 ]
    [[ $stderr == *"the learner 'maml' tells 2 classes apart"* ]]
    run --separate-stderr "$IMP" train --out bad "${tiny[@]}" --learner maml --inner-steps 0
    [ "$status" -eq 2 ]
    [[ $stderr == *"'--inner-steps' needs"* ]]
}

@test "reptile trains to the same bits on any number of threads and after a break" {
    adapt=("${tiny[@]}" --learner reptile --optimizer sgd --rate 1 --fade-until 12 --clip 0 --accumulate 2
        --inner-rate 0.01 --inner-steps 3 --inner-batch 4 --test-steps 3)
    "$IMP" train --quiet --out whole --threads 1 "${adapt[@]}"
    "$IMP" train --quiet --out parts --threads 3 "${adapt[@]}" --updates 7
    "$IMP" train --quiet --resume parts --updates 12
    cmp whole/model.safetensors parts/model.safetensors
    run --separate-stderr "$IMP" eval --model whole/model.safetensors --episodes 10
    [ "$status" -eq 0 ]
    [[ ${lines[2]} =~ ^reptile\ +[0-9.]+% ]]
    "$IMP" eval --model whole/model.safetensors --episodes 10 --transductive
}

@test "memory trains to the same bits on any number of threads and after a break" {
    keep=(--size 16 --alphabets 10 --network conv3x3:4,relu,pool,flatten,linear:8,dropout:0.3 --task classes
        --way 3 --shot 1 --queries 3 --updates 12 --validate-every 6 --validation-episodes 3 --log-every 4
        --learner memory --memory-size 5)
    "$IMP" train --quiet --out whole --threads 1 "${keep[@]}"
    "$IMP" train --quiet --out parts --threads 3 "${keep[@]}" --updates 7
    "$IMP" train --quiet --resume parts --updates 12
    cmp whole/model.safetensors parts/model.safetensors
    run --separate-stderr "$IMP" eval --model whole/model.safetensors --episodes 10 --way 5 --shot 2
    [ "$status" -eq 0 ]
    [[ ${lines[2]} =~ ^memory\ +[0-9.]+% ]]
}

@test "a graph network trains to the same bits on any number of threads and after a break" {
    graph=(--size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool,flatten,linear:6,bn --task classes
        --way 3 --shot 1 --queries 2 --updates 12 --validate-every 6 --validation-episodes 3 --log-every 4
        --learner graph --graph-layers 1 --node-features 4 --edge-width 4 --edge-dropout 0.3 --final-norm)
    "$IMP" train --quiet --out whole --threads 1 "${graph[@]}"
    "$IMP" train --quiet --out parts --threads 3 "${graph[@]}" --updates 7
    "$IMP" train --quiet --resume parts --updates 12
    cmp whole/model.safetensors parts/model.safetensors
    run --separate-stderr "$IMP" eval --model whole/model.safetensors --episodes 10 --shot 3
    [ "$status" -eq 0 ]
    [[ ${lines[2]} =~ ^graph\ +[0-9.]+% ]]
    run --separate-stderr "$IMP" eval --model whole/model.safetensors --episodes 10 --way 4
    [ "$status" -eq 1 ]
    [[ $stderr == *"the learner 'graph' tells 3 classes apart"* ]]
}

@test "a finished run can be extended, and is then the longer run" {
    "$IMP" train --quiet --out long "${tiny[@]}" --updates 18
    "$IMP" train --quiet --out short "${tiny[@]}"
    "$IMP" train --quiet --resume short --updates 18
    cmp long/model.safetensors short/model.safetensors
    grep -q '"updates": 18' short/settings.json
    "$IMP" train --quiet --resume short
    cmp long/model.safetensors short/model.safetensors
}

@test "a run keeps its validation, and only grows" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    before=$(cat run/* | sha256sum)
    for option in "validate-every 12" "validation-episodes 4" "validation-way 3"; do
        # shellcheck disable=SC2086 # an option and its value
        run --separate-stderr "$IMP" train --resume run --updates 18 --$option
        [ "$status" -eq 1 ]
        [ "$stderr" = "imp train: '${option% *}' cannot be changed in the middle of a run" ]
    done
    run --separate-stderr "$IMP" train --resume run --updates 9
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: the run has made 12 updates and cannot end at 9; 'updates' can only \
be raised" ]
    [ "$(cat run/* | sha256sum)" = "$before" ]
    "$IMP" train --quiet --resume run --updates 18 --validate-every 6 --log-every 2 \
        --checkpoint-every 3 --loss-limit 1e5
    [ "$(tail -n 2 run/log.csv | cut -d, -f1 | tr '\n' ' ')" = "16 18 " ]
}

@test "validation that cannot be is refused before anything is written" {
    run --separate-stderr "$IMP" train --out run "${tiny[@]}" --way 6
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: validation episodes cannot be drawn (--validation-way "* ]]
    [ ! -e run ]
}

@test "a run with dropout and a residual is continued to the same bits" {
    tiny+=(--network 'conv3x3:4,bn,leaky:0.1,residual(conv3x3:4,bn),dropout:0.4,pool'
        --seed 5 --accumulate 2)
    "$IMP" train --quiet --out long "${tiny[@]}" --updates 18
    "$IMP" train --quiet --out short "${tiny[@]}" --threads 1
    "$IMP" train --quiet --resume short --updates 18
    cmp long/model.safetensors short/model.safetensors
    "$IMP" eval --json --episodes 3 --batch-norm episode --model long/model.safetensors >one
    "$IMP" eval --json --episodes 3 --batch-norm episode --model long/model.safetensors \
        --threads 1 >two
    diff <(grep -v -e seconds -e command -e threads one) <(grep -v -e seconds -e command -e threads two)
}

@test "a folder that holds a run is not overwritten" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    before=$(cat run/* | sha256sum)
    run --separate-stderr "$IMP" train --out run "${tiny[@]}"
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'run' already holds a run; resume it, or choose another folder" ]
    [ "$(cat run/* | sha256sum)" = "$before" ]
}

@test "what decides the result cannot be changed in the middle of a run" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    run --separate-stderr "$IMP" train --resume run --way 3
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'way' cannot be changed in the middle of a run" ]
    run --separate-stderr "$IMP" train --resume nowhere
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: there is no run in 'nowhere'"* ]]
    run --separate-stderr "$IMP" train --resume run --out other
    [ "$status" -eq 2 ]
}

@test "a folder that cannot be written is a sentence" {
    touch file
    run --separate-stderr "$IMP" train --out file/run "${tiny[@]}"
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: cannot make the folder 'file/run': Not a directory" ]
    mkdir locked
    chmod a-w locked
    # Root is above permissions, unless it does without that.
    obey=()
    [ ! -w locked ] || obey=(setpriv --bounding-set=-dac_override)
    run --separate-stderr "${obey[@]}" "$IMP" train --out locked "${tiny[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: cannot write 'locked/settings.json': "* ]]
}

@test "a full disk leaves the last checkpoint intact" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    before=$(sha256sum <run/checkpoint.safetensors)
    # A limit on the size of files stands for the disk: writing fails in the middle.
    run --separate-stderr bash -c \
        'trap "" XFSZ; ulimit -f 2; exec "$IMP" train --quiet --resume run --updates 30'
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: cannot write 'run/checkpoint.safetensors': "* ]]
    [ "$(sha256sum <run/checkpoint.safetensors)" = "$before" ]
    "$IMP" train --quiet --resume run --updates 30
}

@test "where files may not be larger, no signal ends the run and nothing half written is left" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    before=$(ls -A run)
    run --separate-stderr bash -c 'ulimit -f 2; exec "$IMP" train --quiet --resume run --updates 30'
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: cannot write 'run/checkpoint.safetensors': File too large" ]]
    [ "$(ls -A run)" = "$before" ]
}

@test "of two runs that begin in one folder at once, the second is refused" {
    "$IMP" train --quiet --out alone "${tiny[@]}" --seed 2
    signalled_at STOP run "$IMP" train --quiet --out run "${tiny[@]}" --seed 1 2>said &
    slow=$!
    until [ -d run ] && grep -q '^State:.T' /proc/$slow/status; do sleep 0.02; done
    "$IMP" train --quiet --out run "${tiny[@]}" --seed 2
    kill -CONT $slow
    status=0
    wait $slow || status=$?
    [ "$status" -eq 1 ]
    [ "$(cat said)" = "imp train: 'run' already holds a run; resume it, or choose another folder" ]
    cmp run/settings.json alone/settings.json
    cmp run/model.safetensors alone/model.safetensors
    cmp <(cut -d, -f1-9 run/log.csv) <(cut -d, -f1-9 alone/log.csv)
}

@test "another instruction set is told of when a run is resumed" {
    grep -qw avx2 /proc/cpuinfo || skip "there is only one"
    IMP_ISA=portable "$IMP" train --quiet --out run "${tiny[@]}" --updates 5
    IMP_ISA=portable run --separate-stderr "$IMP" train --quiet --resume run --updates 8
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    IMP_ISA=avx2 run --separate-stderr "$IMP" train --quiet --resume run --updates 12
    [ "$status" -eq 0 ]
    [ "$stderr" = "imp train: the run was computed with portable and continues with avx2, so its \
result will have different bits; IMP_ISA=portable continues as it began" ]
}

@test "a damaged checkpoint is passed over for the one before, to the same bits" {
    "$IMP" train --quiet --out whole "${tiny[@]}" --updates 20
    "$IMP" train --quiet --out run "${tiny[@]}" --updates 14
    /usr/bin/python3 - run/checkpoint.safetensors <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(-300, 2)
    byte = file.read(1)[0]
    file.seek(-300, 2)
    file.write(bytes([byte ^ 1]))
END
    run --separate-stderr "$IMP" train --quiet --resume run --updates 20
    [ "$status" -eq 0 ]
    [[ $stderr == "imp train: run/checkpoint.safetensors: it is damaged: "*"; the run continues from \
the previous checkpoint, of update "1[02]", 'run/checkpoint.previous.safetensors'" ]]
    cmp run/model.safetensors whole/model.safetensors
}

@test "a run without a whole checkpoint is refused with a sentence, and stays as it is" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    truncate -s -100 run/checkpoint.safetensors
    truncate -s -100 run/checkpoint.previous.safetensors
    before=$(cat run/* | sha256sum)
    run --separate-stderr "$IMP" train --resume run
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: run/checkpoint.safetensors: "* ]]
    [ "$(cat run/* | sha256sum)" = "$before" ]
}

@test "a loss that explodes ends the run at its update and names the last checkpoint" {
    run --separate-stderr "$IMP" train --quiet --out run "${tiny[@]}" --rate 1e20
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: update 2: "*"; the last intact checkpoint, of update 0, is 'run/checkpoint.safetensors'" ]]
    run --separate-stderr "$IMP" train --quiet --out limited "${tiny[@]}" --loss-limit 0.0001
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: update 1: the loss is "*", above its limit of 0.0001;"* ]]
}

@test "a method without a gradient is refused before anything is written" {
    run --separate-stderr "$IMP" train --out run "${tiny[@]}" --method gibbs
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'gibbs' has no gradient: it classifies and cannot be trained; choose another method" ]
    [ ! -e run ]
}

@test "a threshold below 0 is refused, and auto is offered" {
    run --separate-stderr "$IMP" train --quiet --out run "${tiny[@]}" --lambda -0.5
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp train: option '--lambda' needs a number of at least 0, or auto, not '-0.5'" ]
    [ ! -e run ]
}

@test "the data may move, but other data is refused" {
    "$IMP" train --quiet --out run "${tiny[@]}"
    "$IMP" data pack glyphs same.pack --size 16 --alphabets 10
    "$IMP" data pack glyphs other.pack --size 16 --alphabets 11
    "$IMP" train --quiet --resume run --data same.pack --updates 14
    run --separate-stderr "$IMP" train --resume run --data other.pack
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: this is not the training data: its fingerprint is "* ]]
    "$IMP" data pack glyphs split.pack --size 16 --alphabets 10 --split super-classes:0.2/0.4/0.4
    run --separate-stderr "$IMP" train --resume run --data split.pack --updates 16
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: the classes are not split as in training, "* ]]
}

@test "a recipe sets what it says, and the command line goes before it" {
    cat >mine.recipe <<'END'
# Mine.
size = 16
alphabets = 10   # few
network = conv3x3:4,bn,relu,pool
task = alphabets
way = 2
modes = 3
updates = 3
validate-every = 0
END
    "$IMP" train --quiet --recipe ./mine.recipe --modes 2 --out run
    grep -q '"modes": 2' run/settings.json
    grep -q '"updates": 3' run/settings.json
    echo 'way = many' >>mine.recipe
    run --separate-stderr "$IMP" train --recipe ./mine.recipe --out other
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: ./mine.recipe, line 10: 'way' needs an integer from 0 to 1e+06, not 'many'" ]
    run --separate-stderr "$IMP" train --recipe omniglot --out other
    [ "$status" -eq 1 ]
    [[ $stderr == "imp train: there is no recipe 'omniglot'; 'imp train --list-recipes' lists "* ]]
}

@test "--list-recipes lists what is built in" {
    run --separate-stderr "$IMP" train --list-recipes
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq "$(ls "$BATS_TEST_DIRNAME"/../../recipes/*.recipe | wc -l)" ]
    [[ $output == *"omniglot-alphabets"* ]]
}

@test "episodes that cannot be drawn are refused before anything is written" {
    run --separate-stderr "$IMP" train --out run "${tiny[@]}" --way 9
    [ "$status" -eq 1 ]
    [ ! -e run ]
    run --separate-stderr "$IMP" train "${tiny[@]}"
    [ "$status" -eq 2 ]
    [[ $stderr == "imp train: give --out FOLDER"* ]]
}

@test "data whose name is not UTF-8 is refused, as settings could not keep it" {
    folder=$'caf\xe9'
    "$IMP" data export glyphs "$folder" --alphabets 5 --fewest-characters 4 --most-characters 4
    run --separate-stderr "$IMP" train --quiet --data "$folder" --updates 1 --out run
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp train: 'data' is '$folder', which is not UTF-8 and cannot be recorded with a \
run; rename it, or make a symbolic link to it" ]
    [ ! -e run ]
    ln -s "$folder" link
    "$IMP" train --quiet --data link --network conv3x3:4,bn,relu,pool --updates 1 --out run
    run --separate-stderr "$IMP" train --quiet --resume run --data "$folder" --updates 2
    [ "$status" -eq 1 ]
    [[ $stderr == *"which is not UTF-8"* ]]
}

@test "the folder of a stopped run can be pasted" {
    folder="it's my run"
    "$IMP" train --out "$folder" "${tiny[@]}" --updates 100000 --validate-every 0 2>err &
    until [ -s "$folder/log.csv" ]; do kill -0 $!; sleep 0.02; done
    kill -INT $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 130 ]
    line=$(tail -n 1 err)
    eval "words=(${line#*continue with: })"
    # shellcheck disable=SC2154 # made by eval
    [ "${words[*]:0:3}" = "imp train --resume" ]
    [ "${words[3]}" = "$folder" ]
    [ ${#words[@]} -eq 4 ]
}

@test "a name cannot tell the terminal what to do" {
    folder=$'red\e[31m'
    "$IMP" data export glyphs "$folder" --alphabets 5 --fewest-characters 4 --most-characters 4
    mkdir "$folder/"$'no\npictures'
    "$IMP" train --data "$folder" --network conv3x3:4,bn,relu,pool --updates 1 --out run 2>err
    grep -qF "  left out  1 sub-folder has no pictures: 'no?pictures'" err
    "$IMP" model info run/model.safetensors >out
    "$IMP" eval --model run/model.safetensors --episodes 2 --way 2 >>out
    "$IMP" eval --model run/model.safetensors --episodes 2 --unsupervised --way 2 --lambda 3 >>out
    [ "$(grep -cF 'red?[31m' out)" -eq 3 ]
    ! grep -q $'\e' out
}

@test "one update is told as one" {
    run --separate-stderr "$IMP" train --out one "${tiny[@]}" --updates 1
    [ "$status" -eq 0 ]
    [[ $stderr == *"1 update in 0:"* ]]
}
