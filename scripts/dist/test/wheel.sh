#!/usr/bin/env bash
# The wheels: `pip install 'sayso[cli]'` from a directory puts the program and the SDK into an environment.
# Prepares: the dependencies of the SDK.
set -euo pipefail
. "$(dirname "$0")/common.sh"

wheels=$build/wheels
if [ "${1:-}" = --prepare ]; then
    mkdir -p "$wheels"
    # Debian's python3 has no pip, except in a new environment.
    python3 -m venv "$wheels/venv"
    "$wheels/venv/bin/pip" download --quiet --disable-pip-version-check --dest "$wheels" 'httpx>=0.27,<1'
    exit
fi
python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)
sayso=$work/venv/bin/sayso
tar -xzf "$(archive_of_this_machine)" -C "$work" --strip-components=1
mkdir "$work/older" "$work/share/doc"
mv "$work/LICENSES-THIRD-PARTY.txt" "$work/share/doc"
python3 scripts/dist/binary_wheel.py "$(uname -m)-unknown-linux-musl" 0.0.1 "$work/bin/sayso" "$work/share" "$work/older"
"${pip[@]}" install --no-index --find-links "$work/older" sayso-cli==0.0.1
write_older_database "$HOME/.local/state/sayso"
upgrades_older_database "$HOME/.local/state/sayso" "the wheel" "$sayso"
"${pip[@]}" install --no-index --find-links "$dist" --find-links "$wheels" --upgrade 'sayso[cli]'
"$sayso" restart >/dev/null
lists "Pending over the upgrade?" "$sayso"
pass "an upgrade keeps asks"
"$work/venv/bin/python" -c 'import sayso; print("ok: the SDK imports", sayso.__name__)'
first_question "the wheel" "$sayso"
doctor_says "installed by pip" "$sayso"
leaves_nothing "the wheel" "$sayso"
"${pip[@]}" uninstall --yes sayso sayso-cli
[ ! -e "$sayso" ] || fail "pip left the program."
pass "pip removes the program"
