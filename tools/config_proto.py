#!/usr/bin/env python3
"""Writes proto/config.proto, the schema of --config files, from the flags in
docs/commands.md: a field for every flag of a job.

  tools/config_proto.py            rewrite the schema
  tools/config_proto.py --check    exit 1 if it would change

The numbers of fields never change: numbers in the file are kept, new flags get
the next numbers, and numbers of flags that were removed stay reserved.
"""

import argparse
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "commands.md")
SCHEMA = os.path.join(ROOT, "proto", "config.proto")

HEAD = """\
// The schema of --config files (docs/operations.md): protobuf's text format, a
// field for every flag of a job, of the flag's name. Written by
// tools/config_proto.py; known to launch/ alone. Field numbers are for ever.
syntax = "proto3";

package shoal.config;

// The words of print_config. Older releases wrote a bool.
enum PrintConfig {
  false = 0;
  true = 1;
  all = 2;
}

message JobConfig {
"""

# Types in the schema by a flag's kind. Flags of any other kind are text, as
# they are typed.
TYPES = {"INT": "optional int64", "NUMBER": "optional double",
         "BOOL": "optional bool", "INTS": "repeated int64",
         "NUMBERS": "repeated double",
         "true/all/false": "optional PrintConfig"}
# Flags that do not work yet, which --help leaves out: a file that has them with
# a value that changes nothing is read.
NOT_THERE_YET = [("batch_norm", "BOOL", "Only false is accepted yet.")]
# The flag that names the file, so it cannot be in the file.
LEFT_OUT = {"config"}


def flags():
    """The flags in the document, as [(group, [(name, kind, meaning)])]."""
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    part = text.split("<!-- begin job flags")[1].split("<!-- end job flags")[0]
    groups = []
    seen = set(LEFT_OUT)
    for line in part.splitlines():
        if line.startswith("### "):
            groups.append((line[4:], []))
        row = re.match(r"\| `--(\w+)` \| (.*?) \| .*? \| [TRPWEI ]+ \| (.*) \|$",
                       line.replace("\\|", "/"))
        if row and row[1] not in seen:
            seen.add(row[1])
            groups[-1][1].append((row[1], row[2], row[3]))
    return groups


def numbers():
    """({name: number}, reserved numbers) of the present schema."""
    known = {}
    gone = set()
    if os.path.exists(SCHEMA):
        with open(SCHEMA, encoding="utf-8") as file:
            text = file.read()
        for name, number in re.findall(r"  (?:optional|repeated) \w+ (\w+) = (\d+);", text):
            known[name] = int(number)
        for line in re.findall(r"reserved ([\d, ]+);", text):
            gone |= {int(number) for number in line.split(",")}
    return known, gone


def schema():
    known, gone = numbers()
    groups = flags() + [("Not there yet", NOT_THERE_YET)]
    present = {name for _, rows in groups for name, _, _ in rows}
    gone |= {number for name, number in known.items() if name not in present}
    top = max(list(known.values()) + list(gone) + [0])
    lines = []
    for group, rows in groups:
        if not rows:
            continue
        lines += ["", f"  // ---- {group}"]
        for name, kind, meaning in rows:
            if name not in known:
                top += 1
                known[name] = top
            lines += [""] + textwrap.wrap(meaning, 80, initial_indent="  // ",
                                          subsequent_indent="  // ")
            kind = TYPES.get(kind, "optional string")
            lines.append(f"  {kind} {name} = {known[name]};")
    if gone:
        lines += [""] + [f"  reserved {number};" for number in sorted(gone)]
    return HEAD + "\n".join(lines[1:]) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    before = ""
    if os.path.exists(SCHEMA):
        with open(SCHEMA, encoding="utf-8") as file:
            before = file.read()
    after = schema()
    if args.check:
        if after != before:
            sys.exit("proto/config.proto does not have the flags of "
                     "docs/commands.md; run tools/config_proto.py")
    elif after != before:
        with open(SCHEMA, "w", encoding="utf-8") as file:
            file.write(after)


if __name__ == "__main__":
    main()
