#!/usr/bin/env bash
# Makes the animation of the README and its still picture: docs/images/run.webp and docs/images/run.png.
#
#   scripts/demo.sh [FRAMES]    FRAMES: use these frames instead of recording a run
#
# An agent asks in a terminal, the card appears on the page, one key answers it, and the agent continues. `npm run demo` records the
# run with the real binary and Chromium; this script joins the frames. Needs the Debian packages chromium (or
# chromium-headless-shell), fonts-dejavu-core and webp (img2webp). Sayso itself needs none of them.
set -euo pipefail
cd "$(dirname "$0")/.."

MOST_BYTES=1500000

type -P img2webp >/dev/null || {
    echo "demo.sh: img2webp is missing. On Debian or Ubuntu: sudo apt-get install webp" >&2
    exit 1
}

frames=${1:-}
if [ -z "$frames" ]; then
    scripts/need.sh build page browser
    npm run build --workspace web
    cargo build --package sayso
    frames=$PWD/web/test-results/demo
    SAYSO_FRAMES=$frames npm run demo --workspace web
fi

arguments=()
while read -r millis name; do
    arguments+=(-d "$millis" "$frames/$name")
done <"$frames/frames"
img2webp -loop 0 -min_size -lossless -m 6 "${arguments[@]}" -o docs/images/run.webp
cp "$frames/$(<"$frames/still")" docs/images/run.png

size=$(stat --format=%s docs/images/run.webp)
echo "docs/images/run.webp: $((${#arguments[@]} / 3)) frames, $size bytes"
[ "$size" -le "$MOST_BYTES" ] || {
    echo "demo.sh: the animation is larger than $MOST_BYTES bytes" >&2
    exit 1
}
