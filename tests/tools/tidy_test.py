#!/usr/bin/env python3
"""Plants a violation of each rule of tools/tidy.py in a tree of its own."""

import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tools'))
import tidy  # noqa: E402  (needs the path above)


def header(path, body=''):
    guard = 'SHOAL_' + re.sub(r'\W', '_', path.upper()) + '_'
    return (f'#ifndef {guard}\n#define {guard}\n{body}'
            f'#endif  // {guard}\n')


class TidyTest(unittest.TestCase):
    def check(self, files, cmake=True):
        """The violations of a tree of these files, every source in CMake."""
        with tempfile.TemporaryDirectory() as root:
            files = dict(files)
            if cmake:
                files['CMakeLists.txt'] = ''.join(
                    f'x({name})\n' for name in files)
            for name, text in files.items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(text)
            return tidy.check(root)

    def assert_fires(self, rule, place, files, cmake=True):
        """Exactly one violation: `rule` at `place` (file:line)."""
        found = self.check(files, cmake)
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0],
                         rf'^{re.escape(place)}: {rule}: .+; .+')

    def assert_clean(self, files):
        self.assertEqual(self.check(files), [])

    def test_a_clean_tree_has_no_violations(self):
        self.assert_clean({
            'base/a.h': header('base/a.h', '#include <mutex>\n'),
            'base/a.cc': '#include "base/a.h"\n\n#include <spdlog/spdlog.h>\n',
            'ps/b/c.h': header('ps/b/c.h', '#include "base/a.h"\n'),
            'wire/m/m.h': header('wire/m/m.h',
                                 '#include "proto/shoal.pb.h"\n'),
            'wire/m/m.cc': '#include "wire/m/m.h"\n'
                           '#include <google/protobuf/message.h>\n',
            'rpc/client.cc': '#include <grpcpp/grpcpp.h>\n'
                             '#include "proto/shoal.grpc.pb.h"\n'
                             '#include "proto/shoal.pb.h"\n'
                             '#include "wire/m/m.h"\n',
            'launch/f.cc': '#include <CLI/CLI.hpp>\n'
                           '#include "proto/config.pb.h"\n',
            'cmd/main.cc': '#include "ps/b/c.h"\nint main() { getenv("A"); '
                           'std::cout << 1; }\n',
            'job/j.cc': '#include "ps/b/c.h"\n#include "base/a.h"\n',
            'report/r.cc': 'void F() { std::cout << 1; }\n',
            'README.md': 'A line may be as long as it likes here, as it is '
                         'wrapped by whoever shows it to you.\n',
        })

    def test_arrow(self):
        files = {'base/a.h': header('base/a.h'), 'ps/p.h': header('ps/p.h'),
                 'worker/w.h': header('worker/w.h'),
                 'wire/w.h': header('wire/w.h'),
                 'rpc/r.h': header('rpc/r.h'),
                 'launch/l.h': header('launch/l.h'),
                 'datatools/d.h': header('datatools/d.h'),
                 'job/j.h': header('job/j.h'),
                 'coordinator/k.h': header('coordinator/k.h'),
                 'cmd/c.h': header('cmd/c.h')}
        for folder, target in [('report', 'launch/l.h'), ('report', 'ps/p.h'),
                               ('worker', 'datatools/d.h'),
                               ('datatools', 'ps/p.h'), ('ps', 'job/j.h'),
                               ('job', 'cmd/c.h'),
                               ('base', 'ps/p.h'), ('ps', 'worker/w.h'),
                               ('worker', 'ps/p.h'), ('cluster', 'ps/p.h'),
                               ('core', 'rpc/r.h'), ('ps', 'rpc/r.h'),
                               ('cluster', 'rpc/r.h'), ('rpc', 'ps/p.h'),
                               ('wire', 'rpc/r.h'), ('ps', 'wire/w.h'),
                               ('cluster', 'coordinator/k.h'),
                               ('report', 'coordinator/k.h'),
                               ('coordinator', 'ps/p.h')]:
            self.assert_fires('arrow', f'{folder}/x.cc:2', {
                **files, f'{folder}/x.cc': f'\n#include "{target}"\n'})
        self.assert_fires('arrow', 'newcomer/x.cc:1',
                          {'newcomer/x.cc': 'int x;\n'})

    def test_an_include_in_a_comment_is_none(self):
        self.assert_clean({
            'ps/p.h': header('ps/p.h'),
            'base/x.cc': '// #include "ps/p.h"\n/*\n#include "ps/p.h"\n*/\n'})

    def test_third_party(self):
        for name, path in [('grpcpp/grpcpp.h', 'ps/x.cc'),
                           ('grpcpp/grpcpp.h', 'wire/x.cc'),
                           ('proto/shoal.grpc.pb.h', 'wire/x.cc'),
                           ('google/protobuf/message.h', 'cluster/x.cc'),
                           ('google/protobuf/message.h', 'rpc/x.cc'),
                           ('spdlog/spdlog.h', 'ps/x.cc'),
                           ('CLI/CLI.hpp', 'worker/x.cc'),
                           ('nlohmann/json.hpp', 'cluster/x.cc'),
                           ('dnnl.hpp', 'worker/x.cc'),
                           ('hwy/highway.h', 'base/x.cc'),
                           ('zlib.h', 'base/x.cc'),
                           ('proto/config.pb.h', 'rpc/x.cc'),
                           ('proto/config.pb.h', 'wire/x.cc')]:
            found = self.check({path: f'#include <{name}>\n'})
            self.assertTrue(any(f'{path}:1: third-party: ' in text
                                for text in found), (name, found))
        found = self.check({'cmd/x.cc': '#include "proto/shoal.pb.h"\n'})
        self.assertTrue(any('cmd/x.cc:1: third-party: ' in text
                            for text in found), found)

    def test_wire_reach(self):
        files = {
            'wire/a/a.h': header('wire/a/a.h',
                                 '#include "proto/shoal.pb.h"\n'),
            'wire/a/light.h': header('wire/a/light.h'),
            'rpc/a/a.h': header('rpc/a/a.h', '#include <grpcpp/grpcpp.h>\n'),
            'rpc/b.h': header('rpc/b.h', '#include "rpc/a/a.h"\n'),
            'tests/rpc/t.cc': '#include "rpc/b.h"\n',
            'job/j.cc': '#include "wire/a/light.h"\n',
        }
        self.assert_clean(files)
        for name in ['rpc/b.h', 'wire/a/a.h']:
            self.assert_fires('wire-reach', 'cmd/main.cc:1', {
                **files, 'cmd/main.cc': f'#include "{name}"\n'})

    def test_heavy_header(self):
        for path, name in [('rpc/client.h', 'grpcpp/channel.h'),
                           ('base/logger.h', 'spdlog/spdlog.h'),
                           ('launch/flags.h', 'CLI/CLI.hpp'),
                           ('base/out.h', 'nlohmann/json.hpp')]:
            self.assert_fires('heavy-header', f'{path}:3', {
                path: header(path, f'#include <{name}>\n')})
        for path in ['rpc/a/a.h', 'wire/a/a.h']:
            self.assert_clean({path: header(
                path, '#include "proto/shoal.pb.h"\n')})

    def test_own_header(self):
        self.assert_fires('own-header', 'base/a.cc:1', {
            'base/a.h': header('base/a.h'),
            'base/a.cc': '#include <vector>\n\n#include "base/a.h"\n'})

    def test_getenv(self):
        for call in ['getenv("HOME")', 'std::getenv("HOME")', 'environ[0]']:
            self.assert_fires('getenv', 'launch/x.cc:2', {
                'launch/x.cc': f'auto a =\n    {call};\n'})
        self.assert_clean({'launch/x.cc': '// getenv\nauto a = "getenv";\n'})

    def test_wall_clock(self):
        for code in ['absl::Now()', 'std::chrono::system_clock::now()',
                     'gpr_now(GPR_CLOCK_REALTIME)']:
            self.assert_fires('wall-clock', 'rpc/x.cc:1',
                              {'rpc/x.cc': f'auto deadline = {code};\n'})
        self.assert_clean({'base/x.cc': 'auto now = absl::Now();\n',
                           'rpc/x.cc': '// not absl::Now()\n'})

    def test_stdout(self):
        for code in ['std::cout << 1;', 'printf("x");', 'std::puts("x");',
                     'fprintf(stdout, "x");']:
            self.assert_fires('stdout', 'worker/x.cc:1',
                              {'worker/x.cc': f'void f() {{ {code} }}\n'})
        self.assert_clean({'worker/x.cc': 'void f() { snprintf(b, 9, "x");\n'
                           'fprintf(stderr, "x"); }\n'})

    def test_mutex(self):
        for name in ['std::mutex', 'std::lock_guard<Mutex>', 'absl::Mutex',
                     'absl::MutexLock', 'std::condition_variable',
                     'absl::Notification', 'std::shared_mutex']:
            for path in ['ps/x.cc', 'tests/ps/x_test.cc']:
                self.assert_fires('mutex', f'{path}:1', {path: f'{name} m;\n'})
        self.assert_clean({'base/mutex.h': header('base/mutex.h',
                                                  'std::mutex m;\n')})

    def test_mode(self):
        uses = 'if (mode == TrainingMode::kAsync) return;\n'
        for path in ['worker/train/x.cc', 'coordinator/x.cc', 'cmd/x.cc',
                     'job/worker_part.cc', 'job/training_modes.cc',
                     'core/x.cc']:
            self.assert_fires('mode', f'{path}:2', {path: '\n' + uses})
        self.assert_fires('mode', 'ps/x.cc:1', {
            'ps/x.cc': 'for (const auto& row : kTrainingModes) {}\n'})
        for path in ['launch/flags/x.cc', 'job/training_mode.cc',
                     'tests/job/x_test.cc']:
            self.assert_clean({path: uses})
        self.assert_clean({
            'core/training_mode.h': header('core/training_mode.h',
                                           'enum class TrainingMode { kA };\n'),
            'ps/x.cc': '// TrainingMode\nconst TrainingModeKind* mode;\n'})

    def test_one_definition(self):
        a = {'base/a.h': header('base/a.h', 'namespace shoal {\n'
                                'enum class Kind : int {\n  kA,\n};\n'
                                'struct Ab { int Kind; struct Cd { int x; }; };'
                                '\ninline int F(int a, char* b = nullptr) '
                                '{ return a; }\n'
                                'template <typename T>\nclass Box {\n};\n'
                                'inline constexpr int kSize = 1;\n'
                                '}  // namespace shoal\n')}

        def second(code, space='namespace shoal {'):
            return {**a, 'ps/b.h': header('ps/b.h', f'{space}\n{code}\n}}\n')}
        for code in ['enum class Kind : int { kB };', 'struct Kind {};',
                     'class Ab final : public X<int> {\n int x;\n};',
                     'inline int F(int x, char* y) { return x; }',
                     'class ABSL_LOCKABLE Box { int x; };',
                     'class Kind { void f() { if (1) { } } };',
                     'inline constexpr double kSize = 2;']:
            self.assert_fires('one-definition', 'ps/b.h:4', second(code))
        # A type that only one .cc shows may be another's in the same program.
        self.assert_fires('one-definition', 'ps/b.cc:2', {
            **a, 'ps/b.cc': 'namespace shoal {\nstruct Ab { };\n}\n'})
        for code in ['class Kind;', 'enum class Kind : int;', 'Kind F();',
                     'inline int F(long a, char* b) { return 1; }',
                     'struct Other { enum class Kind { kA }; };',
                     'inline Kind G() { struct Ab { int x; }; return {}; }',
                     'namespace inner { class Ab { }; }',
                     'namespace { class Ab { }; }',
                     'static int F(int a, char* b) { return 2; }',
                     'template <>\nclass Box<int> { };',
                     '// class Ab { };']:
            self.assert_clean(second(code))
        self.assert_clean(second('class Ab { };', 'namespace other {'))
        # Two ways to compile one header.
        self.assert_clean({'base/a.h': header(
            'base/a.h', 'namespace shoal {\n#if X\nstruct A { };\n#else\n'
            'struct A { int x; };\n#endif\n}\n')})

    def test_guard(self):
        right = header('ps/table/a.h')
        self.assert_fires('guard', 'ps/table/a.h:1', {
            'ps/table/a.h': right.replace('#ifndef SHOAL_PS_', '#ifndef PS_')})
        self.assert_fires('guard', 'ps/table/a.h:4', {
            'ps/table/a.h': right.replace('#endif  //', '#endif //')})
        self.assert_clean({'ps/table/a.h': '// What it is.\n' + right})
        self.assert_clean({'ps/table/a-inl.h': '#include "hwy/highway.h"\n'})

    def test_no_target(self):
        for name, text in [('ps/table/a.h', header('ps/table/a.h')),
                           ('ps/table/a.cc', 'int a;\n'),
                           ('proto/a.proto', '\n')]:
            self.assert_fires('no-target', f'{name}:1', {
                name: text, 'ps/CMakeLists.txt': 'x(table/aa.h aa.cc)\n'
                                                 '# table/a.cc\n'}, cmake=False)
            folder, rest = name.split('/', 1)
            self.assertEqual(self.check({
                name: text, f'{folder}/CMakeLists.txt': f'x(SRCS {rest})\n'},
                cmake=False), [])
        self.assertEqual(self.check({'tests/ps/a.h': header('tests/ps/a.h')},
                                    cmake=False), [])

    def test_leftover(self):
        for word in ['TO' + 'DO', 'FIX' + 'ME']:
            for path in ['ps/x.cc', 'tools/x.py', 'docs/x.md']:
                self.assert_fires('leftover', f'{path}:2',
                                  {path: f'\n// {word}: later\n'})

    def test_machine_path(self):
        for path in ['/wo' + 'rk/x', '/ho' + 'me/me/data', '/ro' + 'ot/x']:
            for name in ['ps/x.cc', 'docs/x.md', 'tools/x.sh']:
                self.assert_fires('machine-path', f'{name}:2',
                                  {name: f'#!/bin/sh\n"{path}"\n'})
        self.assert_clean({'docs/x.md': 'a/wo' + 'rk/x and $HOME/ho'
                           + 'me/x and wo' + 'rk/\n'})

    def test_shebang(self):
        self.assert_fires('shebang', 'tools/a.sh:1', {
            'tools/a.sh': '# !/bin/sh\n', 'tools/b.sh': '#!/bin/sh\n'})

    def test_lines(self):
        self.assert_fires('long-line', 'ps/x.cc:2',
                          {'ps/x.cc': 'int a;\n//' + 'x' * 79 + '\n'})
        self.assert_clean({'ps/x.cc': '//' + '×' * 78 + '\n'})
        self.assert_fires('trailing-space', 'docs/x.md:1',
                          {'docs/x.md': 'a \nb\n'})
        self.assert_fires('last-newline', 'ps/x.cc:1', {'ps/x.cc': 'int a;'})

    def test_long_file(self):
        self.assert_clean({'ps/x.cc': 'int a;\n' * 600})
        self.assert_fires('long-file', 'ps/x.cc:601',
                          {'ps/x.cc': 'int a;\n' * 601})

    def test_what_is_built_or_hidden_is_not_ours(self):
        bad = 'std::mutex m; \n'
        self.assert_clean({'build/release/x.cc': bad, '.cache/x.cc': bad,
                           'tests/testdata/x.txt': bad})


if __name__ == '__main__':
    unittest.main()
