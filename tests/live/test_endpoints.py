"""What is answered at each path, over HTTP."""

import asyncio
import logging
import re

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from podium.api.pods import PodStatus
from podium.serving.zpages import COMPONENT
from podium.testing.builders import pod
from tests.support.serving import Running, with_server

NOT_FOUND = "404 page not found\n"


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        pytest.param("/healthz", 200, "ok", id="healthz"),
        pytest.param("/livez", 200, "ok", id="livez"),
        pytest.param("/readyz", 200, "ok", id="readyz"),
        pytest.param(
            "/livez?verbose",
            200,
            "[+]ping ok\n[+]event-loop ok\nlivez check passed\n",
            id="verbose",
        ),
        pytest.param("/livez/ping", 200, "ok", id="one-check"),
        pytest.param("/readyz/ping", 404, NOT_FOUND, id="check-of-another-endpoint"),
        pytest.param("/", 404, NOT_FOUND, id="unknown-path"),
        pytest.param("/configz/", 404, NOT_FOUND, id="trailing-slash"),
        pytest.param("/debug/pprof/", 404, NOT_FOUND, id="profiling-is-off"),
        pytest.param("/flagz", 404, NOT_FOUND, id="no-flags"),
    ],
)
def test_answers_when_all_is_well(path, status, text):
    async def scenario(running):
        assert (await running.ask(path))[:2] == (status, text)

    with_server(scenario)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_health_takes_any_method(method):
    async def scenario(running):
        assert (await running.ask("/healthz", method))[0] == 200

    with_server(scenario)


def test_a_process_that_stops_is_not_ready_but_alive():
    async def scenario(running):
        running.stopping = True

        status, text, _ = await running.ask("/readyz")
        assert status == 500
        assert text.splitlines()[0] == "[-]shutdown failed: reason withheld"
        assert (await running.ask("/readyz?exclude=shutdown"))[:2] == (200, "ok")
        assert (await running.ask("/readyz/shutdown"))[:2] == (
            500,
            "internal server error: process is shutting down\n",
        )
        assert (await running.ask("/livez"))[0] == 200

    with_server(scenario)


def test_metrics_are_shown_and_reset():
    async def scenario(running):
        running.metrics.incoming("active", "NodeAdd")
        line = 'scheduler_queue_incoming_pods_total{event="NodeAdd",queue="active"} 1.0'

        status, text, headers = await running.ask("/metrics")
        assert (status, line in text.splitlines()) == (200, True)
        assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"

        assert (await running.ask("/metrics", "DELETE"))[:2] == (200, "metrics reset\n")
        assert line not in (await running.ask("/metrics"))[1]

    with_server(scenario)


def test_results_of_health_checks_are_counted():
    async def scenario(running):
        running.stopping = True
        await running.ask("/readyz")
        await running.ask("/readyz?exclude=shutdown")

        text = (await running.ask("/metrics/slis"))[1].splitlines()
        assert 'kubernetes_healthcheck{name="shutdown",type="readyz"} 0.0' in text
        total = "kubernetes_healthchecks_total"
        assert f'{total}{{name="shutdown",status="error",type="readyz"}} 1.0' in text
        assert f'{total}{{name="watches",status="success",type="readyz"}} 2.0' in text
        assert any(line.startswith("process_start_time_seconds ") for line in text)

        assert (await running.ask("/metrics/slis", "DELETE"))[1] == "metrics reset\n"
        assert "kubernetes_healthcheck{" not in (await running.ask("/metrics/slis"))[1]

    with_server(scenario)


def samples(text):
    return {
        (sample.name, sample.labels["pod"], sample.labels["resource"], sample.labels["unit"]): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_resources_of_pods():
    ended = replace(pod("ended", node="a", cpu="1"), status=PodStatus(phase="Succeeded"))
    pods = [pod("web", cpu="1500m", memory="1Gi"), pod("none"), ended]

    async def scenario(running):
        found = samples((await running.ask("/metrics/resources"))[1])
        assert found == {
            ("kube_pod_resource_request", "web", "cpu", "cores"): 1.5,
            ("kube_pod_resource_request", "web", "memory", "bytes"): 2**30,
        }
        assert (await running.ask("/metrics/resources", "DELETE"))[1] == "metrics reset\n"

    with_server(scenario, Running(pods=lambda: pods))


def test_a_standby_shows_no_resources():
    async def scenario(running):
        assert (await running.ask("/metrics/resources"))[:2] == (200, "")

    with_server(scenario, Running(pods=lambda: [pod("web", cpu="1")], is_leading=lambda: False))


def test_the_configuration_is_shown():
    async def scenario(running):
        status, text, headers = await running.ask("/configz")

        assert (status, text) == (
            200,
            '{"componentconfig":{"kind":"KubeSchedulerConfiguration"}}',
        )
        assert headers["Content-Type"] == "application/json"

    with_server(scenario)


# --- flags and status ----------------------------------------------------------------------------

STRUCTURED = "application/json;v=v1beta1;g=config.k8s.io;as={}"


def test_flags_as_text_and_as_json():
    async def scenario(running):
        status, text, headers = await running.ask("/flagz")
        assert status == 200
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        lines = text.splitlines()
        assert lines[1] == f"{COMPONENT} flagz"
        assert [re.split("[:= ]+", line) for line in lines[3:]] == [["burst", "2"], ["v1", "x"]]

        accept = {"Accept": STRUCTURED.format("Flagz")}
        status, text, headers = await running.ask("/flagz", headers=accept)
        assert headers["Content-Type"] == "application/json;g=config.k8s.io;v=v1beta1;as=Flagz"
        assert text == (
            '{"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1",'
            f'"metadata":{{"name":"{COMPONENT}"}},"flags":{{"burst":"2","v1":"x"}}}}\n'
        )

    with_server(scenario, Running(flags={"v1": "x", "burst": "2"}))


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        pytest.param("", 200, id="nothing"),
        pytest.param("*/*", 200, id="anything"),
        pytest.param("text/plain", 200, id="text"),
        pytest.param(STRUCTURED.format("Statusz"), 200, id="json"),
        pytest.param(f"image/png, {STRUCTURED.format('Statusz')}", 200, id="the-second"),
        pytest.param("application/json", 406, id="json-of-no-kind"),
        pytest.param(STRUCTURED.format("Flagz"), 406, id="another-kind"),
        pytest.param("application/json;v=v2;g=config.k8s.io;as=Statusz", 406, id="version"),
        pytest.param("text/html", 406, id="html"),
        pytest.param(";;;=,", 406, id="garbage"),
    ],
)
def test_forms_of_the_status(accept, status):
    async def scenario(running):
        found, text, _ = await running.ask("/statusz", headers={"Accept": accept})
        assert found == status
        if status == 406:
            types = "application/json, application/yaml, text/plain"
            assert f"only the following media types are accepted: {types}" in text

    with_server(scenario)


def test_an_old_version_of_the_status_is_deprecated():
    async def scenario(running):
        accept = {"Accept": "application/yaml;v=v1alpha1;g=config.k8s.io;as=Statusz"}
        _, text, headers = await running.ask("/statusz", headers=accept)
        assert text.splitlines()[0] == "apiVersion: config.k8s.io/v1alpha1"
        assert "statusz endpoint is deprecated" in headers["Warning"]

    with_server(scenario)


def test_the_status_is_off_with_its_feature_gate():
    async def scenario(running):
        assert (await running.ask("/statusz"))[:2] == (404, NOT_FOUND)

    with_server(scenario, Running(shows_status=False))


# --- debugging -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        pytest.param("GET", "/debug/pprof/nosuch", 404, "Unknown profile\n", id="profile"),
        pytest.param("GET", "/debug/flags/v", 406, "unsupported http method\n", id="read-a-flag"),
        pytest.param(
            "GET", "/debug/pprof/profile?seconds=0", 400, "seconds must be from 1 to 120\n", id="0"
        ),
        pytest.param(
            "GET", "/debug/pprof/profile?seconds=x", 400, "seconds must be from 1 to 120\n", id="x"
        ),
        pytest.param(
            "GET",
            f"/debug/pprof/profile?seconds={'9' * 5000}",
            400,
            "seconds must be from 1 to 120\n",
            id="a-number-of-5000-digits",
        ),
    ],
)
def test_debugging(method, path, status, text):
    async def scenario(running):
        assert (await running.ask(path, method))[:2] == (status, text)

    with_server(scenario, Running(is_profiled=True))


def test_the_index_of_profiles():
    async def scenario(running):
        moved = await running.ask("/debug/pprof", allow_redirects=False)
        assert (moved[0], moved[2]["Location"]) == (302, "/debug/pprof/")
        assert "profile?seconds=30" in (await running.ask("/debug/pprof"))[1]
        assert "test_endpoints.py" in (await running.ask("/debug/pprof/goroutine?debug=2"))[1]

    with_server(scenario, Running(is_profiled=True))


@pytest.mark.slow
def test_a_profile_of_the_other_threads():
    def spin_around(over):
        while not over.is_set():
            sum(range(1000))

    async def scenario(running):
        over = asyncio.Event()
        spinning = asyncio.to_thread(spin_around, over)
        profile = asyncio.ensure_future(running.ask("/debug/pprof/profile?seconds=1"))
        task = asyncio.ensure_future(spinning)
        second = await running.ask("/debug/pprof/profile?seconds=1")
        status, text, _ = await profile
        over.set()
        await task

        codes = sorted([status, second[0]])
        assert codes == [200, 500]
        stacks = text if status == 200 else second[1]
        assert "spin_around" in stacks
        assert all(line.rpartition(" ")[2].isdecimal() for line in stacks.splitlines())

    with_server(scenario, Running(is_profiled=True))


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param("3", 200, "successfully set klog.logging.verbosity to 3\n", id="a-number"),
        pytest.param(
            "x", 400, 'strconv.ParseUint: parsing "x": invalid syntax\n', id="not-a-number"
        ),
        pytest.param("", 400, 'strconv.ParseUint: parsing "": invalid syntax\n', id="nothing"),
        pytest.param(
            "9" * 5000,
            400,
            'strconv.ParseUint: parsing "9999999999": invalid syntax\n',
            id="a-number-of-5000-digits",
        ),
    ],
)
def test_the_verbosity_can_be_set(body, status, text):
    root = logging.getLogger()
    before = root.level

    async def scenario(running):
        assert (await running.ask("/debug/flags/v", "PUT", data=body))[:2] == (status, text)
        assert root.level == (logging.INFO - 3 if status == 200 else before)

    try:
        with_server(scenario, Running(is_profiled=True))
    finally:
        root.setLevel(before)


def test_a_verbosity_that_arrives_in_pieces_is_one_number():
    root = logging.getLogger()
    before = root.level

    async def digits():
        yield b"0"
        await asyncio.sleep(0.05)
        yield b"3"

    async def scenario(running):
        answer = await running.ask("/debug/flags/v", "PUT", data=digits())
        assert answer[1] == "successfully set klog.logging.verbosity to 3\n"

    try:
        with_server(scenario, Running(is_profiled=True))
    finally:
        root.setLevel(before)
