"""Decoding and resampling agree with Pillow within one level.

An axis that shrinks is compared with Pillow's BOX, one that grows with BICUBIC; where a picture
shrinks along one axis and grows along the other, Pillow resizes twice.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

program = os.path.join(sys.argv[1], "resample_roundtrip")
random = np.random.default_rng(3)


def picture(width, height, channels):
    """Noise over shapes: edges and textures alike."""
    y, x = np.mgrid[0:height, 0:width]
    base = 127 + 120 * np.sin(x / 7.0)[..., None] * np.cos(y / 5.0)[..., None]
    noise = random.integers(-60, 60, (height, width, channels))
    edge = np.where((x + 2 * y) % 31 < 6, 255, 0)[..., None]
    pixels = np.where(edge > 0, edge, base + noise)
    return np.clip(pixels, 0, 255).astype(np.uint8).squeeze()


def pillow(image, width, height):
    across = Image.BOX if width < image.width else Image.BICUBIC
    down = Image.BOX if height < image.height else Image.BICUBIC
    if across == down:
        return image.resize((width, height), across)
    return image.resize((width, image.height), across).resize((width, height), down)


failed = worst = checks = 0
with tempfile.TemporaryDirectory() as folder:
    sizes = [((105, 105), (28, 28)), ((64, 64), (84, 84)), ((84, 84), (84, 84)), ((500, 375), (84, 84)),
             ((17, 23), (28, 28)), ((40, 20), (28, 28)), ((31, 90), (64, 32)), ((1, 1), (5, 5)),
             ((2, 300), (3, 7)), ((100, 3), (1, 1))]
    for mode, channels in (("L", 1), ("RGB", 3)):
        for ending in ("png", "jpg"):
            for (width, height), (new_width, new_height) in sizes:
                path = os.path.join(folder, "picture." + ending)
                made = picture(width, height, channels).reshape(
                    (height, width) if channels == 1 else (height, width, 3))
                Image.fromarray(made, mode).save(path)
                for target, target_channels in (("L", 1), ("RGB", 3)):
                    image = Image.open(path).convert(target)
                    expected = np.asarray(pillow(image, new_width, new_height), dtype=int)
                    raw = subprocess.run(
                        [program, path, str(new_width), str(new_height), str(target_channels)],
                        check=True, stdout=subprocess.PIPE).stdout
                    got = np.frombuffer(raw, np.uint8).reshape(expected.shape).astype(int)
                    difference = np.abs(got - expected).max()
                    worst = max(worst, difference)
                    checks += 1
                    if difference > 1:
                        failed += 1
                        print(f"{mode} {ending} {width}x{height} -> {new_width}x{new_height} "
                              f"{target}: {difference} levels")
print(f"{checks} comparisons, worst difference {worst} levels")
sys.exit(1 if failed else 0)
