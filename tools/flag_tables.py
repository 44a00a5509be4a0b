#!/usr/bin/env python3
"""Writes the flag tables of docs/commands.md from the --help of the binaries.

  tools/flag_tables.py build/release/bin            rewrite the document
  tools/flag_tables.py --check build/release/bin    exit 1 if it would change
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "commands.md")
JOB_COMMANDS = [("T", ["shoal", "train"]), ("R", ["shoal", "run"]),
                ("P", ["shoal-ps"]), ("W", ["shoal-worker"]),
                ("E", ["shoal", "eval"]), ("I", ["shoal", "infer"])]
# Commands of shoal whose flags are not those of a job.
OTHER_COMMANDS = ["data gen", "data prepare", "data stat",
                  "bench allreduce", "bench compare", "bench report", "plan"]


def help_flags(bin_dir, command):
    """The flags in a command's --help: [(group, flag, kind, default, text)]."""
    text = subprocess.run(
        [os.path.join(bin_dir, command[0]), *command[1:], "--help"],
        check=True, capture_output=True, text=True).stdout
    group = None
    flags = []
    for line in text[text.index("Usage:"):].splitlines():
        if re.fullmatch(r"[A-Z][a-z]+:", line):
            group = line[:-1]
        match = re.match(r"  --([a-z_0-9]+)=(\S+)(.*)", line)
        if match:
            flags.append([group, match[1], match[2], match[3].strip()])
        elif flags and line.startswith(" " * 20):
            flags[-1][3] += " " + line.strip()
    result = []
    for group, name, kind, text in flags:
        text = text.strip()
        default = ""
        match = re.fullmatch(r"(.*) \[([^\[\]]*)\]", text)
        if match:
            text, default = match[1], match[2]
        elif text.endswith(" Required."):
            text, default = text[:-len(" Required.")], "required"
        result.append((group, name, kind, default, text))
    return result


def cell(text):
    return text.replace("|", "\\|")


def job_tables(bin_dir):
    rows = {}
    groups = []
    for letter, command in JOB_COMMANDS:
        for group, *row in help_flags(bin_dir, command):
            if group not in groups:
                groups.append(group)
            rows.setdefault((group, *row), []).append(letter)
    lines = []
    for group in groups:
        lines += ["", f"### {group}", "",
                  "| flag | value | default | of | meaning |",
                  "|---|---|---|---|---|"]
        mine = [(key[1:], letters) for key, letters in rows.items()
                if key[0] == group]
        # Rows of one flag for which commands differ are neighbours.
        first = {}
        for at, ((name, *_), _letters) in enumerate(mine):
            first.setdefault(name, at)
        mine.sort(key=lambda row: first[row[0][0]])
        for (name, kind, default, text), letters in mine:
            lines.append(f"| `--{name}` | {cell(kind)} | {cell(default)} | "
                         f"{' '.join(letters)} | {cell(text)} |")
    return lines[1:]


def other_table(bin_dir, name):
    lines = ["| flag | value | default | meaning |", "|---|---|---|---|"]
    command = ["shoal", *name.split()]
    flags = help_flags(bin_dir, command)
    if not flags:
        sys.exit(f"flag_tables: `{' '.join(command)} --help` shows no flag")
    for _group, name, kind, default, text in flags:
        lines.append(f"| `--{name}` | {cell(kind)} | {cell(default)} | "
                     f"{cell(text)} |")
    return lines


def replace_part(text, name, lines):
    begin = f"<!-- begin {name}: written by tools/flag_tables.py -->"
    end = f"<!-- end {name} -->"
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    return head + begin + "\n" + "\n".join(lines) + "\n" + end + tail


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("bin_dir")
    args = parser.parse_args()
    with open(DOCUMENT, encoding="utf-8") as file:
        before = file.read()
    after = replace_part(before, "job flags", job_tables(args.bin_dir))
    for name in OTHER_COMMANDS:
        after = replace_part(after, f"{name} flags",
                             other_table(args.bin_dir, name))
    if args.check:
        if after != before:
            old, new = set(before.splitlines()), set(after.splitlines())
            for line in sorted(old - new):
                print("- " + line)
            for line in sorted(new - old):
                print("+ " + line)
            sys.exit("docs/commands.md differs from --help; run "
                     "tools/flag_tables.py")
    elif after != before:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(after)


if __name__ == "__main__":
    main()
