"""Take the screenshots of the workbench that README shows.

    python docs/take_screenshots.py

Needs the extra `test` and a Chromium on the path. Writes docs/images/*.png.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from evidence_kit.course import examples

ROOT = Path(__file__).parents[1]
PAGES = {
    "ask": f"/ask?q={quote(examples()[0])}",
    "find": f"/find?q={quote('割伤以后急救箱在哪里')}",
    "evaluate": "/evaluate",
    "acceptance": "/acceptance",
    "sources": "/sources",
}
WHOLE = ("ask", "sources")  # what matters stands at their end, too


def main() -> None:
    """Start a server, photograph every page, end the server."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("No Chromium was found on the path.")
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    server = subprocess.Popen(
        [sys.executable, "-m", "evidence_kit.commands", "serve", "--no-open", "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = next(iter(server.stdout or ()), "").strip().rstrip("/")
        with sync_playwright() as running:
            browser = running.chromium.launch(executable_path=program, args=arguments)
            page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
            for name, path in PAGES.items():
                page.goto(address + path)
                page.screenshot(path=ROOT / "docs" / "images" / f"{name}.png", full_page=name in WHOLE)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
