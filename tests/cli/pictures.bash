# For the tests of commands on pictures: small pictures of simple shapes, and a small model.

# draw FOLDER FIRST LAST: FOLDER/{bars,cross,ring}/N.png for each N, no two alike, dark on white.
draw() {
    /usr/bin/python3 - "$@" <<'END'
import os, random, sys
from PIL import Image, ImageDraw
folder, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def shape(name, number):
    r = random.Random(f"{name} {number}")
    image = Image.new("L", (48, 48), 255)
    pen = ImageDraw.Draw(image)
    x, y, s, ink = r.randint(23, 24), r.randint(23, 24), r.randint(12, 14), 2 * number
    if name == "ring":
        pen.ellipse((x - s, y - s, x + s, y + s), outline=ink, width=4)
    elif name == "cross":
        pen.line((x - s, y - s, x + s, y + s), fill=ink, width=4)
        pen.line((x - s, y + s, x + s, y - s), fill=ink, width=4)
    elif name == "bars":
        for k in (-1, 0, 1):
            pen.line((x - s, y + 10 * k, x + s, y + 10 * k), fill=ink, width=4)
    elif name == "blot":
        pen.rectangle((x - s, y - s, x + s, y + s), fill=ink)
    return image
for name in sys.argv[4:] or ("bars", "cross", "ring"):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    for number in range(first, last + 1):
        shape(name, number).save(f"{folder}/{name}/{number}.png")
END
}

# convert EXPRESSION FROM TO: saves what the expression makes of the picture `i`.
convert() {
    /usr/bin/python3 -c 'import sys
from PIL import Image, ImageOps
i = Image.open(sys.argv[2])
eval(sys.argv[1]).save(sys.argv[3])' "$@"
}

# paint FOLDER: makes its pictures coloured.
paint() {
    /usr/bin/python3 -c 'import sys
from PIL import Image, ImageOps
for path in sys.argv[1:]:
    i = Image.open(path)
    Image.merge("RGB", (i, i.point(lambda v: v // 3), ImageOps.invert(i))).save(path)' "$1"/*/*.png
}

# What is said of coloured pictures, behind the command's name.
doubt="the built-in model knows only drawings, and these pictures are coloured; train a model with 'imp train \
--data FOLDER', give one with --model, or any network with --embedder"

# The endings of pictures that are read, as sentences list them.
endings=".png, .jpg, .jpeg, .webp, .heic, .heif, .tif, .tiff, .gif, .bmp"

needs_built_in_model() {
    [ -f "$BATS_TEST_DIRNAME/../../models/omniglot-alphabets.safetensors" ] ||
        skip "no model is built in"
}

# small_model FOLDER: trains FOLDER/model.safetensors for a moment on invented characters.
small_model() {
    "$IMP" train --quiet --out "$1" --data glyphs --size 16 --alphabets 10 --task alphabets \
        --way 2 --modes 3 --queries 2 --updates 20 --validate-every 0 \
        --network conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool,flatten
}

# make_mini FOLDER CLASSES PICTURES SIZE: a folder in mini-ImageNet's layout with so many classes for each list,
# of so many pictures.
make_mini() {
    /usr/bin/python3 - "$@" <<'END'
import os, sys
from PIL import Image
folder, classes, pictures, size = sys.argv[1], *map(int, sys.argv[2:])
os.makedirs(folder + "/images")
number = 0
for name in ("train", "val", "test"):
    with open("%s/%s.csv" % (folder, name), "w") as listing:
        listing.write("filename,label\n")
        for number in range(number + 1, number + 1 + classes):
            for i in range(pictures):
                file = "n%02d%04d.jpg" % (number, i)
                listing.write("%s,n%02d\n" % (file, number))
                image = Image.new("RGB", (size, size), (8 * number, 6 * i, 90))
                image.save("%s/images/%s" % (folder, file))
END
}
