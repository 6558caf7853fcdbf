"""A sentence network of BERT's kind (model.safetensors, config.json) as an ONNX file.

    bert_to_onnx.py MODEL-FOLDER OUT.onnx

The projects' own exporters need PyTorch; this needs numpy, onnx and safetensors. Inputs are input_ids
and attention_mask, the output is last_hidden_state, as those exporters have it.
"""
import json
import math
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

folder, out = sys.argv[1:]
config = json.load(open(folder + "/config.json"))
weights = load_file(folder + "/model.safetensors")
heads, size = config["num_attention_heads"], config["hidden_size"]
nodes, constants = [], []


def constant(value):
    name = f"c{len(constants)}"
    constants.append(numpy_helper.from_array(np.asarray(value), name))
    return name


def node(kind, *inputs, **attributes):
    name = f"n{len(nodes)}"
    nodes.append(helper.make_node(kind, inputs, [name], **attributes))
    return name


def linear(x, name):
    product = node("MatMul", x, constant(weights[name + ".weight"].T.copy()))
    return node("Add", product, constant(weights[name + ".bias"]))


def norm(x, name):
    scale, bias = constant(weights[name + ".weight"]), constant(weights[name + ".bias"])
    return node("LayerNormalization", x, scale, bias, epsilon=config["layer_norm_eps"])


def split(x):  # (n, t, size) -> (n, heads, t, size / heads)
    shape = constant(np.array([0, 0, heads, size // heads], np.int64))
    return node("Transpose", node("Reshape", x, shape), perm=[0, 2, 1, 3])


def gelu(x):
    inner = node("Erf", node("Mul", x, constant(np.float32(math.sqrt(0.5)))))
    half = node("Mul", x, constant(np.float32(0.5)))
    return node("Mul", half, node("Add", inner, constant(np.float32(1))))


words = node("Gather", constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
length = node("Gather", node("Shape", "input_ids"), constant(np.array([1], np.int64)))
zero = constant(np.array([0], np.int64))
places = node("Slice", constant(weights["embeddings.position_embeddings.weight"]), zero, length, zero)
kind = constant(weights["embeddings.token_type_embeddings.weight"][0])
x = norm(node("Add", node("Add", words, places), kind), "embeddings.LayerNorm")
mask = node("Cast", node("Unsqueeze", "attention_mask", constant(np.array([1, 2], np.int64))), to=1)
mask = node("Mul", node("Sub", mask, constant(np.float32(1))), constant(np.float32(1e9)))
for i in range(config["num_hidden_layers"]):
    at = f"encoder.layer.{i}."
    q, k, v = (split(linear(x, at + "attention.self." + part)) for part in ("query", "key", "value"))
    scores = node("MatMul", q, node("Transpose", k, perm=[0, 1, 3, 2]))
    scores = node("Mul", scores, constant(np.float32(1 / math.sqrt(size // heads))))
    shares = node("Softmax", node("Add", scores, mask), axis=-1)
    mixed = node("Transpose", node("MatMul", shares, v), perm=[0, 2, 1, 3])
    mixed = node("Reshape", mixed, constant(np.array([0, 0, size], np.int64)))
    x = norm(node("Add", x, linear(mixed, at + "attention.output.dense")), at + "attention.output.LayerNorm")
    wide = gelu(linear(x, at + "intermediate.dense"))
    x = norm(node("Add", x, linear(wide, at + "output.dense")), at + "output.LayerNorm")
nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
graph = helper.make_graph(
    nodes,
    "bert",
    [helper.make_tensor_value_info(n, TensorProto.INT64, ["n", "t"]) for n in ("input_ids", "attention_mask")],
    [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", size])],
    constants,
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), out)
