#!/usr/bin/env python3
"""Compiles every unit of a build with clang 19, for syntax and warnings only.

usage: clang_syntax.py BUILD_FOLDER [PART_OF_PATH...]

Takes the commands from compile_commands.json; flags that only g++ knows are left out.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

GCC_ONLY = {"-Wduplicated-cond", "-Wlogical-op", "-Wuseless-cast", "-Wno-maybe-uninitialized",
            "-Wno-restrict", "-fno-inline-functions-called-once"}


def command_for(entry):
    words = shlex.split(entry["command"])
    while not words[0].endswith(("g++", "gcc")):
        words.pop(0)  # a compiler launcher
    compiler = "clang++-19" if words[0].endswith("g++") else "clang-19"
    kept = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-o", "-MT", "-MF"):
            skip = True
        elif word in ("-c", "-MD") or word in GCC_ONLY:
            continue
        else:
            kept.append(word)
    launcher = []
    return [*launcher, compiler, *kept, "-fsyntax-only", "-Wthread-safety"]


def check(entry):
    done = subprocess.run(command_for(entry), cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], done.returncode, done.stderr


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    database = pathlib.Path(sys.argv[1]) / "compile_commands.json"
    root = pathlib.Path(__file__).resolve().parent.parent
    seen = set()
    entries = []
    for entry in json.loads(database.read_text()):
        path = pathlib.Path(entry["file"])
        if path in seen or root not in path.parents or (root / "build") in path.parents:
            continue
        if sys.argv[2:] and not any(part in str(path) for part in sys.argv[2:]):
            continue
        seen.add(path)
        entries.append(entry)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, code, text in pool.map(check, entries):
            if code != 0:
                failed += 1
                print(f"{os.path.relpath(file, root)}:\n{text}", file=sys.stderr)
    print(f"clang 19: {len(entries) - failed} of {len(entries)} units clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
