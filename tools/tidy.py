#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not check.

Usage: tidy.py [--root DIR]

Prints `file:line: rule: what; how to fix` for each violation, and exits with 1
if there is a violation. Needs only Python 3. A new rule is a function below
that yields (line, rule, text), an entry in RULES, and a planted violation in
tests/tools/tidy_test.py.
"""

import argparse
import os
import re
import sys

from cpp_definitions import definitions

# The folders that each folder may include: the arrows of docs/architecture.md.
# cmd, tests and bench may include everything; every folder may include itself.
ARROWS = {
    'base': set(),
    'core': {'base'},
    'partitioner': {'base', 'core'},
    'checkpoint': {'base', 'core', 'partitioner'},
    'cluster': {'base', 'core', 'checkpoint'},
    'coordinator': {'base', 'core', 'checkpoint', 'cluster'},
    'models': {'base', 'core'},
    'proto': set(),
    'wire': {'base', 'core', 'proto'},
    'rpc': {'base', 'core', 'proto', 'wire'},
    'ps': {'base', 'core', 'partitioner', 'checkpoint'},
    'worker': {'base', 'core', 'partitioner', 'models'},
    'launch': {'base', 'core', 'proto'},
    'report': {'base', 'core', 'partitioner', 'cluster'},
    'datatools': {'base', 'core', 'partitioner', 'worker'},
    'plan': {'base', 'core'},
    'job': {'base', 'core', 'partitioner', 'checkpoint', 'cluster',
            'coordinator', 'models', 'wire', 'rpc', 'ps', 'worker', 'launch',
            'report', 'datatools'},
}
COMPOSERS = {'cmd', 'tests', 'bench'}

# Third-party headers that only some folders may include (tests and bench may
# include all): the library, a pattern for its headers, and the folders.
THIRD_PARTY = [
    ('gRPC', r'grpc(pp)?/|grpc\+\+/', {'rpc'}),
    ('protobuf', r'google/protobuf/', {'wire', 'launch'}),
    ('the wire schema', r'proto/(?!config\b)\w+\.pb\.h', {'wire', 'rpc'}),
    ("the wire schema's gRPC services", r'proto/\w+\.grpc\.pb\.h', {'rpc'}),
    ('the config schema', r'proto/config\.pb\.h', {'launch'}),
    ('spdlog', r'spdlog/', {'base'}),
    ('prometheus-cpp', r'prometheus/|[Cc]ivet', {'base'}),
    ('CLI11', r'CLI/', {'launch', 'cmd'}),
    ('nlohmann-json', r'nlohmann/', {'base'}),
    ('oneDNN', r'dnnl|oneapi/', {'models', 'cmd'}),
    ('Highway', r'hwy/', {'models', 'ps', 'worker', 'cmd'}),
    ('OpenSSL', r'openssl/', {'rpc'}),
    ('zlib and zstd', r'zlib\.h|zstd\.h', {'worker'}),
]

# Headers that take a second or more to parse: they belong in .cc files. Headers
# in subfolders of wire/ and rpc/ may include them, since other folders do not see
# those (rule wire-reach).
HEAVY = re.compile(r'grpc(pp)?/|google/protobuf/|.*\.pb\.h$|spdlog/|CLI/'
                   r'|nlohmann/|prometheus/')
WIRE = re.compile(r'grpc(pp)?/|google/protobuf/|.*\.pb\.h$')

# Tokens that code must not contain (comments and strings may): rule, pattern, a
# function for the paths that may contain them, message.
TOKENS = [
    ('getenv', re.compile(r'\b(?:secure_)?getenv\b|\benviron\b'),
     lambda path: folder_of(path) in COMPOSERS,
     'reads the environment; take it from an option that cmd/ fills'),
    ('stdout', re.compile(r'\bstd::cout\b|\b(?:std::)?(?:printf|puts|putchar)'
                          r'\s*\(|\bfprintf\s*\(\s*stdout\b'),
     lambda path: folder_of(path) in COMPOSERS | {'report'},
     'writes to stdout; return the text, or log through base/logger.h'),
    ('mutex', re.compile(r'\bstd::(?:(?:recursive_|shared_|timed_)*mutex'
                         r'|shared_timed_mutex|lock_guard|unique_lock'
                         r'|scoped_lock|shared_lock|condition_variable\w*)\b'
                         r'|\babsl::(?:\w*Mutex\w*|CondVar|Notification'
                         r'|BlockingCounter|Barrier)\b'),
     lambda path: path == 'base/mutex.h',
     'is not seen by the lock analysis or by ThreadSanitizer; '
     'use base/mutex.h'),
    ('wall-clock', re.compile(r'\babsl::Now\s*\(|\bsystem_clock\b'
                              r'|\bGPR_CLOCK_REALTIME\b'),
     lambda path: folder_of(path) in COMPOSERS | {'base'},
     'jumps when the time is set; use base/clock.h or an executor\'s Now'),
    ('mode', re.compile(r'\bTrainingMode\b|\bkTrainingModes\b'),
     lambda path: folder_of(path) in {'launch', 'tests', 'bench'}
     or path == 'core/training_mode.h'
     or re.match(r'job/training_mode\.(h|cc)$', path),
     'belongs to launch/ and job/training_mode.cc; give this part what it needs '
     'in a row of job/training_mode.cc'),
]

MAX_COLUMNS = 80
MAX_LINES = 600
# Concatenated, so that this file does not break its own rules.
LEFTOVER = re.compile(r'\b(' + 'TO' + 'DO|FIX' + 'ME|XX' + r'X)\b')
MACHINE_PATH = re.compile(
    r'(?<![\w.)}>~-])/(?:' + 'wo' + r'rk|ho' + r'me|ro' + r'ot|Us'
    r'ers)/[\w.<{$]')

CPP = ('.h', '.cc', '.proto')
CODE = CPP + ('.py', '.sh', '.cmake')
TEXT = CODE + ('.md', '.json', '.txt', '.yml')

# Comments, strings and character literals of C++, but no digit separators.
LEXEME = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bR"([^(\s]*)\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


def folder_of(path):
    return path.split('/')[0]


def line_of(text, position):
    return text.count('\n', 0, position) + 1


def blank(text, keep_strings):
    """The text with comments (and strings) replaced by blanks; lines stay."""
    def replace(match):
        lexeme = match.group()
        if keep_strings and not lexeme.startswith('/'):
            return lexeme
        return re.sub(r'[^\n]', ' ', lexeme)
    return LEXEME.sub(replace, text)


class File:
    def __init__(self, root, path):
        self.path = path
        self.folder = folder_of(path)
        with open(os.path.join(root, path), 'rb') as f:
            self.raw = f.read()
        self.text = self.raw.decode('utf-8', errors='replace')
        self.lines = self.text.split('\n')
        self.suffix = os.path.splitext(path)[1]
        self.executable = os.access(os.path.join(root, path), os.X_OK)
        self.is_cpp = self.suffix in ('.h', '.cc')
        self.code = self.includes = None
        if self.is_cpp:
            self.code = blank(self.text, keep_strings=False)
            kept = blank(self.text, keep_strings=True)
            self.includes = [(line_of(kept, m.start()), m.group(1))
                             for m in INCLUDE.finditer(kept)]


class Tree:
    """The text files below a root, by path, and the folders of the project."""

    def __init__(self, root):
        self.root = root
        self.files = {}
        for directory, names, files in os.walk(root):
            relative = os.path.relpath(directory, root)
            names[:] = sorted(n for n in names if not n.startswith('.')
                              and n not in ('__pycache__', 'testdata')
                              and not (relative == '.' and n == 'build'))
            for name in sorted(files):
                if name.endswith(TEXT):
                    path = os.path.normpath(os.path.join(relative, name))
                    self.files[path] = File(root, path)
        self.folders = {folder_of(path) for path in self.files
                        if '/' in path} | set(ARROWS) | COMPOSERS
        self.defined = self.find_definitions()

    def find_definitions(self):
        """The places where each qualified name is defined: [(path, line)] in
        the order of paths, one for each file."""
        defined = {}
        for path, file in sorted(self.files.items()):
            if not file.is_cpp:
                continue
            is_header = file.suffix == '.h'
            seen = set()
            for name, _, position in definitions(file.code, is_header):
                if name not in seen:
                    seen.add(name)
                    defined.setdefault(name, []).append(
                        (path, line_of(file.code, position)))
        return {name: places for name, places in defined.items()
                if len(places) > 1}

    def to_wire(self, path, seen=None):
        """The includes that lead from `path` to a wire header, or None."""
        seen = set() if seen is None else seen
        if path in seen or path not in self.files:
            return None
        seen.add(path)
        for _, name in self.files[path].includes or []:
            if WIRE.match(name):
                return [path, name]
            chain = self.to_wire(name, seen)
            if chain:
                return [path] + chain
        return None


def check_arrows(tree, file):
    if not file.is_cpp or file.folder in COMPOSERS:
        return
    allowed = ARROWS.get(file.folder)
    if allowed is None:
        yield 1, 'arrow', (f'folder {file.folder}/ has no arrows; '
                           'add it to ARROWS of tools/tidy.py')
        return
    for line, name in file.includes:
        target = folder_of(name)
        if '/' not in name or target not in tree.folders:
            continue
        if target == file.folder or target in allowed:
            continue
        may = ', '.join(sorted(allowed)) or 'no other folder'
        yield line, 'arrow', (
            f'{file.folder}/ includes {name}; it may include {may}: move '
            'the code or pass it in from job/')


def check_third_party(tree, file):
    if not file.is_cpp or file.folder in ('tests', 'bench'):
        return
    for line, name in file.includes:
        for what, pattern, folders in THIRD_PARTY:
            # Loops that several folders with kernels share.
            if what == 'Highway' and re.match(r'base/\w+-inl\.h$', file.path):
                continue
            if re.match(pattern, name) and file.folder not in folders:
                yield line, 'third-party', (
                    f'{name}: {what} belongs to '
                    f'{", ".join(sorted(folders))}; go through its headers')


def check_heavy_header(tree, file):
    if file.suffix != '.h' or re.match(r'(wire|rpc)/\w+/', file.path):
        return
    if file.path.startswith(('tests/wire/', 'tests/rpc/')):
        return
    for line, name in file.includes:
        if HEAVY.match(name):
            yield line, 'heavy-header', (
                f'{name} in a header slows down every file that includes it; '
                'include it in the .cc and hide it behind a struct Impl')


def check_wire_reach(tree, file):
    if not file.is_cpp or file.folder in ('wire', 'rpc', 'tests', 'bench'):
        return
    for line, name in file.includes:
        chain = tree.to_wire(name)
        if chain:
            yield line, 'wire-reach', (
                f'leads to gRPC or protobuf: {" -> ".join(chain)}; '
                'include headers of wire/ or rpc/ that do not')


def check_own_header_first(tree, file):
    if file.suffix != '.cc' or not file.includes:
        return
    own = re.sub(r'\.cc$', '.h', file.path)
    if own in tree.files and file.includes[0][1] != own:
        yield file.includes[0][0], 'own-header', (
            f'{file.includes[0][1]} is included before {own}; put {own} '
            'first, which shows that it compiles alone')


def check_tokens(tree, file):
    if not file.is_cpp:
        return
    for rule, pattern, allowed, say in TOKENS:
        if allowed(file.path):
            continue
        for match in pattern.finditer(file.code):
            yield line_of(file.code, match.start()), rule, (
                f'{match.group().rstrip("( ")} {say}')


def check_one_definition(tree, file):
    # A program that links two classes of the same name may use members of
    # either.
    for name, places in tree.defined.items():
        for path, line in places[1:]:
            if path == file.path:
                first, first_line = places[0]
                yield line, 'one-definition', (
                    f'{name} is defined in {first}:{first_line} too; rename '
                    'one, use the other, or put it into an anonymous namespace')


def check_guard(tree, file):
    # Headers that Highway compiles once for each instruction set have other
    # guards.
    if file.suffix != '.h' or file.path.endswith('-inl.h'):
        return
    guard = 'SHOAL_' + re.sub(r'[^A-Z0-9]', '_', file.path.upper()) + '_'
    first = next((n for n, text in enumerate(file.lines, 1)
                  if text and not text.startswith('//')), 1)
    begin = file.lines[first - 1:first + 1]
    if begin != [f'#ifndef {guard}', f'#define {guard}']:
        yield first, 'guard', f'the header guard is not {guard}; rename it'
    end = [line for line in file.lines if line][-1:]
    if end != [f'#endif  // {guard}']:
        yield len(file.lines), 'guard', (
            f'the last line is not "#endif  // {guard}"; write it so')


def check_in_cmake(tree, file):
    if file.suffix not in CPP:
        return
    if file.folder == 'tests' and file.suffix == '.h':
        return  # the tests that include it show that it compiles
    directory = os.path.dirname(file.path)
    while True:
        lists = tree.files.get(os.path.join(directory, 'CMakeLists.txt'))
        name = os.path.relpath(file.path, directory or '.')
        listed = re.sub(r'#.*|\$\{CMAKE_CURRENT_SOURCE_DIR\}/', '',
                        lists.text if lists else '')
        if re.search(r'(?<![\w./-])' + re.escape(name) + r'(?![\w.])', listed):
            return
        if not directory:
            break
        directory = os.path.dirname(directory)
    yield 1, 'no-target', ('no CMakeLists.txt above names it; add it to a '
                           'target or delete it')


def check_leftovers(tree, file):
    for line, text in enumerate(file.lines, 1):
        match = LEFTOVER.search(text)
        if match:
            yield line, 'leftover', (
                f'{match.group()}; do it, or open an issue and delete it')


def check_machine_paths(tree, file):
    for line, text in enumerate(file.lines, 1):
        match = MACHINE_PATH.search(text)
        if match:
            yield line, 'machine-path', (
                f'{match.group()[:-1]} is a path of one machine; make it '
                'relative or an option')


def check_shebang(tree, file):
    script = file.suffix == '.sh' or file.executable
    if script and not file.text.startswith('#!/'):
        yield 1, 'shebang', ('a script that names no interpreter; begin it with '
                             '#!/bin/sh or another path')


def check_lines(tree, file):
    for line, text in enumerate(file.lines, 1):
        if text != text.rstrip():
            yield line, 'trailing-space', 'white space at the end; remove it'
        if (file.suffix in CPP and len(text) > MAX_COLUMNS
                and 'http' not in text and not text.startswith('#include')):
            yield line, 'long-line', (
                f'{len(text)} columns; break it at {MAX_COLUMNS}')
    if file.raw and not file.raw.endswith(b'\n'):
        yield len(file.lines), 'last-newline', 'the last line has no newline; '\
            'add one'
    if file.suffix in CODE and len(file.lines) - 1 > MAX_LINES:
        yield MAX_LINES + 1, 'long-file', (
            f'{len(file.lines) - 1} lines; a file does one thing: split it '
            f'before {MAX_LINES}')


RULES = [check_arrows, check_third_party, check_heavy_header, check_wire_reach,
         check_own_header_first, check_tokens, check_one_definition,
         check_guard, check_in_cmake, check_leftovers, check_machine_paths,
         check_shebang, check_lines]


def check(root):
    """All violations below `root`, as printed lines, in the order of files."""
    tree = Tree(root)
    found = []
    for path, file in sorted(tree.files.items()):
        for rule in RULES:
            for line, name, text in rule(tree, file):
                found.append((path, line, f'{path}:{line}: {name}: {text}'))
    return [text for _, _, text in sorted(found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument('--root', default=here, help='default: this tree')
    found = check(parser.parse_args().root)
    for text in found:
        print(text)
    print(f'tidy: {len(found)} violations' if found else 'tidy: clean')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
