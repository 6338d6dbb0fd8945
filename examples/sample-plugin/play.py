"""Plays the walkthrough: applies the manifests, runs the scheduler, and looks where a pod went.

    python play.py                               on an embedded cluster
    python play.py --kubeconfig ~/.kube/config   on that cluster, with the service account's rights

The scheduler is a process on this machine in place of its Deployment's pod: with the same flags and
the ConfigMap's file, to which only the way to the server is added. In the end everything is deleted
that was not there before.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from podium.api.manifests import load_yaml
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.client.endpoint import Endpoint
from podium.client.endpoints import find_endpoint
from podium.client.http import Connection, Request
from podium.client.watch_events import Lines
from podium.clock import LoopClock
from podium.errors import ApiError, NotFound, PodiumError

HERE = Path(__file__).resolve().parent
SCHEDULER = "sample-scheduler"
KUBECONFIG = "kubeconfig"
TESTED = "default/test-scheduler-"
DEADLINE_SECONDS = 120

ACQUIRED = "Successfully acquired lease"
BOUND = "Successfully bound pod to node"
# What the log must tell, in this order.
STORY = (
    "sample plugin",
    "Listing and watching",
    "Handlers synced",
    ACQUIRED,
    "Attempting to schedule pod",
    "prefilter pod",
    "filter pod",
    "prebind pod",
    BOUND,
)
_COLLECTIONS = {
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}
_EVENTS = "/apis/events.k8s.io/v1/namespaces/{}/events?watch=true&fieldSelector=reason%3DScheduled"
_LEASE = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{SCHEDULER}"
_TOKEN = f"/api/v1/namespaces/kube-system/serviceaccounts/{SCHEDULER}/token"
_APPLY = "application/apply-patch+yaml"
_NO_TOKEN = """no token for the scheduler's service account: {}
What to do: name a real cluster where you may create serviceaccounts/token in kube-system, or leave
out --kubeconfig: the play then starts an embedded cluster of its own, where none is needed."""

Json = dict[str, Any]


class Failed(PodiumError):
    """The walkthrough did not go as it should."""


class Api:
    """What the play asks of the API server; what it has made goes with ``async with``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._made: list[str] = []

    async def __aenter__(self) -> "Api":
        return self

    async def __aexit__(self, *_: object) -> None:
        for path in reversed(self._made):
            with contextlib.suppress(NotFound):
                await self._send("DELETE", path, {"propagationPolicy": "Background"})

    async def apply(self, obj: Json) -> None:
        path = path_of(obj)
        await self.leave_as_found(path)
        await self._send("PATCH", f"{path}?fieldManager=walkthrough", obj, _APPLY)

    async def leave_as_found(self, path: str) -> None:
        """Delete it in the end, if it is not there yet."""
        try:
            await self._connection.get(path)
        except NotFound:
            self._made.append(path)

    async def check(self, obj: Json) -> None:
        """Have the server say whether it would take this; nothing comes of it."""
        path = f"{path_of(obj)}?fieldManager=walkthrough&dryRun=All"
        await self._send("PATCH", path, obj, _APPLY)

    async def token(self) -> str:
        try:
            answer = await self._send("POST", _TOKEN, {"spec": {"expirationSeconds": 3600}})
        except ApiError as error:
            raise Failed(_NO_TOKEN.format(error)) from error
        return str(answer["status"]["token"])

    async def node_of(self, pod: str) -> str:
        namespace, name = pod.split("/")
        found = await self._connection.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
        return str(json.loads(found)["spec"].get("nodeName"))

    async def scheduled_by(self, pod: str) -> str:
        """Wait for the event that tells who placed the pod."""
        namespace, name = pod.split("/")
        async with self._connection.stream(_EVENTS.format(namespace)) as read:
            lines = Lines()
            while chunk := await read():
                for line in lines.feed(chunk):
                    event = json.loads(line)["object"]
                    if event["regarding"]["name"] == name:
                        return str(event["reportingController"])
        raise Failed(f"no event tells who has scheduled {pod}")

    async def _send(
        self, method: str, path: str, body: Json, content: str = "application/json"
    ) -> Json:
        request = Request(method, path, json.dumps(body).encode(), content)
        answer: Json = json.loads(await self._connection.send(request))
        return answer


def path_of(obj: Json) -> str:
    meta = obj["metadata"]
    return f"{_COLLECTIONS[obj['kind']].format(meta.get('namespace'))}/{meta['name']}"


# --- the play ------------------------------------------------------------------------------------


async def play(endpoint: Endpoint, has_tokens: bool = True) -> None:
    """``has_tokens``: the scheduler shows one of its service account, as its pod would."""
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        Connection(endpoint, LoopClock()) as connection,
        Api(connection) as api,
    ):
        with tempfile.TemporaryDirectory(prefix="walkthrough-") as folder:
            flags = await set_up(api, Path(folder))
            token = await api.token() if has_tokens else ""
            (Path(folder) / KUBECONFIG).write_text(json.dumps(as_kubeconfig(endpoint, token)))
            async with running(flags) as log:
                lines = await follow(log, api)
        await judge(lines, api)


async def set_up(api: Api, folder: Path) -> list[str]:
    """Rights, configuration, and the flags of a scheduler that reads it from this folder."""
    await api.leave_as_found(_LEASE)
    for obj in (*manifest("rights"), *manifest("config")):
        await api.apply(obj)
        print(f"applied  {obj['kind']} {obj['metadata']['name']}")
    [config_map], [deployment] = manifest("config"), manifest("scheduler")
    await api.check(deployment)
    [(name, text)] = config_map["data"].items()
    (folder / name).write_text(f"{text}clientConnection: {{kubeconfig: {folder / KUBECONFIG}}}\n")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    print(f"runs     {' '.join((*container['command'], *container['args']))}")
    [mount] = container["volumeMounts"]
    return [flag.replace(mount["mountPath"], str(folder)) for flag in container["args"]]


def manifest(name: str) -> list[Json]:
    return load_yaml((HERE / "manifests" / f"{name}.yaml").read_text())


@contextlib.asynccontextmanager
async def running(flags: list[str]) -> AsyncIterator[AsyncIterator[Json]]:
    """The scheduler as a process of its own; yields its log, line by line."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(HERE / "sample_plugin.py"), *flags, "--secure-port=0"),
        stderr=asyncio.subprocess.PIPE,  # into a pipe it writes JSON
    )
    assert process.stderr is not None
    try:
        yield parsed(process.stderr)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        async for _ in process.stderr:  # it may have much to say, and must not wait for us
            pass
        await process.wait()


async def parsed(stream: asyncio.StreamReader) -> AsyncIterator[Json]:
    async for line in stream:
        try:
            yield json.loads(line)
        except ValueError:  # said before there was a log, to people
            print(line.decode().rstrip())


async def follow(log: AsyncIterator[Json], api: Api) -> list[Json]:
    """The log up to the moment when a pod is bound; the pod comes when there is a leader."""
    lines = []
    async for line in log:
        lines.append(line)
        tell(line)
        if line["msg"] == ACQUIRED:
            for obj in manifest("test"):
                await api.apply(obj)
        if line["msg"] == BOUND and line["pod"].startswith(TESTED):
            return lines
    raise Failed("the scheduler ended before it had placed the pod")


def tell(line: Json) -> None:
    """The story, and what is wrong; there is more in a log."""
    if line["msg"] in STORY or line["level"] != "info":
        data = {key: line[key] for key in line.keys() - {"ts", "level", "caller", "msg", "v"}}
        pairs = " ".join(f"{key}={data[key]}" for key in line if key in data)
        print(f"{line['level']:<8} {line['msg']} {pairs}".rstrip())


async def judge(lines: list[Json], api: Api) -> None:
    bound = lines[-1]
    pod, node = bound["pod"], bound["node"]
    if (step := untold(lines, pod)) is not None:
        raise Failed(f"the log does not tell in its place: {step}")
    if (found := await api.node_of(pod)) != node:
        raise Failed(f"the API server has {pod} on {found}, the log on {node}")
    if (who := await api.scheduled_by(pod)) != SCHEDULER:
        raise Failed(f"{pod} was placed by {who}")
    print(f"placed   {pod} on {node}, by {SCHEDULER}")


def untold(lines: Iterable[Json], pod: str) -> str | None:
    """The first step of the story that is missing, or not where it belongs."""
    left = iter(line["msg"] for line in lines if line.get("pod", pod) == pod)
    return next((step for step in STORY if step not in left), None)


# --- where it is played --------------------------------------------------------------------------


async def on_embedded_cluster() -> None:
    async with EmbeddedCluster(ClusterOptions(nodes=3)) as cluster:
        await play(Endpoint(cluster.url, "the embedded cluster"), has_tokens=False)


async def on_cluster(kubeconfig: Path) -> None:
    await play(find_endpoint(LoopClock(), kubeconfig))


def as_kubeconfig(endpoint: Endpoint, token: str) -> Json:
    """The same server as somebody else."""
    tls = endpoint.tls
    cluster: Json = {"server": endpoint.server, "tls-server-name": tls.server_name}
    if tls.skip_verify:
        cluster["insecure-skip-tls-verify"] = True
    else:
        cluster["certificate-authority-data"] = base64.b64encode(tls.ca).decode()
    return {
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": SCHEDULER, "user": {"token": token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": SCHEDULER}}],
        "current-context": "it",
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kubeconfig", type=Path, help="default: an embedded cluster is started")
    kubeconfig = parser.parse_args().kubeconfig
    try:
        asyncio.run(on_cluster(kubeconfig) if kubeconfig else on_embedded_cluster())
    except PodiumError as error:
        print(error, file=sys.stderr)
        return 1
    except TimeoutError:
        print(f"nothing more happened in {DEADLINE_SECONDS} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
