// Judging by key press without a new page each time, progress, and typed text that outlives a reload. Every page
// does its work without this file.

const TYPING = "input:not([type=checkbox]), textarea, select";

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
  if (step) {
    event.preventDefault();
    move(step);
  } else if (/^[0-3]$/.test(event.key)) {
    const row = currentRow() ?? rows()[0];
    if (!row) return;
    event.preventDefault();
    row.querySelector(`button[value="${event.key}"]`).click();
  }
}

// One at a time: a second key press waits for what the first one changed.
let writing = false;

async function judge(event) {
  const form = event.target.closest("form[data-judge]");
  if (!form || !event.submitter) return;
  event.preventDefault();
  if (writing) return;
  writing = true;
  const fields = new URLSearchParams(new FormData(form));
  fields.set(event.submitter.name, event.submitter.value);
  const at = rows().indexOf(form.closest("[data-row]"));
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const main = page.querySelector("main");
    if (!main) throw new Error("no page");
    document.querySelector("main").replaceWith(document.adoptNode(main));
    begin();
    if (answer.ok) focusRow(rows()[Math.min(at + 1, rows().length - 1)]);
    else tell(document.querySelector("[role=alert]"));
  } catch {
    tell(notice("没有送达：程序没有回应。这次判断没有写入，请确认程序还在运行，然后再按一次。"));
    focusRow(rows()[at]);
  } finally {
    writing = false;
  }
}

function notice(words) {
  const found = document.querySelector("#undelivered");
  if (found) return found;
  const box = document.createElement("div");
  box.id = "undelivered";
  box.className = "notice error";
  box.setAttribute("role", "alert");
  box.textContent = words;
  document.querySelector(".where").after(box);
  return box;
}

function tell(box) {
  box?.scrollIntoView({ block: "nearest" });
}

// Progress.

async function follow() {
  const job = document.querySelector("#job");
  if (!job) return;
  try {
    const answer = await fetch(`/evaluate/progress?job=${encodeURIComponent(job.dataset.job)}`);
    const found = answer.ok ? await answer.json() : { state: "done" };
    if (found.state === "done" || found.state === "failed") return location.replace(job.dataset.again);
    const words = document.querySelector("#job-state");
    const bar = document.querySelector("#job-bar");
    if (found.state === "cancelled") words.textContent = "这次计算已被取消。";
    else if (found.whole) {
      words.textContent = `已完成 ${found.done} / ${found.whole}`;
      bar.max = found.whole;
      bar.value = found.done;
    }
    if (found.state === "cancelled") return;
  } catch {
    document.querySelector("#job-state").textContent = "程序没有回应，正在重试。";
  }
  setTimeout(follow, 500);
}

// Typed text is kept in this tab until it has arrived: for a reload in the middle of an edit, or a server that
// does not answer. It has arrived where a form that was sent has led to another page.

function forgetArrived() {
  const sent = JSON.parse(sessionStorage.getItem("sent") ?? "null");
  if (!sent || sent.path === location.pathname || document.querySelector("[role=alert]")) return;
  sessionStorage.removeItem(sent.key);
  sessionStorage.removeItem("sent");
}

function keepTyped() {
  forgetArrived();
  const form = document.querySelector("form[data-keep]");
  if (!form) return;
  const key = `typed ${form.action} ${form.elements.id?.value ?? ""}`;
  const fields = [...form.querySelectorAll("textarea, input:not([type=hidden]), select")];
  const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
  const failed = document.querySelector("[role=alert]");
  if (kept && !failed) {
    fields.forEach((field) => { field.value = kept.values[field.name] ?? field.value; });
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
  form.addEventListener("input", () => {
    const values = Object.fromEntries(fields.map((field) => [field.name, field.value]));
    sessionStorage.setItem(key, JSON.stringify({ values, expected: form.elements.expected?.value }));
  });
  form.addEventListener("submit", () => {
    sessionStorage.setItem("sent", JSON.stringify({ key, path: location.pathname }));
  });
}

function begin() {
  const keys = document.querySelector("#keys");
  if (!keys) return;
  keys.hidden = false;
  keys.checked = localStorage.getItem("keys") !== "off";
  keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
}

document.addEventListener("keydown", onKey);
document.addEventListener("submit", judge);
begin();
follow();
keepTyped();
