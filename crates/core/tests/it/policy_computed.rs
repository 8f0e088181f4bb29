//! A person decides when the shell computes the name of the program, including programs started by other programs.

use sayso_core::texts;

use crate::support::{approved, denied, run, user, verdict, why};

const COMPUTED: &str = "built in: sayso itself: the name of a command in it is computed, so it might be sayso";
const ALLOW_ALL: &str = "[approvals]\npolicy = \"allow\"\n[[rules]]\ndo = \"allow\"\nrun = \"*\"";

/// Every wrapper with the words before its program.
const WRAPPERS: &[&str] = &[
    "env",
    "env -i",
    "env -u A",
    "env A=1",
    "env -C /tmp",
    "env -S",
    "sudo",
    "sudo -u root",
    "sudo -E A=1",
    "doas",
    "nohup",
    "nice",
    "nice -n 5",
    "ionice -c 2",
    "timeout 5",
    "timeout -k 1 5",
    "timeout --foreground 5",
    "stdbuf -oL",
    "setsid",
    "command",
    "command -p",
    "builtin",
    "exec",
    "exec -a name",
    "time",
    "time --",
    "time -p --",
    "xargs",
    "ls | xargs -n 1",
    "ls | xargs -I{}",
    "parallel",
    "watch",
    "chroot /",
    "unshare -r",
    "nsenter -t 1",
    "flock lock",
    "strace -f",
    "taskset 1",
    "chrt 1",
    "setarch x86_64",
    "setarch -R",
    "linux64",
    "prlimit --nofile=10",
    "busybox",
    "su -c",
    "script -c",
    "systemd-run",
    "npx",
    "bunx",
    "uvx",
    "npm exec",
    "npm exec --",
    "npm --silent exec",
    "npm x",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "uv run",
    "uv tool run",
    "poetry run",
    "bundle exec",
    "direnv exec .",
    "ssh host",
    "docker run img",
    "docker exec -it box",
    "kubectl exec pod --",
    "find . -exec",
    "find . -name x -execdir",
    "find . -ok",
    "fd -x",
    "git bisect run",
    "git submodule foreach",
    "bash",
    "bash -c",
    "sudo bash -c",
    "env timeout 5",
    "xargs env",
    "find . -exec env",
    "trap",
    "tmux new-session",
];

/// Parts of a word that the shell computes: variables, substitutions, globs, braces.
const PROGRAMS: &[&str] =
    &["$x", "${a}so", "\"$x\"", "$(echo rm)", "\"$(echo rm)\"", "`echo rm`", "/usr/bin/say[s]o", "/usr/bin/s*o", "/bin/{rm,x}"];

#[test]
fn computed_programs_after_wrappers_need_a_person() {
    let set = user(ALLOW_ALL);
    let lines = WRAPPERS.iter().flat_map(|wrapper| PROGRAMS.iter().map(move |program| format!("{wrapper} {program}")));
    // Shells expand no glob in the words that `watch` and its like join, and `{}` alone is their placeholder.
    let joined = ["parallel", "watch", "su -c", "script -c", "trap", "tmux new-session", "flock lock"];
    let is_joined_glob = |line: &String| joined.iter().any(|wrapper| line.starts_with(wrapper)) && !line.contains(['$', '`']);
    let wrong: Vec<String> =
        lines.filter(|line| !is_joined_glob(line)).filter(|line| why(&verdict(&set, &run(line))) != Some(COMPUTED)).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn computed_programs_need_a_person() {
    let set = user(ALLOW_ALL);
    for line in [
        "env $(echo rm) x",
        "env - $(echo rm) x",
        "env - ${a}so approve 4f2a",
        "a=say; env ${a}so approve 4f2a",
        "sudo $A",
        "xargs ${a}so",
        "find . -exec $x {} +",
        "env /usr/bin/say[s]o",
        "env FOO=$x ls",
        "sudo -u $x ls",
        "timeout $x ls",
        "env -S 'say${x}o approve'",
        "env -S'say${x}o' approve",
        "env -vS timeout 5 \"$x\"",
        "env --split-string='say${x}o'",
        "echo approve | xargs env",
        "echo x | xargs -n1 sudo",
        "echo x | xargs sh -c",
        "echo x | xargs -I % % approve",
        "echo x | xargs -I{} {} approve",
        "find . -exec {} \\;",
        "find . -exec sudo {} \\;",
        "bash $x",
        "bash \"$x\" 'ls'",
        "sh -x $x",
        "git $x",
        "git -c \"$x\" q",
        "git -c alias.q=\"$x\" q",
        "git rebase -x \"$x\"",
        "watch ls \"$x\"",
        "nice -n 5 timeout 5 env $x",
        "bash -c 'env $x'",
        "echo $(env $x)",
    ] {
        assert_eq!(why(&verdict(&set, &run(line))), Some(COMPUTED), "{line}");
    }
}

#[test]
fn computed_arguments_of_known_programs_can_be_allowed() {
    let set = user("[approvals]\npolicy = \"allow\"");
    for line in [
        "env \"PATH=$PATH\" cargo test",
        "sudo -u \"$USER\" make $TARGET",
        "timeout 5 cargo test \"$NAME\"",
        "env cargo test $FLAGS",
        "command -v $TOOL",
        "xargs -I{} cp {} \"$DIR\"",
        "find \"$DIR\" -name '*.rs' -exec wc -l {} +",
        "nice make -j \"$(nproc)\"",
        "docker run -v \"$DIR:/src\" image make",
        "docker exec $BOX ls",
        "kubectl exec $POD -- ls $DIR",
        "npm run build -- \"$X\"",
        "npm install $PACKAGE",
        "ssh $HOST uptime",
        "git diff $BASE",
        "git -C \"$DIR\" status",
        "bash build.sh $X",
        "ls $X",
    ] {
        assert_eq!(verdict(&set, &run(line)), approved("approvals.policy = \"allow\""), "{line}");
    }
}

#[test]
fn deny_matches_programs_after_runners() {
    let set = user("[approvals]\npolicy = \"allow\"\n[[rules]]\nname = \"never\"\ndo = \"deny\"\nrun = \"rm *\"");
    for line in [
        "env $(echo rm) x",
        "A=rm; sudo $A x",
        "time -- rm x",
        "time -p -- rm x",
        "env -S 'rm x'",
        "env -S'rm x'",
        "env -Srm x",
        "env -iS 'rm x'",
        "env --split-string='rm x'",
        "npm exec rm x",
        "npm exec -- rm x",
        "pnpm dlx rm x",
        "yarn exec rm x",
        "uv run rm x",
        "uv tool run rm x",
        "bun x rm y",
        "npx rm x",
        "prlimit --nofile=10 rm x",
        "setarch x86_64 rm x",
        "setarch -R rm x",
        "linux32 rm x",
    ] {
        assert_eq!(verdict(&set, &run(line)), denied(texts::DENIED_BY_POLICY, "never"), "{line}");
    }
    for line in ["npm install rm", "uv add rm", "yarn add rm", "bun add rm"] {
        assert_eq!(verdict(&set, &run(line)), approved("approvals.policy = \"allow\""), "{line}");
    }
}

#[test]
fn runners_need_a_rule_and_another_one_for_their_command() {
    let set = user(
        "[[rules]]\nname = \"r\"\ndo = \"allow\"\nrun = [\"npm *\", \"pnpm *\", \"yarn *\", \"uv *\", \"bun *\", \"npx *\", \"prlimit *\", \"setarch *\", \"env *\", \"ls *\", \"env -S ls\"]",
    );
    for line in [
        "npm exec ls",
        "npm exec -- ls -l",
        "pnpm exec ls",
        "yarn exec ls",
        "uv run ls",
        "bun x ls",
        "npx ls",
        "prlimit ls",
        "env ls",
        "env -S ls",
    ] {
        assert_eq!(verdict(&set, &run(line)), approved("r"), "{line}");
    }
    for line in [
        "npm exec rm x",
        "npm exec -- rm x",
        "npm exec --call 'rm x'",
        "npm --silent exec rm x",
        "pnpm exec rm x",
        "pnpm dlx rm x",
        "yarn exec rm x",
        "uv run rm x",
        "uv run --with x rm y",
        "uv tool run rm x",
        "bun x rm y",
        "npx rm x",
        "npx -c 'rm x'",
        "prlimit rm x",
        "prlimit --nofile=10 ls",
        "setarch x86_64 rm x",
        "env -S 'rm x'",
        "env -S 'ls x'",
    ] {
        assert!(why(&verdict(&set, &run(line))).is_some(), "{line}: {:?}", verdict(&set, &run(line)));
    }
}
