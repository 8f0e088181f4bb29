//! The table of programs whose options can start programs, write files or read configuration, with the options that do none of
//! that.
//!
//! The `*` of an `allow` rule covers only options that are harmless in this table. `acting` lists options that are known not to
//! be harmless, for tests, for their values and for readers. An option in neither list is not covered. To add a row, read the
//! manual of the program: an option is harmless if its worst value starts nothing, names no file to write and no configuration
//! to read. `=` marks an option with a value.

use super::option_list::OptionList;

/// The options that the `*` of an `allow` rule covers, for a program or one of its subcommands.
#[derive(Debug)]
pub(super) struct ProgramRow {
    pub(super) program: &'static str,
    /// The subcommand. Empty for options before it, and for programs without subcommands. A row whose subcommand ends in ` --` has
    /// the options after `--`, which go to another program.
    pub(super) subcommand: &'static str,
    pub(super) harmless: OptionList,
    pub(super) acting: OptionList,
    pub(super) operands: Operands,
}

/// The covered words that are not options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    Any,
    /// The first one is a subcommand with a separate row.
    Subcommand,
    /// Words without these characters: not `VARIABLE=x` of `make` or `host:archive` of `tar`.
    Without(&'static [char]),
    /// Words that do not start with these characters: not `@file` of `curl` or `+command` of `less`.
    NotStarting(&'static [char]),
    /// Words other than these: not `git bisect run`.
    NoneOf(&'static [&'static str]),
    /// At most one word, because `uniq` writes to the second one.
    One,
    /// The first word is a script of `sed`, which has to be harmless.
    SedScript,
}

const fn row(program: &'static str, subcommand: &'static str, harmless: &'static str, acting: &'static str) -> ProgramRow {
    ProgramRow {
        program,
        subcommand,
        harmless: OptionList::letters(harmless),
        acting: OptionList::letters(acting),
        operands: Operands::Any,
    }
}

/// Creates the row of a program whose options are names with one dash.
const fn dash_row(program: &'static str, subcommand: &'static str, harmless: &'static str, acting: &'static str) -> ProgramRow {
    ProgramRow {
        program,
        subcommand,
        harmless: OptionList::dash_words(harmless),
        acting: OptionList::dash_words(acting),
        operands: Operands::Any,
    }
}

impl ProgramRow {
    const fn operands(self, operands: Operands) -> Self {
        Self { operands, ..self }
    }

    /// Whether the word ends the options. The expression of `find` continues after `--`.
    pub(super) fn ends_options(&self, word: &str) -> bool {
        match word {
            "--" => self.program != "find",
            "-args" => self.program == "go",
            _ => false,
        }
    }

    /// Returns the row for the options after `--`.
    pub(super) fn after_dashes(&self) -> Option<&'static Self> {
        let is_it = |row: &&Self| row.program == self.program && row.subcommand.strip_suffix(" --") == Some(self.subcommand);
        PROGRAMS.iter().find(is_it)
    }

    const fn also_harmless(self, more: &'static str) -> Self {
        Self { harmless: OptionList { more, ..self.harmless }, ..self }
    }
}

const CARGO: &str = "-p= --package= --workspace --all --exclude= --lib --bin= --bins --test= --tests --example= --examples --bench= \
     --benches --all-targets --doc --no-run --no-fail-fast --no-deps -F= --features= --all-features \
     --no-default-features -r --release --profile= -j= --jobs= --keep-going --message-format= --locked --offline \
     --frozen -v -q --verbose --quiet --color= --ignore-rust-version --future-incompat-report --timings -h --help";
const CARGO_ACTING: &str =
    "--config= --manifest-path= --target-dir= --target= --artifact-dir= --out-dir= --lockfile-path= --fix -Z= -C=";
const GIT_DIFF: &str = "-p --patch -s --no-patch -u -U= --unified= -W --function-context --raw --patch-with-raw --patch-with-stat \
     --numstat --shortstat -X= --dirstat --cumulative --dirstat-by-file --check --summary --name-only --name-status \
     --stat --stat-width= --stat-name-width= --stat-graph-width= --stat-count= --compact-summary --binary \
     --full-index --color --no-color --ws-error-highlight= -z --abbrev --no-abbrev --src-prefix= --dst-prefix= \
     --line-prefix= --no-prefix --default-prefix --inter-hunk-context= -B --break-rewrites -M --find-renames -D \
     --irreversible-delete -C --find-copies --find-copies-harder --no-renames --follow -l= --minimal -w \
     --ignore-all-space -b --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines -I= \
     --ignore-matching-lines= --indent-heuristic --patience --histogram --diff-algorithm= --anchored= --word-diff \
     --word-diff-regex= --color-words --color-moved --color-moved-ws= --no-color-moved --relative --no-relative -a \
     --text -R --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules --ita-invisible-in-index -S= -G= \
     --pickaxe-all --pickaxe-regex --rotate-to= --skip-to= --find-object= --diff-filter= --cached --staged \
     --merge-base --base --ours --theirs -# -h";
const GIT_DIFF_ACTING: &str = "--output= --ext-diff --textconv -O= --show-signature --submodule=";
const GIT_LOG: &str = "--oneline --graph --decorate --no-decorate --decorate-refs= --all --branches --tags --remotes --no-merges \
     --merges --first-parent --reverse -n= --max-count= --skip= --since= --after= --until= --before= --author= \
     --committer= --grep= --invert-grep --all-match -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings \
     -P --perl-regexp --format= --pretty --date= --abbrev-commit --no-abbrev-commit --relative-date -L= \
     --full-history --simplify-merges --topo-order --date-order --author-date-order --left-right --cherry \
     --cherry-pick --cherry-mark -g --walk-reflogs --boundary --source --use-mailmap --mailmap --notes --no-notes \
     --no-walk -q -m -c --cc --diff-merges= --remerge-diff --parents --children --merge --encoding=";
const KUBECTL: &str = "-n= --namespace= -A --all-namespaces -l= --selector= --field-selector= -L= --label-columns= \
     --no-headers --show-labels --show-kind --sort-by= -w --watch --watch-only --ignore-not-found --chunk-size= \
     --show-events --request-timeout= -o= --output= -h --help";
const KUBECTL_ACTING: &str = "--kubeconfig= -s= --server= --context= --cluster= --user= --token= --as= --as-group= \
     --cache-dir= --profile= --profile-output= --certificate-authority= --client-certificate= --client-key= \
     --insecure-skip-tls-verify --filename= -k= --kustomize= --template= --raw=";
const NPM: &str = "-s --silent --if-present --ignore-scripts --workspace= --workspaces --ws --include-workspace-root --iwr \
     --foreground-scripts --json --watch --coverage --loglevel= -q --quiet -d --long -l --depth= --all -a --omit= \
     --include= --no-audit --no-fund --no-save --prefer-offline --offline -h --help";
const NPM_ACTING: &str = "--script-shell= --shell= --prefix= -C= --userconfig= --globalconfig= --node-options= --cache= --editor= --git= \
     --init-module= --viewer= --browser= --call= -c= --package= --registry= --node-gyp= --logs-dir= --global -g \
     --location=";
const GO: &str = "-v -x -n -a -race -msan -asan -cover -short -count= -run= -skip= -bench= -benchtime= -benchmem -cpu= -failfast \
     -fullpath -json -list= -parallel= -p= -shuffle= -timeout= -tags= -trimpath -work -m -u -deps -e -f= -find -test \
     -vet= -covermode= -coverpkg= -buildvcs= -h -help";
const GO_ACTING: &str = "-exec= -toolexec= -vettool= -o= -overlay= -modfile= -mod= -modcacherw -pkgdir= -C= -ldflags= -gcflags= \
     -asmflags= -gccgoflags= -compiler= -coverprofile= -cpuprofile= -memprofile= -blockprofile= -mutexprofile= \
     -trace= -outputdir= -c -w -diff= -fixtool= -pgo=";

/// The table. Programs that are not in it, such as `ls`, `cat`, `grep` and `wc`, have no such options as far as we know.
pub(super) const PROGRAMS: &[ProgramRow] = &[
    row("cargo", "", "-q -v --quiet --verbose --locked --offline --frozen --color= -V --version --list -h --help", CARGO_ACTING)
        .operands(Operands::Subcommand),
    row("cargo", "test", CARGO, CARGO_ACTING),
    row("cargo", "t", CARGO, CARGO_ACTING),
    row("cargo", "build", CARGO, CARGO_ACTING),
    row("cargo", "b", CARGO, CARGO_ACTING),
    row("cargo", "check", CARGO, CARGO_ACTING),
    row("cargo", "c", CARGO, CARGO_ACTING),
    row("cargo", "clippy", CARGO, CARGO_ACTING),
    // The compiler's options.
    row(
        "cargo",
        "clippy --",
        "-A= -W= -D= -F= --allow= --warn= --deny= --forbid= --force-warn= --cap-lints= --no-deps -v --verbose -h --help",
        "-C= --codegen= --cfg= --check-cfg= --crate-name= --crate-type= --edition= --emit= --extern= -L= -l= -o= --out-dir= --print= \
         --sysroot= --target= -Z= -O -g --remap-path-prefix=",
    )
    .operands(Operands::NotStarting(&['@'])),
    row("cargo", "bench", CARGO, CARGO_ACTING),
    row("cargo", "doc", CARGO, "--config= --manifest-path= --target-dir= --target= --open -Z="),
    row("cargo", "run", CARGO, CARGO_ACTING),
    row("cargo", "r", CARGO, CARGO_ACTING),
    row("cargo", "fmt", "--all --check -q -v --quiet --verbose -p= --package= --message-format= -h --help", "--manifest-path="),
    // The options of rustfmt.
    row(
        "cargo",
        "fmt --",
        "--check -l --files-with-diff -q --quiet -v --verbose --color= --edition= --style-edition= --unstable-features -V --version \
         -h --help",
        "--backup --config= --config-path= --emit= --file-lines= --print-config=",
    ),
    row("cargo", "tree", CARGO, CARGO_ACTING),
    row(
        "cargo",
        "metadata",
        "--no-deps --format-version= -F= --features= --all-features --no-default-features --filter-platform= --locked \
     --offline --frozen -q -v --quiet --verbose --color=",
        CARGO_ACTING,
    ),
    row(
        "cargo",
        "update",
        "-p= --package= -w --workspace --precise= --recursive --dry-run --locked --offline --frozen -q -v --quiet \
     --verbose --color=",
        CARGO_ACTING,
    ),
    row(
        "git",
        "",
        "-P --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --no-lazy-fetch -v --version -h \
     --help",
        "-c= -C= --exec-path= --git-dir= --work-tree= --namespace= --config-env= -p --paginate --bare --super-prefix=",
    )
    .operands(Operands::Subcommand),
    row(
        "git",
        "status",
        "-v -s -b --verbose --short --branch --show-stash --ahead-behind --no-ahead-behind --porcelain --long -z --null \
     -u --untracked-files --ignored --ignore-submodules --column --no-column --no-renames --renames -M --find-renames \
     -h",
        "",
    ),
    row("git", "diff", GIT_DIFF, "--output= --ext-diff --textconv -O= --submodule="),
    row("git", "log", GIT_LOG, GIT_DIFF_ACTING).also_harmless(GIT_DIFF),
    row("git", "show", GIT_LOG, GIT_DIFF_ACTING).also_harmless(GIT_DIFF),
    row(
        "git",
        "shortlog",
        "-c --committer -n --numbered -s --summary -e --email -w --group= --all --no-merges --since= --until= --author= \
     -#",
        "--output=",
    ),
    row(
        "git",
        "blame",
        "--incremental -b --root --show-stats --progress --no-progress -f --show-name -n --show-number -p --porcelain \
     --line-porcelain -c -t -l -s -e --show-email -w --ignore-rev= --color-lines --color-by-age --minimal -C -M -L= \
     --abbrev --since= --first-parent",
        "--contents= -S= --ignore-revs-file=",
    ),
    row(
        "git",
        "grep",
        "--cached --no-index --index --untracked --exclude-standard --recurse-submodules -v --invert-match -i \
     --ignore-case -w --word-regexp -a --text -I -r --recursive --max-depth= -E --extended-regexp -G --basic-regexp \
     -F --fixed-strings -P --perl-regexp -n --line-number --column -h -H --full-name -l --files-with-matches \
     --name-only -L --files-without-match -z --null -o --only-matching -c --count --color --no-color --break \
     --heading -C= --context= -B= --before-context= -A= --after-context= --threads= -p --show-function -W \
     --function-context -e= --and --or --not -q --quiet --all-match -m= --max-count= -#",
        "-O --open-files-in-pager --textconv --ext-grep -f=",
    ),
    row(
        "git",
        "branch",
        "-v -q --verbose --quiet -t --track --no-track -u= --set-upstream-to= --unset-upstream --color --no-color -r \
     --remotes --contains= --no-contains= --abbrev --no-abbrev -a --all -d --delete -D -m --move -M --omit-empty -c \
     --copy -C -l --list --show-current --create-reflog -f --force --merged= --no-merged= --column --no-column --sort= \
     --points-at= -i --ignore-case --format=",
        "--edit-description",
    ),
    row(
        "git",
        "rev-parse",
        "--abbrev-ref --short --verify -q --quiet --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir \
     --absolute-git-dir --is-inside-work-tree --is-bare-repository --symbolic --symbolic-full-name --all --branches \
     --tags --remotes --since= --until= --path-format=",
        "--parseopt --sq-quote",
    ),
    row(
        "git",
        "ls-files",
        "-z -t -v -f -c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -k --killed --directory \
     --eol --no-empty-directory -u --unmerged -x= --exclude= --exclude-standard --full-name --recurse-submodules \
     --error-unmatch --abbrev --deduplicate --sparse --format=",
        "-X= --exclude-from= --exclude-per-directory=",
    ),
    row(
        "git",
        "describe",
        "--contains --all --tags --long --first-parent --abbrev= --exact-match --candidates= --match= --exclude= --always \
     --dirty --broken",
        "",
    ),
    row(
        "git",
        "add",
        "-n --dry-run -v --verbose -f --force -u --update --renormalize -N --intent-to-add -A --all --no-all \
     --ignore-removal --refresh --ignore-errors --ignore-missing --sparse --chmod=",
        "-e --edit -i --interactive -p --patch --pathspec-from-file=",
    ),
    row(
        "git",
        "commit",
        "-q --quiet -v --verbose --author= --date= -m= --message= -C= --reuse-message= --fixup= --squash= --reset-author \
     --trailer= -s --signoff --no-edit --cleanup= --status --no-status -a --all -i --include -o --only --dry-run \
     --short --branch --porcelain --long -z --null --amend --no-gpg-sign --allow-empty -u --untracked-files",
        "-F= --file= -t= --template= -e --edit -c= --reedit-message= -S --gpg-sign -n --no-verify -p --patch \
     --interactive --pathspec-from-file=",
    ),
    row(
        "git",
        "checkout",
        "-b= -B= -l --guess --no-guess --overlay --no-overlay -q --quiet --progress --no-progress -m --merge --conflict= \
     -d --detach -t --track --no-track -f --force --orphan= -2 --ours -3 --theirs",
        "-p --patch --pathspec-from-file= --recurse-submodules",
    ),
    row(
        "git",
        "switch",
        "-c= --create= -C= --force-create= --guess --no-guess --discard-changes -q --quiet --progress --no-progress -m \
     --merge --conflict= -d --detach -t --track --no-track -f --force --orphan=",
        "--recurse-submodules",
    ),
    row(
        "git",
        "restore",
        "-s= --source= -S --staged -W --worktree --ignore-unmerged --overlay --no-overlay -q --quiet --progress \
     --no-progress -m --merge --conflict= -2 --ours -3 --theirs",
        "-p --patch --pathspec-from-file= --recurse-submodules",
    ),
    row(
        "git",
        "stash",
        "-u --include-untracked -a --all -k --keep-index --no-keep-index -q --quiet -m= --message= --index -S --staged \
     --stat",
        "-p --patch --pathspec-from-file=",
    ),
    row(
        "git",
        "tag",
        "-l --list -n -d --delete -a --annotate -m= --message= -f --force --create-reflog --column --contains= \
     --no-contains= --merged= --no-merged= --omit-empty --sort= --points-at= --format= --color -i --ignore-case -#",
        "-F= --file= -e --edit -s --sign -u= --local-user= -v --verify",
    ),
    row("git", "remote", "-v --verbose", "").operands(Operands::NoneOf(&["add", "set-url", "rename", "update"])),
    row(
        "git",
        "fetch",
        "-v --verbose -q --quiet --all --atomic -f --force -m --multiple -t --tags --no-tags -n -j= --jobs= -p --prune -P \
     --prune-tags --dry-run --porcelain -k --keep --progress --no-progress --depth= --shallow-since= \
     --shallow-exclude= --deepen= --unshallow --refetch -4 --ipv4 -6 --ipv6",
        "--upload-pack= --server-option= -o= --recurse-submodules --stdin --refmap=",
    ),
    row(
        "git",
        "pull",
        "-v --verbose -q --quiet --progress --no-progress -r --rebase --no-rebase -n --stat --no-stat --log --squash \
     --no-squash --commit --no-commit --no-edit --ff --no-ff --ff-only --autostash --no-autostash --all -t --tags -p \
     --prune -j= --jobs= --dry-run --depth= --unshallow -4 --ipv4 -6 --ipv6",
        "--upload-pack= -e --edit -s= --strategy= -X= --strategy-option= -S --gpg-sign --recurse-submodules -o= \
     --server-option=",
    ),
    row(
        "git",
        "push",
        "-v --verbose -q --quiet --all --branches --mirror -d --delete --tags -n --dry-run --porcelain -f --force \
     --force-with-lease --force-if-includes -u --set-upstream --progress --no-progress --prune --follow-tags --atomic \
     -4 --ipv4 -6 --ipv6",
        "--receive-pack= --exec= --repo= --no-verify --signed -o= --push-option= --recurse-submodules=",
    ),
    row(
        "git",
        "clone",
        "-v --verbose -q --quiet --progress -n --no-checkout --bare --mirror -l --local --no-hardlinks -j= --jobs= -o= \
     --origin= -b= --branch= --depth= --shallow-since= --single-branch --no-single-branch --no-tags --sparse -4 \
     --ipv4 -6 --ipv6 --filter=",
        "-c= --config= -u= --upload-pack= --template= --separate-git-dir= --reference= --reference-if-able= \
     --recurse-submodules --recursive --remote-submodules --bundle-uri= --server-option=",
    ),
    row(
        "git",
        "archive",
        "--format= --prefix= -v --verbose -l --list -# --mtime=",
        "-o= --output= --exec= --remote= --add-file= --add-virtual-file= --worktree-attributes",
    ),
    row(
        "git",
        "ls-remote",
        "-q --quiet -t --tags -b --branches -h --heads --refs --get-url --sort= --exit-code --symref",
        "--upload-pack= -o= --server-option=",
    ),
    row("git", "bisect", "-q --no-checkout --first-parent", "").operands(Operands::NoneOf(&["run", "replay", "visualize", "view"])),
    row("git", "submodule", "-q --quiet --cached", "--recursive").operands(Operands::NoneOf(&["foreach", "add", "update"])),
    row("npm", "", "-s --silent -q --quiet -v --version -h --help", NPM_ACTING).operands(Operands::Subcommand),
    row("npm", "test", NPM, NPM_ACTING),
    row("npm", "t", NPM, NPM_ACTING),
    row("npm", "run", NPM, NPM_ACTING),
    row("npm", "run-script", NPM, NPM_ACTING),
    row("npm", "start", NPM, NPM_ACTING),
    row("npm", "ci", NPM, NPM_ACTING),
    row("npm", "ls", NPM, NPM_ACTING),
    row("npm", "outdated", NPM, NPM_ACTING),
    row("npm", "audit", NPM, NPM_ACTING).operands(Operands::NoneOf(&["fix"])),
    row("npm", "view", NPM, NPM_ACTING),
    row("npm", "exec", "", NPM_ACTING),
    row("npm", "x", "", NPM_ACTING),
    row("go", "", "", "-C=").operands(Operands::Subcommand),
    dash_row("go", "test", GO, GO_ACTING),
    dash_row("go", "build", GO, GO_ACTING),
    dash_row("go", "vet", GO, GO_ACTING),
    dash_row("go", "list", GO, GO_ACTING),
    dash_row("go", "version", "-v -m", ""),
    dash_row("go", "doc", "-all -c -cmd -short -src -u", "-C="),
    row("kubectl", "", "-n= --namespace= -h --help", KUBECTL_ACTING).operands(Operands::Subcommand),
    row("kubectl", "get", KUBECTL, KUBECTL_ACTING),
    row("kubectl", "describe", KUBECTL, KUBECTL_ACTING),
    row(
        "kubectl",
        "logs",
        "-n= --namespace= -l= --selector= -c= --container= --all-containers -p --previous --since= --since-time= --tail= \
         --timestamps --limit-bytes= --prefix -f --follow --ignore-errors -h --help",
        KUBECTL_ACTING,
    ),
    row("kubectl", "top", KUBECTL, KUBECTL_ACTING),
    row("kubectl", "version", "--client -h --help", KUBECTL_ACTING),
    row(
        "make",
        "",
        "-B --always-make -d --debug -h --help -i --ignore-errors -j= --jobs= -k --keep-going -l= --load-average= -n \
     --just-print --dry-run --recon -O --output-sync -p --print-data-base -q --question -r --no-builtin-rules -R \
     --no-builtin-variables -s --silent --quiet --no-silent -S --no-keep-going --stop --trace -v --version -w \
     --print-directory --no-print-directory --warn-undefined-variables",
        "-f= --file= --makefile= -C= --directory= -I= --include-dir= -E= --eval= -e --environment-overrides -o= \
     --old-file= --assume-old= -W= --what-if= --new-file= --assume-new= -t --touch",
    )
    .operands(Operands::Without(&['='])),
    row(
        "sed",
        "",
        "-n --quiet --silent --debug -l= --line-length= --posix -E -r --regexp-extended -s --separate --sandbox -u \
     --unbuffered -z --null-data --help --version",
        "-i --in-place -e= --expression= -f= --file= --follow-symlinks",
    )
    .operands(Operands::SedScript),
    row(
        "tar",
        "",
        "-t --list -v --verbose -f= --file= -z --gzip --gunzip -j --bzip2 -J --xz --zstd \
     -a --auto-compress -k --keep-old-files --skip-old-files --keep-newer-files -m --touch -O --to-stdout -p \
     --preserve-permissions --no-same-owner --no-same-permissions --numeric-owner --exclude= --exclude-vcs \
     --strip-components= --wildcards --no-recursion --totals --help --version",
        "-c --create -x --extract --get -r --append -u --update -F= --info-script= --new-volume-script= -I= --use-compress-program= --to-command= --checkpoint-action= \
     --rsh-command= --rmt-command= -C= --directory= -P --absolute-names -T= --files-from= -X= --exclude-from= -g= \
     --listed-incremental= --index-file= --volno-file= --one-top-level= --remove-files --transform= --xform= -A \
     --catenate --delete -M --multi-volume",
    )
    .operands(Operands::Without(&[':'])),
    row(
        "curl",
        "",
        "-s --silent -S --show-error -f --fail --fail-with-body --fail-early -L --location -I --head -i --include -v \
     --verbose -A= --user-agent= -e= --referer= -X= --request= -H= --header= -G --get --compressed -m= --max-time= \
     --connect-timeout= --max-redirs= --retry= --retry-delay= --retry-max-time= --retry-connrefused \
     --retry-all-errors -r= --range= -N --no-buffer -g --globoff -0 --http1.0 --http1.1 --http2 --http3 -4 --ipv4 -6 \
     --ipv6 -k --insecure --no-progress-meter -q --disable -V --version --path-as-is --tlsv1.2 --tlsv1.3 --url= \
     --limit-rate= --max-filesize=",
        "-o= --output= --output-dir= -O --remote-name --remote-name-all -J --remote-header-name -D= --dump-header= -c= \
     --cookie-jar= -b= --cookie= --trace= --trace-ascii= --stderr= --libcurl= -K= --config= -T= --upload-file= -d= \
     --data= --data-binary= --data-urlencode= --data-ascii= --json= -F= --form= -w= --write-out= --netrc-file= \
     --etag-save= --etag-compare= --hsts= --alt-svc= --engine= --cacert= --capath= -E= --cert= --key= --unix-socket= \
     --abstract-unix-socket= -x= --proxy= --preproxy= --ntlm-wb -Q= --quote= --create-dirs --xattr -C= --continue-at=",
    )
    .operands(Operands::NotStarting(&['@'])),
    row(
        "wget",
        "",
        "-q --quiet -v --verbose --no-verbose -S --server-response --spider -t= --tries= -T= --timeout= \
     --connect-timeout= --read-timeout= --dns-timeout= -4 -6 --max-redirect= --limit-rate= --no-cache -U= \
     --user-agent= --header= --referer= --https-only --no-proxy -h --help -V --version",
        "-O= --output-document= -o= --output-file= -a= --append-output= -P= --directory-prefix= -i= --input-file= -e= \
     --execute= --config= --use-askpass= --post-file= --body-file= --save-cookies= --load-cookies= --rejected-log= \
     --warc-file= --hsts-file= -r --recursive -m --mirror -x --force-directories --private-key= --certificate=",
    ),
    dash_row(
        "find",
        "",
        "-H -L -P -# -daystart -follow -nowarn -regextype= -warn -depth -d -maxdepth= -mindepth= -mount -xdev -noleaf \
     -ignore_readdir_race -amin= -anewer= -atime= -cmin= -cnewer= -ctime= -empty -false -fstype= -gid= -group= \
     -ilname= -iname= -inum= -ipath= -iwholename= -iregex= -links= -lname= -mmin= -mtime= -name= -newer= -newermt= \
     -newerct= -nouser -nogroup -path= -perm= -regex= -readable -writable -executable -samefile= -wholename= -size= \
     -true -type= -uid= -used= -user= -xtype= -not -a -and -o -or -print -print0 -printf= -ls -prune -quit -help \
     -version",
        "-delete -exec= -execdir= -ok= -okdir= -fprint= -fprint0= -fprintf= -fls= -files0-from=",
    ),
    row(
        "fd",
        "",
        "-H --hidden -I --no-ignore -u --unrestricted -s --case-sensitive -i --ignore-case -g --glob --regex -F \
     --fixed-strings -a --absolute-path -l --list-details -L --follow -p --full-path -d= --max-depth= --min-depth= \
     --exact-depth= -E= --exclude= -t= --type= -e= --extension= -S= --size= --changed-within= --changed-before= -0 \
     --print0 -c= --color= -j= --threads= -1 -q --quiet --max-results= --prune --strip-cwd-prefix -h --help -V \
     --version",
        "-x= --exec= -X= --exec-batch= -C= --base-directory= --search-path= --ignore-file=",
    ),
    row(
        "rg",
        "",
        "-i --ignore-case -v --invert-match -n --line-number -N --no-line-number -l --files-with-matches \
     --files-without-match --files -c --count --count-matches -w --word-regexp -x --line-regexp -F --fixed-strings -U \
     --multiline --multiline-dotall -P --pcre2 -o --only-matching -s --case-sensitive -S --smart-case -a --text -u \
     --unrestricted -H --with-filename -I --no-filename -0 --null -q --quiet -p --pretty -L --follow -A= \
     --after-context= -B= --before-context= -C= --context= -e= --regexp= -g= --glob= --iglob= -t= --type= -T= \
     --type-not= --type-list -m= --max-count= -j= --threads= -M= --max-columns= -r= --replace= -d= --max-depth= \
     --hidden --no-hidden --no-ignore --no-ignore-vcs --heading --no-heading --color= --column --json --stats --sort= \
     --sortr= --trim --vimgrep --no-messages --passthru --debug --no-config -h --help -V --version",
        "--pre= --pre-glob= --hostname-bin= -z --search-zip --ignore-file= -f= --file= --hyperlink-format=",
    ),
    row(
        "sort",
        "",
        "-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -i \
     --ignore-nonprinting -M --month-sort -h --human-numeric-sort -n --numeric-sort -R --random-sort -r --reverse \
     --sort= -V --version-sort -c --check -C -k= --key= -m --merge -s --stable -t= --field-separator= -u --unique -z \
     --zero-terminated --debug --parallel= --help --version",
        "-o= --output= --compress-program= -T= --temporary-directory= --files0-from= -S= --buffer-size= --random-source=",
    ),
    row(
        "uniq",
        "",
        "-c --count -d --repeated -D --all-repeated -u --unique -i --ignore-case -f= --skip-fields= -s= --skip-chars= -w= \
     --check-chars= -z --zero-terminated --group --help --version",
        "",
    )
    .operands(Operands::One),
    // Letters that share a dash each take the next word as a value, so only whole words are accepted.
    dash_row(
        "tree",
        "",
        "-a -d -f -i -l -x -L= -P= -I= -p -u -g -s -h -D -F -q -N -v -t -c -U -r -S -n -C -A -X -J -dirsfirst -prune",
        "-o= -output= -R -H= -gitfile= -infofile= -fromfile",
    ),
    row(
        "man",
        "",
        "-k -f -a -w -s= -S= -K --apropos --whatis --all --where --sections= -h --help -V --version",
        "-P= --pager= -H --html -C= --config-file= -M= --manpath= -l --local-file -p= --preprocessor= -X --gxditview -Z \
     -T= --troff-device= -r= --prompt= -m= --systems=",
    ),
    // After a letter with a number or a text, `less` reads more letters: `-x4ofile`.
    row(
        "less",
        "",
        "-N -n -S -R -r -F -X -i -I -M -m -e -E -g -G -s -q -Q -w --help --version",
        "-o= -O= --log-file= --LOG-FILE= -k= --lesskey-file= --lesskey-src= --lesskey-content= -t= --tag= -T= --tag-file= \
         -x= -p= -z= -y= -h=",
    )
    .operands(Operands::NotStarting(&['+'])),
];
