#!/usr/bin/env bash
# Compares two binaries with the benchmark in alternating runs, on a machine that does nothing else:
#
#   compare.sh STATIC DYNAMIC [ROUNDS]
#
# Prints the medians for 100 clients with the mock agent and, from two runs, the memory of an idle server. Build the driver first:
# cargo build --release --workspace --bins. SAYSO_BENCH names another one.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -lt 2 ]; then
    echo "usage: compare.sh STATIC DYNAMIC [ROUNDS]" >&2
    exit 2
fi
names=(static dynamic)
programs=("$(realpath "$1")" "$(realpath "$2")")
rounds=${3:-9}
bench=${SAYSO_BENCH:-$(realpath -m "${CARGO_TARGET_DIR:-target}")/release/bench}
results=$(mktemp)
trap 'rm -f "$results"' EXIT

measure() { # index of the binary, filter of the benchmark
    local lines
    lines=$(SAYSO_BIN=${programs[$1]} scripts/isolated.sh "$bench" --quick --no-assert --only "$2" 2>/dev/null)
    sed "s/^/${names[$1]} /" <<<"$lines" >>"$results"
}
for round in $(seq "$rounds"); do
    # Each binary is the first one in half of the rounds.
    for index in $((round % 2)) $(((round + 1) % 2)); do
        measure "$index" round_trip_100
        [ "$round" -gt 2 ] || measure "$index" memory
    done
done

python3 - "$results" <<'PYTHON'
import json
import statistics
import sys

found = {}
with open(sys.argv[1]) as results:
    for line in results:
        binary, measured = line.split(" ", 1)
        figures = json.loads(measured)
        for name, value in figures.items():
            found.setdefault((figures["bench"], name), {}).setdefault(binary, []).append(value)
wanted = [("round_trip_100", name) for name in ("per_second", "p50_ms", "cpu_us")]
wanted += [("memory_idle", name) for name in ("rss_mib", "private_mib")]
for figure in wanted:
    static, dynamic = (statistics.median(found[figure][binary]) for binary in ("static", "dynamic"))
    runs = len(found[figure]["static"])
    print(f"{'.'.join(figure):27} static {static:9.2f}  dynamic {dynamic:9.2f}  ratio {static / dynamic:.3f}  runs {runs}")
PYTHON
