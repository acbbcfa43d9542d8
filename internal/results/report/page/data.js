"use strict";

// The report as the page got it: see data.go. Everything in it may come from strangers, so it becomes text nodes and nothing else.
const raw = JSON.parse(document.getElementById("data").textContent);
const fields = ["op", "adaptor", "group", "check", "kernel", "dtype", "status", "ms", "reason", "seed", "script", "file", "line"];
const numbers = new Set(["ms", "line"]);
const results = raw.results.map((row, place) => {
  const result = { place };
  fields.forEach((field, i) => { result[field] = numbers.has(field) ? row[i] : raw.texts[row[i]]; });
  return result;
});
const broken = new Set(raw.broken), fixed = new Set(raw.fixed);

const byId = (id) => document.getElementById(id);
const isBad = (result) => result.status === "fail" || result.status === "error";
const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const distinct = (field) => [...new Set(results.map((result) => result[field]))].sort();

// make builds an element: properties first, then children, which are elements or texts; what is false is left out.
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== false && child !== "" && child !== undefined));
  return element;
}

// drawn is make for SVG.
function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  element.append(...children);
  return element;
}

// copyable shows text in a box with a button that copies it.
function copyable(text, kind) {
  const button = make("button", { type: "button", className: "quiet" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = await copy(text) ? "Copied" : "Not allowed here";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  return make("div", { className: "code " + (kind || "") }, button, make("pre", {}, text));
}

// copy puts text on the clipboard. The older way serves pages that are opened as files.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
