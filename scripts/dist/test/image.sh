#!/usr/bin/env bash
# The image in a rootless runtime: an ordinary user runs it, the server is healthy and asks survive in the volume.
set -euo pipefail
. "$(dirname "$0")/common.sh"

image=$dist/sayso-$version-image.tar.gz
if [ ! -f "$image" ]; then
    echo "There is no image: \`make dist\` said why."
    exit
fi
type -P podman >/dev/null || fail "podman is missing. On Debian or Ubuntu: sudo apt-get install podman uidmap crun"
chmod 755 "$work"
person=65533
mkdir -p "$work/home" "$work/run" "$work/data"
chown "$person:$person" "$work/home" "$work/run" "$work/data"
as_person() { # command…
    setpriv --reuid="$person" --regid="$person" --clear-groups env -i --chdir=/ "PATH=$PATH" "HOME=$work/home" "XDG_RUNTIME_DIR=$work/run" "$@"
}
# One user is enough: the user of the image is the caller.
podman=(as_person podman --storage-driver overlay --storage-opt overlay.ignore_chown_errors=true --cgroup-manager cgroupfs --events-backend file)
"${podman[@]}" load --quiet --input "$image"
run=("${podman[@]}" run --detach --network none --cgroups disabled --volume "$work/data:/data" --name sayso)
"${run[@]}" "sayso:$version" >/dev/null
healthy() {
    for _ in $(seq 200); do
        ! "${podman[@]}" exec sayso curl --fail --silent http://127.0.0.1:4517/v1/health >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "$("${podman[@]}" logs sayso 2>&1)" "The server in the container is not healthy."
}
healthy
[ "$("${podman[@]}" exec sayso id -un)" = sayso ] || fail "The container runs as another user."
"${podman[@]}" exec sayso sayso ask "Pending over the upgrade?" --no-wait >/dev/null
"${podman[@]}" rm --force sayso >/dev/null
"${run[@]}" "sayso:$version" >/dev/null
healthy
"${podman[@]}" exec sayso sayso ls | grep 'Pending over the upgrade?' >/dev/null || fail "A new container lost the ask."
"${podman[@]}" exec sayso sayso doctor | grep 'part of a container image' >/dev/null || fail "doctor does not recognise the image."
"${podman[@]}" rm --force sayso >/dev/null
pass "the image runs without root, and a new container has the asks of the volume"
