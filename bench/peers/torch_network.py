#!/usr/bin/python3
"""Conv4 and resnet12 in PyTorch for the speed comparison; bench/README.md explains steps and protocol.

usage: torch_network.py nchw|channels-last|mkldnn|frozen|frozen-channels-last|compiled|best [--tuned]

  nchw                  plain PyTorch, as most programs run it
  channels-last         model and images in torch.channels_last
  mkldnn                activations as oneDNN tensors (to_mkldnn), weights plain when training
  frozen                evaluation through torch.jit.freeze and optimize_for_inference
  frozen-channels-last  the same from a channels_last model
  compiled              channels_last through torch.compile with its search for the fastest kernels
                        (max-autotune), in evaluation with the weights frozen into the code
                        (freezing); PyTorch 2 and a C++ compiler
  best                  each of these that applies is timed on the configuration asked for, and the
                        fastest is then measured

  --tuned               malloc keeps its memory instead of giving it back to the system after every
                        step, and uses huge pages; without it a good part of the step is page faults
"""

import copy
import gc
import os
import resource
import shutil
import statistics
import sys
import time

from peer import serve

# glibc reads these when a process starts. Blocks of any size come from the heap, which is never trimmed.
TUNED = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
TRAIN_WAYS = ("nchw", "channels-last", "mkldnn", "compiled")
EVAL_WAYS = TRAIN_WAYS + ("frozen", "frozen-channels-last")
WARM_UP_STEPS, LEAST_STEPS = 2, 3
LAYERS, FILTERS = 4, 64


def restart_tuned():
    """Start this program again with malloc's settings, unless they are set already."""
    if any(os.environ.get(key) != value for key, value in TUNED.items()):
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **TUNED})


def conv4(channels):
    """The network. The convolutions have no bias, because a batch norm follows."""
    blocks = []
    for layer in range(LAYERS):
        conv = nn.Conv2d(channels if layer == 0 else FILTERS, FILTERS, 3, padding=1, bias=False)
        nn.init.xavier_uniform_(conv.weight, gain=2**0.5)
        blocks += [conv, nn.BatchNorm2d(FILTERS), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
    return nn.Sequential(*blocks)


def resnet12(channels, width=64):
    """The few-shot ResNet-12 as imp has it: four residual blocks, each twice as wide as the one before."""
    def norm_of(inputs, outputs, kernel):
        conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        nn.init.kaiming_normal_(conv.weight, mode="fan_out")
        return [conv, nn.BatchNorm2d(outputs)]

    class Block(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.body = nn.Sequential(
                *norm_of(inputs, outputs, 3), nn.LeakyReLU(0.1, inplace=True),
                *norm_of(outputs, outputs, 3), nn.LeakyReLU(0.1, inplace=True),
                *norm_of(outputs, outputs, 3))
            self.shortcut = nn.Sequential(*norm_of(inputs, outputs, 1))

        def forward(self, x):
            return functional.max_pool2d(
                functional.leaky_relu_(self.body(x) + self.shortcut(x), 0.1), 2)

    widths = [channels] + [width << i for i in range(4)]
    return nn.Sequential(*[Block(*pair) for pair in zip(widths, widths[1:])],
                         nn.AdaptiveAvgPool2d(1))


def network_of(name, channels):
    return resnet12(channels) if name == "resnet12" else conv4(channels)


def is_channels_last(way):
    return way.endswith("channels-last") or way == "compiled"


def compiled(model):
    # one kind of kernel or another may not be there for this processor: PyTorch then takes the next
    return torch.compile(model, mode="max-autotune-no-cudagraphs")


def training_step(model, x, grad, way):
    """A function that does one step and returns the output; gradients are left in the parameters."""
    model.train()
    if is_channels_last(way):
        model.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
        grad = grad.contiguous(memory_format=torch.channels_last)
    if way == "compiled":
        from torch._inductor import config
        config.freezing = False
        model = compiled(model)

    def step():
        model.zero_grad(set_to_none=True)
        output = model(x.to_mkldnn()).to_dense() if way == "mkldnn" else model(x)
        output.backward(grad)
        return output

    return step


def fold_norms(module):
    """A copy in which every batch norm is part of the convolution before it."""
    module = copy.deepcopy(module)
    for parent in module.modules():
        if isinstance(parent, nn.Sequential):
            for i in range(len(parent) - 1):
                if isinstance(parent[i], nn.Conv2d) and isinstance(parent[i + 1], nn.BatchNorm2d):
                    parent[i] = fuse_conv_bn_eval(parent[i], parent[i + 1])
                    parent[i + 1] = nn.Identity()
    return module


def evaluation_step(model, x, way):
    """A function that embeds the images, batch norm folded into the convolutions."""
    folded = fold_norms(model.eval())
    if is_channels_last(way):
        folded.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    if way == "mkldnn":
        inside = mkldnn_utils.to_mkldnn(folded)
        forward = lambda images: inside(images.to_mkldnn()).to_dense()
    elif way.startswith("frozen"):
        with torch.no_grad():
            forward = torch.jit.optimize_for_inference(
                torch.jit.freeze(torch.jit.trace(folded, x)))
    elif way == "compiled":
        from torch._inductor import config
        config.freezing = True  # weights are constants, which oneDNN may lay out beforehand
        forward = compiled(folded)
    else:
        forward = folded

    def step():
        with torch.inference_mode():
            return forward(x)

    return step


def random_step(network, what, n, c, h, w, way):
    torch.manual_seed(1)
    model, x = network_of(network, c), torch.rand(n, c, h, w)
    if what == "eval":
        return evaluation_step(model, x, way)
    with torch.no_grad():
        shape = copy.deepcopy(model)(x[:1]).shape
    return training_step(model, x, torch.randn(n, *shape[1:]), way)


def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def resident_reset():
    """Make VmHWM start again from the memory resident now, where that is allowed."""
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass


def resident_peak_mb():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024


def measure(step, seconds):
    """Median seconds of a step, and what else a step used. Steps that take longer than `seconds` are
    fewer: a process that has done one has warmed up."""
    start = time.perf_counter()
    step()
    long = time.perf_counter() - start > seconds
    for _ in range(0 if long else WARM_UP_STEPS - 1):
        step()
    gc.collect()
    resident_reset()
    faults = page_faults()
    times = []
    start = now = time.perf_counter()
    while len(times) < (1 if long else LEAST_STEPS) or now - start < seconds:
        before = now
        step()
        now = time.perf_counter()
        times.append(now - before)
    return {
        "median": statistics.median(times),
        "fastest": min(times),
        "steps": len(times),
        "resident_mb": round(resident_peak_mb(), 1),
        "faults_per_step": round((page_faults() - faults) / len(times), 1),
    }


def cannot_compile():
    """Why torch.compile does not run as it should, or nothing. Where its probe of the processor fails it
    compiles plain loops, many times slower than it can."""
    if not hasattr(torch, "compile") or shutil.which("g++") is None:
        return "torch.compile needs PyTorch 2 and g++"
    from torch._inductor import cpu_vec_isa
    if not cpu_vec_isa.pick_vec_isa() and os.environ.get("ATEN_CPU_CAPABILITY") != "default":
        return "torch.compile found no vector instructions: does it find Python.h?"
    return None


def best_way(network, what, n, c, h, w):
    """The way with the fastest step, which other load disturbs less than the median step."""
    times = {}
    for way in TRAIN_WAYS if what == "train" else EVAL_WAYS:
        if way == "compiled" and cannot_compile() or way == "mkldnn" and network != "conv4":
            continue
        step = random_step(network, what, n, c, h, w, way)
        times[way] = measure(step, 0.5)["fastest"]
        del step
        gc.collect()
    return min(times, key=times.get)


def check(n, c, h, w, way, source, target):
    """One evaluation and one training step on given numbers, all results to a file."""
    with open(source, "rb") as f:
        numbers = torch.frombuffer(bytearray(f.read()), dtype=torch.float32)
    position = 0

    def take(*shape):
        nonlocal position
        count = torch.Size(shape).numel()
        position += count
        return numbers[position - count:position].reshape(shape).clone()

    x, grad = take(n, c, h, w), take(n, FILTERS, h // 16, w // 16)
    model = conv4(c)
    with torch.no_grad():
        for conv, norm in zip(model[0::4], model[1::4]):
            conv.weight.copy_(take(*conv.weight.shape))
            for tensor in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
                tensor.copy_(take(FILTERS))
    results = [evaluation_step(copy.deepcopy(model), x, way)()]
    train_way = way if way in TRAIN_WAYS else "nchw"
    results.append(training_step(model, x, grad, train_way)().detach())
    for conv, norm in zip(model[0::4], model[1::4]):
        results += [conv.weight.grad, norm.weight.grad, norm.bias.grad,
                    norm.running_mean, norm.running_var]
    # tolist() and array, because the Debian package does not bring NumPy along.
    with open(target, "wb") as f:
        for tensor in results:
            array.array("f", tensor.contiguous().flatten().tolist()).tofile(f)


def main():
    way = sys.argv[1] if len(sys.argv) > 1 else ""
    tuned = sys.argv[2:] == ["--tuned"]
    if way not in EVAL_WAYS + ("best",) or not (tuned or len(sys.argv) == 2):
        sys.exit(__doc__)
    prefix = "torch-" if torch.__version__.startswith("1.") else "torch2-"
    name = prefix + way + ("-tuned" if tuned and way != "best" else "")
    chosen, steps = {}, {}

    def hello():
        isa = torch.__config__.show().split("CPU capability usage: ")[-1].split()[0].lower()
        isa = {"avx2": "avx2", "avx512": "avx512"}.get(isa, "portable")
        return {"version": "PyTorch " + torch.__version__, "isa": isa}

    def reply(what, words):
        if what == "hello":
            return hello()
        if len(words) not in {"check": (7,), "train": (6, 7), "eval": (6, 7)}.get(what, ()):
            return None
        n, c, h, w, threads = map(int, words[:5])
        torch.set_num_threads(threads)
        answer = {"what": what, "n": n, "c": c, "h": h, "w": w, "threads": threads}
        if what == "check":
            check(n, c, h, w, way, *words[5:])
            return answer
        network = words[6] if len(words) == 7 else "conv4"
        answer["network"] = network
        key = (network, what, *words[:5])
        if way == "best" and key not in chosen:
            chosen[key] = best_way(network, what, n, c, h, w)
        use = chosen.get(key, way)
        if network not in ("conv4", "resnet12"):
            answer["unavailable"] = f"there is no '{network}' here"
        elif use == "compiled" and cannot_compile():
            answer["unavailable"] = cannot_compile()
        elif use in (TRAIN_WAYS if what == "train" else EVAL_WAYS):
            if key + (use,) not in steps:  # compiling again would take minutes
                steps.clear()
                steps[key + (use,)] = random_step(network, what, n, c, h, w, use)
            result = measure(steps[key + (use,)], float(words[5]))
            answer["images_per_second"] = round(n / result.pop("median"), 2)
            answer["most_images_per_second"] = round(n / result.pop("fastest"), 2)
            answer.update(result, way=use)
        else:
            answer["unavailable"] = use + " is a way to evaluate, not to train"
        return answer

    serve(name, reply, "hello, train, eval, check")


if __name__ == "__main__":
    if "--tuned" in sys.argv:
        restart_tuned()
    import array
    import warnings

    import torch
    from torch import nn
    from torch.nn import functional
    from torch.nn.utils.fusion import fuse_conv_bn_eval
    from torch.utils import mkldnn as mkldnn_utils

    warnings.filterwarnings("ignore", message=".*NumPy.*")
    warnings.filterwarnings("ignore", message=".torch.jit")
    main()
