"""Packages of PyPI that a test needs, from build/venv.

A test that needs one calls `use()` before anything else: the test goes on under
build/venv's Python where tools/install_test_tools.sh has made it.
"""

import importlib
import os
import sys
import unittest

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
VENV_PYTHON = os.path.join(_ROOT, "build", "venv", "bin", "python3")


def use():
    """Runs this program under build/venv's Python, if it is there."""
    if os.environ.get("SHOAL_IN_TEST_VENV") or not os.path.exists(VENV_PYTHON):
        return
    environment = dict(os.environ, SHOAL_IN_TEST_VENV="1")
    os.execve(VENV_PYTHON, [VENV_PYTHON, "-B"] + sys.argv, environment)


def need(name):
    """The module, or the test is skipped with the reason."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(
            f"{error}: run tools/install_test_tools.sh") from error
