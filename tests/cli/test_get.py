"""The cells of `podium get`'s tables."""

import argparse

from podium.cli.get import table_rows


def test_objects_and_lists_in_cells_are_json():
    cells = ["q", {"cpu": "1"}, ["a"], None, 3]
    table = {
        "columnDefinitions": [{"name": f"c{n}"} for n in range(len(cells))],
        "rows": [{"cells": cells, "object": {"metadata": {}}}],
    }
    args = argparse.Namespace(output="", all_namespaces=False)

    assert table_rows(table, table, args) == [["q", '{"cpu":"1"}', '["a"]', "<none>", "3"]]
