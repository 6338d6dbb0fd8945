"""No file of the project has a secret in it."""

import re

import pytest

from tests.test_project import ROOT, files, relative

# Written so that this file does not match itself.
SECRET = re.compile(
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^\\\"'`]*\n[A-Za-z0-9+/=]{40}"
    r"|\bAKIA[0-9A-Z]{16}\b"  # of Amazon's cloud
    r"|\bgh[pousr]_[A-Za-z0-9]{36}\b"  # of GitHub
    r"|\bxox[baprs]-[0-9A-Za-z-]{20,}"  # of Slack
    r"|\bAIza[0-9A-Za-z_-]{35}\b"  # of Google's cloud
    r"|\beyJ[A-Za-z0-9_-]{20,}\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"  # a signed token
)


# Keys of certificates for 127.0.0.1 that only tests trust.
FOR_TESTS = ["tests/client/certificates/client.key", "tests/client/certificates/server.key"]


def test_no_file_has_a_secret():
    found = [
        relative(path)
        for path in files(ROOT)
        if SECRET.search(path.read_bytes().decode(errors="replace"))
    ]

    assert found == FOR_TESTS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-----BEGIN EC PRIVATE" + " KEY-----\n" + "A" * 64, True),
        ("-----BEGIN EC PRIVATE" + " KEY-----", False),
        ("AKIA" + "A1" * 8, True),
        ("ghp_" + "a" * 36, True),
        (".".join(("eyJ" + "a" * 30, "eyJ" + "b" * 30, "c" * 30)), True),
        ("eyJ is how base64 of JSON begins", False),
    ],
)
def test_what_counts_as_a_secret(text, expected):
    assert bool(SECRET.search(text)) == expected
