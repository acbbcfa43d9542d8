
// The list of results: a page at a time, since there may be tens of thousands.
const pageSize = 30;
const list = { found: [], shown: 0, by: 6, up: false };
const gravity = ["error", "fail", "pass", "unsupported", "skip"];

function compare(a, b) {
  const field = fields[list.by];
  let order;
  if (field === "status") order = gravity.indexOf(a.status) - gravity.indexOf(b.status);
  else if (field === "ms") order = b.ms - a.ms;
  else order = a[field] < b[field] ? -1 : Number(a[field] > b[field]);
  return (list.up ? -order : order) || a.place - b.place;
}

function showResults(found) {
  list.found = found.slice().sort(compare);
  list.shown = 0;
  byId("list").hidden = false;
  byId("list").tBodies[0].replaceChildren();
  byId("found").textContent = found.length === results.length ? number(found.length)
    : number(found.length) + " of " + number(results.length);
  for (const head of document.querySelectorAll("th[data-sort]")) {
    head.classList.toggle("by", Number(head.dataset.sort) === list.by);
    head.classList.toggle("up", list.up);
  }
  showMore();
  const first = byId("list").querySelector("tr.one");
  if (first && (isBad(list.found[0]) || found.length === 1)) toggle(first, list.found[0]);
}

function showMore() {
  const next = list.found.slice(list.shown, list.shown + (list.shown ? 5 * pageSize : pageSize));
  byId("list").tBodies[0].append(...next.map(row));
  list.shown += next.length;
  const left = list.found.length - list.shown;
  byId("more").hidden = left === 0;
  byId("more").textContent = "Show more (" + number(left) + " left)";
}

function row(result) {
  const open = make("button", { type: "button", className: "open", ariaLabel: "Details", ariaExpanded: "false" }, "›");
  const says = [result.kernel, result.dtype].filter(Boolean).join(" · ");
  const reason = result.reason.split("\n", 1)[0];
  const line = make("tr", { className: "one" },
    make("td", {}, open, make("span", { className: "tag " + result.status }, result.status)),
    make("td", {}, result.op), make("td", {}, result.adaptor), make("td", {}, result.group),
    make("td", { className: "says" }, make("span", { className: "check" }, result.check),
      reason !== "" && make("small", {}, reason.slice(0, 160))),
    make("td", { className: "says" }, says), make("td", { className: "num" }, (result.ms / 1000).toFixed(2)));
  line.addEventListener("click", () => { if (!String(getSelection())) toggle(line, result); });
  return line;
}

// toggle opens the details of a result below its line, or closes them.
function toggle(line, result) {
  const open = line.classList.toggle("is-open");
  line.querySelector("button").ariaExpanded = String(open);
  if (!open) return line.nextElementSibling.remove();
  line.after(make("tr", {}, make("td", { className: "detail", colSpan: 7 }, make("div", {}, ...details(result)))));
}

// command repeats a check. Comparisons with existing functions have the function in the name of its caller: "numpy relu.py:relu".
function command(result) {
  const word = (text) => /^[\w.,:=/@+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
  const seed = result.seed ? " --seed " + result.seed : "";
  if (result.check === "against") {
    const [name] = result.adaptor.split(" ", 1);
    const theirs = results.filter((other) => other.op === result.op && other.check === "against" && other.adaptor.startsWith(name + " "));
    const functions = [...new Set(theirs.map((other) => " " + word(other.adaptor.replace(" ", ":"))))].join("");
    return "opcast compare " + result.op + functions + seed;
  }
  return "opcast test " + result.op + (result.adaptor === "definition" ? "" : " --adaptor " + word(result.adaptor)) + seed;
}

function details(result) {
  const parts = [], add = (title, ...what) => parts.push(make("h4", {}, title), ...what);
  const doc = Object.hasOwn(raw.docs, result.check) && raw.docs[result.check];
  if (doc) parts.push(make("p", {}, "Must hold: " + doc + "."));
  if (result.reason) add(isBad(result) ? "What was found" : "Why", copyable(result.reason, isBad(result) ? "bad" : ""));
  if (result.script) {
    add("Reproducer: python " + result.script + ", in the folder of this report");
    const text = Object.hasOwn(raw.scripts || {}, result.script) && raw.scripts[result.script];
    parts.push(copyable(text || "python " + result.script, "script"));
  }
  add("Run it again, with the other flags of this run", copyable(command(result)));
  const same = ["op", "check", "kernel", "dtype"];
  const others = results.filter((other) => other.adaptor !== result.adaptor && same.every((field) => other[field] === result[field]));
  if (others.length > 0) {
    add("The same through other callers", make("div", { className: "others" },
      ...others.map((other) =>
        make("span", { className: "tag " + other.status, title: other.reason }, other.adaptor + ": " + other.status))));
  }
  const facts = [result.group, result.kernel, result.dtype, (result.ms / 1000).toFixed(2) + " s", result.file && "defined in " + result.file];
  parts.push(make("p", {}, make("small", {}, facts.filter(Boolean).join(" · "))));
  return parts;
}

function startResults() {
  byId("more").addEventListener("click", showMore);
  for (const head of document.querySelectorAll("th[data-sort]")) {
    head.addEventListener("click", () => {
      const by = Number(head.dataset.sort);
      Object.assign(list, { up: list.by === by && !list.up, by });
      showResults(list.found);
    });
  }
}
