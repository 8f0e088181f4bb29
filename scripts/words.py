#!/usr/bin/env python3
"""Finds words that readers have to translate, in comments, documents, strings and names, and suggests plain ones.

Usage: scripts/words.py [PATH...]         prints FILE:LINE: WORD: SUGGESTION; exits with 1 if it finds any
       scripts/words.py --count [PATH...] prints findings per 1,000 comment words, and the share of short doc comments

Without PATH, checks all files in git. ALLOWED lists the correct uses.
"""

import argparse
import collections
import re
import subprocess
import sys
from pathlib import Path

VERBS = "is|was|has|may|waits|only"
# Word or phrase (regular expression), and what to write instead. Case is ignored, except in groups with (?-i:...).
DIALECT = [
    (r"\bwhoever\b", "name the person or the program: anyone who, the caller, the client"),
    (r"\bsomebody\b", "name the person: someone, a person, another client"),
    # Quoted, it is a name: "there is no agent `nobody`".
    (r"(?<![`\"'])\bnobody\b|\bnobody\b(?![`\"'\\])", "use \"no one\", or name what is missing: no client, no listener"),
    (r"\bstands\b(?! for| alone| out| by)", "use \"is\""),
    (r"\bfor ever\b", "use \"forever\", \"without a limit\""),
    (r"\bmeanwhile\b", "use \"while ...\", \"in the meantime\""),
    (r"\btaken? up\b", "use \"resumed\", \"continued\""),
    (r"\bof ours\b", "name it: our, created by Sayso"),
    # Questions to a person are correct: "Which database shall I use?"
    (r"\bshall\b(?! (?:I|we)\b)", "use \"must\", \"should\", \"will\""),
    (r"\btold of\b", "use \"notified about\", \"receives\""),
    (r"\bwho may\b", "use \"who can\", or name the role"),
    (r"\bin the place of\b", "use \"instead of\""),
    (r"\bone's own\b", "use \"your own\", \"its own\""),
    (r"\bbeside\b", "use \"next to\", \"in addition to\", \"with\""),
    (r", too\b(?! \w)", "use \"also\""),
    # A relative clause as the subject of a sentence or clause. As an object ("reads what is stored") it is correct, and so are
    # questions and headings without a verb after the clause ("What is measured").
    (rf"(?:^|[.!?:;] )(?-i:What|Who) (?:{VERBS})\b(?=[^.?!]*[.!]|[^.?!]* (?:is|are|was|has|gets|sees|must|can|does)\b)(?![^.!]*\?)", "name the subject"),
    (rf"(?:[:;,] |\b(?:that|and|but|or|so|because|if|while) )(?:what|who) (?:{VERBS}) \w+(?: \w+)? (?:is|are|was|were|has|have|gets?|goes|stays|counts|does)\b(?![^.!]*\?)", "name the subject"),
]
DIALECT = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in DIALECT]

# Correct uses: path pattern (regular expression) and text of the line (regular expression).
ALLOWED = [
    (r"^scripts/words\.py$", r""),
    # Licences, recorded wires of agents, migrations and rows of released versions, and their snapshots.
    (r"^LICENSE-|/fixtures/|/migrations/|stored_by_0_1|\.snap$", r""),
    # Sentences that agents read. They are stored in databases and have codes, so they do not change for style.
    (r"", r"Nobody is available to answer questions|Nobody was asked; chosen by the user's policy"),
]
ALLOWED = [(re.compile(path), re.compile(text)) for path, text in ALLOWED]

COMMENT = {
    ".rs": re.compile(r"^\s*(?://[/!]?)(.*)$"),
    ".py": re.compile(r"^\s*#(?!!)(.*)$|^\s*\"\"\"(.*)$"),
    ".sh": re.compile(r"^\s*#(?!!)(.*)$"),
    ".toml": re.compile(r"^\s*#(.*)$"),
    ".sql": re.compile(r"^\s*--(.*)$"),
    ".css": re.compile(r"^\s*/?\*+/?(.*)$"),
}
for suffix in (".ts", ".tsx", ".mjs", ".mts", ".js", ".c"):
    COMMENT[suffix] = re.compile(r"^\s*(?://|/\*+|\*(?!\*))(.*)$")


def is_allowed(path, line):
    return any(where.search(path) and text.search(line) for where, text in ALLOWED)


def dialect_in(line):
    """The dialect words of a line with their advice. Overlapping matches count once."""
    end = -1
    for start, stop, word, advice in sorted(
        (match.start(), match.end(), match.group(0), advice) for pattern, advice in DIALECT for match in pattern.finditer(line)
    ):
        if start >= end:
            end = stop
            yield word.strip(" .:;"), advice


def files(paths):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *paths], capture_output=True, text=True, check=True)
    for path in listed.stdout.split("\n"):
        if path and not is_allowed(path, "\0"):
            try:
                yield path, Path(path).read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError):
                continue


def report(paths):
    found = 0
    for path, text in files(paths):
        for number, line in enumerate(text.split("\n"), 1):
            if is_allowed(path, line):
                continue
            for word, advice in dialect_in(line.replace("_", " ")):
                print(f'{path}:{number}: "{word}": {advice}')
                found += 1
    print(f"{found} dialect words" if found else "no dialect words", file=sys.stderr)
    return 1 if found else 0


def part_of(path):
    """The crate, the package, or the top-level folder of a file."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("crates", "sdk") and len(parts) > 2 else parts[0] if len(parts) > 1 else "."


def count(paths):
    words, dialect, docs, short = (collections.Counter() for _ in range(4))
    for path, text in files(paths):
        suffix, part = Path(path).suffix, part_of(path)
        pattern = COMMENT.get(suffix)
        if pattern is None:
            continue
        for line in text.split("\n"):
            found = pattern.match(line)
            if found:
                body = next((group for group in found.groups() if group is not None), "")
                words[part] += len(body.split())
                if not is_allowed(path, body):
                    dialect[part] += len(list(dialect_in(body)))
        blocks = []
        if suffix == ".rs":
            blocks = [" ".join(line.strip()[3:] for line in block.strip().split("\n")) for block in re.findall(r"(?:^[ \t]*///.*\n)+", text, re.M)]
        elif suffix in (".ts", ".tsx"):
            blocks = [re.sub(r"^\s*\* ?", "", block, flags=re.M) for block in re.findall(r"/\*\*(.*?)\*/", text, re.S)]
        docs[part] += len(blocks)
        short[part] += sum(len(block.split()) <= 3 for block in blocks)
    for part in sorted(words):
        if words[part]:
            rate, share = 1000 * dialect[part] / words[part], 100 * short[part] / max(1, docs[part])
            print(f"{part:24} {words[part]:7} words {dialect[part]:5} dialect {rate:5.1f} per 1,000   short doc comments {short[part]:4} of {docs[part]:4} {share:3.0f} %")
    total, all_docs = sum(words.values()), sum(docs.values())
    print(f"{'all':24} {total:7} words {sum(dialect.values()):5} dialect {1000 * sum(dialect.values()) / max(1, total):5.1f} per 1,000   short doc comments {sum(short.values()):4} of {all_docs:4} {100 * sum(short.values()) / max(1, all_docs):3.0f} %")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", action="store_true", help="print figures instead of findings")
    parser.add_argument("paths", nargs="*", help="files or folders (default: everything in git)")
    options = parser.parse_args()
    return (count if options.count else report)(options.paths)


if __name__ == "__main__":
    sys.exit(main())
