"""`evidence index`: what is stored is found as `evidence find` finds it; damage is exit code 1."""

import json
from pathlib import Path

import pytest

from evidence_kit.commands import main
from evidence_kit.index import Index

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "data/finder_sample/v1/sources"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*args):
        code = main([str(arg) for arg in args])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def built(run):
    code, out, err = run("index", "build", SAMPLE, "--out", "ix")
    assert (code, err) == (0, "")
    assert "7 份资料，16 个资料块" in out
    return Path("ix")


@pytest.mark.parametrize("method", ["bm25", "tfidf_log", "tfidf_course"])
@pytest.mark.parametrize(
    "query", ["谁可以使用台锯", "Is ear protection required?", "火箭", "今天火星咖啡价格"]
)
def test_stored_index_finds_what_find_finds(run, method, query):
    assert run("index", "build", SAMPLE, "--out", "ix", "--weighting", method)[0] == 0
    code, out, err = run("index", "search", "ix", query, "--json", "--unit", "utf8")
    assert (code, err) == (0, "")
    found = run("find", query, SAMPLE, "--method", method, "--json", "--unit", "utf8")[1]
    assert out == found


def test_index_opens_the_folder_that_the_command_built(run, built):
    code, out, _ = run("index", "search", built, "谁可以使用台锯", "--json")
    assert code == 0
    hits = Index.open(built).search("谁可以使用台锯", 5)
    assert [hit.score for hit in hits] == pytest.approx(
        [hit["score"] for hit in json.loads(out)["hits"]], abs=1e-6
    )


def test_top_and_no_weak_work_as_in_find(run, built):
    assert len(json.loads(run("index", "search", built, "工具", "--json", "--top", 2)[1])["hits"]) == 2
    assert "略过弱命中 1 处" in run("index", "search", built, "今天火星咖啡价格", "--no-weak")[1]
    for top in (0, 21):
        code, out, err = run("index", "search", built, "工具", "--top", top)
        assert (code, out) == (2, "") and "1 到 20" in err


def test_course_corpus_keeps_its_ids_and_its_expired_stay_out(run):
    chunks = [
        {"chunk_id": f"C00{n}", "title": "t", "version": "1", "text": "退款规则", "effective_status": status}
        for n, status in enumerate(["expired", "active", "active"])
    ]
    Path("corpus.json").write_text(json.dumps({"chunks": chunks}), encoding="utf-8")
    _, out, _ = run("index", "build", "corpus.json", "--out", "ix", "--weighting", "tfidf_course")
    assert "过期的资料块 1 个" in out
    record = json.loads(run("index", "search", "ix", "退款规则", "--json")[1])
    assert [(hit["source_id"], hit["score"]) for hit in record["hits"]] == [("C001", 1.0), ("C002", 1.0)]
    assert record["corpus"]["left_out"] == {"expired": 1}


def test_verify_says_whole_or_names_the_damaged_file_with_exit_code_1(run, built):
    code, out, err = run("index", "verify", built)
    assert (code, err) == (0, "")
    assert "完好" in out
    for path in sorted(path for path in built.rglob("*") if path.is_file() and path.stat().st_size):
        original = path.read_bytes()
        for changed in (original[:-1], original[:-1] + bytes([original[-1] ^ 1])):
            path.write_bytes(changed)
            code, out, err = run("index", "verify", built)
            assert (code, out, err.count("\n")) == (1, "", 1), path
        path.write_bytes(original)
    assert run("index", "verify", built)[0] == 0


def test_verify_checks_what_was_written_not_only_that_it_is_unchanged(run, monkeypatch):
    Path("a.txt").write_bytes("😀甲\n乙".encode())
    with monkeypatch.context() as broken:
        broken.setattr("evidence_kit.finder.passage_files._utf16_length", len)
        assert run("index", "build", "a.txt", "--out", "ix")[0] == 0
    code, out, err = run("index", "verify", "ix")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert run("index", "search", "ix", "甲")[0] == 1


def test_folder_of_the_engine_alone_is_verified_but_has_nothing_to_show(run):
    Index.build(["甲乙", "丙"]).save("engine")
    code, out, err = run("index", "verify", "engine")
    assert (code, err) == (0, "") and "没有随附原文" in out
    code, out, err = run("index", "search", "engine", "甲")
    assert (code, out) == (2, "") and "没有原文可以显示" in err
    (arrays,) = Path("engine").glob("gen-*/arrays.bin")
    content = bytearray(arrays.read_bytes())
    content[len(content) // 2] ^= 1
    arrays.write_bytes(content)
    code, out, err = run("index", "verify", "engine")
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_index_of_another_format_version_is_refused(run, built, monkeypatch):
    monkeypatch.setattr("evidence_kit.finder.stored.SCHEMA", "evidence-finder-index/3")
    for args in (["search", built, "x"], ["verify", built]):
        code, out, err = run("index", *args)
        assert (code, out) == (2, "")
        assert "evidence-finder-index/3" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["build", "nowhere", "--out", "ix"], "nowhere"),
        (["build", "empty.txt", "--out", "ix"], "没有可检索的正文"),
        (["build", "a.txt", "--out", "ix", "--weighting", "dense"], "bm25"),
        (["build", "a.txt", "--out", "no/ix"], "no/ix"),
        (["build", "a.txt", "--out", "a.txt"], "a.txt"),
        (["build", "a.txt", "--out", "."], "别的文件"),
        (["build", "a.txt"], "--out"),
        (["search", "nowhere", "x"], "nowhere"),
        (["verify", "a.txt"], "a.txt"),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_exit_code_2(run, args, said):
    Path("a.txt").write_bytes("甲".encode())
    Path("empty.txt").write_bytes(b"")
    code, out, err = run("index", *args)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["a.txt", "empty.txt"]


def test_progress_is_shown_on_a_terminal_only(run, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, _, err = run("index", "build", SAMPLE, "--out", "ix")
    assert code == 0
    assert "写入资料块" in err or "建立索引" in err


@pytest.mark.parametrize("file", ["texts.utf8", "sources.jsonl"])
def test_text_changed_after_the_build_is_never_shown(run, built, file):
    (path,) = built.glob(f"gen-*/passages/{file}")
    data = path.read_bytes()
    path.write_bytes(data.replace("工".encode(), "木".encode()))
    assert path.read_bytes() != data
    code, out, err = run("index", "search", built, "台锯")
    assert (code, out) == (1, "")
    assert "已损坏" in err


@pytest.mark.parametrize("name", ["gen-photos", ".tmp-x", ".lock", "letter.txt", "CURRENT"])
def test_a_folder_with_other_things_is_not_touched(run, name):
    Path("a.txt").write_bytes("甲".encode())
    Path("ix").mkdir()
    (Path("ix") / name).mkdir()
    code, out, err = run("index", "build", "a.txt", "--out", "ix")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert [path.name for path in Path("ix").rglob("*")] == [name]


def test_a_second_build_at_the_same_time_is_refused(run, built):
    import fcntl

    with (built / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, out, err = run("index", "build", SAMPLE, "--out", "ix")
    assert (code, out) == (2, "") and "正在写" in err
    assert run("index", "verify", built)[0] == 0


@pytest.mark.parametrize("content", [b"[" * 5000, b"{}", b""])
def test_a_damaged_manifest_is_one_line_and_exit_code_1(run, built, content):
    (manifest,) = built.glob("gen-*/manifest.json")
    manifest.write_bytes(content)
    for args in (["search", built, "工具"], ["verify", built]):
        code, out, err = run("index", *args)
        assert (code, out, err.count("\n")) == (1, "", 1)
