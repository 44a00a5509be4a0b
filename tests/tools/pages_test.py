"""The pages say what the programs say: messages, links and tables."""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
DOCS = os.path.join(ROOT, "docs")
PROGRAM_FOLDERS = ["base", "checkpoint", "cluster", "cmd", "coordinator",
                   "core", "datatools", "job", "launch", "models", "plan", "ps",
                   "report", "rpc", "wire", "worker"]
# gRPC's words, and words that one file gives to the message of another.
FOREIGN = {"failed to connect", "the checkpoint"}


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


def texts_of_the_programs():
    """For each file of C++ code its string literals, a line each. Literals side
    by side, also as arguments, are one; an expression between two ends one."""
    texts = []
    for folder in PROGRAM_FOLDERS:
        for directory, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if not name.endswith((".cc", ".h")):
                    continue
                code = re.sub(r"//[^\n]*", "", read(directory, name))
                code = re.sub(r'"\s*,?\s*\n\s*"', "", code)
                texts.append("\n".join(
                    re.findall(r'"((?:[^"\\\n]|\\.)+)"', code)))
    return texts


def fragments(message):
    """The words between what differs from job to job."""
    parts = re.split(r"…", message)
    return [part.strip(" ,:;.'") for part in parts if part.strip(" ,:;.'")]


class TroubleshootingTest(unittest.TestCase):

    def test_its_messages_are_those_of_the_programs(self):
        texts = texts_of_the_programs()
        messages = re.findall(r"^### `(.*)`$",
                              read("docs", "troubleshooting.md"), re.M)
        self.assertGreaterEqual(len(messages), 15)
        # Words that one file says are the message; single ones are anywhere.
        unknown = [message for message in messages
                   if not any(all(fragment in text
                                  for fragment in fragments(message)
                                  if " " in fragment and
                                  fragment not in FOREIGN)
                              for text in texts)]
        self.assertEqual(unknown, [])
        for message in messages:
            self.assertTrue([fragment for fragment in fragments(message)
                             if fragment.count(" ") >= 2], message)

    def test_each_message_has_a_cause_and_a_cure(self):
        page = read("docs", "troubleshooting.md")
        for section in re.split(r"^###? ", page, flags=re.M)[1:]:
            if section.startswith("`"):
                self.assertEqual(section.count("*Cause:*"), 1, section)
                self.assertEqual(section.count("*Cure:*"), 1, section)


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"[`*]", "", heading).strip().lower()
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


class LinksTest(unittest.TestCase):

    def pages(self):
        yield "README.md"
        for directory, _, names in os.walk(DOCS):
            for name in names:
                if name.endswith(".md"):
                    yield os.path.relpath(os.path.join(directory, name), ROOT)

    def test_every_link_leads_to_a_file_and_a_heading(self):
        broken = []
        for page in self.pages():
            text = re.sub(r"^```.*?^```", "", read(page), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                path = os.path.normpath(os.path.join(
                    os.path.dirname(page), path)) if path else page
                if not os.path.exists(os.path.join(ROOT, path)):
                    broken.append((page, target))
                elif anchor and path.endswith(".md") and (
                        anchor not in anchors(read(path))):
                    broken.append((page, target))
        self.assertEqual(broken, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
