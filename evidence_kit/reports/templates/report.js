"use strict";
// Takes every quote out of the source's own text on this page again, by code points, and says what it finds.
(() => {
  // HTML cannot hold NUL: it is put back where it stood.
  for (const place of document.querySelectorAll(".nul")) place.textContent = "\0";

  const sources = new Map();
  const slice = (source, start, end) => {
    if (!sources.has(source)) {
      const place = document.getElementById(`t${source}`);
      sources.set(source, place ? Array.from(place.textContent) : []);
    }
    return sources.get(source).slice(start, end).join("");
  };

  // Where excerpts overlap, several marks make up one excerpt.
  const marked = new Map();
  for (const mark of document.querySelectorAll("mark")) {
    for (const excerpt of mark.dataset.excerpts.split(" ")) {
      marked.set(excerpt, (marked.get(excerpt) ?? "") + mark.textContent);
    }
  }

  const quotes = document.querySelectorAll("blockquote");
  const wrong = [];
  for (const quote of quotes) {
    const { excerpt, source, start, end } = quote.dataset;
    const text = quote.textContent;
    if (text !== "" && slice(source, Number(start), Number(end)) === text && marked.get(excerpt) === text) continue;
    wrong.push(excerpt);
    quote.classList.add("wrong");
  }

  const status = document.getElementById("check");
  // The number of quotes the report was written with: one that was taken out is missed as well.
  const expected = Number(status.dataset.expected);
  const right = quotes.length - wrong.length;
  status.textContent = `摘录核对：${right} / ${expected} 与原文逐字相符。`;
  if (right !== expected) {
    if (wrong.length > 0) status.textContent += `不符的摘录：${wrong.map((number) => `第 ${number} 条`).join("、")}。`;
    if (quotes.length !== expected) status.textContent += `页面上有 ${quotes.length} 条，应有 ${expected} 条。`;
  }
  status.classList.add(right === expected && quotes.length === expected ? "right" : "wrong");
})();
