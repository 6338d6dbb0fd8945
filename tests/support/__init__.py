"""What the tests share: builders, generated clusters, toy plugins, servers and processes.

Nothing here is a test. What plugin authors may use as well is in ``podium.testing``.
"""
