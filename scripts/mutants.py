"""Tries all mutants of cargo-mutants with one build: called by mutants.sh.

A mutant is a change of a span of the source. Here the source is written once with all of them, each behind a switch that a number in
the environment throws, so that a mutant costs a run of the tests and not a build. What cannot be written so, as in constants, is
built alone.
"""

import collections
import concurrent.futures
import filecmp
import functools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import tree_sitter
import tree_sitter_rust

# Tests write files and wait for the disk; here they need not.
FILES = "/dev/shm" if os.path.isdir("/dev/shm") else None
MEMORY_MOST = 4 << 30
# How long a program of tests may run with a mutant that has a build of its own, in seconds.
ALONE_AT_MOST = 300
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
SWITCH = """
#[doc(hidden)]
pub mod switched {
    static WHICH: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("MUTANT").map_or(0, |it| it.parse().expect("a number")));
    pub fn on(mutant: u32) -> bool {
        *WHICH == mutant
    }
}
"""


class Unwritable(Exception):
    """This kind of place has no form that can be switched."""


class Source:
    """A file in which some mutants are written, each between two marks."""

    def __init__(self, text: bytes):
        self.text = text
        self.root = PARSER.parse(text).root_node
        self.lines = text.split(b"\n")
        self.placed = collections.defaultdict(list)

    def place(self, number: int, mutant: dict):
        """Finds the node that becomes a choice."""
        start, end = (self.offset(mutant["span"][side]) for side in ("start", "end"))
        node = self.root.descendant_for_byte_range(start, end)
        genre = mutant["genre"]
        if genre == "FnValue":
            # Each `return` of an `impl Trait` would have to have the same type.
            if "impl " in mutant["function"]["return_type"]:
                raise Unwritable
            node = climb(node, lambda it: it.type == "block" and it.parent.type == "function_item")
        elif genre in ("BinaryOperator", "UnaryOperator"):
            node = node.parent
            if node.type not in ("binary_expression", "compound_assignment_expr", "unary_expression") or has(node, "let_condition"):
                raise Unwritable
        elif genre == "MatchArm":
            node = climb(node, lambda it: it.type == "match_arm").child_by_field_name("pattern")
        elif genre == "MatchArmGuard":
            node = climb(node, lambda it: it.type == "match_pattern")
            if has(node, "let_condition"):
                raise Unwritable
        elif genre == "StructField":
            # Its span has the comma.
            node = climb(self.root.descendant_for_byte_range(start, start), lambda it: it.type.endswith("field_initializer"))
            if self.base(node) is None:
                raise Unwritable
        changed = self.text[node.start_byte:start] + mutant["replacement"].encode() + self.text[end:node.end_byte]
        self.placed[node.id].append((number, mutant, changed.decode()))

    @staticmethod
    def base(field):
        return next((it for it in field.parent.children if it.type == "base_field_initializer"), None)

    def offset(self, at: dict) -> int:
        line = self.lines[at["line"] - 1]
        before = sum(len(it) + 1 for it in self.lines[: at["line"] - 1])
        return before + len(line.decode()[: at["column"] - 1].encode())

    def written(self, node=None) -> str:
        node = node or self.root
        if node.id not in self.placed:
            return self.inside(node)
        here = self.placed[node.id]
        genre = here[0][1]["genre"]
        if genre == "FnValue":
            returns = " ".join(marked(n, f"if {on(n)} {{ return {it['replacement']}; }}") for n, it, _ in here)
            return "{ " + returns + self.inside(node)[1:]
        if genre in ("MatchArm", "MatchArmGuard"):
            return self.pattern(node, here)
        if genre == "StructField":
            return self.field(node, here)
        choices = "".join(marked(n, f"if {on(n)} {{ {changed} }}") + " else " for n, _, changed in here)
        chosen = f"{choices}{{ {self.inside(node)} }}"
        # An expression, also where a statement could begin.
        return chosen if node.type == "compound_assignment_expr" else f"({chosen})"

    def inside(self, node) -> str:
        out, at = [], node.start_byte
        for child in node.children:
            out += [self.text[at:child.start_byte].decode(), self.written(child)]
            at = child.end_byte
        return "".join(out) + self.text[at:node.end_byte].decode()

    def pattern(self, node, here) -> str:
        """An arm that is deleted never matches; a guard has a value of its own."""
        guard = node.child_by_field_name("condition")
        before = self.text[node.start_byte:guard.start_byte].decode() if guard else self.inside(node) + " if "
        condition = self.written(guard) if guard else "true"
        for n, it, _ in here:
            if it["genre"] == "MatchArmGuard":
                condition = marked(n, f"if {on(n)} {{ {it['replacement']} }}") + f" else {{ {condition} }}"
        gone = "".join(marked(n, f"!{on(n)}") + " && " for n, it, _ in here if it["genre"] == "MatchArm")
        return f"{before}{gone}({condition})"

    def field(self, node, here) -> str:
        """A field that is not given is the base's."""
        base = self.base(node)
        rest = self.text[base.start_byte + 2:base.end_byte].decode()
        name = node.child_by_field_name("field") or node.children[0]
        value = node.child_by_field_name("value")
        name = self.text[name.start_byte:name.end_byte].decode()
        value = self.written(value) if value else name
        for n, _, _ in here:
            value = marked(n, f"if {on(n)} {{ ({rest}).{name} }}") + f" else {{ {value} }}"
        return f"{name}: {value}"


def climb(node, wanted):
    while node is not None and not wanted(node):
        node = node.parent
    if node is None:
        raise Unwritable
    return node


def has(node, kind: str) -> bool:
    return any(it.type == kind or (it.type != "block" and has(it, kind)) for it in node.children)


def on(number: int) -> str:
    return f"crate::switched::on({number})"


def marked(number: int, text: str) -> str:
    return f"/*[{number}*/{text}/*{number}]*/"


def write(mutants: dict, without: set, left: set, tree: Path):
    """Writes the files with all mutants but some, and adds to those that are left to cargo-mutants."""
    files = collections.defaultdict(dict)
    for number, mutant in mutants.items():
        files[mutant["file"]][number] = mutant
    for name, here in files.items():
        source = Source(Path(name).read_bytes())
        for number, mutant in here.items():
            if number in without:
                continue
            try:
                source.place(number, mutant)
            except Unwritable:
                left.add(number)
        put(tree / name, source.written())
    root = Path("core/src/lib.rs")
    put(tree / root, root.read_text() + SWITCH)


def put(path: Path, text: str):
    """Writes a file; one that is so already keeps its time, by which cargo goes."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def copy(tree: Path, but: set):
    """The files of the repository, as they are now, but those that are written otherwise."""
    names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(os.path.isfile, set(names) - but):
        copied = tree / name
        if not copied.exists() or not filecmp.cmp(name, copied, shallow=False):
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, copied)


def build(tree: Path, target: Path, arguments: list, **settings):
    """The test programs, unless it fails; the error's code for each mutant that does not compile; and what else does not."""
    command = ["cargo", "test", "--no-run", "--message-format=json", "--package", "railgate", *arguments]
    command += ["--lib", "--test", "engine"]
    env = dict(os.environ, CARGO_TARGET_DIR=str(target), RUSTFLAGS="--cap-lints=allow", **settings)
    done = subprocess.run(command, cwd=tree, env=env, stdout=subprocess.PIPE, text=True)
    programs, wrong, others = {}, {}, []
    for line in done.stdout.splitlines():
        said = json.loads(line)
        if said["reason"] == "compiler-artifact" and said.get("executable"):
            programs[said["target"]["name"]] = said["executable"]
        if said["reason"] == "compiler-message" and said["message"]["level"] == "error":
            here = {number for span in said["message"]["spans"] for number in marks_around(tree, span)}
            wrong |= dict.fromkeys(here, (said["message"]["code"] or {}).get("code"))
            if not here and said["message"]["spans"]:
                others.append(said["message"]["rendered"])
    return None if done.returncode else programs, wrong, others


def marks_around(tree: Path, span: dict):
    text = (tree / span["file_name"]).read_bytes().decode()
    for mark in re.finditer(r"/\*\[(\d+)\*/.*?/\*\1\]\*/", text, re.DOTALL):
        start, end = len(text[: mark.start()].encode()), len(text[: mark.end()].encode())
        if start <= span["byte_start"] and span["byte_end"] <= end:
            yield int(mark[1])


def bounded():
    """Some mutants never stop to take memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST))


class Tests:
    """One set of tests, which a mutant passes or does not."""

    def __init__(self, runs: list, tree: Path):
        self.runs, self.tree = runs, tree

    @functools.cached_property
    def patience(self) -> float:
        """After how long a mutant is taken for one that never comes to an end."""
        begun = time.monotonic()
        if (failed := self.first_failed(0, None)) is not None:
            sys.exit(f"a test fails without a mutant: {failed}")
        return 10 + 5 * (time.monotonic() - begun)

    def fails(self, number: int):
        """The first test that fails, or None."""
        return self.first_failed(number, self.patience)

    def first_failed(self, number: int, patience):
        with tempfile.TemporaryDirectory(dir=FILES) as files:
            env = dict(os.environ, MUTANT=str(number), RUST_BACKTRACE="0", TMPDIR=files)
            return next((it for run in self.runs if (it := self.fails_in(run, env, patience))), None)

    def fails_in(self, run: tuple, env: dict, patience):
        program, arguments = run
        command, out, no = [program, "--test-threads=1", *arguments], subprocess.PIPE, subprocess.DEVNULL
        name, late = None, threading.Event()
        where, text = {"cwd": self.tree / "core", "env": env}, {"text": True, "errors": "replace"}
        with subprocess.Popen(command, stdout=out, stderr=no, preexec_fn=bounded, **where, **text) as running:
            timer = threading.Timer(patience or 3600, lambda: (late.set(), running.kill()))
            timer.start()
            for line in running.stdout:
                name = begun[1] if (begun := re.match(r"test (\S+)", line)) else name
                if line.rstrip().endswith("FAILED"):
                    running.kill()
                    break
            timer.cancel()
        if not running.returncode:
            return None
        return f"{name} (does not end)" if late.is_set() else f"{name}"


def main():
    """Writes `missed`, a name a line, into the folder that has the list."""
    work = Path(sys.argv[1]).resolve()
    settings = Path(".cargo/mutants.toml").read_text()
    # cargo-mutants leaves out none of the deleted fields.
    unwanted = re.compile("|".join(re.findall(r"^  '(.*)',$", settings, re.MULTILINE)))
    listed = [it for it in json.loads((work / "list.json").read_text()) if not unwanted.search(it["name"])]
    mutants = dict(enumerate(listed, 1))
    arguments = json.loads(re.search(r"^additional_cargo_args = (.*)$", settings, re.MULTILINE)[1])
    tree = work / "tree"
    copy(tree, {"core/src/lib.rs", *(it["file"] for it in mutants.values())})
    names = {n: it["name"] for n, it in mutants.items()}
    # Those of the last run too, which takes a build less each time.
    known = work / "unviable.json"
    before = set(json.loads(known.read_text())) if known.exists() else set()
    left, unviable = set(), {n for n, name in names.items() if name in before}
    while True:
        write(mutants, left | unviable, left, tree)
        programs, wrong, others = build(tree, work / "build", arguments, CARGO_PROFILE_DEV_OPT_LEVEL="1")
        if programs:
            break
        if not wrong:
            sys.exit("the mutants do not compile, and not for one of them:\n" + "\n".join(others))
        # A constant has no switch, and a field may be moved only once; what else does not compile here does not in its place.
        own = {n for n, code in wrong.items() if code == "E0015" or mutants[n]["genre"] == "StructField"}
        left |= own
        unviable |= wrong.keys() - own
    known.write_text(json.dumps(sorted(before | {names[n] for n in unviable}), indent=0))
    record = Record(work / "noticed.json")
    switched = {n: name for n, name in names.items() if n not in left | unviable}
    print(f"{len(switched)} mutants in one build; {len(unviable)} do not compile, {len(left)} have a build each", flush=True)
    missed = attempt_all(switched, stages(programs, tree), record)
    for number in sorted(n for n in left if names[n] not in record.noticed):
        by = attempt_alone(mutants[number], tree, work / "alone", arguments)
        print(f"{names[number]}: {by or 'NOT NOTICED'}", flush=True)
        record.add(names[number], by) if by else missed.append(names[number])
    (work / "missed").write_text("".join(f"{it}\n" for it in sorted(missed)))


def stages(programs: dict, tree: Path):
    """First what takes a second or two, among it simulated worlds; then everything but what reads the source, the slowest last."""
    engine, unit = programs["engine"], programs["railgate"]
    quick = "simulation:: lifecycle_table:: refunds:: movements:: limits:: books::".split()
    slow = "stores:: power:: journal:: copy:: cells:: golden:: clocks::a_year".split()
    skip = [f"--skip={it}" for it in ["tidy::", *quick, *slow]]
    return [Tests(runs, tree) for runs in [[(engine, quick)], [(engine, skip)], [(unit, []), (engine, slow)]]]


class Record:
    """Which test noticed which mutant, also in earlier runs: those are not tried again."""

    def __init__(self, path: Path):
        self.path, self.lock = path, threading.Lock()
        self.noticed = json.loads(path.read_text()) if path.exists() else {}

    def add(self, name: str, by: str):
        with self.lock:
            self.noticed[name] = by
            self.path.write_text(json.dumps(self.noticed, indent=0))


def attempt_all(names: dict, stages: list, record: Record) -> list:
    """The names of those that no test notices."""
    missed = [n for n, name in names.items() if name not in record.noticed]

    def attempt(number: int, tests: Tests):
        if by := tests.fails(number):
            record.add(names[number], by)
        counts[by is None] += 1
        if sum(counts) % 50 == 0:
            print(f"{sum(counts)} of {len(missed)}: {counts[0]} noticed", flush=True)

    for tests in stages:
        counts = [0, 0]
        if missed and tests.patience:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(lambda n: attempt(n, tests), missed))
        missed = [n for n in missed if names[n] not in record.noticed]
        print(f"{len(names) - len(missed)} noticed, {len(missed)} not so far", flush=True)
    return [names[n] for n in missed]


def attempt_alone(mutant: dict, tree: Path, target: Path, arguments: list):
    """What notices a mutant that has a build of its own, or None."""
    source = Source(Path(mutant["file"]).read_bytes())
    start, end = (source.offset(mutant["span"][side]) for side in ("start", "end"))
    place = tree / mutant["file"]
    kept = place.read_bytes()
    place.write_bytes(source.text[:start] + mutant["replacement"].encode() + source.text[end:])
    try:
        programs, _, _ = build(tree, target, arguments, CARGO_INCREMENTAL="1")
        if not programs:
            return "the compiler"
        every = stages(programs, tree)
        return next((it for tests in every if (it := tests.first_failed(0, ALONE_AT_MOST))), None)
    finally:
        place.write_bytes(kept)


if __name__ == "__main__":
    main()
