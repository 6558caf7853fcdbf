# The exported embedding, run by ONNX Runtime (npm package onnxruntime-node): the same numbers as
# ours within 1e-4.

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    command -v npm >/dev/null || skip "there is no npm"
    [ -d node_modules/onnxruntime-node ] ||
        timeout 600 npm install --silent --no-audit --no-fund --ignore-scripts onnxruntime-node \
            >npm.log 2>&1 || skip "onnxruntime-node cannot be had"
}

# Embeds test images by both and prints the largest difference, relative to values above 1.
compare() { # MODEL
    "$IMP" model export "$1" --onnx embedding.onnx
    "$(dirname "$IMP")/../tests/bin/embed_roundtrip" "$1" images.npy embeddings.npy
    node - <<'END'
const fs = require("fs"), ort = require("onnxruntime-node");
function load(path) { // little-endian float32 .npy, version 1
    const bytes = fs.readFileSync(path), header = bytes.readUInt16LE(8);
    const text = bytes.toString("latin1", 10, 10 + header);
    const shape = text.match(/\(([^)]*)\)/)[1].split(",").filter(s => s.trim()).map(Number);
    const data = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 10 + header));
    return { shape, data };
}
(async () => {
    const images = load("images.npy"), expected = load("embeddings.npy");
    const session = await ort.InferenceSession.create("embedding.onnx");
    const feeds = { images: new ort.Tensor("float32", images.data, images.shape) };
    const found = (await session.run(feeds)).embeddings;
    if (String(found.dims) != String(expected.shape))
        throw new Error(`shape ${found.dims}, expected ${expected.shape}`);
    let worst = 0;
    for (let i = 0; i < found.data.length; i++)
        worst = Math.max(worst, Math.abs(found.data[i] - expected.data[i]) /
            Math.max(1, Math.abs(expected.data[i])));
    console.log(`largest difference ${worst}`);
    process.exit(worst <= 1e-4 ? 0 : 1);
})().catch(error => { console.error(error.message); process.exit(1); });
END
}

@test "conv4 gives the same embeddings in ONNX Runtime" {
    "$IMP" train --quiet --out conv4 --alphabets 10 --way 3 --updates 20 --validate-every 0
    compare conv4/model.safetensors
}

@test "a network of other layers does, too" {
    "$IMP" train --quiet --out other --alphabets 10 --way 3 --updates 20 --validate-every 0 \
        --network conv3x3:6,relu,bn,pool,conv3x3:8,bn,relu,flatten,linear:10
    compare other/model.safetensors
}

@test "graphs do, too" {
    "$IMP" train --quiet --out graph --alphabets 10 --way 3 --updates 20 --validate-every 0 --network \
        'conv3x3:8/2:nobias,bn,leaky:0.2,residual(conv5x5:8,bn,relu|dropout:0.3),avgpool,gap,linear:5,bn'
    compare graph/model.safetensors
    "$IMP" train --quiet --out resnet --alphabets 10 --way 3 --updates 5 --validate-every 0 \
        --network resnet12:8
    compare resnet/model.safetensors
}
