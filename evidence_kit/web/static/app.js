// Conveniences alone: every page does its work without this file.

const TYPING = "input, textarea, select";

function focusQuestion(event) {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (localStorage.getItem("keys") === "off") return;
  if (event.target.closest(TYPING)) return;
  const question = document.querySelector("input[name=q]");
  if (!question) return;
  event.preventDefault();
  question.focus();
  question.select();
}

// One switch for every key that is a single character, here and on the Evaluate pages, which have their own script
// for it: whoever dictates to the browser must be able to turn them off.
function switchKeys() {
  const keys = document.querySelector("#keys");
  if (!keys) return;
  keys.hidden = keys.closest("p").hidden = false;
  keys.checked = localStorage.getItem("keys") !== "off";
  keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
}

function offerMoreSources() {
  const button = document.querySelector("#add-source");
  if (!button) return;
  const list = document.querySelector("#sources");
  const blank = list.lastElementChild.cloneNode(true);
  button.hidden = false;
  button.addEventListener("click", () => {
    const row = blank.cloneNode(true);
    row.open = true;
    list.append(row);
    row.querySelector("input[name=title]").focus();
  });
}

document.addEventListener("keydown", focusQuestion);
switchKeys();
offerMoreSources();
