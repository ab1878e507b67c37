"""A receipt as one word that fits into an address: base64url over its JSON."""

from __future__ import annotations

import base64
import json

from evidence_kit.anchors.anchor import Anchor
from evidence_kit.anchors.anchor_json import anchor_record, parse_anchor
from evidence_kit.sources.strict_json import JsonInputError


def anchor_to_token(anchor: Anchor) -> str:
    """Return the receipt as one ASCII word. Of a withheld receipt it has about 1,200 characters, whatever the
    length of the quote, and holds no text.
    """
    record = json.dumps(anchor_record(anchor), ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(record.encode("utf-8")).decode("ascii").rstrip("=")


def parse_token(token: str, name: str) -> Anchor:
    """Return the receipt in a word; `name` is what errors speak of. Raises as `parse_anchor` does."""
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        data = base64.b64decode(padded, altchars=b"-_", validate=True)
    except ValueError:  # UnicodeEncodeError and binascii.Error are both
        raise JsonInputError(name, "not_base64", "不是 base64url 文字") from None
    return parse_anchor(data, name)
