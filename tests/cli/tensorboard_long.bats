# What `imp train --tensorboard` writes, read by TensorBoard itself, from PyPI.

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    python3 -m venv venv
    venv/bin/pip install --quiet tensorboard 'setuptools<81' || skip "PyPI cannot be reached"
}

@test "TensorBoard reads the numbers of the log, also of a resumed run" {
    tiny=(--size 16 --alphabets 10 --network conv3x3:4,bn,relu,pool --task super-classes --way 2
        --modes 3 --queries 2 --updates 12 --validate-every 4 --validation-episodes 3 --log-every 2)
    "$IMP" train --quiet --out run "${tiny[@]}" --tensorboard
    "$IMP" train --quiet --resume run --updates 16 --tensorboard
    venv/bin/python - <<'CHECK'
import csv, math
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
board = EventAccumulator("run")
board.Reload()
rows = list(csv.DictReader(open("run/log.csv")))
tags = {"loss": "loss", "accuracy/training": "accuracy", "accuracy/validation": "validation",
        "clusters": "clusters", "sigma/labelled": "sigma_l"}
assert set(tags) <= set(board.Tags()["scalars"]), board.Tags()
for tag, column in tags.items():
    wanted = [(int(r["update"]), float(r[column])) for r in rows if r[column]]
    found = [(e.step, e.value) for e in board.Scalars(tag)]
    assert [s for s, _ in wanted] == [s for s, _ in found], (tag, wanted, found)
    assert all(math.isclose(a, b, rel_tol=1e-6) for (_, a), (_, b) in zip(wanted, found)), tag
CHECK
}
