"""Reading files: whatever keeps one from being read is a ConfigError as well."""

import pytest

from podium import config
from podium.errors import ConfigError
from podium.framework.registry import Registry

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
KNOWN = Registry()


def test_files(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text(f"\ufeff{HEADER}", encoding="utf-8")

    assert config.load_file(path, KNOWN) == config.default(KNOWN)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "cannot be read: No such file or directory", id="missing"),
        pytest.param(b"\xff\xfe\xfa", "cannot be read: not UTF-8 text", id="binary"),
        pytest.param(b"#" * (1 << 21), "too large: at most 1048576 bytes are read", id="large"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, reason):
    path = tmp_path / "scheduler.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError) as error:
        config.load_file(path, KNOWN)

    assert str(error.value) == f"{path} has 1 problem\n  {reason}"
