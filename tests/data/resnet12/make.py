#!/usr/bin/env python3
"""Makes step.safetensors, a training step of resnet12 computed by PyTorch, for tests/unit/nn/test_pytorch.c.

usage: make.py [FILE [WIDTH [IMAGES CHANNELS HEIGHT WIDTH_OF_IMAGES]]]

The file holds images, weights and running statistics before the step, the gradient of the embeddings, and
what PyTorch makes of them in double precision: embeddings, loss, gradients, statistics after the step, and
the embeddings of evaluation with these. Of eight draws it is the one whose closest decision of a ReLU or a
pooling is the least close, so that rounding changes none.
"""
import json
import struct
import sys

import torch
from torch import nn
from torch.nn import functional as F

closest = []  # how close each decision of a forward pass was


class Block(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.conv = nn.Conv2d(inputs, width, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(width)

    def forward(self, x):
        return self.bn(self.conv(x))


class Shortcut(Block):
    def __init__(self, inputs, width):
        super().__init__(inputs, width)
        self.conv = nn.Conv2d(inputs, width, 1, bias=False)


def leaky(x):
    closest.append(x.abs().min().item())
    return F.leaky_relu(x, 0.1)


def pool(x):
    n, c, h, w = x.shape
    four = x[:, :, :h // 2 * 2, :w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2)
    first, second = four.permute(0, 1, 2, 4, 3, 5).reshape(-1, 4).topk(2).values.unbind(1)
    closest.append((first - second).min().item())
    return F.max_pool2d(x, 2)


class Residual(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.body = nn.ModuleList([Block(inputs, width), Block(width, width), Block(width, width)])
        self.shortcut = nn.ModuleList([Shortcut(inputs, width)])

    def forward(self, x):
        y = self.body[2](leaky(self.body[1](leaky(self.body[0](x)))))
        return pool(leaky(y + self.shortcut[0](x)))


class ResNet12(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        widths = [channels, width, 2 * width, 4 * width, 8 * width]
        self.blocks = nn.ModuleList([Residual(a, b) for a, b in zip(widths, widths[1:])])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.mean((2, 3))


def compute(seed, width, n, channels, height, image_width):
    torch.manual_seed(seed)
    model = ResNet12(channels, width)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    images = torch.rand(n, channels, height, image_width)
    gradient = torch.randn(n, 8 * width)
    result = {"images": images, "embedding_gradient": gradient}
    before = {k: v for k, v in model.state_dict().items() if not k.endswith("tracked")}
    result.update({k: v.clone() for k, v in before.items()})
    model.double()
    closest.clear()
    embeddings = model(images.double())
    margin = min(closest)
    loss = (embeddings * gradient.double()).sum()
    loss.backward()
    result.update(embeddings=embeddings.detach(), loss=loss.detach().reshape(1))
    result.update({"gradient." + k: p.grad for k, p in model.named_parameters()})
    result.update({"after." + k: v for k, v in model.state_dict().items() if "running" in k})
    model.eval()
    with torch.no_grad():
        result["evaluated"] = model(images.double())
    return margin, result


def write(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = struct.pack(f"<{tensor.numel()}f", *tensor.float().flatten().tolist())
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "step.safetensors"
    shape = [int(a) for a in sys.argv[2:]]
    width = shape[0] if shape else 2
    size = shape[1:] or [5, 3, 17, 16]
    margin, result = max((compute(seed, width, *size) for seed in range(8)), key=lambda r: r[0])
    write(path, result)
    print(f"PyTorch {torch.__version__}: the closest decision is by {margin:.1e}")


if __name__ == "__main__":
    main()
