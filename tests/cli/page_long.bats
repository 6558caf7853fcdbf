# The pages of imp classify and imp cluster as a browser shows them.
#
# A page of the test's own holds the report in a frame, waits for its pictures and writes down what
# it sees; the browser then prints that page.
bats_require_minimum_version 1.5.0 # run --separate-stderr

setup_file() {
    load pictures
    cd "$BATS_FILE_TMPDIR"
    command -v chromium >/dev/null || return 0
    small_model run
    draw known 1 4
    draw new 5 7
    draw others 1 4 blot
    mv new/ring/5.png 'new/ring/<img src=x> & "quoted" naïve name that is much too long for any phone.png'
    model=(--model run/model.safetensors --sigma-l 1 --sigma-u 1)
    "$IMP" classify --support known --unlabeled others/blot new others/blot/4.png --open-set \
        "${model[@]}" --html classify.html >/dev/null
    "$IMP" cluster known --model run/model.safetensors --clusters 3 --html cluster.html >/dev/null
}

setup() {
    command -v chromium >/dev/null || skip "there is no chromium"
    load vectors
    cd "$BATS_FILE_TMPDIR"
}

browse() { # ARGUMENT...
    timeout 300 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$BATS_TEST_TMPDIR/profile" --enable-logging=stderr \
        --allow-file-access-from-files --disable-web-security "$@" 2>>"$BATS_TEST_TMPDIR/log"
}

# look PAGE WIDTH [ARGUMENT...]: $output becomes what the browser found, as JSON.
look() {
    cat >"look-$1" <<END
<!DOCTYPE html>
<iframe src="$1" style="width:$2px;height:900px;border:0"></iframe>
<pre id="found"></pre>
<script>
addEventListener("load", async () => {
    const view = document.querySelector("iframe").contentWindow, page = view.document;
    const images = [...page.images];
    images.forEach(i => i.loading = "eager");
    await Promise.all(images.map(i => i.decode()));
    const inside = e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= $2; };
    document.getElementById("found").textContent = JSON.stringify({
        title: page.title,
        images: images.length,
        loaded: images.filter(i => i.complete && i.naturalWidth > 0).length,
        described: images.filter(i => i.alt).length,
        names: images.map(i => i.alt),
        shown: images.filter(i => i.offsetWidth > 20 && inside(i)).length,
        overflow: page.documentElement.scrollWidth - $2,
        marks: page.querySelectorAll("svg circle").length,
        titles: page.querySelectorAll("svg circle").length ==
            page.querySelectorAll("svg g:has(circle) > title").length,
        dead: [...page.querySelectorAll("a")].filter(a =>
            !page.getElementById(a.getAttribute("href").slice(1))).length,
        sections: page.querySelectorAll("section").length,
        headings: [...page.querySelectorAll("h1, h2")].map(h => h.textContent),
        background: view.getComputedStyle(page.body).backgroundColor,
        ink: view.getComputedStyle(page.body).color,
        requests: view.performance.getEntriesByType("resource").map(e => e.name),
        scripts: page.scripts.length
    });
});
</script>
END
    browse "${@:3}" --window-size="$(($2 + 40)),1000" --virtual-time-budget=10000 --dump-dom \
        "file://$PWD/look-$1" >dom
    output=$(/usr/bin/python3 -c 'import html, re
print(html.unescape(re.search(r"<pre id=\"found\">(.*?)</pre>", open("dom").read(), re.S)[1]))')
}

# What holds for every page: all pictures are there, nothing comes from outside, nothing complains.
sound() { # IMAGES
    json "o['images'] == o['loaded'] == o['described'] == o['shown'] == $1"
    json 'o["requests"] == [] and o["scripts"] == 0 and o["dead"] == 0'
    json 'o["overflow"] <= 0 and o["titles"]'
    ! grep CONSOLE "$BATS_TEST_TMPDIR/log"
}

@test "page: answers, on a desk and on a phone" {
    for width in 1200 360; do
        look classify.html $width
        # 12 + 4 supports, and 10 pictures with their nearest one each
        sound 36
        json 'o["title"] == "10 pictures, 3 classes" and o["marks"] == 26'
        json 'o["headings"][0] == o["title"] and o["sections"] == 4'
        json '[h.rsplit(" ", 2)[0] for h in o["headings"][1:]] == ["bars", "cross", "ring", "none of these"]'
        json 'sum(int(h.split()[-2]) for h in o["headings"][1:]) == 10'
        json 'any("<img src=x> & \"quoted\" naïve" in n for n in o["names"])'
    done
}

@test "page: groups, on a desk and on a phone" {
    for width in 1200 360; do
        look cluster.html $width
        sound 24 # each of them, and four of each group above
        json 'o["title"] == "12 pictures in 3 groups" and o["sections"] == 3 and o["marks"] == 12'
    done
}

@test "page: light and dark" {
    luminance='sum(int(v) for v in re.findall(r"\d+", o["%s"])[:3])'
    value() {
        /usr/bin/python3 -c 'import sys, json, re
o = json.loads(sys.argv[1])
print(eval(sys.argv[2]))' "$output" "$1"
    }
    look cluster.html 800
    [ "$(value "${luminance/\%s/background}")" -gt 700 ]
    [ "$(value "${luminance/\%s/ink}")" -lt 120 ]
    look cluster.html 800 --force-dark-mode
    [ "$(value "${luminance/\%s/background}")" -lt 120 ]
    [ "$(value "${luminance/\%s/ink}")" -gt 650 ]
}

@test "page: is drawn" {
    browse --window-size=1000,1400 --screenshot="$BATS_TEST_TMPDIR/page.png" \
        "file://$PWD/classify.html"
    /usr/bin/python3 -c 'import sys
from PIL import Image
image = Image.open(sys.argv[1]).convert("RGB")
assert image.size == (1000, 1400)
# paper, ink, and the hues of three classes
assert len(image.getcolors(1 << 24)) > 100
hues = {round(h / 8) for h, s, v in image.convert("HSV").getdata() if s > 100 and v > 60}
assert len(hues) >= 3, hues' "$BATS_TEST_TMPDIR/page.png"
}
