"""Documents and a clock for the tests of experiments."""

from datetime import datetime, timezone

from evidence_kit.sources.documents import Document
from evidence_kit.sources.validity import Validity


class Clock:
    """Tells the instant it is set to."""

    def __init__(self):
        self.now = datetime(2026, 11, 30, 4, tzinfo=timezone.utc)

    def __call__(self):
        return self.now


def document(name, text, title="标题", body_start=0, validity=None, **options):
    return Document(
        name, title, "1", text, body_start, "plain_text", "1", validity=validity or Validity(), **options
    )
