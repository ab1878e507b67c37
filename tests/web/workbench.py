"""What the tests of the workbench share: odd and hostile courses, and a server in a thread."""

import contextlib
import socket
import threading
from pathlib import Path

import uvicorn

from evidence_kit.course import Course

ROOT = Path(__file__).parents[2]
BASE = "http://127.0.0.1:8765"

# What a page must show as text, and nothing else.
HOSTILE = (
    "<script>window.hit=1</script><img src=x onerror=window.hit=1>"
    "[点这里](javascript:window.hit=1)\u202e反向\u202c{{ 7*7 }}{% raw %}${7*7}"
    '=HYPERLINK("http://x")"\'><b>&amp;</b></textarea></title>'
)
ODD_TEXTS = {
    "C101": "第一行\r\n第二行，仅限室内😀使用。\r单独的回车\n末行",
    "C102": "e\u0301 与 👨\u200d👩\u200d👧 家庭装，仅限室内使用。",
    "C103": "الضمان سنتان، 仅限室内使用 שלום。",
    "C104": HOSTILE,
    "C105": "长资料" + "很长的一句话，仅限室内使用。" * 220 + "W" * 300,
    "C106": "\n\n  开头有换行，仅限室内使用。\t制表\u00a0空格  ",
}


def odd_chunk(chunk_id, text, **change):
    words = {"title": "怪资料", "version": "1", "scope": "测试", "source_location": "第1节"}
    return {
        "chunk_id": chunk_id,
        "doc_id": "DOC-ODD",
        **words,
        "authorization": "测试",
        "effective_status": "active",
        "conflict_group": None,
        "text": text,
        **change,
    }


def odd_course(**change):
    chunks = tuple(odd_chunk(key, text, **change) for key, text in ODD_TEXTS.items())
    return Course("odd", chunks, {key: ["室内", "资料", "一行"] for key in ODD_TEXTS}, False)


def hostile_course():
    """A course whose every field is hostile, its two members in conflict."""
    fields = ("title", "version", "scope", "source_location", "authorization", "doc_id", "conflict_group")
    change = dict.fromkeys(fields, HOSTILE)
    chunks = (
        odd_chunk("C201", f"仅限室内使用。{HOSTILE}", **change),
        odd_chunk("C202", f"仅限室外使用。{HOSTILE}", **change),
        odd_chunk("C203", HOSTILE, **{**change, "effective_status": "expired"}),
    )
    return Course(HOSTILE, chunks, {chunk["chunk_id"]: ["仅限", "室内", "使用"] for chunk in chunks}, False)


@contextlib.contextmanager
def serving(app):
    """The address of a server in a thread of this process."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    # The socket listens already: a request that comes early waits until the server accepts it.
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
