#!/usr/bin/env bash
# The wheels: `pip install 'sayso[cli]'` from a directory puts the program and the SDK into an environment.
# Prepares: the dependencies of the SDK.
set -euo pipefail
. "$(dirname "$0")/common.sh"

wheels=$build/wheels
if [ "${1:-}" = --prepare ]; then
    mkdir -p "$wheels"
    python3 -m pip download --quiet --disable-pip-version-check --dest "$wheels" 'httpx>=0.27,<1'
    exit
fi
python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install --no-index --find-links "$dist" --find-links "$wheels" 'sayso[cli]'
"$work/venv/bin/python" -c 'import sayso; print("ok: the SDK imports", sayso.__name__)'
first_question "the wheel" "$work/venv/bin/sayso"
"$work/venv/bin/sayso" doctor | grep -q 'installed by pip' || fail "doctor does not say how it was installed."
leaves_nothing "the wheel" "$work/venv/bin/sayso"
"${pip[@]}" uninstall --yes sayso sayso-cli
[ ! -e "$work/venv/bin/sayso" ] || fail "pip left the program."
pass "pip removes the program"
