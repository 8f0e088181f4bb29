#!/usr/bin/env bash
# Tests the archive: a first ask works immediately, help and manual pages exist, asks survive an upgrade, and uninstalling
# leaves no files.
set -euo pipefail
. "$(dirname "$0")/common.sh"

tar -xzf "$(archive_of_this_machine)" -C "$work"
root=$(echo "$work"/sayso-*)
sayso=$work/installed/sayso
install -D "$root/bin/sayso" "$sayso"

ldd "$sayso" >"$work/ldd" 2>&1 || true
grep -E 'not a dynamic executable|statically linked' "$work/ldd" >/dev/null || fail "$(cat "$work/ldd")" "The program is not static."
shown=$("$sayso" --version)
[[ "$shown" == "sayso $version"* ]] || fail "The version is $shown."
pass "$shown"
for page in sayso.1 sayso-answer.1; do
    [ "$(zcat "$root/share/man/man1/$page.gz" | head -c 4)" = ".ie " ] || zcat "$root/share/man/man1/$page.gz" | grep -q '^\.TH ' ||
        fail "$page is no manual page."
done
bash -n "$root/share/completions/sayso.bash"
grep -q SAYSO_COMPLETE "$root/share/completions/_sayso" "$root/share/completions/sayso.fish"
[ "$(wc -l <"$root/LICENSES-THIRD-PARTY.txt")" -gt 1000 ] || fail "The licences are incomplete."
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["components"]) > 100' "$root/sayso-$version.cdx.json"
PYTHONPATH=scripts/dist python3 -c 'import auditable, sys; assert len(auditable.embedded_crates(open(sys.argv[1], "rb").read())) > 100' "$sayso"
pass "manual pages, completions, licences, bill of materials and embedded list of crates are there"

state=$HOME/.local/state/sayso
write_older_database "$state"
upgrades_older_database "$state" "the archive" "$sayso"
"$sayso" uninstall --purge --yes >/dev/null

first_question "the archive" "$sayso"
"$sayso" ask "Pending over the upgrade?" --no-wait >/dev/null
install "$root/bin/sayso" "$sayso.new"
mv "$sayso.new" "$sayso"
"$sayso" restart >/dev/null
lists "Pending over the upgrade?" "$sayso"
pass "an upgrade keeps asks"
doctor_says ", installed as a file" "$sayso"
leaves_nothing "the archive" "$sayso"
