# imp forget, imp merge and imp name: mixtures that are made of mixtures.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup() {
    load vectors
    cd "$BATS_TEST_TMPDIR"
    /usr/bin/python3 -c 'import numpy as np
r = np.random.RandomState(0)
at = {"cat": (0, 0), "dog": (9, 0), "emu": (0, 9), "yak": (-30, -30)}
def put(name, kinds, n):
    np.save(name + ".npy", np.concatenate([r.randn(n, 2) + at[k] for k in kinds]).astype("float32"))
    open(name + ".txt", "w").write("".join((k + "\n") * n for k in kinds))
put("ab", ["cat", "dog"], 20)
put("bc", ["dog", "emu"], 20)
put("new", ["yak"], 20)
np.save("q.npy", np.array([at[k] for k in sorted(at)], "float32"))'
    "$IMP" fit --support ab.npy --labels ab.txt -o m.safetensors >/dev/null 2>&1
}

@test "merge: classes of the same name are one, others are added" {
    "$IMP" fit --support bc.npy --labels bc.txt -o other.safetensors 2>/dev/null
    cp m.safetensors before.safetensors
    run --separate-stderr "$IMP" merge m.safetensors other.safetensors -o both.safetensors
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *" of 3 classes in 2 dimensions" ]]
    cmp m.safetensors before.safetensors
    run "$IMP" predict both.safetensors q.npy --json
    [ "$(value 'o["predictions"][:3]')" = "['cat', 'dog', 'emu']" ]

    "$IMP" fit --preset paper --support bc.npy --labels bc.txt -o paper.safetensors
    run --separate-stderr "$IMP" merge m.safetensors paper.safetensors
    [ "$status" -eq 1 ]
    [[ $stderr == "imp merge: the options of one mixture were chosen from the data"* ]]
    cmp m.safetensors before.safetensors
}

@test "forget: a class by its name, also one whose number others have then" {
    "$IMP" add m.safetensors --support bc.npy --labels bc.txt >/dev/null
    run --separate-stderr "$IMP" forget m.safetensors --class cat -o fewer.safetensors
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *" of 2 classes in 2 dimensions" ]]
    run "$IMP" predict fewer.safetensors q.npy --json
    [ "$(value 'o["predictions"][1:3]')" = "['dog', 'emu']" ]

    run --separate-stderr "$IMP" forget m.safetensors --class cow
    [ "$status" -eq 1 ]
    [ "$stderr" = "imp forget: no class of the mixture is called 'cow'" ]
    run --separate-stderr "$IMP" forget m.safetensors
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" forget m.safetensors --cluster -1
    [ "$status" -eq 2 ]
    run --separate-stderr "$IMP" forget m.safetensors --cluster 4711
    [ "$status" -eq 1 ]
    [[ $stderr == "imp forget: there is no cluster 4711; clusters are 0 to "* ]]
}

@test "forget: all but the newest points" {
    run --separate-stderr "$IMP" forget m.safetensors --keep-newest 25 -o newer.safetensors
    [ "$status" -eq 0 ]
    run --separate-stderr "$IMP" forget m.safetensors --keep-newest 10
    [ "$status" -eq 1 ]
    [[ $stderr == "imp forget: class 0 has no point among the newest 10,"* ]]
}

@test "name: what a stream started is a class, and stays one when more comes" {
    "$IMP" add m.safetensors --unlabeled new.npy --json >grown.json
    cluster=$(/usr/bin/python3 -c 'import json
c = json.load(open("grown.json"))["clusters"]
print(max((k["weight"], i) for i, k in enumerate(c) if k["label"] < 0)[1])')
    run --separate-stderr "$IMP" name m.safetensors --cluster "$cluster" --class yak
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *" of 3 classes in 2 dimensions" ]]
    "$IMP" add m.safetensors --support bc.npy --labels bc.txt >/dev/null
    run "$IMP" predict m.safetensors q.npy --json
    [ "$(value 'o["predictions"]')" = "['cat', 'dog', 'emu', 'yak']" ]

    run --separate-stderr "$IMP" name m.safetensors --cluster 0 --class yak
    [ "$status" -eq 1 ]
    [[ $stderr == *"only clusters without a label can be named" ]]
    run --separate-stderr "$IMP" name m.safetensors --class yak
    [ "$status" -eq 2 ]
    [ "$stderr" = "imp name: needs --cluster N and --class NAME" ]
}
