#!/usr/bin/env python3
"""Draws the pictures of README.md as SVG files.

  tools/pictures.py bars                          docs/pictures/speed.svg
  tools/pictures.py terminal --bin=build/release/bin  docs/pictures/kill.svg
  tools/pictures.py lines --bin=build/release/bin
                                          docs/pictures/compare_a_1gbit.svg

`bars` draws samples per CPU-second of Shoal beside its peers, from a file that
bench/e2e/speed.py wrote. `terminal` runs a real job under a pseudo terminal,
kills one of its workers with SIGKILL, and draws what the terminal showed.
`lines` takes one picture from the report of a comparison.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from xml.etree import ElementTree
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURES = os.path.join(ROOT, 'docs', 'pictures')
SVG = '{http://www.w3.org/2000/svg}'
LINES_TITLE = ('Samples/s over hosts: model A, batch of 1,024 a worker, '
               'network 1gbit')

# Every picture has a background of its own, so that it can be read on a light
# page and on a dark one. Where the page is dark, so is the picture.
STYLE = '''<style>
  .back {{ fill: {light[back]}; stroke: {light[edge]} }}
  .text {{ fill: {light[text]} }} .soft {{ fill: {light[soft]} }}
  .ours {{ fill: {light[ours]} }} .peer {{ fill: {light[peer]} }}
  .line {{ stroke: {light[text]} }}
  @media (prefers-color-scheme: dark) {{
    .back {{ fill: {dark[back]}; stroke: {dark[edge]} }}
    .text {{ fill: {dark[text]} }} .soft {{ fill: {dark[soft]} }}
    .ours {{ fill: {dark[ours]} }} .peer {{ fill: {dark[peer]} }}
    .line {{ stroke: {dark[text]} }}
  }}
</style>'''.format(
    light=dict(back='#ffffff', edge='#d0d7de', text='#1f2328', soft='#59636e',
               ours='#0969da', peer='#afb8c1'),
    dark=dict(back='#0d1117', edge='#3d444d', text='#f0f6fc', soft='#9198a1',
              ours='#4493f8', peer='#656c76'))

SANS = 'font-family="Helvetica, Arial, DejaVu Sans, sans-serif"'
MONO = 'font-family="Menlo, Consolas, DejaVu Sans Mono, monospace"'


def svg(width, height, label, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(label)}">\n' + '\n'.join(body) + '\n</svg>\n')


# Bars ------------------------------------------------------------------------

# (name, leg) of the results, the first beside which the others are seen.
GROUPS = [
    ('one process', [('Shoal', 'shoal-one'), ('TensorFlow', 'tf-one'),
                     ('PyTorch', 'torch-one')]),
    ('2 parameter servers + 2 workers', [
        ('Shoal', 'shoal-2+2'), ('TensorFlow', 'tf-ps')]),
]
NETS = {'A': 'model A: 39 fields × 16, MLP 400-400-400',
        'B': 'model B: 39 fields × 32, MLP 256-128-64'}


class BadResults(Exception):
    pass


def read_bars(results, batch):
    """[(title, [(name, median, least, most)])] of speed.py's results."""
    groups = []
    for net, title in NETS.items():
        configs = [config for config in results.get('configs', [])
                   if config['net'] == net and config['batch'] == batch]
        if len(configs) != 1:
            raise BadResults(f'the results have model {net} with batches of '
                             f'{batch} {len(configs)} times; once is needed')
        for where, legs in GROUPS:
            bars = []
            for name, leg in legs:
                figures = configs[0]['legs'].get(leg)
                if figures is None:
                    raise BadResults(
                        f'the results have no leg {leg} of model {net} with '
                        f'batches of {batch}; measure it: bench/e2e/speed.py '
                        f'--models={net} --batches={batch}')
                rate = figures['samples_per_cpu_second']
                bars.append((name, rate['median'], rate['min'], rate['max']))
            groups.append((f'{title}; {where}', bars))
    return groups


def draw_bars(groups, note):
    width, left, right, row = 760, 110, 150, 26
    scale = (width - left - right) / max(
        most for _, bars in groups for *_, most in bars)
    body = []
    y = 34
    body.append(f'<text class="text" {SANS} x="20" y="{y}" font-size="17" '
                'font-weight="bold">Samples per CPU-second '
                '(longer is better)</text>')
    y += 12
    for title, bars in groups:
        y += 26
        body.append(f'<text class="text" {SANS} x="20" y="{y}" '
                    f'font-size="14">{escape(title)}</text>')
        y += 8
        ours = bars[0][1]
        for at, (name, median, least, most) in enumerate(bars):
            kind = 'ours' if at == 0 else 'peer'
            text = f'{median:,.0f}'
            if at > 0:
                text += f'  (Shoal: {ours / median:.1f} ×)'
            middle = y + row / 2
            body += [
                f'<text class="text" {SANS} x="{left - 10}" '
                f'y="{middle + 5:.1f}" font-size="13" text-anchor="end">'
                f'{escape(name)}</text>',
                f'<rect class="{kind}" x="{left}" y="{y + 3}" '
                f'width="{median * scale:.1f}" height="{row - 6}" rx="2"/>',
                f'<path class="line" stroke-width="1.5" '
                f'd="M{left + least * scale:.1f} {middle}'
                f'H{left + most * scale:.1f}"/>',
                f'<text class="text" {SANS} x="{left + most * scale + 8:.1f}" '
                f'y="{middle + 5:.1f}" font-size="13">{escape(text)}</text>']
            y += row
    y += 8
    for line in note:
        y += 18
        body.append(f'<text class="soft" {SANS} x="20" y="{y}" '
                    f'font-size="12">{escape(line)}</text>')
    height = y + 18
    frame = (f'<rect class="back" x=".5" y=".5" width="{width - 1}" '
             f'height="{height - 1}" rx="8"/>')
    return svg(width, height, 'Samples per CPU-second of Shoal beside its '
               'peers', [STYLE, frame] + body)


def bars_picture(results, name, batch):
    groups = read_bars(results, batch)
    repeats = {config['repeats'] for config in results['configs']
               if config['batch'] == batch}
    note = [f'DeepFM, table of 1 M rows, batches of {batch}. All processes of '
            'a job count: servers, workers, reading, network.',
            'Bar: median; thin line: least to most of '
            f'{"/".join(map(str, sorted(repeats)))} repeats on one machine.',
            f'Figures: bench/results/{name}, written by bench/e2e/speed.py. '
            'What they mean: docs/benchmarking.md.']
    return draw_bars(groups, note)


# A terminal ------------------------------------------------------------------

# What is known of the escape sequences: colours, and "erase to the line's end".
ESCAPE = re.compile(r'\x1b\[([0-9;]*)([A-Za-z])')


class Screen:
    """The lines that a terminal shows: text rewritten by \\r and \\x1b[K.

    A line is a list of (character, colour); colour is 31 to 36, or 0.
    """

    def __init__(self):
        self.lines = [[]]
        self.column = 0
        self.colour = 0
        self.rest = ''

    def feed(self, text):
        text = self.rest + text
        self.rest = ''
        at = 0
        while at < len(text):
            match = ESCAPE.match(text, at)
            if match:
                self.obey(match[1], match[2])
                at = match.end()
                continue
            if text[at] == '\x1b' and len(text) - at < 12:
                self.rest = text[at:]  # the sequence may still be arriving
                return
            self.put(text[at])
            at += 1

    def obey(self, number, command):
        if command == 'K':
            del self.lines[-1][self.column:]
        elif command == 'm':
            self.colour = int(number or 0)

    def put(self, character):
        if character == '\n':
            self.lines.append([])
            self.column = 0
        elif character == '\r':
            self.column = 0
        elif character >= ' ':
            line = self.lines[-1]
            line[self.column:self.column + 1] = [(character, self.colour)]
            self.column += 1

    def text(self, at=-1):
        return ''.join(character for character, _ in self.lines[at])


def runs(line):
    """[(first column, text, colour)] of a line, by colour, without blanks."""
    result = []
    for column, (character, colour) in enumerate(line):
        if result and result[-1][2] == colour:
            result[-1][1] += character
        else:
            result.append([column, character, colour])
    return [(column, text, colour) for column, text, colour in result
            if text.strip()]


def plain(text, colour=0):
    return [(character, colour) for character in text]


def cut(line, columns):
    return line if len(line) <= columns else line[:columns - 1] + plain('…')


# Dark in every page, as terminals are; 37 is what a person typed.
COLOURS = {0: '#d6deeb', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341',
           34: '#79c0ff', 35: '#d2a8ff', 36: '#56d4dd', 37: '#ffffff'}


def draw_terminal(lines, columns):
    size, step, row, margin, top = 13, 7.83, 19, 16, 44
    width = round(columns * step + 2 * margin)
    height = top + row * len(lines) + margin
    body = [f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" '
            'rx="8" fill="#10151d" stroke="#3d444d"/>']
    for at, colour in enumerate(('#ff5f57', '#febc2e', '#28c840')):
        body.append(f'<circle cx="{22 + 20 * at}" cy="20" r="6" '
                    f'fill="{colour}"/>')
    for at, line in enumerate(lines):
        y = top + row * at + size
        for column, text, colour in runs(cut(line, columns)):
            # textLength keeps columns below each other in every font.
            body.append(
                f'<text {MONO} font-size="{size}" xml:space="preserve" '
                f'x="{margin + column * step:.1f}" y="{y}" '
                f'textLength="{len(text) * step:.1f}" '
                f'fill="{COLOURS.get(colour, COLOURS[0])}">'
                f'{escape(text)}</text>')
    return svg(width, height, 'A terminal: a worker of a running job is '
               'killed, is started again, and the job ends well', body)


JOB = ['--ps=2', '--workers=2', '--feature_size=5000', '--field_size=20',
       '--embedding_size=4', '--deep_layers=32,16', '--optimizer=adam',
       '--learning_rate=3e-3', '--batch_size=512', '--num_epochs=3']
SAID = ['$ shoal run --ps=2 --workers=2 --num_epochs=3 … '
        '--training_data_dir=tr* --val_data_dir=te*']


def worker_pid(launcher, index):
    """The process of this launcher that is worker `index`, or None."""
    children = f'/proc/{launcher}/task/{launcher}/children'
    with open(children, encoding='ascii') as file:
        pids = file.read().split()
    for pid in pids:
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                words = file.read().split(b'\0')
        except FileNotFoundError:
            continue
        if (os.path.basename(words[0]) == b'shoal-worker'
                and f'--task_index={index}'.encode() in words):
            return int(pid)
    return None


def done_percent(text):
    """The percentage of a progress line, "epoch 2/3, 65.6 %, …"; else None."""
    match = re.match(r'epoch \d+/\d+, ([\d.]+) %', text)
    return float(match[1]) if match else None


class Recorder:
    """A job under a pseudo terminal, of which worker 1 is killed on the way."""

    def __init__(self, command, columns, kill_at, seconds):
        self.command = command
        self.columns = columns
        self.kill_at = kill_at  # per cent
        self.deadline = time.monotonic() + seconds
        self.screen = Screen()
        self.killed_line = None  # its number on the screen
        self.before = None  # the progress line when it was killed

    def run(self):
        """The exit code."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ,
                    struct.pack('HHHH', 50, self.columns, 0, 0))
        process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=follower,
            stderr=follower, start_new_session=True)
        os.close(follower)
        try:
            self.watch(process, leader)
            return process.wait(max(1, self.deadline - time.monotonic()))
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            os.close(leader)

    def watch(self, process, leader):
        while time.monotonic() < self.deadline:
            try:
                data = os.read(leader, 65536)
            except OSError:  # EIO: the job has closed the terminal
                return
            if not data:
                return
            self.screen.feed(data.decode('utf-8', 'replace'))
            done = done_percent(self.screen.text())
            if (self.killed_line is None and done is not None
                    and done >= self.kill_at):
                self.kill(process.pid)

    def kill(self, launcher):
        pid = worker_pid(launcher, 1)
        if pid is None:
            return
        self.before = list(self.screen.lines[-1])
        self.killed_line = len(self.screen.lines) - 1
        os.kill(pid, signal.SIGKILL)


def select_lines(lines, killed_line, before, limit):
    """What is drawn: the command, the kill, and what followed it."""
    after = [line for line in lines[killed_line:] if line]
    shown = [plain(text, 37) for text in SAID] + [plain('…'), before]
    shown.append(plain('$ kill -9 $(pgrep -f shoal-worker.*task_index=1)'
                       '     # in another terminal', 37))
    room = limit - len(shown)
    if len(after) > room:
        keep = room // 2
        after = after[:keep - 1] + [plain('…')] + after[keep - room:]
    return shown + after


def record(bin_dir, rows, columns, kill_at, seconds):
    """The lines of a job in which worker 1 is killed and all ends well."""
    shoal = os.path.join(os.path.abspath(bin_dir), 'shoal')
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [shoal, 'data', 'gen', f'--rows={rows}', '--test_rows=50000',
             '--fields=20', '--ids=5000', '--zipf=1.2', '--seed=1',
             '--out=' + directory], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        recorder = Recorder(
            [shoal, 'run', *JOB, f'--training_data_dir={directory}/tr*',
             f'--val_data_dir={directory}/te*'], columns, kill_at, seconds)
        code = recorder.run()
    screen = recorder.screen
    if recorder.killed_line is None or code != 0:
        sys.exit('\n'.join(screen.text(at) for at in range(len(screen.lines)))
                 + f'\nthe job exited with {code}; a worker was '
                 + ('not ' if recorder.killed_line is None else '') + 'killed')
    return recorder


def terminal_picture(args):
    recorder = record(args.bin, args.rows, args.columns, args.kill_at,
                      args.seconds)
    lines = select_lines(recorder.screen.lines, recorder.killed_line,
                         recorder.before, args.lines)
    return draw_terminal(lines, args.columns)


def picture_of(page, title):
    """The SVG in this page with the given title."""
    for found in re.findall('<svg .*?</svg>', page, re.DOTALL):
        texts = ElementTree.fromstring(found).iter(f'{SVG}text')
        if title in (element.text for element in texts):
            return found + '\n'
    raise BadResults(f'its report has no picture with the title "{title}"')


def lines_picture(args):
    with tempfile.TemporaryDirectory() as directory:
        page = os.path.join(directory, 'report.html')
        subprocess.run([os.path.join(args.bin, 'shoal'), 'bench', 'report',
                        f'--compare={args.results}', f'--out={page}'],
                       stdout=subprocess.DEVNULL, check=False)
        if not os.path.exists(page):
            raise BadResults('shoal bench report made no report of it')
        with open(page, encoding='utf-8') as file:
            return picture_of(file.read(), args.title)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    bars = commands.add_parser('bars', help='speed beside peers')
    bars.add_argument('--results', help='a file of bench/e2e/speed.py --out',
                      default=os.path.join(ROOT, 'bench', 'results',
                                           'speed_amd_epyc.json'))
    bars.add_argument('--batch', type=int, default=1024)
    bars.add_argument('--out', default=os.path.join(PICTURES, 'speed.svg'))
    terminal = commands.add_parser('terminal', help='a worker is killed')
    terminal.add_argument('--bin', required=True,
                          help='the folder with shoal and its programs')
    terminal.add_argument('--rows', type=int, default=1000000)
    terminal.add_argument('--columns', type=int, default=116)
    terminal.add_argument('--lines', type=int, default=30, help='at most')
    terminal.add_argument('--kill_at', type=float, default=35,
                          help='per cent of the job')
    terminal.add_argument('--seconds', type=float, default=180,
                          help='until the job is given up')
    terminal.add_argument('--out', default=os.path.join(PICTURES, 'kill.svg'))
    lines = commands.add_parser('lines', help='a picture of a comparison')
    lines.add_argument('--bin', required=True,
                       help='the folder with shoal and its programs')
    lines.add_argument('--results', help='compare.json of a comparison',
                       default=os.path.join(ROOT, 'bench', 'results',
                                            'compare_granite_rapids.json'))
    lines.add_argument('--title', default=LINES_TITLE)
    lines.add_argument('--out', default=os.path.join(PICTURES,
                                                     'compare_a_1gbit.svg'))
    args = parser.parse_args()
    try:
        if args.command == 'bars':
            with open(args.results, encoding='utf-8') as file:
                results = json.load(file)
            picture = bars_picture(results, os.path.basename(args.results),
                                   args.batch)
        elif args.command == 'lines':
            picture = lines_picture(args)
        else:
            picture = terminal_picture(args)
    except BadResults as error:
        sys.exit(f'{args.results}: {error}')
    with open(args.out, 'w', encoding='utf-8') as file:
        file.write(picture)
    print(args.out)


if __name__ == '__main__':
    main()
