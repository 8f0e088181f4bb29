#!/usr/bin/env bash
# The Python SDK: checks its types and style, builds the wheel, installs it, and runs its tests against the real server. The
# server is the one in SAYSO_BIN, by default the debug build.
#
#   python-sdk.sh                 the SDK, and the adapters for the two lightest frameworks
#   python-sdk.sh --frameworks    also the adapters for all other frameworks
#   python-sdk.sh --install       only installs what the tests need
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
package=sdk/python
venv=$target/python-sdk
lists=("$package/requirements-test.txt")
tests=(.)
if [ "${1:-}" = --frameworks ]; then
    shift
    venv=$target/python-frameworks
    lists+=("$package/requirements-frameworks.txt")
    # pyproject.toml leaves out the folder of these frameworks, and pytest also if it is named together with its parent.
    tests+=(--override-ini norecursedirs=__pycache__)
fi

# A changed list of versions makes a new environment.
versions=$(cat "${lists[@]}" | sha256sum)
if [ "$(cat "$venv/versions" 2>/dev/null)" != "$versions" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${lists[@]/#/--requirement=}"
    echo "$versions" >"$venv/versions"
fi
[ "${1:-}" != --install ] || exit 0

export SAYSO_BIN=${SAYSO_BIN:-$target/debug/sayso}
if [ ! -x "$SAYSO_BIN" ]; then
    echo "There is no server at $SAYSO_BIN. Build it with: cargo build --package sayso" >&2
    exit 1
fi

"$venv/bin/python" "$package/scripts/gen_types.py" --check
(cd "$package" && "$venv/bin/ruff" check --no-cache . && "$venv/bin/ruff" format --no-cache --check . &&
    "$venv/bin/mypy" --cache-dir "$venv/mypy")

# The tests use the wheel as others install it, not the sources.
dist=$target/python-dist
rm -rf "$dist"
pip=("$venv/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" wheel --no-deps --no-build-isolation --wheel-dir "$dist" "./$package"
"${pip[@]}" install --no-deps --no-index --force-reinstall "$dist"/sayso-*.whl
cd "$package/tests"
"$venv/bin/python" -B -m pytest --rootdir .. -p no:cacheprovider -p conftest "${tests[@]}" "$@"
