"""A file of one case, as tests of reading files write it."""

import pytest

from podium.bench.load import load_file


@pytest.fixture
def case(tmp_path):
    """Load a file of one case with this template and these parameters."""

    def load(template, params="{}", head="", **templates):
        for name, text in templates.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        path = tmp_path / "case.yaml"
        path.write_text(
            f"- name: Case\n{head}"
            f"  workloadTemplate: {template}\n"
            f"  workloads: [{{name: Small, params: {params}}}]\n"
        )
        return load_file(path)

    return load
