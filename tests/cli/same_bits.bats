#!/usr/bin/env bats
# Training, evaluation and DP-means give the bits they always gave. The lines below were made by the
# version before the engine, the learners and the layers' graph; a change of one is a change of
# everybody's results. Kernels for one instruction set differ from those for another, so the portable
# ones are asked; so do compilers, and these are GCC's, at -O3: the stage of the sanitizers, which is
# Clang's, leaves this out.

@test "training, evaluation and DP-means give the bits of the version before the redesign" {
    [ "$(uname -m)" = x86_64 ] || skip "other processors fuse other multiplications"
    export IMP_ISA=portable
    cd "$BATS_TEST_TMPDIR"
    for method in imp prototypes; do
        "$IMP" train --data glyphs --way 5 --shot 2 --queries 3 --method "$method" --updates 2 \
            --validate-every 2 --validation-episodes 2 --accumulate 2 --out "$method" 2>log
        "$IMP" eval --model "$method/model.safetensors" --episodes 3 --json >"eval-$method.json"
    done
    /usr/bin/python3 - <<'END'
import numpy
n, d = 600, 9
whole = (numpy.arange(n * d, dtype=numpy.uint64) * 2654435761 + 12345) % 1000003
x = whole.reshape(n, d) / 1000003 * 3 + (numpy.arange(n) % 7)[:, None] * 1.5
numpy.save("x.npy", x.astype(numpy.float32))
END
    "$IMP" cluster x.npy --method dp-means --lambda 9 --json >clusters-given.json
    "$IMP" cluster x.npy --method dp-means --lambda 30 --order random --seed 3 --json \
        >clusters-random.json

    run /usr/bin/python3 "$BATS_TEST_DIRNAME/digest.py" .
    [ "$status" -eq 0 ]
    diff - <(printf '%s\n' "$output") <<'END'
training imp 2695ff45f7b29d33
training prototypes 724ec00e35548006
evaluation imp f12b6a58f8fcab96
evaluation prototypes 6c4eff534d94aaf2
clustering given 33b7c6d208e9feaa
clustering random f592ebdbbd65c202
END
}
