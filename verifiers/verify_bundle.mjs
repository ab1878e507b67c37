// Checks a bundle of citations with nothing but Node:   node verify_bundle.mjs BUNDLE.json
// Prints the same JSON as `evidence bundle verify --json`: it checks position, not support.
// Exit codes: 0 every statement holds, 1 a check failed, 2 the file is no bundle.
// Twin of evidence_kit/anchors/bundle_check.py and evidence_kit/sources/strict_json.py: same order, same reasons.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const SCHEMA = 'evidence-bundle/1';
const MAX_DEPTH = 64;
// Deeper than this the scanner stops at once, so that a hostile file cannot exhaust the stack.
const HARD_DEPTH = 500;
// Of several problems the first in this order is reported, whatever order the scanner meets them in.
const NOTED = ['too_deep', 'duplicate_key', 'integer_out_of_range', 'lone_surrogate'];
// Between two of these there is a border in every Unicode version, except inside CR LF.
const STANDS_ALONE = /^[\u0000-\u007e\u3000-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff01-\uff60]$/;
// What a terminal might obey is printed as an escape: the list of evidence_kit/sources/visible.py.
const NONCHARACTERS = Array.from({ length: 14 }, (_, n) => `\\u{${(n + 1).toString(16)}fffe}\\u{${(n + 1).toString(16)}ffff}`).join('');
const HIDDEN = new RegExp('[\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b\\u200e\\u200f'
  + '\\u2028-\\u202e\\u2060-\\u206f\\ud800-\\uf8ff\\ufdd0-\\ufdef\\ufeff\\ufff0-\\ufffb\\ufffe\\uffff\\u{110bd}\\u{110cd}'
  + '\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}'
  + `\\u{f0000}-\\u{10ffff}${NONCHARACTERS}]`, 'gu');

function visible(text) {
  const unit = (character, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text.replace(HIDDEN, (character) => Array.from({ length: character.length }, (_, at) => unit(character, at)).join(''));
}

class InputError extends Error {
  constructor(code, detail) {
    super(`无法读取 [${code}]：${detail}；请重新导出该文件。`);
  }
}

// A number that is not written as an integer: 1.0 and 1e0 are none.
class NotInteger {}

class Scanner {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.noted = new Map();
  }

  document() {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail();
    for (const code of NOTED) if (this.noted.has(code)) throw new InputError(code, this.noted.get(code));
    return value;
  }

  fail() {
    const before = this.text.slice(0, this.at);
    const line = before.split('\n').length;
    throw new InputError('invalid_json', `第 ${line} 行附近不是合法的 JSON`);
  }

  note(code, detail) {
    if (!this.noted.has(code)) this.noted.set(code, detail);
  }

  space() {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  take(token) {
    this.space();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  value(depth) {
    this.space();
    const first = this.text[this.at];
    if (first === '{' || first === '[') {
      if (depth >= MAX_DEPTH) this.note('too_deep', `嵌套超过 ${MAX_DEPTH} 层`);
      if (depth >= HARD_DEPTH) throw new InputError('too_deep', `嵌套超过 ${MAX_DEPTH} 层`);
      return first === '{' ? this.object(depth + 1) : this.array(depth + 1);
    }
    if (first === '"') return this.string();
    if (this.take('true')) return true;
    if (this.take('false')) return false;
    if (this.take('null')) return null;
    return this.number();
  }

  object(depth) {
    const record = new Map();
    this.take('{');
    if (this.take('}')) return record;
    do {
      this.space();
      const key = this.string();
      if (!this.take(':')) this.fail();
      if (record.has(key)) this.note('duplicate_key', `同一个对象里有重复的键 ${JSON.stringify(key)}`);
      record.set(key, this.value(depth));
    } while (this.take(','));
    if (!this.take('}')) this.fail();
    return record;
  }

  array(depth) {
    const items = [];
    this.take('[');
    if (this.take(']')) return items;
    do items.push(this.value(depth)); while (this.take(','));
    if (!this.take(']')) this.fail();
    return items;
  }

  string() {
    const open = this.at;
    if (this.text[open] !== '"') this.fail();
    const special = /["\\\u0000-\u001f]/g;
    special.lastIndex = open + 1;
    let found = special.exec(this.text);
    while (found?.[0] === '\\') {
      special.lastIndex = found.index + 2;
      found = special.exec(this.text);
    }
    if (found?.[0] !== '"') this.fail();
    this.at = special.lastIndex;
    let value;
    try {
      value = JSON.parse(this.text.slice(open, this.at));
    } catch {
      this.fail();
    }
    if (/\p{Surrogate}/u.test(value)) this.note('lone_surrogate', '字符串里有孤立的代理项');
    return value;
  }

  number() {
    const shape = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    shape.lastIndex = this.at;
    const found = shape.exec(this.text) ?? this.fail();
    this.at = shape.lastIndex;
    if (found[1] !== undefined || found[2] !== undefined) return new NotInteger();
    const value = Number(found[0]);
    if (!Number.isSafeInteger(value)) this.note('integer_out_of_range', `整数超出 ±${Number.MAX_SAFE_INTEGER}`);
    return value;
  }
}

function shape(path, expected) {
  return new InputError('bad_shape', `${path} ${expected}`);
}

function field(record, path, key, expected, holds) {
  const where = path ? `${path}.${key}` : key;
  if (!record.has(key)) throw shape(where, '缺失');
  const value = record.get(key);
  if (!holds(value)) throw shape(where, `应是${expected}`);
  return value;
}

const isText = (value) => typeof value === 'string';
const isInteger = (value) => typeof value === 'number';

function records(document, key, fields) {
  return field(document, '', key, '数组', Array.isArray).map((item, position) => {
    const path = `${key}[${position}]`;
    if (!(item instanceof Map)) throw shape(path, '应是对象');
    return Object.fromEntries(fields.map(([name, expected, holds]) => [name, field(item, path, name, expected, holds)]));
  });
}

function readBundle(path) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError) throw new InputError('not_utf8', '不是 UTF-8 文本');
    throw error;
  }
  const document = new Scanner(text).document();
  if (!(document instanceof Map)) throw shape('$', '应是对象');
  if (field(document, '', 'schema', '字符串', isText) !== SCHEMA) throw shape('schema', `应是 ${SCHEMA}`);
  const texts = (...names) => names.map((name) => [name, '字符串', isText]);
  const integers = (...names) => names.map((name) => [name, '整数', isInteger]);
  return {
    unicodeVersion: field(document, '', 'unicode_version', '字符串', isText),
    sources: records(document, 'sources', texts('id', 'title', 'version', 'text', 'sha256')),
    citations: records(document, 'citations', [
      ...texts('id', 'source_id'), ...integers('start', 'end'), ...texts('unit', 'quote'),
    ]),
  };
}

// Positions of one text in the three code units, as UTF-16 positions: what JavaScript slices by.
class TextIndex {
  constructor(text) {
    this.text = text;
    this.tables = new Map();
    this.segments = new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text);
  }

  // The UTF-16 position of each position of the unit; -1 inside a code point.
  table(unit) {
    if (!this.tables.has(unit)) {
      const positions = [];
      let at = 0;
      for (const character of this.text) {
        positions.push(at);
        const inner = unit === 'utf8' ? Buffer.byteLength(character) - 1 : unit === 'utf16' ? character.length - 1 : 0;
        for (let skipped = 0; skipped < inner; skipped += 1) positions.push(-1);
        at += character.length;
      }
      positions.push(at);
      this.tables.set(unit, positions);
    }
    return this.tables.get(unit);
  }

  splitsGrapheme(position) {
    if (position === 0 || position === this.text.length) return false;
    return this.segments.containing(position).index !== position;
  }
}

function spanFailure(citation, index) {
  const { start, end } = citation;
  if (start > end) return 'span_reversed';
  if (start === end) return 'span_empty';
  const table = index.table(citation.unit);
  if (start < 0 || end >= table.length) return 'span_out_of_range';
  if (table[start] < 0 || table[end] < 0) return 'span_splits_code_point';
  return index.text.slice(table[start], table[end]) === citation.quote ? null : 'quote_mismatch';
}

function borderState(position, index, sameRules) {
  if (sameRules) return index.splitsGrapheme(position) ? 'split' : 'whole';
  if (position === 0 || position === index.text.length) return 'whole';
  const [before, after] = [index.text[position - 1], index.text[position]];
  if (before === '\r' && after === '\n') return 'split';
  return STANDS_ALONE.test(before) && STANDS_ALONE.test(after) ? 'whole' : 'undetermined';
}

function verify(bundle) {
  const failures = [];
  const doubtful = new Set();
  const indexes = new Map();
  for (const source of bundle.sources) {
    const digest = createHash('sha256').update(source.text, 'utf8').digest('hex');
    const reason = indexes.has(source.id) ? 'duplicate_source_id'
      : digest !== source.sha256 ? 'source_digest_mismatch' : null;
    if (reason) {
      failures.push({ id: source.id, reason });
      doubtful.add(source.id);
    }
    indexes.set(source.id, new TextIndex(source.text));
  }
  const sameRules = bundle.unicodeVersion === process.versions.unicode;
  const seen = new Set();
  const counts = { whole: 0, split: 0, undetermined: 0 };
  for (const citation of bundle.citations) {
    const index = indexes.get(citation.source_id);
    const reason = seen.has(citation.id) ? 'duplicate_citation_id'
      : index === undefined ? 'source_missing'
        : doubtful.has(citation.source_id) ? 'source_not_verified'
          : !['codepoint', 'utf16', 'utf8'].includes(citation.unit) ? 'unknown_unit'
            : spanFailure(citation, index);
    seen.add(citation.id);
    if (reason) {
      failures.push({ id: citation.id, reason });
      continue;
    }
    const table = index.table(citation.unit);
    const states = [citation.start, citation.end].map((position) => borderState(table[position], index, sameRules));
    counts[['split', 'undetermined'].find((state) => states.includes(state)) ?? 'whole'] += 1;
  }
  return {
    citations: bundle.citations.length,
    exact: counts.whole + counts.split + counts.undetermined,
    grapheme_split: counts.split,
    undetermined: counts.undetermined,
    failures,
  };
}

function main(args) {
  if (args.length !== 1) {
    process.stderr.write('错误：用法是 node verify_bundle.mjs BUNDLE.json\n');
    return 2;
  }
  try {
    const report = verify(readBundle(args[0]));
    process.stdout.write(visible(`${JSON.stringify(report, null, 2)}\n`));
    return report.failures.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof InputError) && error.syscall === undefined) throw error;
    const detail = error instanceof InputError ? error.message : `无法打开（${error.code}）；请检查路径与权限。`;
    process.stderr.write(visible(`错误：${args[0]} ${detail}\n`));
    return 2;
  }
}

process.exitCode = main(process.argv.slice(2));
