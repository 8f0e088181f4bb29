#!/usr/bin/env bash
# Mutation testing of the policy and of asks: `make mutants`. Arguments go to cargo-mutants, for example
# `scripts/mutants.sh --file '**/here_docs.rs'` or `--shard 0/8`. The result is in target/mutants.out.
#
# Fails if a mutant survives that .cargo/mutants-survivors.txt does not list with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."

version=27.1.0
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/mutants-tools
if [[ ! -x $tools/bin/cargo-mutants ]]; then
    cargo install --locked --root "$tools" --version "$version" cargo-mutants
fi
mkdir -p target
status=0
PATH=$tools/bin:$PATH cargo mutants --package sayso-core --output target "$@" || status=$?
# 2 and 3: mutants were missed, or tests ran too long. Anything else is an error of the run.
case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac

out=target/mutants.out
caught=$(cat "$out/caught.txt" "$out/timeout.txt" | wc -l)
missed=$(wc -l <"$out/missed.txt")
# `FILE:LINE:COLUMN: WHAT` without line and column, which change with every edit.
unlisted=$(comm -23 \
    <(sed -E 's/^([^:]+):[0-9]+:[0-9]+: /\1: /' "$out/missed.txt" | sort) \
    <(sed -E '/^(#|$)/d; s/ -- .*//' .cargo/mutants-survivors.txt | sort))
awk -v caught="$caught" -v missed="$missed" \
    'BEGIN { printf "%d of %d viable mutants caught (%.1f %%)\n", caught, caught + missed, 100 * caught / (caught + missed + !(caught + missed)) }'
if [[ -n $unlisted ]]; then
    printf 'These mutants survived and are not listed in .cargo/mutants-survivors.txt:\n%s\n' "$unlisted" >&2
    exit 1
fi
