# The content of the image. Sourced by scripts/dist/image.sh.
# shellcheck shell=bash disable=SC2034

suite=bookworm
# Agents need a system around them. Those that need Node.js go into an image of your own, with the version that they want.
packages=ca-certificates,curl,git,less,openssh-client,procps,ripgrep,tini
user=sayso
user_id=1000
