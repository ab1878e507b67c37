"""From a template and what a handler found to a page. Text of sources is text: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from functools import lru_cache
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from evidence_kit.anchors.token import anchor_to_token
from evidence_kit.experiments.naming import id_row
from evidence_kit.finder.shining import Piece
from evidence_kit.formats.words import (
    ABSENCE_WORDS,
    GRADE_WORDS,
    PARAMETER_WORDS,
    STATE_WORDS,
    UNDEFINED,
    WHY_UNDEFINED,
)
from evidence_kit.measures.digits import signed_digits, six_digits
from evidence_kit.reports.markup import keeping_returns
from evidence_kit.sources.days import zone
from evidence_kit.sources.visible import visible
from evidence_kit.web.pages import PAGES, TABS


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **found: object,
) -> HTMLResponse:
    """Return a page; `found` are the names that its template uses."""
    page = environment().get_template(template)
    here = next((known for known in PAGES if request.url.path.startswith(known.path)), None)
    own: bool = request.app.state.desk.saved  # an experiment of one's own, not the demo
    return HTMLResponse(page.render(pages=PAGES, here=here, own=own, **found), status, headers)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates' environment: autoescape everywhere, and an unknown name is an error."""
    made = Environment(
        loader=PackageLoader("evidence_kit.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        address=address,
        absence_words=ABSENCE_WORDS,
        grade_words=GRADE_WORDS,
        id_row=id_row,
        parameter_words=PARAMETER_WORDS,
        state_words=STATE_WORDS,
        tabs=TABS,
        undefined_word=UNDEFINED,
        why_undefined=WHY_UNDEFINED,
        number=shown_number,
        signed=signed_digits,
        time=local_time,
        day_of_time=local_day,
    )
    made.filters.update(
        exact=exact,
        shining=shining,
        shown=visible,
        six=six,
        percent=percent,
        hidden=hidden_characters,
        token=anchor_to_token,
    )
    return made


def address(path: str, **fields: object) -> str:
    """Return the address of a page, with the fields that are not None."""
    given = {name: value for name, value in fields.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def local_time(instant: datetime) -> str:
    """Return an instant as the pages show it, in the zone that days are counted in."""
    return _local(instant).isoformat(" ", "seconds")


def local_day(instant: datetime) -> str:
    """Return the day of an instant, in the zone that days are counted in."""
    return _local(instant).date().isoformat()


def _local(instant: datetime) -> datetime:
    """Return the instant in that zone, without it; in UTC where no year is left for it there."""
    try:
        return instant.astimezone(zone()).replace(tzinfo=None)
    except OverflowError:
        return instant.astimezone(timezone.utc).replace(tzinfo=None)


def shown_number(value: float | None) -> str:
    """Return a measure with six digits, or the word for one that is undefined."""
    return UNDEFINED if value is None else six_digits(value)


def exact(text: str) -> Markup:
    """Return text of a source so that the page's text is that text, character by character.

    Parsers turn a bare CR into a line feed, so it is written as a reference. NUL, which no page can hold, is
    shown as its escape.
    """
    return Markup(_exact(text))  # noqa: S704 - escaped here


def _exact(text: str) -> str:
    return str(keeping_returns(text)).replace("\0", "\\u0000")


def shining(pieces: Iterable[Piece]) -> Markup:
    """Return a quote in its pieces, each as `exact`, those that shine in a span of their level."""
    html = "".join(
        f'<span class="glow-{piece.level}">{_exact(piece.text)}</span>' if piece.level else _exact(piece.text)
        for piece in pieces
    )
    return Markup(html)  # noqa: S704 - escaped piece by piece


def hidden_characters(text: str) -> int:
    """Return how many characters of a text are invisible or change its direction; line ends and tabs are not
    counted.
    """
    return sum(visible(char) != char for char in text if char not in "\r\n\t")


def six(number: float) -> str:
    """Return a score with six digits."""
    return f"{number:.6f}"


def percent(share: float) -> str:
    """Return a share in percent with one digit."""
    return f"{share:.1%}"
