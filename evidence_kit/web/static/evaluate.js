// Judging by key press without a new page each time, progress, and typed text that outlives a reload. Every page
// does its work without this file.

const TYPING = "input:not([type=checkbox]), textarea, select";

// A form that is sent from here: the page that answers takes the place of this one's main part.

async function send(form, fields) {
  const answer = await fetch(form.action, { method: "POST", body: fields, headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = page.querySelector("main");
  if (!main) throw new Error("no page");
  return { answer, main, title: page.title };
}

function show({ main, title }) {
  document.title = title;
  document.querySelector("main").replaceWith(document.adoptNode(main));
  begin();
}

function notice(words) {
  document.querySelector("#undelivered")?.remove();
  const box = document.createElement("div");
  box.id = "undelivered";
  box.className = "notice error";
  box.setAttribute("role", "alert");
  box.textContent = words;
  const where = document.querySelector(".where");
  if (where) where.after(box);
  else document.querySelector("main").prepend(box);
  return box;
}

function tell(box) {
  box?.scrollIntoView({ block: "nearest" });
}

// Judging.

const rows = () => [...document.querySelectorAll("[data-row]")];

function currentRow() {
  return document.activeElement.closest("[data-row]") ?? null;
}

function focusRow(row) {
  if (!row) return;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const all = rows();
  const at = all.indexOf(currentRow());
  focusRow(all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)]);
}

function onKey(event) {
  const keys = document.querySelector("#keys");
  if (!keys?.checked || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(TYPING) || event.target.closest(".text.long, .scroll, .list")) return;
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!step && !/^[0-3]$/.test(event.key)) return;
  if (!step && !rows().length) return;
  event.preventDefault();
  const grade = event.key;
  inTurn(step ? () => move(step) : () => judge(currentRow() ?? rows()[0], grade));
}

function onSubmit(event) {
  const form = event.target;
  if (form.matches("form[data-judge]") && event.submitter) {
    event.preventDefault();
    const source = form.elements.source_id.value;
    const { value } = event.submitter;
    inTurn(() => judge(rows().find((row) => row.querySelector("[name=source_id]").value === source), value));
  } else if (form.matches("form[data-keep]")) {
    event.preventDefault();
    inTurn(() => save(form));
  }
}

// One at a time and none lost: what is pressed while a judgment is being written comes after it, and is about the
// page that answers. Where that one was not taken, the rest was meant for another page.

const turns = [];
let busy = false;

async function inTurn(step) {
  turns.push(step);
  if (busy) return;
  busy = true;
  try {
    while (turns.length) {
      const went = await turns.shift()();
      if (went !== false || !turns.length) continue;
      const said = document.querySelector("#undelivered")?.textContent ?? "";
      tell(notice(`${said}后面的 ${turns.length} 次按键没有执行：请看清楚现在的内容再按。`));
      turns.length = 0;
    }
  } finally {
    busy = false;
  }
}

async function judge(row, grade) {
  const form = row?.querySelector("form[data-judge]");
  if (!form) return false;
  const fields = new URLSearchParams(new FormData(form));
  fields.set("grade", grade);
  const at = rows().indexOf(row);
  try {
    const sent = await send(form, fields);
    show(sent);
    if (sent.answer.status === 202) {
      // The judgment is written; the question's own address has the page when the search is done.
      const job = document.querySelector("#job");
      job.dataset.again = `${job.dataset.again}#row-${at + 2}`;
      return false;
    }
    if (sent.answer.ok) focusRow(rows()[Math.min(at + 1, rows().length - 1)]);
    else tell(document.querySelector("[role=alert]"));
    return sent.answer.ok;
  } catch {
    tell(notice("程序没有回应，不知道这次判断写进去没有：请确认程序还在运行，再按一次；已经写入的会告诉您。"));
    focusRow(rows()[at]);
    return false;
  }
}

// Progress.

function goTo(address) {
  const next = new URL(address, location);
  const here = next.pathname === location.pathname && next.search === location.search;
  if (!here || !next.hash) return location.replace(next);
  history.replaceState(null, "", next); // another place on the page alone would load nothing
  location.reload();
}

async function follow() {
  const job = document.querySelector("#job");
  while (job?.isConnected) {
    const words = job.querySelector("#job-state");
    try {
      const asked = new URLSearchParams({ job: job.dataset.job, ticket: job.dataset.ticket });
      const answer = await fetch(`/evaluate/progress?${asked}`);
      const found = answer.ok ? await answer.json() : { state: "done" };
      if (!job.isConnected) return;
      if (found.state === "cancelled") {
        words.textContent = "这次计算已被取消。";
        return;
      }
      if (found.state !== "running") {
        words.textContent = "已经完成。"; // a file is saved, and leaves this page where it is
        goTo(job.dataset.again);
        return;
      }
      if (found.whole) {
        words.textContent = `已完成 ${found.done} / ${found.whole}`;
        job.querySelector("#job-bar").max = found.whole;
        job.querySelector("#job-bar").value = found.done;
      }
    } catch {
      words.textContent = "程序没有回应，正在重试。";
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

// Typed text is kept in this tab until it has arrived: for a reload in the middle of an edit, a server that does
// not answer, or a form that was refused. It has arrived where the server has led on to another page.

const keyOf = (form) => `typed ${form.dataset.keep} ${form.action} ${form.elements.id?.value ?? ""}`;

const typedIn = (form) => [...form.querySelectorAll("textarea, input:not([type=hidden], [type=checkbox]), select")];

function keep(form) {
  const values = Object.fromEntries(typedIn(form).map((field) => [field.name, field.value]));
  try {
    sessionStorage.setItem(keyOf(form), JSON.stringify({ values, expected: form.elements.expected?.value }));
  } catch {
    sessionStorage.removeItem(keyOf(form)); // too long for the browser: nothing is kept rather than a part
  }
}

async function save(form) {
  keep(form);
  const key = keyOf(form);
  try {
    const sent = await send(form, new URLSearchParams(new FormData(form)));
    if (sent.answer.redirected && sent.answer.ok) {
      sessionStorage.removeItem(key);
      location.assign(sent.answer.url);
    } else {
      show(sent);
      tell(document.querySelector("[role=alert]"));
    }
  } catch {
    tell(notice("程序没有回应，不知道写进去没有：您写的还在。请确认程序还在运行，再保存一次；已经写入的会告诉您。"));
  }
}

function keepTyped() {
  const form = document.querySelector("form[data-keep]");
  if (!form) return;
  const key = keyOf(form);
  const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
  form.addEventListener("input", () => keep(form));
  if (!kept) return;
  // A refused form shows what was typed, and what stands where that was the reason: that has been seen now.
  if (document.querySelector("[role=alert]")) return keep(form);
  typedIn(form).forEach((field) => { field.value = kept.values[field.name] ?? field.value; });
  // What it was made from goes with it, so that a change made meanwhile elsewhere is still noticed.
  if (form.elements.expected) form.elements.expected.value = kept.expected;
  const forget = document.createElement("button");
  forget.type = "button";
  forget.className = "quiet small";
  forget.textContent = "放弃没有保存的改动";
  forget.addEventListener("click", () => {
    sessionStorage.removeItem(key);
    location.reload();
  });
  const said = document.createElement("p");
  said.className = "notice";
  said.setAttribute("role", "status");
  said.append("这里是您上次没有保存的文字。", forget);
  form.prepend(said);
}

// What a main part needs, at first and each time that another one takes its place.
function begin() {
  const keys = document.querySelector("#keys");
  if (keys) {
    keys.hidden = false;
    keys.checked = localStorage.getItem("keys") !== "off";
    keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
  }
  follow();
  keepTyped();
}

document.addEventListener("keydown", onKey);
document.addEventListener("submit", onSubmit);
begin();
