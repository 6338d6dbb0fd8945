"""A workload through the real core, in this process."""

from podium import app, config
from podium.bench.load import load_file
from podium.bench.run import run


class Bench:
    """Runs operations, and keeps the core to look into."""

    def __init__(self, directory):
        self.directory = directory
        self.core = None

    def build(self, clock, client):
        configuration = config.default(app.in_tree())
        self.core = app.build(configuration, clock=clock, client=client)
        return self.core

    def run(self, *ops):
        lines = "".join(f"  - {{opcode: {op}}}\n" for op in ops)
        path = self.directory / "case.yaml"
        path.write_text(
            f"- name: Case\n  workloads: [{{name: Small}}]\n  workloadTemplate:\n{lines}"
        )
        (workload,) = load_file(path)
        result = run(workload, self.build)
        self.core.cluster.check_invariants()
        self.core.services.devices.check_invariants()
        return result

    def pods(self, prefix=""):
        return [i.pod for i in self.core.cluster.pods.values() if i.pod.name.startswith(prefix)]
