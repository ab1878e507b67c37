"""`evidence serve` as it is called."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from experiments import empty_file
from workbench import ROOT

from evidence_kit.commands import main

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def start():
    started = []

    def call(*args):
        process = subprocess.Popen(
            [sys.executable, "-m", "evidence_kit.commands", "serve", "--no-open", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            text=True,
            encoding="utf-8",
        )
        started.append(process)
        return process, process.stdout.readline().rstrip("\n")

    yield call
    for process in started:
        process.kill()
        process.communicate()


def test_the_address_is_one_line_and_answers_at_once(start):
    _, address = start("--port", "0")
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
        assert "server" not in {name.lower() for name in answer.headers}
        assert "提问" in answer.read().decode("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
def test_an_interrupt_ends_it_quietly_with_zero(start):
    process, address = start("--port", "0")
    urllib.request.urlopen(address).close()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_demo_s_file_is_gone_when_the_server_is(start, tmp_path, monkeypatch, name):
    monkeypatch.setitem(ENVIRONMENT, "TMPDIR", str(tmp_path))
    process, address = start("--port", "0")
    with urllib.request.urlopen(f"{address}evaluate") as answer:
        assert "改动不会保存" in answer.read().decode("utf-8")
    assert [found.name for found in tmp_path.glob("*/demo.db")] == ["demo.db"]
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=20)
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_of_one_s_own_is_opened_and_keeps_what_was_done(start, tmp_path):
    path = empty_file(tmp_path / "我的.db")
    process, address = start("--port", "0", "--db", str(path))
    assert address.endswith("/evaluate")
    with urllib.request.urlopen(f"{address}/questions", data=b"questions=a%0Ab") as answer:
        assert answer.url.endswith("/evaluate?q=Q001")
    process.kill()
    process.wait()
    _, address = start("--port", "0", "--db", str(path))
    with urllib.request.urlopen(f"{address}?q=Q002") as answer:
        assert "改动不会保存" not in answer.read().decode("utf-8")


def test_the_browser_opens_at_the_address_that_is_printed(monkeypatch, tmp_path):
    from threading import Event

    from evidence_kit.web import server

    printed, opened, seen = [], [], Event()
    monkeypatch.setattr(server.webbrowser, "open", lambda address: (opened.append(address), seen.set()))
    monkeypatch.setattr(server.uvicorn.Server, "main_loop", lambda self: _until(seen))
    path = empty_file(tmp_path / "我的.db")
    with ThreadPoolExecutor(1) as apart:  # Playwright's loop runs in this thread where a browser is open
        apart.submit(server.run, "127.0.0.1", 0, announce=printed.append, open_browser=True, db=path).result()
    assert opened == printed
    assert printed[0].endswith("/evaluate")


async def _until(event):
    assert event.wait(20)


def test_a_token_stands_behind_the_page_in_the_address():
    from evidence_kit.web.server import _address

    assert _address("::1", 80, "/evaluate", "t") == "http://[::1]:80/evaluate?token=t"
    assert _address("0.0.0.0", 80, "/", None) == "http://127.0.0.1:80/"


def test_a_file_that_is_no_experiment_is_one_clear_line(capsys, tmp_path):
    (tmp_path / "x.db").write_text("别的")
    for name, words in (("none.db", "不存在"), ("x.db", "不是实验文件"), (".", "文件夹")):
        assert main(["serve", "--no-open", "--port", "0", "--db", str(tmp_path / name)]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        assert words in shown.err
    assert not (tmp_path / "none.db").exists()


def test_a_port_in_use_is_one_clear_line(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--no-open", "--port", str(port)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"错误：127.0.0.1 的端口 {port} 不能用")
    assert "--port" in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--port", "70000"], ["70000", "65535"]),
        (["--port", "-1"], ["-1"]),
        (["--port", "x"], ["--port", "整数"]),
        (["--host", "256.1.1.1"], ["256.1.1.1"]),
        (["--host", "a" * 70 + ".example"], ["无法识别"]),
        (["--host", "\x1b[31m"], ["\\u001b[31m"]),
        (["--host", "192.0.2.1", "--port", "0"], ["192.0.2.1"]),
    ],
)
def test_bad_options_are_one_chinese_line_and_end_with_two(capsys, args, words):
    assert main(["serve", "--no-open", *args]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "\x1b" not in shown.err
    for word in words:
        assert word in shown.err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_another_address_needs_the_token_that_is_printed_once(start):
    _, address = start("--host", "127.0.0.2", "--port", "0")
    bare, token = address.split("?token=")
    assert len(token) >= 32
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(bare)
    assert refused.value.code == 401
    assert token not in refused.value.read().decode("utf-8")
    asked = urllib.request.Request(bare + "ask", headers={"Authorization": f"Bearer {token}"})
    assert urllib.request.urlopen(asked).status == 200


def test_without_the_extra_the_error_names_the_command_to_install_it():
    script = (
        "import sys; sys.modules['uvicorn'] = None; from evidence_kit.commands import main;"
        "sys.exit(main(['serve', '--no-open']))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, env=ENVIRONMENT, check=False)
    assert shown.returncode == 2
    line = shown.stderr.decode("utf-8")
    assert 'python -m pip install "evidence-assistant[web]"' in line
    assert line.count("\n") == 1


def test_help_imports_no_server():
    script = (
        "import sys; from evidence_kit.commands import main; main(['serve', '--help']);"
        "print(sorted({'uvicorn', 'starlette', 'jinja2', 'evidence_assistant'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, env=ENVIRONMENT, check=True)
    assert shown.stdout.decode("utf-8").splitlines()[-1] == "[]"
