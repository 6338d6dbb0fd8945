"""Results of runs on a cluster."""

from podium.bench.result import LiveResult


def result(pods_per_second=100.0, cpu_seconds=1.0):
    return LiveResult(
        name="Case/Small",
        nodes=3,
        pods=20,
        pods_per_second=pods_per_second,
        steady_pods_per_second=pods_per_second,
        created_pods_per_second=500.0,
        bind_p50_ms=1.0,
        bind_p99_ms=2.0,
        watch_breaks=0,
        scheduler_cpu_seconds=cpu_seconds,
        peak_memory_bytes=1_000_000,
        reference_us=1.0,
    )
