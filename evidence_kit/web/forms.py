"""Forms as browsers send them, read within the limits of the settings, and what their fields can hold."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from evidence_kit.errors import EvidenceError
from evidence_kit.web.settings import Settings


class UnreadableFormError(EvidenceError):
    """A form that is none, or has more fields or files than a page of ours sends."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            f"表单无法读取：一张表单最多 {settings.max_fields} 个字段、{settings.max_files} 个文件；"
            "请减少后从页面里重新提交。"
        )


async def form_of(request: Request) -> FormData:
    """Return the form in the body. A field may be as long as the body: how long that is, its path decides.

    Raises UnreadableFormError.
    """
    settings: Settings = request.app.state.settings
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/x-www-form-urlencoded":
            body = await request.body()
            # Decoding megabytes takes its time, and others are waiting.
            return await run_in_threadpool(_decoded, body, settings.max_fields)
        return await request.form(
            max_files=settings.max_files, max_fields=settings.max_fields, max_part_size=settings.max_upload
        )
    except (ValueError, HTTPException):
        raise UnreadableFormError(settings) from None


def _decoded(body: bytes, most: int) -> FormData:
    # Latin-1 keeps bytes that should have been escaped, as Starlette does.
    pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=most)
    form: list[tuple[str, str | UploadFile]] = list(pairs)
    return FormData(form)


def fits_field(text: str) -> bool:
    """Return whether a field of a page can hold a text: none can hold NUL."""
    return "\0" not in text


def field_text(text: str) -> str:
    """Return a text with the line ends that a text field of a page gives it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def field_line(text: str) -> str:
    """Return a text as a field of one line holds it: without line ends."""
    return text.replace("\r", "").replace("\n", "")
