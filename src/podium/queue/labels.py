"""Why pods move between the sub-queues, apart from events of the cluster: labels in metrics."""

from typing import Final

ATTEMPT_FAILED: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"
POPPED_EARLY: Final = "PopFromBackoffQ"
FORCE_ACTIVATE: Final = "ForceActivate"
TIMEOUT: Final = "UnschedulableTimeout"
OTHER_PLUGINS: Final = "PluginsExchanged"  # upstream cannot exchange them
