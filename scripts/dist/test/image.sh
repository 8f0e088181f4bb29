#!/usr/bin/env bash
# The image in a rootless runtime: an ordinary user runs it, the server upgrades the database of the volume and is healthy, an agent
# in the container asks, and a new container has the asks of the volume.
set -euo pipefail
. "$(dirname "$0")/common.sh"

image=$dist/sayso-$version-image.tar.gz
require "$image" image

# The user, who has no rights but a range of user ids, exists in this mount namespace only.
person=65533
name=sayso-dist-test
chmod 755 "$work"
mkdir "$work/home" "$work/run"
chown "$person:$person" "$work/home" "$work/run"
{ cat /etc/passwd; echo "$name:x:$person:$person::$work/home:/bin/sh"; } >"$work/passwd"
{ cat /etc/group; echo "$name:x:$person:"; } >"$work/group"
echo "$name:300000:65536" >"$work/range"
touch /etc/subuid /etc/subgid
mount --bind "$work/passwd" /etc/passwd
mount --bind "$work/group" /etc/group
mount --bind "$work/range" /etc/subuid
mount --bind "$work/range" /etc/subgid
# crun refuses a mixture of both versions of control groups, which it does not need here.
if [ "$(stat --file-system --format %T /sys/fs/cgroup)" != cgroup2fs ]; then
    umount --recursive /sys/fs/cgroup
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi

# Without systemd, Podman logs an error because it cannot schedule health checks.
as_person=(setpriv "--reuid=$person" "--regid=$person" --clear-groups env -i --chdir=/ "PATH=$PATH" "HOME=$work/home"
    "XDG_RUNTIME_DIR=$work/run" TERM=xterm podman --log-level fatal --cgroup-manager cgroupfs --events-backend file)
podman() { # arguments
    timeout --kill-after=10 300 "${as_person[@]}" "$@"
}
run() {
    podman run --detach --network none --cgroups disabled --volume sayso:/data --name sayso "sayso:$version" >/dev/null
}
healthy() {
    for _ in $(seq 200); do
        ! podman exec sayso curl --fail --silent http://127.0.0.1:4517/v1/health >/dev/null 2>&1 || return 0
        [ "$(podman inspect --format '{{.State.Running}}' sayso)" = true ] || break
        sleep 0.1
    done
    fail "$(podman logs sayso 2>&1)" "The server in the container is not healthy."
}
# The processes and layers of the user are gone before the directory is.
end_podman() {
    podman rm --force --ignore sayso >/dev/null 2>&1 || true
    podman unshare rm -rf "$work/home/.local/share/containers" >/dev/null 2>&1 || true
    # Ends the process that keeps the user namespace.
    podman system migrate >/dev/null 2>&1 || true
    end
}
trap end_podman EXIT

# Podman 4.3 does not load compressed archives.
zcat "$image" | podman load --quiet >/dev/null
write_older_database "$work/volume/data"
(. packaging/image/config.sh && tar --directory "$work/volume/data" --owner="$user_id" --group="$user_id" --create .) >"$work/volume.tar"
chmod 644 "$work/volume.tar"
podman volume create sayso >/dev/null
podman volume import sayso "$work/volume.tar"
run
healthy
inside=(podman exec sayso sayso)
lists "$older_question" "${inside[@]}"
podman exec sayso sh -c 'test -f /data/sayso.before-*.db' || fail "The container did not upgrade the database of an older release."
pass "a container upgrades the database of an older release and keeps its asks"
[ "$(podman exec sayso id -un)" = sayso ] || fail "The container runs as another user."
{ echo '#!/bin/bash' && printf '%q ' exec "${as_person[@]}" exec --interactive --tty sayso sayso && echo '"$@"'; } >"$work/in-container"
chmod 755 "$work/in-container"
first_question "an agent in the container" "$work/in-container"
podman exec sayso sayso ask "Pending over the upgrade?" --no-wait >/dev/null
podman rm --force sayso >/dev/null
run
healthy
lists "Pending over the upgrade?" "${inside[@]}"
doctor_says "part of a container image" "${inside[@]}"
podman healthcheck run sayso >/dev/null || fail "The health check fails."
podman rm --force sayso >/dev/null
pass "the image runs without root, and a new container has the asks of the volume"
