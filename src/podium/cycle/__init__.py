"""One attempt: its stages, its outcome, its record, and what equal pods share."""
