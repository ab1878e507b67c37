"""Bundles: made, checked here, checked by the standalone verifier, checked by a reader's own few lines."""

import copy
import dataclasses
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from evidence_kit.anchors.anchor import CorruptAnchor, create_anchor
from evidence_kit.anchors.bundle import BundleError, bundle_to_json, make_bundle, parse_bundle
from evidence_kit.anchors.bundle_check import report_to_json, verify_bundle
from evidence_kit.sources.model import Representation, Source, text_digest
from evidence_kit.sources.strict_json import JsonInputError
from evidence_kit.sources.unicode_rules import unicode_version

VERIFIER = Path(__file__).parents[3] / "verifiers" / "verify_bundle.mjs"
TEXTS = {"甲": "说明😀：仅限室内。\r\n乙型：仅限室内。", "乙": "cafe\u0301 与 👨‍👩‍👧 家用，第二份资料。"}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

# What a sceptical reader would write: slice each citation by UTF-16 and count borders inside a cluster.
READER = """
import fs from 'node:fs';
const bundle = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const texts = Object.fromEntries(bundle.sources.map(({ id, text }) => [id, text]));
const tally = { total: 0, same: 0, inside: 0 };
for (const { source_id, start, end, quote } of bundle.citations) {
  const text = texts[source_id];
  const edges = [text.length, ...Array.from(new Intl.Segmenter().segment(text), ({ index }) => index)];
  tally.total += 1;
  tally.same += text.slice(start, end) === quote ? 1 : 0;
  tally.inside += edges.includes(start) && edges.includes(end) ? 0 : 1;
}
console.log(JSON.stringify(tally));
"""

# Runs the verifier once a file, as a program would: a query makes each import a fresh run of the module.
DRIVER = """
import fs from 'node:fs';
const [verifier, folder, count] = process.argv.slice(2);
const runs = [];
const [out, err] = [process.stdout, process.stderr];
for (let n = 0; n < Number(count); n += 1) {
  const caught = { out: '', err: '' };
  out.write = (text) => { caught.out += text; };
  err.write = (text) => { caught.err += text; };
  process.argv = [process.argv[0], verifier, `${folder}/${n}.json`];
  await import(`${verifier}?run=${n}`);
  runs.push([process.exitCode, caught.out, caught.err]);
}
process.exitCode = 0;
fs.writeFileSync(`${folder}/runs.json`, JSON.stringify(runs));
"""


def sources():
    representation = Representation("plain_text", "1", (), unicode_version())
    return [Source(key, f"标题{key}", "1", text, representation) for key, text in TEXTS.items()]


def bundle_record(unit="utf16"):
    first, second = sources()
    anchors = [
        ("c1", create_anchor(first, 4, 8)),
        ("c2", create_anchor(first, 14, 18)),
        ("c3", create_anchor(second, 8, 13)),
    ]
    return json.loads(bundle_to_json(make_bundle([first, second], anchors, unit)))


def verdict(record):
    return json.loads(report_to_json(verify_bundle(parse_bundle(json.dumps(record).encode(), "b.json"))))


def node_run(script, path):
    return subprocess.run(
        ["node", str(script), str(path)], capture_output=True, text=True, encoding="utf-8", check=False
    )


def node_runs(folder, files):
    """Exit code, stdout and stderr of the standalone verifier for each of these files, in one node."""
    (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
    for number, data in enumerate(files):
        (folder / f"{number}.json").write_bytes(data)
    command = ["node", str(folder / "driver.mjs"), VERIFIER.as_uri(), str(folder), str(len(files))]
    subprocess.run(command, check=True)
    return json.loads((folder / "runs.json").read_text(encoding="utf-8"))


def node_unicode():
    shown = subprocess.run(
        ["node", "-p", "process.versions.unicode"], capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


@pytest.mark.parametrize(
    ("unit", "spans"),
    [
        ("codepoint", [(4, 8), (14, 18), (8, 13)]),
        ("utf16", [(5, 9), (15, 19), (8, 16)]),
        ("utf8", [(13, 25), (39, 51), (11, 29)]),
    ],
)
def test_a_bundle_in_each_code_unit_holds_hand_counted_spans(unit, spans):
    record = bundle_record(unit)
    assert [(citation["start"], citation["end"]) for citation in record["citations"]] == spans
    assert verdict(record) == {
        "citations": 3,
        "exact": 3,
        "grapheme_split": 0,
        "undetermined": 0,
        "failures": [],
    }


def test_a_bundle_has_the_fields_that_a_reader_s_script_needs():
    record = bundle_record()
    assert list(record) == ["schema", "unicode_version", "sources", "citations"]
    assert list(record["sources"][0]) == ["id", "title", "version", "text", "sha256"]
    assert list(record["citations"][0]) == ["id", "source_id", "start", "end", "unit", "quote"]


@needs_node
def test_a_reader_s_own_script_runs_on_a_utf16_bundle(tmp_path):
    record = bundle_record()
    record["citations"].append(record["citations"][0] | {"id": "c4", "source_id": "乙", "start": 3, "end": 4})
    record["citations"][3]["quote"] = "e"
    (tmp_path / "reader.mjs").write_text(READER, encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps(record), encoding="utf-8")
    shown = node_run(tmp_path / "reader.mjs", tmp_path / "b.json")
    assert json.loads(shown.stdout) == {"total": 4, "same": 4, "inside": 1}
    assert verdict(record)["grapheme_split"] == 1


def tamper(record, change):
    record = copy.deepcopy(record)
    change(record)
    return record


TAMPERED = {
    "one_unit_off": (lambda r: r["citations"][0].update(start=6, end=10), [("c1", "quote_mismatch")]),
    "end_one_off": (lambda r: r["citations"][0].update(end=10), [("c1", "quote_mismatch")]),
    "wrong_unit_named": (lambda r: r["citations"][0].update(unit="codepoint"), [("c1", "quote_mismatch")]),
    "unknown_unit": (lambda r: r["citations"][0].update(unit="grapheme"), [("c1", "unknown_unit")]),
    "quote_edited": (lambda r: r["citations"][1].update(quote="仅限室外"), [("c2", "quote_mismatch")]),
    "text_edited": (
        lambda r: r["sources"][1].update(text=r["sources"][1]["text"] + "。"),
        [("乙", "source_digest_mismatch"), ("c3", "source_not_verified")],
    ),
    "digest_in_capitals": (
        lambda r: r["sources"][1].update(sha256=r["sources"][1]["sha256"].upper()),
        [("乙", "source_digest_mismatch"), ("c3", "source_not_verified")],
    ),
    "duplicate_citation": (lambda r: r["citations"][2].update(id="c1"), [("c1", "duplicate_citation_id")]),
    "duplicate_source": (
        lambda r: r["sources"].append(r["sources"][1]),
        [("乙", "duplicate_source_id"), ("c3", "source_not_verified")],
    ),
    "missing_source": (lambda r: r["sources"].pop(), [("c3", "source_missing")]),
    "reversed": (lambda r: r["citations"][0].update(start=9, end=5), [("c1", "span_reversed")]),
    "empty": (lambda r: r["citations"][0].update(start=5, end=5, quote=""), [("c1", "span_empty")]),
    "negative": (lambda r: r["citations"][0].update(start=-4), [("c1", "span_out_of_range")]),
    "beyond_the_end": (lambda r: r["citations"][0].update(end=9999), [("c1", "span_out_of_range")]),
    "inside_a_pair": (
        lambda r: r["citations"][0].update(start=3, end=9),
        [("c1", "span_splits_code_point")],
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_bundle_fails_with_its_reason(name):
    change, failures = TAMPERED[name]
    found = verdict(tamper(bundle_record(), change))
    assert [(failure["id"], failure["reason"]) for failure in found["failures"]] == failures
    assert found["exact"] == 3 - sum(subject.startswith("c") for subject, _ in failures)


def test_borders_on_which_versions_may_differ_are_undetermined_and_plain_ones_are_not():
    text = "甲乙\r\ne\u0301丙"
    spans = {"plain": (0, 2), "inside_crlf": (0, 3), "at_mark": (2, 5), "at_text_end": (6, 7)}
    record = {
        "schema": "evidence-bundle/1",
        "unicode_version": "1.1",
        "sources": [{"id": "s", "title": "", "version": "1", "text": text, "sha256": text_digest(text)}],
        "citations": [
            {"id": k, "source_id": "s", "start": a, "end": b, "unit": "codepoint", "quote": text[a:b]}
            for k, (a, b) in spans.items()
        ],
    }
    found = verdict(record)
    # inside_crlf is split in every version; at_mark and at_text_end touch the combining mark.
    assert (found["exact"], found["grapheme_split"], found["undetermined"]) == (4, 1, 2)
    ours = verdict(record | {"unicode_version": unicode_version()})
    assert (ours["exact"], ours["grapheme_split"], ours["undetermined"]) == (4, 2, 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(schema="evidence-bundle/2"),
        lambda r: r.pop("unicode_version"),
        lambda r: r.update(sources={}),
        lambda r: r["sources"].append(1),
        lambda r: r["sources"][0].update(title=None),
        lambda r: r["citations"][0].update(start=True),
        lambda r: r["citations"][0].update(start=5.0),
        lambda r: r["citations"][0].update(end="9"),
        lambda r: r["citations"][0].pop("quote"),
    ],
)
def test_a_bundle_of_another_shape_is_bad_input(change):
    with pytest.raises(JsonInputError) as caught:
        verdict(tamper(bundle_record(), change))
    assert (caught.value.code, caught.value.exit_code) == ("bad_shape", 2)


def test_a_receipt_that_cannot_stand_in_a_bundle_is_refused():
    first, second = sources()
    anchor = create_anchor(first, 4, 8)
    with pytest.raises(BundleError):
        make_bundle([second], [("c", anchor)])
    with pytest.raises(BundleError):
        make_bundle([first], [("c", create_anchor(first, 4, 8, withhold=True))])
    with pytest.raises(BundleError):
        make_bundle([first], [("c", anchor)], "grapheme")
    later = Source(first.source_id, "", "2", first.text + "。", first.representation)
    with pytest.raises(BundleError):
        make_bundle([later], [("c", anchor)])
    with pytest.raises(CorruptAnchor):
        make_bundle([first], [("c", dataclasses.replace(anchor, start=5, end=9))])


ALPHABET = [
    "甲",
    "乙",
    "a",
    " ",
    "。",
    "\r\n",
    "😀",
    "e\u0301",
    "\u0301",
    "가",
    "👨‍👩‍👧",
    "🇨🇳",
    "\u0600",
    "\u2028",
    '"',
    "\\",
]
RAW_DAMAGE = [
    (b'"start": ', b'"start": 1, "start": '),
    (b'"end": ', b'"end": 0'),
    (b'"end": ', b'"end": -'),
    (b'"quote": "', b'"quote": "\\ud800'),
    (b'"quote": "', b'"quote": "\x01'),
    (b'"quote": "', b'"quote": "\xff'),
    (b'"title": "', b'"title": "\\x'),
    (b'"title": ', b'"extra": [1.5, {"a": null, "b": [true, 1e5]}], "title": '),
    (b'"title": ', b'"extra": NaN, "title": '),
    (b'"title": ', b'"extra": 12345678901234567890, "title": '),
    (b'"title": ', b'"extra": ' + b"[" * 70 + b"]" * 70 + b', "title": '),
    (b'"title": ', b'"extra": ' + b"[" * 61 + b"]" * 61 + b', "title": '),
    (b'"title": ', b'"extra": ' + b"[" * 62 + b"]" * 62 + b', "title": '),
    (b'"title": ', b'"__proto__": {"id": 1}, "title": '),
    (b"{", b"\xef\xbb\xbf{"),
    (b"{", b"\xef\xbb\xbf\xef\xbb\xbf{"),
    (b"}", b"}}"),
    (b"}", b",}"),
    (b"]", b",]"),
    (b": ", b":\xc2\xa0"),
    (b": ", b":\t\r\n "),
]
FIELD_DAMAGE = {
    "start": [0, -1, 1, 2**53 - 1, 2**53, 1.0, True, None, "1", [], -0.0],
    "end": [0, 3, 5, 10**30, 2.5, False],
    "unit": ["codepoint", "utf8", "utf16", "grapheme", "", None, "UTF16"],
    "quote": ["", "甲", None, 3],
    "id": ["c0", "", 1, "\u202e\x85\x7f\u2028\ufeff\U000e0041\U0010ffff\ue000\u0600\u200d\u00e9😀\x1b"],
    "source_id": ["s1", "无", None],
    "text": ["", "甲", 1],
    "sha256": ["", "0" * 64],
    "unicode_version": ["1.1", 1, ""],
    "schema": ["evidence-bundle/2", 1, None],
    "citations": [[], {}, None],
}


def random_bundle(rng, version):
    made, citations = [], []
    for number in range(rng.randint(1, 3)):
        text = "".join(rng.choices(ALPHABET, k=rng.randint(1, 30)))
        made.append(
            {"id": f"s{number}", "title": "", "version": "1", "text": text, "sha256": text_digest(text)}
        )
    for number in range(rng.randint(0, 5)):
        source = rng.choice(made)
        text, unit = source["text"], rng.choice(["codepoint", "utf16", "utf8"])
        first = rng.randrange(len(text))
        last = rng.randint(first + 1, len(text))
        size = {
            "codepoint": len,
            "utf16": lambda part: len(part.encode("utf-16-le")) // 2,
            "utf8": lambda part: len(part.encode()),
        }[unit]
        citations.append(
            {
                "id": f"c{number}",
                "source_id": source["id"],
                "start": size(text[:first]),
                "end": size(text[:last]),
                "unit": unit,
                "quote": text[first:last],
            }
        )
    return {
        "schema": "evidence-bundle/1",
        "unicode_version": version,
        "sources": made,
        "citations": citations,
    }


def damage(record, rng):
    """The bundle's bytes with one random fault in a field, in the bytes, or none."""
    holders = [record, *record["sources"], *record["citations"]]
    kind = rng.choice(["none", "field", "field", "missing", "raw", "raw"])
    if kind == "field":
        key = rng.choice(list(FIELD_DAMAGE))
        holder = rng.choice([one for one in holders if key in one] or [record])
        holder[key] = rng.choice(FIELD_DAMAGE[key])
    elif kind == "missing":
        holder = rng.choice(holders)
        holder.pop(rng.choice(list(holder)))
    data = json.dumps(record, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1])).encode()
    if kind == "raw":
        old, new = rng.choice(RAW_DAMAGE)
        data = data.replace(old, new, 1)
    return data


def python_run(data):
    """Exit code, stdout and error code, as the command gives them."""
    try:
        report = verify_bundle(parse_bundle(data, "b.json"))
    except JsonInputError as error:
        return error.exit_code, "", error.code
    return (1 if report.failures else 0), report_to_json(report), None


@needs_node
def test_the_two_verifiers_agree_byte_for_byte_on_good_and_damaged_bundles(tmp_path):
    """Where both have one Unicode version it is the bundle's in half of the cases; else it is neither's."""
    shared = unicode_version() if unicode_version() == node_unicode() else "1.1"
    rng = random.Random(20)
    files = [damage(random_bundle(rng, rng.choice(["1.1", shared])), rng) for _ in range(600)]
    seen = set()
    for data, (status, stdout, stderr) in zip(files, node_runs(tmp_path, files), strict=True):
        expected_status, expected_stdout, code = python_run(data)
        assert (status, stdout) == (expected_status, expected_stdout), data
        assert code is None or f"[{code}]" in stderr, (data, stderr)
        seen.add((expected_status, code))
    assert {(0, None), (1, None), (2, "bad_shape"), (2, "invalid_json"), (2, "duplicate_key")} <= seen


@pytest.fixture(scope="module")
def tampered(tmp_path_factory):
    """For each kind of tampering: its files, each with what the standalone verifier says of it."""
    versions = {"1.1", unicode_version() if unicode_version() == node_unicode() else "1.1"}
    good = bundle_record()
    records = {"good": good} | {name: tamper(good, change) for name, (change, _) in TAMPERED.items()}
    files = {
        name: [json.dumps(record | {"unicode_version": version}).encode() for version in versions]
        for name, record in records.items()
    }
    runs = iter(
        node_runs(tmp_path_factory.mktemp("tampered"), [data for each in files.values() for data in each])
    )
    return {name: [(data, next(runs)) for data in each] for name, each in files.items()}


@needs_node
@pytest.mark.parametrize("name", ["good", *TAMPERED])
def test_the_standalone_verifier_agrees_on_each_kind_of_tampering(name, tampered):
    for data, (status, stdout, _) in tampered[name]:
        assert (status, stdout) == python_run(data)[:2]


@needs_node
def test_the_standalone_verifier_determines_borders_in_bundles_of_its_own_version(tmp_path):
    record = bundle_record() | {"unicode_version": node_unicode()}
    record["citations"][0].update(source_id="乙", start=3, end=4, quote="e")
    (tmp_path / "b.json").write_text(json.dumps(record), encoding="utf-8")
    shown = json.loads(node_run(VERIFIER, tmp_path / "b.json").stdout)
    assert (shown["grapheme_split"], shown["undetermined"]) == (1, 0)


@needs_node
def test_the_standalone_verifier_names_its_usage_and_missing_files(tmp_path):
    missing = node_run(VERIFIER, tmp_path / "none.json")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("错误：")
    assert missing.stderr.count("\n") == 1


@needs_node
def test_both_verifiers_name_the_same_fault_at_every_depth(tmp_path):
    heads = [
        "",
        "1",
        "x",
        "{",
        '{"a":1',
        '"a',
        "[1",
        "tru",
        "NaN",
        "[}",
        '{"a":',
        '"[[["',
        "[-",
        "1e",
        "[1,",
        "\n [",
    ]
    texts = [
        head + opening * depth + tail
        for depth in (64, 65, 499, 500, 501, 600, 899, 900, 950, 1001, 3000)
        for head in heads
        for opening in ("[", '{"a":', '[{"b": ')
        for tail in ("", "NaN", "x", '"', "]" * depth)
    ]
    runs = node_runs(tmp_path, [text.encode() for text in texts])
    seen = set()
    for text, (status, stdout, stderr) in zip(texts, runs, strict=True):
        expected_status, expected_stdout, code = python_run(text.encode())
        assert (status, stdout) == (expected_status, expected_stdout)
        assert f"[{code}]" in stderr, (text[:20], len(text), text[-5:], code, stderr)
        seen.add(code)
    assert seen == {"bad_shape", "invalid_json", "too_deep"}


@needs_node
def test_both_verifiers_hide_the_same_characters(tmp_path):
    record = bundle_record()
    points = [*range(0xD800), *range(0xE000, 0x110000)]
    for start in (0, 1, 2):
        record["citations"][0] |= {"id": "".join(map(chr, points[start::3])), "quote": "x"}
        data = json.dumps(record | {"unicode_version": "1.1"}).encode()
        (tmp_path / "b.json").write_bytes(data)
        shown = node_run(VERIFIER, tmp_path / "b.json")
        assert (shown.returncode, shown.stdout) == python_run(data)[:2]
