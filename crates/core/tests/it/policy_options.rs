//! The `*` of an `allow` covers only options that start nothing, write nothing and read no configuration.

use sayso_core::policy::PolicySet;

use crate::support::{approved, run, user, verdict, why};

const RULES: &str = r#"
    [[rules]]
    name = "wide"
    do = "allow"
    run = [
        "sed *", "git *", "tar *", "go *", "make *", "npm *", "cargo *", "curl *", "kubectl *", "find *", "fd *", "rg *",
        "sort *", "uniq *", "less *", "man *", "wget *", "tree *", "ls *", "cat *", "grep *", "head *", "tail *", "wc *",
    ]
"#;

fn covered(set: &PolicySet, lines: &[&str]) {
    for line in lines {
        assert_eq!(verdict(set, &run(line)), approved("wide"), "{line}");
    }
}

fn not_covered(set: &PolicySet, lines: &[&str]) {
    for line in lines {
        assert_eq!(why(&verdict(set, &run(line))).map(|why| why.starts_with("no rule allows")), Some(true), "{line}");
    }
}

#[test]
fn words_from_the_input_of_xargs_may_be_options() {
    let set = user(
        "[[rules]]\nname = \"wide\"\ndo = \"allow\"\nrun = [\"echo *\", \"xargs *\", \"sed *\", \"find *\", \"git status\", \"git diff *\", \"cat *\", \"wc -l\"]",
    );
    not_covered(
        &set,
        &[
            "echo '1e id' a | xargs sed",
            "echo p | xargs sed -n",
            "echo . -exec id + | xargs find",
            "echo --output=x | xargs git diff",
            "echo x | xargs git status",
            "echo x | xargs wc -l",
        ],
    );
    covered(&set, &["echo a | xargs cat", "echo a | xargs cat b", "echo a | xargs echo"]);
    let writes = user("[[rules]]\nname = \"wide\"\ndo = \"allow\"\nrun = [\"echo *\", \"xargs *\", \"rm *\", \"rm a\"]");
    not_covered(&writes, &["echo .git/config | xargs rm", "echo x | xargs rm a"]);
}

#[test]
fn computed_words_may_be_options() {
    not_covered(&user(RULES), &["sort -u$?", "sed -n \"$?\" p a", "git diff $?", "find . -name \"$?\"", "uniq $?"]);
    covered(&user(RULES), &["cat $?", "cat &>/dev/null; ls", "cat x &>/dev/null | wc"]);
}

#[test]
fn options_that_run_write_or_configure_need_a_person() {
    not_covered(
        &user(RULES),
        &[
            "sed -n '1e id'",
            "sed '1e id' x",
            "sed 's/x/id/e' x",
            "sed 's/x/y/w out' x",
            "sed -n 'w out' x",
            "sed -i 's/a/b/' x",
            "sed -ni p x",
            "sed -e '1e id' x",
            "sed --expression='1e id' x",
            "sed --expression '1e id' x",
            "sed -n -e '1e id' x",
            "sed -f script x",
            "sed -- '1e id' x",
            "sed -l 5 '1e id' x",
            "git archive -o out HEAD",
            "git archive --output=out HEAD",
            "git archive --exec=x --remote=y HEAD",
            "git clone -c core.sshCommand=x y",
            "git clone --config core.fsmonitor=x y",
            "git clone -u x y",
            "git clone --upload-pack=x y",
            "git clone --template=x y",
            "git clone --templ=x y",
            "git -c alias.x='!id' x",
            "git -c core.pager=id log",
            "git -C /tmp status",
            "git --git-dir=/tmp status",
            "git --exec-path=/tmp status",
            "git -p log",
            "git unknown",
            "git difftool",
            "git config alias.x '!id'",
            "git bisect run id",
            "git submodule foreach id",
            "git filter-branch --tree-filter id",
            "git rebase -x id",
            "git rebase HEAD~1",
            "git grep -Oid x",
            "git grep --open-files-in-pager=id x",
            "git fetch --upload-pack=id origin",
            "git push --receive-pack=id origin",
            "git diff --ext-diff",
            "git log --output=x",
            "git log --outp=x",
            "git commit -F x",
            "git commit --template=x",
            "tar -cf x y",
            "tar -xf x",
            "tar xzf x",
            "tar -F id -tf x",
            "tar --info-script=id -tf x",
            "tar tFf id x",
            "tar tfF x id",
            "tar ftI x id",
            "tar --new-volume-script=id -tf x",
            "tar -I id -tf x",
            "tar tIf id x",
            "tar --to-command=id -tf x",
            "tar --checkpoint-action=exec=id -tf x",
            "tar -tf host:x",
            "tar -tfhost:x",
            "tar -tf x -C /",
            "tar -tPf x",
            "go vet -vettool=id ./...",
            "go vet --vettool id ./...",
            "go test -exec id ./...",
            "go test -toolexec=id ./...",
            "go build -o x ./...",
            "go build -ldflags '-extld=id' ./...",
            "go test -overlay=x ./...",
            "go run example.test/x@latest",
            "go generate ./...",
            "make --eval='$(shell id)'",
            "make --eval '$(shell id)'",
            "make -E '$(shell id)'",
            "make -f x",
            "make -C x",
            "make SHELL=id",
            "make 'CC=id' all",
            "npm run --script-shell id build",
            "npm run --script-shell=id build",
            "npm run build --script-sh=id",
            "npm run --prefix x build",
            "npm test --prefix=x",
            "npm --prefix x test",
            "npm test --userconfig x",
            "npm test --node-options=--require=x",
            "npm install x",
            "npm explore x -- id",
            "cargo test --manifest-path x/Cargo.toml",
            "cargo test --manifest-path=x/Cargo.toml",
            "cargo test --config 'build.rustc-wrapper=\"id\"'",
            "cargo test --config=x",
            "cargo --config x test",
            "cargo -C x test",
            "cargo +nightly test",
            "cargo test --target x.json",
            "cargo test --target-dir x",
            "cargo install x",
            "cargo clippy -- --emit=metadata=x",
            "cargo clippy -- -D warnings -o x",
            "cargo clippy -- -Clinker=id",
            "cargo clippy -- @x",
            "cargo fmt -- --print-config default x",
            "cargo fmt --check -- --config-path=x",
            "cargo unknown",
            "curl -D x https://a.test",
            "curl -c x https://a.test",
            "curl -sc x https://a.test",
            "curl --cookie-jar x https://a.test",
            "curl --trace x https://a.test",
            "curl --trace-ascii x https://a.test",
            "curl --stderr x https://a.test",
            "curl --libcurl x https://a.test",
            "curl -o x https://a.test",
            "curl -ox https://a.test",
            "curl -K x",
            "curl -d @x https://a.test",
            "curl -H @x https://a.test",
            "curl -H@x https://a.test",
            "curl -w '%output{x}' https://a.test",
            "kubectl --kubeconfig=x get pods",
            "kubectl get pods --kubeconfig x",
            "kubectl get pods --cache-dir=x",
            "kubectl plugin",
            "kubectl apply -f x",
            "kubectl exec pod -- id",
            "find . -delete",
            "find . -exec id \\;",
            "find . -fprintf x y",
            "find . *",
            "fd -x id",
            "fd -Hx id",
            "rg --pre id x",
            "rg -z x",
            "sort -o x y",
            "sort --compress-program=id x",
            "uniq a b",
            "uniq a*",
            "less +!id x",
            "less -o x y",
            "less -x4ox y",
            "less '-px$ox' y",
            "tree -Lo 1 x",
            "tree -noreport x",
            "npm run -prefix x build",
            "npm run -C x build",
            "git branch --merged -- --edit-description",
            "man -P id x",
            "wget -O x https://a.test",
            "wget --use-askpass=id https://a.test",
            "wget -e output_document=x https://a.test",
            "tree -o x",
            // `--` ends the options of most programs, but not the expression of `find`. `-args` ends those of `go` only.
            "find -- . -delete",
            "find -- . -fprint x",
            "find -- . -exec id {} +",
            "find -args . -delete",
            "tree -args -o x",
            "git bisect replay x",
        ],
    );
}

#[test]
fn options_that_only_read_and_print_are_covered() {
    covered(
        &user(RULES),
        &[
            "sed -n '1,50p' src/lib.rs",
            "sed -n 1,50p a b",
            "sed 's/a/b/g' x",
            "sed -E 's|a+|b|' x",
            "git status",
            "git status --short",
            "git diff --stat HEAD~1 -- src",
            "git diff -- --output=x",
            "git diff -U5 --word-diff-regex='[^;]+'",
            "git log --oneline -5",
            "git log -n 5 --format=%h --since=1.day -- src",
            "git show HEAD:src/lib.rs",
            "git --no-pager log",
            "git branch -a",
            "git branch -vv",
            "git commit -m 'a message'",
            "git add -A",
            "git push -u origin main",
            "git clone --depth 1 https://a.test/x",
            "git archive --format=tar HEAD",
            "git bisect good",
            "tar -tzf x.tgz",
            "tar tvzf x.tgz",
            "tar --list --file=x.tgz --exclude=y",
            "go test ./... -run TestX -count=1 -v",
            "go test ./... -args -o x",
            "go vet ./...",
            "make -j4 all",
            "make -j 4 -k test",
            "npm run build --silent",
            "npm run build -- --prefix x",
            "npm test",
            "cargo test --all-features -- --nocapture",
            "cargo test -p core --lib name",
            "cargo clippy --all-targets -- -D warnings",
            "cargo clippy -- -Dwarnings -W clippy::all --no-deps",
            "cargo fmt --all --check",
            "cargo fmt -- --check -l",
            "curl -sSfL https://a.test",
            "curl -H 'Accept: text/plain' https://a.test",
            "kubectl get pods -n shop -o wide",
            "kubectl logs -f pod",
            "find . -name '*.rs' -mtime -1 -print",
            "find . -type f -size +5k",
            "fd -e rs main",
            "rg -n --glob '*.rs' main src",
            "sort -rn x",
            "sort x | uniq -c",
            "less -R x",
            "ls -la --color=auto *.rs",
            "git diff -- *.rs",
            "git log -- {a,b}",
            "sort -",
            "make test*",
            "make 'a{b'",
            "cat -A *",
            "grep -rn --include='*.rs' x src",
            "head -5 x",
            "tail -n 5 x | wc -l",
        ],
    );
}

#[test]
fn wildcard_after_an_option_that_starts_a_command_covers_no_command() {
    let rules = "[[rules]]\nname = \"wide\"\ndo = \"allow\"\nrun = [\"find . -exec *\", \"find . -name *\", \"fd -x *\", \"fd -HX *\", \"fd --exec *\", \"bash *\"]";
    not_covered(&user(rules), &["find . -exec rm {} +", "fd -x rm", "fd -HX rm", "fd --exec rm", "bash -c 'rm x' argument"]);
    covered(&user(rules), &["bash x.sh", "find . -name x"]);
}

#[test]
fn rule_that_names_an_option_allows_it() {
    let set = user(
        "[[rules]]\nname = \"wide\"\ndo = \"allow\"\nrun = [\"git -C sub *\", \"sed -i *\", \"cargo test --manifest-path sub/Cargo.toml *\", \"npm run --prefix web *\", \"curl -o out *\", \"git diff --output=*\", \"kubectl --kubeconfig k get *\", \"make -f x *\", \"git rebase *\", \"go run ./cmd *\", \"find . -delete\", \"tar xzf *\", \"sed -e *\", \"sed --expression *\"]",
    );
    covered(
        &set,
        &[
            "git -C sub status -s",
            "sed -i 's/a/b/' x",
            "cargo test --manifest-path sub/Cargo.toml -q",
            "npm run --prefix web build",
            "curl -o out -s https://a.test",
            "git diff --output=x",
            "kubectl --kubeconfig k get pods",
            "make -f x all",
            "git rebase main",
            "go run ./cmd arg",
            "find . -delete",
            "tar xzf x.tgz",
            "sed -e p x",
            "sed --expression p x",
        ],
    );
    not_covered(
        &set,
        &[
            "git -C other status",
            "git -C sub -c x=y status",
            "git -C sub diff --output=x",
            "sed -i '1e id' x",
            "sed -i -e '1e id' x",
            "cargo test --manifest-path sub/Cargo.toml --config x",
            "npm run --prefix web build --script-shell id",
            "curl -o out -K x",
            "git diff --output=x --ext-diff",
            "kubectl --kubeconfig k get pods --cache-dir x",
            "make -f x SHELL=id",
            "git rebase -x id",
            "go run ./cmd -exec id",
            "find . -delete -fprint x",
            "tar xzf x.tgz -C /",
            "tar xzf host:x.tgz",
            "sed -e '1e id' x",
            "sed -e p -e '1e id' x",
            "sed --expression '1e id' x",
        ],
    );
}
