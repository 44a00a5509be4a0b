#!/usr/bin/env python3
"""What tools/pictures.py reads and draws, without a job."""

import json
import os
import sys
import unittest
from xml.etree import ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tools'))
import pictures  # noqa: E402  (needs the path above)

RESULTS = os.path.join(ROOT, 'bench', 'results', 'speed_amd_epyc.json')


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter()
            if element.tag == f'{pictures.SVG}text']


def small_results():
    """Every leg's rate is 1000, but 2000 for Shoal's."""
    def leg(name):
        rate = 2000 if name.startswith('shoal') else 1000
        return {'samples_per_cpu_second':
                {'median': rate, 'min': rate - 10, 'max': rate + 10}}
    names = [name for _, legs in pictures.GROUPS for _, name in legs]
    return {'configs': [
        {'net': net, 'batch': 1024, 'repeats': 2,
         'legs': {name: leg(name) for name in names}} for net in 'AB']}


class BarsTest(unittest.TestCase):
    def test_each_bar_has_its_figure_and_the_ratio_to_shoal(self):
        found = texts(pictures.bars_picture(small_results(), 'x.json', 1024))
        self.assertEqual(found.count('2,000'), 4)
        self.assertEqual(found.count('1,000  (Shoal: 2.0 ×)'), 6)
        self.assertIn('TensorFlow', found)

    def test_a_leg_that_was_not_measured_is_named(self):
        results = small_results()
        del results['configs'][1]['legs']['tf-ps']
        with self.assertRaisesRegex(pictures.BadResults, 'tf-ps of model B'):
            pictures.bars_picture(results, 'x.json', 1024)

    def test_a_batch_that_was_not_measured_is_named(self):
        with self.assertRaisesRegex(pictures.BadResults, 'batches of 64 0'):
            pictures.bars_picture(small_results(), 'x.json', 64)

    def test_the_picture_in_the_repository_is_of_the_results_in_it(self):
        with open(RESULTS, encoding='utf-8') as file:
            drawn = pictures.bars_picture(
                json.load(file), os.path.basename(RESULTS), 1024)
        with open(os.path.join(pictures.PICTURES, 'speed.svg'),
                  encoding='utf-8') as file:
            self.assertEqual(file.read(), drawn, 'run tools/pictures.py bars')


class ScreenTest(unittest.TestCase):
    def screen(self, *parts):
        screen = pictures.Screen()
        for part in parts:
            screen.feed(part)
        return screen

    def test_a_progress_line_is_rewritten_in_place(self):
        screen = self.screen('one\r\n', '\r\x1b[Kstep 1, 10.0 %',
                             '\r\x1b[Ktwo\nstep 2')
        self.assertEqual([screen.text(at) for at in range(3)],
                         ['one', 'two', 'step 2'])

    def test_a_shorter_line_does_not_erase_a_longer_one(self):
        self.assertEqual(self.screen('abcdef\rxy').text(), 'xycdef')

    def test_a_sequence_may_arrive_in_parts(self):
        screen = self.screen('\x1b[3', '2mps 0\x1b', '[0m | hello')
        self.assertEqual(pictures.runs(screen.lines[0]),
                         [(0, 'ps 0', 32), (4, ' | hello', 0)])

    def test_how_far_a_job_is(self):
        self.assertEqual(
            pictures.done_percent('epoch 2/3, 65.6 %, 42s left, 318k/s'),
            65.6)
        self.assertIsNone(pictures.done_percent('worker 1 | joined'))


class TerminalTest(unittest.TestCase):
    def test_the_picture_has_no_more_lines_than_it_may(self):
        lines = [pictures.plain(f'line {at}') for at in range(100)]
        shown = pictures.select_lines(lines, 40, pictures.plain('step 9'), 30)
        self.assertEqual(len(shown), 30)
        found = texts(pictures.draw_terminal(shown, 80))
        self.assertIn('step 9', found)
        self.assertIn('line 40', found)
        self.assertIn('line 99', found)
        self.assertNotIn('line 39', found)

    def test_a_line_that_is_too_long_says_so(self):
        picture = pictures.draw_terminal([pictures.plain('x' * 81)], 80)
        self.assertEqual(texts(picture), ['x' * 79 + '…'])

    def test_what_a_process_writes_is_text_and_not_markup(self):
        picture = pictures.draw_terminal([pictures.plain('a<b & "c"')], 80)
        self.assertEqual(texts(picture), ['a<b & "c"'])


class LinesTest(unittest.TestCase):
    PAGE = '<p>before</p>' + ''.join(
        f'<svg xmlns="http://www.w3.org/2000/svg"><text>{title}</text></svg>'
        for title in ('A, 1gbit', 'A, 10gbit')) + '<p>after</p>'

    def test_the_picture_with_this_title_is_taken(self):
        found = pictures.picture_of(self.PAGE, 'A, 10gbit')
        self.assertEqual(texts(found), ['A, 10gbit'])

    def test_the_picture_in_the_repository_has_the_title_that_is_sought(self):
        with open(os.path.join(pictures.PICTURES, 'compare_a_1gbit.svg'),
                  encoding='utf-8') as file:
            picture = file.read()
        self.assertEqual(pictures.picture_of(picture, pictures.LINES_TITLE),
                         picture)

    def test_a_title_that_no_picture_has_is_named(self):
        with self.assertRaisesRegex(pictures.BadResults, '"B, 1gbit"'):
            pictures.picture_of(self.PAGE, 'B, 1gbit')


if __name__ == '__main__':
    unittest.main()
