"""Every format of pictures decodes as Pillow does it, and survives cuts and flipped bits.

HEIF pictures are made by heif-enc, which loses a little; the others are compared within a level or two.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageOps

program = os.path.join(sys.argv[1], "format_roundtrip")
y, x = np.mgrid[0:23, 0:31]
gray = ((x * 7 + y * 3) % 256).astype(np.uint8)
rgb = np.stack([gray, (y * 11 % 256).astype(np.uint8), 255 - gray], -1)
alpha = np.concatenate([rgb, ((x * 8) % 256).astype(np.uint8)[..., None]], -1)
L, RGB, RGBA = (Image.fromarray(a, m) for a, m in ((gray, "L"), (rgb, "RGB"), (alpha, "RGBA")))
deep = Image.fromarray(gray.astype(np.uint16) * 257)
failed = checks = 0


def decode(path):
    done = subprocess.run([program, path], stdout=subprocess.PIPE, check=True).stdout
    head, pixels = done.split(b"\n", 1)
    width, height, channels = map(int, head.split())
    return np.frombuffer(pixels, np.uint8).reshape(height, width, channels).astype(int)


def on_white(image):
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")


def check(path, expected, most=1):
    """`expected` is an image, or what Pillow reads, turned upright and laid on white."""
    global failed, checks
    if expected is None:
        expected = on_white(ImageOps.exif_transpose(Image.open(path)))
    got = decode(path)
    want = np.asarray(expected.convert("L" if got.shape[2] == 1 else "RGB"), int)
    want = want.reshape(want.shape[0], want.shape[1], -1)
    checks += 1
    if got.shape != want.shape or np.abs(got - want).max() > most:
        failed += 1
        print(path, got.shape, want.shape, got.shape == want.shape and np.abs(got - want).max())


def torture(path):
    global failed, checks
    checks += 1
    if subprocess.run([program, "--torture", path]).returncode != 0:
        failed += 1
        print(path, "is not survived")


with tempfile.TemporaryDirectory() as folder:
    def save(image, name, **options):
        path = os.path.join(folder, name)
        image.save(path, **options)
        return path

    def both(path, expected=None, most=1):
        check(path, expected, most)
        torture(path)

    both(save(RGB, "a.webp", lossless=True), RGB, 0)
    both(save(RGBA, "alpha.webp", lossless=True, exact=True))
    both(save(RGB, "lossy.webp", quality=90), None, 3)
    both(save(RGB, "moving.webp", save_all=True, append_images=[RGB.rotate(180)], lossless=True), RGB, 0)
    for mode, image in (("L", L), ("RGB", RGB)):
        for compression in (None, "tiff_lzw", "tiff_adobe_deflate", "packbits"):
            both(save(image, f"{mode}-{compression}.tif", compression=compression), image, 0)
    both(save(RGBA, "alpha.tiff"), None, 2)
    both(save(RGB.convert("P"), "palette.tif"), RGB.convert("P"), 1)
    both(save(L.convert("1"), "bits.tif"), L.convert("1"), 0)
    both(save(deep, "deep.tif"), L, 1)
    both(save(RGB.convert("CMYK"), "cmyk.tif"), RGB.convert("CMYK").convert("RGB"), 2)
    both(save(RGB, "two.tif", save_all=True, append_images=[RGB.rotate(90, expand=True)]), RGB, 0)
    both(save(RGB.convert("P", palette=Image.ADAPTIVE), "a.gif"))
    both(save(L, "gray.gif", interlace=1), L, 0)
    both(save(L, "straight.gif", interlace=0), L, 0)
    clear = RGB.convert("P", palette=Image.ADAPTIVE, colors=16)
    both(save(clear, "clear.gif", transparency=3))
    both(save(L, "moving.gif", save_all=True, append_images=[ImageOps.invert(L)], duration=50), L, 0)
    for mode in ("1", "L", "P", "RGB"):
        image = RGB.convert(mode)
        both(save(image, f"{mode}.bmp"), image, 0)
    both(save(RGBA, "alpha.bmp"), None, 1)
    both(save(RGB.convert("CMYK"), "cmyk.jpg", quality=100), None, 4)
    wide = Image.fromarray(np.where(x[..., None] < 16, [255, 0, 0], [0, 60, 255]).astype(np.uint8), "RGB")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        check(save(wide, f"{orientation}.jpg", exif=exif, quality=100, subsampling=0), None, 4)
        check(save(RGB, f"{orientation}.webp", exif=exif, lossless=True), None, 0)
        path = save(RGB, f"{orientation}.tif", tiffinfo={0x0112: orientation})
        turns = [None, None, Image.FLIP_LEFT_RIGHT, Image.ROTATE_180, Image.FLIP_TOP_BOTTOM,
                 Image.TRANSPOSE, Image.ROTATE_270, Image.TRANSVERSE, Image.ROTATE_90]
        check(path, RGB.transpose(turns[orientation]) if turns[orientation] is not None else RGB, 0)
    smooth = Image.fromarray(np.stack([x * 4, y * 6, 90 + 0 * x], -1).astype(np.uint8), "RGB")
    smooth = smooth.resize((64, 48), Image.BICUBIC)
    png = save(smooth, "smooth.png")
    path = os.path.join(folder, "a.heic")
    subprocess.run(["heif-enc", "-q", "95", "-o", path, png], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    both(path, smooth, 12)
print(f"{checks} checks, {failed} failed")
sys.exit(1 if failed else 0)
