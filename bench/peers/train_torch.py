#!/usr/bin/python3
"""Train infinite mixture prototypes with PyTorch, for bench/time_to_accuracy.py.

usage: train_torch.py --pack FILE --episodes FILE --initial MODEL --run FOLDER --updates N --threads N

Trains Conv4 on supervised episodes, one update each, until N updates are made: from MODEL, or from
where FOLDER/checkpoint.pt left off. Writes the checkpoint, and FOLDER/model.safetensors for `imp eval`.
Pictures and episodes are imp's own (`imp data pack`, `imp episode draw --save`), as are the first weights.
The answer is one line of JSON; the seconds in it are those of the updates alone.

PyTorch runs at its best here: channels_last, a malloc that keeps its memory, denormal numbers flushed to
zero, all pictures in memory, and a first step that is not timed.
"""

import argparse
import copy
import json
import math
import os
import struct
import sys
import time

from torch_network import FILTERS, LAYERS, restart_tuned

ALPHA, LEAST_WEIGHT = 0.1, 1e-3
RATE, DECAY, EPSILON, CLIP = 1e-3, 0.9, 1e-10, 1000
PREFIX = "method."
PACK_HEADER = struct.Struct("<8s6I16x16s32s3Q")  # src/data/pack.h
PACK_BLOCK, PACK_CLASS = 1 << 20, 20


# ---- what imp wrote ----

def read_pack(path):
    """All pictures upright and in quarter turns, (4, pictures, 1, size, size) bytes, and their names."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    (_, version, size, channels, classes, super_classes, pictures,
     _, _, text_size, _, _) = PACK_HEADER.unpack_from(data)
    if version != 1:
        sys.exit(f"train_torch.py: packs of version {version} are unknown here")
    pixels = pictures * channels * size * size
    blocks = -(-pixels // PACK_BLOCK)
    names_at = PACK_HEADER.size + 8 * blocks + PACK_CLASS * classes + 4 * super_classes
    text = data[names_at + 4 * pictures:names_at + 4 * pictures + text_size]
    names = [text[begin:text.index(0, begin)].decode()
             for begin in struct.unpack_from(f"<{pictures}I", data, names_at)]
    upright = torch.frombuffer(data, dtype=torch.uint8, offset=len(data) - pixels)
    upright = upright.reshape(pictures, channels, size, size)
    return torch.stack([torch.rot90(upright, turn, (2, 3)) for turn in range(4)]), names


class Episode:
    """Numbers of the pictures, supports before queries, and the labels of both."""

    def __init__(self, line, number_of):
        parts = json.loads(line)
        self.index, self.way = parts["index"], parts["way"]
        names = parts["supports"]["images"] + parts["queries"]["images"]
        self.images = torch.tensor([number_of[name] for name in names])
        self.support_label = torch.tensor(parts["supports"]["labels"])
        self.query_label = torch.tensor(parts["queries"]["labels"])


def read_episodes(path, names):
    number_of = {name + turned: turn * len(names) + i
                 for turn, turned in enumerate(("", "@90", "@180", "@270"))
                 for i, name in enumerate(names)}
    with open(path) as f:
        next(f)  # about the data
        return [Episode(line, number_of) for line in f]


class ModelFile:
    """A model of imp's, whose tensors can be read and replaced."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = bytearray(f.read())
        self.body = 8 + struct.unpack_from("<Q", self.data)[0]
        self.tensors = json.loads(self.data[8:self.body])
        del self.tensors["__metadata__"]

    def place(self, name):
        return slice(*(self.body + offset for offset in self.tensors[name]["data_offsets"]))

    def read(self, name):
        values = torch.frombuffer(self.data[self.place(name)], dtype=torch.float32)
        return values.reshape(self.tensors[name]["shape"])

    def replace(self, name, tensor):
        values = tensor.detach().contiguous().flatten().tolist()
        self.data[self.place(name)] = struct.pack(f"<{len(values)}f", *values)

    def write(self, path):
        with open(path + ".part", "wb") as f:
            f.write(self.data)
        os.replace(path + ".part", path)


# ---- network and method ----

def conv4():
    """The network, its tensors called as in imp's files. No biases, because a batch norm follows."""

    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.conv = nn.Conv2d(channels, FILTERS, 3, padding=1, bias=False)
            self.bn = nn.BatchNorm2d(FILTERS)

        def forward(self, x):  # ReLU behind the pooling gives the same in a quarter of the work
            return functional.relu_(functional.max_pool2d(self.bn(self.conv(x)), 2))

    network = nn.Module()
    network.blocks = nn.Sequential(*[Block(FILTERS if i else 1) for i in range(LAYERS)])
    network.log_sigma_l = nn.Parameter(torch.zeros(()))
    return network.to(memory_format=torch.channels_last)


def name_in_file(name):
    return name if name.startswith("blocks.") else PREFIX + name


def exchanged(network):
    """The tensors that a model file holds; the count of batches is PyTorch's own."""
    return {name: tensor for name, tensor in network.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def squared_distances(a, b):
    return a.square().sum(1, keepdim=True) + b.square().sum(1) - 2 * a @ b.T


def soft_assignments(support, label, way, sigma):
    """Each support's share in each cluster of Algorithm 1, and the clusters' labels."""
    mean = torch.stack([support[label == c].mean(0) for c in range(way)])
    rho = mean.var(0).mean().item() if way > 1 else 0.0
    threshold = sigma * (-2 * math.log(ALPHA) + support.shape[1] * math.log(1 + rho / sigma))
    to_mean = (support - mean[label]).square().sum(1).tolist()
    to_support = squared_distances(support, support).tolist()
    labels, made = label.tolist(), []
    for i, own in enumerate(labels):
        nearest = min([to_mean[i]] + [to_support[i][j] for j in made if labels[j] == own])
        if nearest > threshold:
            made.append(i)
    center = torch.cat((mean, support[made]))
    center_label = torch.cat((torch.arange(way), label[made]))
    logit = squared_distances(support, center) / (-2 * sigma)
    z = logit.masked_fill(label[:, None] != center_label, -math.inf).softmax(1)
    kept = z.sum(0) > LEAST_WEIGHT
    return z[:, kept], center_label[kept]


def loss_of(embedding, episode, log_sigma):
    """Cross-entropy of the queries over, for each class, its best cluster."""
    support, query = embedding.split((len(episode.support_label), len(episode.query_label)))
    with torch.no_grad():  # decisions and assignments are constants of the gradient
        z, label = soft_assignments(support, episode.support_label, episode.way,
                                    log_sigma.exp().item())
    mean = z.T @ support / z.sum(0)[:, None]
    # The density's constant is the same for all clusters and leaves the softmax.
    logit = squared_distances(query, mean) / (-2 * log_sigma.exp())
    of_class = label == torch.arange(episode.way)[:, None]
    best = logit[:, None].masked_fill(~of_class, -math.inf).amax(2)
    return functional.cross_entropy(best, episode.query_label)


def update(network, optimizer, pictures, episode):
    pixels = pictures[episode.images].float().div_(255)
    optimizer.zero_grad(set_to_none=True)
    embedding = network.blocks(pixels.contiguous(memory_format=torch.channels_last)).flatten(1)
    loss = loss_of(embedding, episode, network.log_sigma_l)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
    optimizer.step()
    return loss.detach()


# ---- a run ----

def optimizer_of(network):
    return torch.optim.RMSprop(network.parameters(), lr=RATE, alpha=DECAY, eps=EPSILON)


def begin(model, checkpoint):
    """Network, optimizer, updates made and seconds taken so far."""
    network = conv4().train()
    optimizer = optimizer_of(network)
    if os.path.exists(checkpoint):
        saved = torch.load(checkpoint)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        return network, optimizer, saved["updates"], saved["seconds"]
    with torch.no_grad():
        for name, tensor in exchanged(network).items():
            tensor.copy_(model.read(name_in_file(name)))
    return network, optimizer, 0, 0.0


def save(model, network, optimizer, updates, seconds, folder):
    for name, tensor in exchanged(network).items():
        model.replace(name_in_file(name), tensor)
    model.write(os.path.join(folder, "model.safetensors"))
    checkpoint = os.path.join(folder, "checkpoint.pt")
    torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(),
                "updates": updates, "seconds": seconds}, checkpoint + ".part")
    os.replace(checkpoint + ".part", checkpoint)


def warm_up(network, pictures, episode):
    """A step that is not timed, for the setup that libraries do on their first call."""
    other = copy.deepcopy(network)
    update(other, optimizer_of(other), pictures, episode)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("pack", "episodes", "initial", "run"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--updates", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.set_flush_denormal(True)
    os.makedirs(given.run, exist_ok=True)

    pictures, names = read_pack(given.pack)
    pictures = pictures.flatten(0, 1)
    model = ModelFile(given.initial)
    network, optimizer, updates, seconds = begin(model, os.path.join(given.run, "checkpoint.pt"))
    episodes = [e for e in read_episodes(given.episodes, names)
                if updates <= e.index < given.updates]
    if [e.index for e in episodes] != list(range(updates, given.updates)):
        sys.exit(f"train_torch.py: {given.episodes} has not all episodes from {updates} to "
                 f"{given.updates - 1}")
    losses = []
    if episodes:
        warm_up(network, pictures, episodes[0])
        start = time.perf_counter()
        for episode in episodes:
            losses.append(update(network, optimizer, pictures, episode))
        seconds += time.perf_counter() - start
        save(model, network, optimizer, given.updates, seconds, given.run)
    print(json.dumps({"peer": "torch", "version": "PyTorch " + torch.__version__,
                      "updates": max(updates, given.updates), "seconds": seconds,
                      "losses": [loss.item() for loss in losses]}))


if __name__ == "__main__":
    restart_tuned()
    import torch
    from torch import nn
    from torch.nn import functional

    main()
