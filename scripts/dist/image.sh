#!/usr/bin/env bash
# An OCI image: a small Debian made by debootstrap, with the binary, as an archive for any container runtime. It has the user
# `sayso`, the volume /data, port 4517 and a health check. Needs root, debootstrap, buildah and a network.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. packaging/image/config.sh

cannot() { # reason
    [ "${SAYSO_DIST_IMAGE:-}" != yes ] || fail "No image: $1"
    echo "No image: $1" >&2
    exit 0
}
binary=
for target in $(built_targets); do
    [[ "$target" != "$(uname -m)-unknown-linux-"* ]] || binary=$(binary_of "$target")
done
[ -n "$binary" ] || cannot "there is no binary for $(uname -m)."
[ "$(id -u)" -eq 0 ] || cannot "debootstrap needs root."
for tool in debootstrap buildah; do
    type -P "$tool" >/dev/null || cannot "$tool is missing. On Debian or Ubuntu: sudo apt-get install debootstrap buildah"
done

root=$build/stage/image
store=$build/stage/containers
remove_stage() {
    # debootstrap leaves it mounted if it fails.
    umount --lazy "$root/proc" "$root/sys" 2>/dev/null || true
    rm -rf --one-file-system "$root" "$store"
}
trap remove_stage EXIT
remove_stage
mkdir -p "$root" "$store"
if ! debootstrap --variant=minbase --include="$packages" "$suite" "$root" >"$build/stage/debootstrap.log" 2>&1; then
    tail -n 20 "$build/stage/debootstrap.log" >&2
    cannot "debootstrap failed."
fi
# Nothing that changes from build to build, and no documentation except licences.
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/man/* "$root"/var/cache/ldconfig \
    "$root"/etc/machine-id "$root"/etc/resolv.conf "$root"/etc/hostname
find "$root/usr/share/doc" -type f ! -name copyright -delete
find "$root/usr/share/doc" \( -type d -empty -o -xtype l \) -delete
chroot "$root" useradd --uid "$user_id" --create-home --shell /bin/bash "$user"
install -D -m 755 "$binary" "$root/usr/bin/sayso"
mkdir -p "$root/usr/share/doc/sayso" "$root/usr/share/sayso"
cp LICENSE-APACHE LICENSE-MIT "$build/share/doc/LICENSES-THIRD-PARTY.txt" "$root/usr/share/doc/sayso"
# `sayso doctor` recognises an image by this file.
echo "$version" >"$root/usr/share/sayso/image"
install -d -m 700 -o "$user_id" -g "$user_id" "$root/data"

# The store of this build only; vfs needs no support by the kernel.
# The format of Docker has health checks, that of OCI has none.
export BUILDAH_FORMAT=docker
buildah=(buildah --root "$store/root" --runroot "$store/run" --storage-driver vfs)
container=$("${buildah[@]}" from scratch)
# `buildah copy` would give all files to root.
cp -a "$root/." "$("${buildah[@]}" mount "$container")"
"${buildah[@]}" umount "$container" >/dev/null
# The port is published on the machine's loopback interface by `--publish 127.0.0.1:4517:4517`, so the server listens on all
# addresses of the container.
"${buildah[@]}" config --user "$user" --workingdir "/home/$user" --volume /data --port 4517 --env SAYSO_DATA_DIR=/data \
    --env LANG=C.UTF-8 --entrypoint '["/usr/bin/tini","--","sayso"]' --cmd '["serve","--listen","0.0.0.0:4517"]' \
    --healthcheck 'CMD curl --fail --silent http://127.0.0.1:4517/v1/health' --healthcheck-interval 30s \
    --label org.opencontainers.image.title=Sayso --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.revision=$SAYSO_COMMIT" --label "org.opencontainers.image.licenses=MIT OR Apache-2.0" \
    "$container"
"${buildah[@]}" commit --quiet --format docker --timestamp "$SOURCE_DATE_EPOCH" "$container" "sayso:$version" >/dev/null
rm -f "$dist/sayso-$version-image.tar"
"${buildah[@]}" push --quiet "sayso:$version" "docker-archive:$dist/sayso-$version-image.tar:sayso:$version"
gzip --no-name --fast --force "$dist/sayso-$version-image.tar"
