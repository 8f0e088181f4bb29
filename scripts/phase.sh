# Sourced by scripts that run for minutes: announces each phase with its usual length, and prints the times at the end.

phase_name=
phase_start=0
phase_times=()

phase() { # name, usual length
    end_phase
    phase_name=$1
    phase_start=$SECONDS
    echo "== $1${2:+ (usually $2)}"
}

end_phase() {
    [ -n "$phase_name" ] || return 0
    local took=$((SECONDS - phase_start))
    phase_times+=("$(printf '%3d min %02d s  %s' $((took / 60)) $((took % 60)) "$phase_name")")
    phase_name=
}

print_phases() {
    end_phase
    printf '%s\n' "" "${phase_times[@]}" "$(printf '%3d min %02d s  in all' $((SECONDS / 60)) $((SECONDS % 60)))"
}

# Starts a command in parallel with the phases. Its output is shown only if it fails: see join_background.
in_background() { # name, command…
    local name=$1
    shift
    # Job control gives the command a process group of its own, which end_background ends as a whole.
    set -m
    "$@" >"$background/$name.log" 2>&1 &
    background_jobs[$name]=$!
    set +m
}

# Waits for a command that was started with in_background.
join_background() { # name
    if ! wait "${background_jobs[$1]}"; then
        cat "$background/$1.log" >&2
        echo "$1 failed." >&2
        exit 1
    fi
}

# Ends background commands when the script is interrupted.
end_background() {
    local job
    for job in "${background_jobs[@]}"; do
        kill -- "-$job" 2>/dev/null || true
    done
    rm -rf "$background"
}

declare -A background_jobs=()
background=$(mktemp -d)
trap end_background EXIT
