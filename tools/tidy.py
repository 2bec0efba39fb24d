#!/usr/bin/env python3
"""House rules that a program can check. Run by ./dev lint; exits 1 with one line for each breach.

Layers (src/layers.txt), banned names, file and function length, unfinished work, purpose of headers,
a README in each folder of src, and seed corpora of fuzz targets.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE_LINES_MAX = 700
HEADER_LINES_MAX = 300
FUNCTION_LINES_MAX = 70
README_LINES_MAX = 40

# pattern, what to use, files it is allowed in
BANNED = [
    (r"\bstd::stoi\b|\bstd::stol\b|\bstd::stoull\b", "std::from_chars", ()),
    (r"\bsprintf\b|\bstrcpy\b|\bstrcat\b", "fmt or snprintf", ()),
    (r"\bstd::regex\b|\bstd::regex_", "RE2", ("demo/",)),
    (r"\bstd::rand\b|\bsrand\b", "a seeded generator given as an argument", ("demo/",)),
    (r"\bstd::mutex\b|\bstd::lock_guard\b|\bstd::scoped_lock\b", "base/mutex.h",
     ("src/base/mutex.h", "demo/", "src/agent/", "bench/", "tests/")),
    (r"\bsystem_clock::now\b", "base/clock.h", ("src/base/clock.cc", "demo/", "src/agent/", "bench/")),
    (r"\busing namespace\b", "a qualified name", ("demo/",)),
    (r"^\s*#ifndef \w+_H_?$", "#pragma once", ("src/agent/hotspan.h",)),
]
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                         capture_output=True, text=True, check=True)
    return [ROOT / line for line in out.stdout.splitlines() if (ROOT / line).is_file()]


def read_layers():
    grants = {}
    for line in (ROOT / "src/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, _, allowed = line.partition(":")
            grants[folder.strip()] = allowed.split()
    return grants


def layer_of(path, grants):
    """The longest listed folder that holds a file below src."""
    parts = path.parts[:-1]
    for size in range(len(parts), 0, -1):
        if "/".join(parts[:size]) in grants:
            return "/".join(parts[:size])
    return None


def check_layers(files, problems):
    grants = read_layers()
    order = list(grants)
    for folder, allowed in grants.items():
        for other in allowed:
            if other != "*" and (other not in grants or order.index(other) > order.index(folder)):
                problems.append(f"src/layers.txt: {folder} may not be granted {other}: it is not above")
    for path in files:
        relative = path.relative_to(ROOT)
        if relative.parts[0] != "src" or path.suffix not in (".h", ".cc", ".hpp"):
            continue
        inside = pathlib.Path(*relative.parts[1:])
        layer = layer_of(inside, grants)
        if layer is None:
            problems.append(f"{relative}: its folder is not in src/layers.txt")
            continue
        if path.stem.endswith("_test") or path.stem.startswith("test_"):
            continue  # tests may use engines and encoders of other folders
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'#include "([^"]+)"', line)
            if not match or not (ROOT / "src" / match[1]).exists():
                continue
            target = layer_of(pathlib.Path(match[1]), grants)
            if target != layer and target not in grants[layer] and "*" not in grants[layer]:
                problems.append(f"{relative}:{number}: {layer} may not include {match[1]}")


def check_functions(relative, lines, problems):
    start = None
    for number, line in enumerate(lines, 1):
        if start is None:
            if re.match(r"[A-Za-z~].*\{$|^    .*\{$", line) and not re.match(
                    r"(namespace|class|struct|enum|union|extern|const|constexpr|inline constexpr|static const)\b",
                    line):
                if line[0] != " ":
                    start = number
        elif line.startswith("}"):
            if number - start + 1 > FUNCTION_LINES_MAX:
                problems.append(f"{relative}:{start}: function of {number - start + 1} lines, "
                                f"limit {FUNCTION_LINES_MAX}")
            start = None


def check_code(path, problems):
    relative = str(path.relative_to(ROOT))
    lines = path.read_text().splitlines()
    header = path.suffix in (".h", ".hpp")
    limit = HEADER_LINES_MAX if header else FILE_LINES_MAX
    if len(lines) > limit and "table:" not in lines[0]:
        problems.append(f"{relative}: {len(lines)} lines, limit {limit}")
    if header and not lines[0].startswith(("//", "/*")):
        problems.append(f"{relative}:1: a header begins with a sentence of purpose")
    for number, line in enumerate(lines, 1):
        if len(line) > 100 and "http" not in line and "R\"" not in line:
            problems.append(f"{relative}:{number}: {len(line)} columns, limit 100")
        if UNFINISHED.search(line) and "XXXXXX" not in line:
            problems.append(f"{relative}:{number}: unfinished work")
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line)
        for pattern, instead, allowed in BANNED:
            if re.search(pattern, code) and "NOLINT" not in line and not relative.startswith(allowed or "\0"):
                problems.append(f"{relative}:{number}: use {instead}")
    check_functions(relative, lines, problems)
    if path.name.endswith("_fuzz.cc"):
        corpus = ROOT / "tests/corpus" / path.stem
        if not corpus.is_dir() or not any(corpus.iterdir()):
            problems.append(f"{relative}: no seeds in tests/corpus/{path.stem}")


def main():
    problems = []
    files = tracked()
    check_layers(files, problems)
    for path in files:
        if path.suffix in (".cc", ".h", ".hpp"):
            check_code(path, problems)
    for folder in sorted({p.parent for p in files if (ROOT / "src") in p.parents}):
        depth = len(folder.relative_to(ROOT / "src").parts)
        readme = folder / "README.md"
        if depth == 1 and not readme.exists():
            problems.append(f"{folder.relative_to(ROOT)}: no README.md")
        if readme.exists() and len(readme.read_text().splitlines()) > README_LINES_MAX:
            problems.append(f"{readme.relative_to(ROOT)}: more than {README_LINES_MAX} lines")
    for problem in problems:
        print(problem)
    print(f"tidy: {len(problems)} problems in {len(files)} files", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
