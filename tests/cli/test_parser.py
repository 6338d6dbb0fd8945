"""Commands that are mistyped."""

import pytest

from podium.cli import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("shedule",), 'podium: error: unknown command "shedule"; did you mean "scheduler"?\n'),
        (("Up",), 'podium: error: unknown command "Up"; did you mean "up"?\n'),
        (
            ("config", "xyz"),
            'podium config: error: unknown command "xyz"; one of: validate, show, convert, diff\n',
        ),
        (
            ("plugin", "lst"),
            'podium plugin: error: unknown command "lst"; did you mean "list"?\n',
        ),
        (
            ("config", "show", "--ouput", "json"),
            'podium config show: error: unknown flag: --ouput; did you mean "--output"?\n',
        ),
        (
            ("config", "show", "-o", "jsn"),
            "invalid choice: 'jsn' (choose from 'text', 'json', 'yaml')\n",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_is_not_known_is_told_with_what_is_near(capsys, words, told):
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(told)
