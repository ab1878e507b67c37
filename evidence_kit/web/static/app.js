// Conveniences alone: every page does its work without this file.

const TYPING = "input, textarea, select";

function focusQuestion(event) {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(TYPING)) return;
  const question = document.querySelector("input[name=q]");
  if (!question) return;
  event.preventDefault();
  question.focus();
  question.select();
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
offerMoreSources();
