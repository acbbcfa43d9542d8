
// What is shown is in the address, so that a view can be passed on.
const choices = ["op", "adaptor", "group", "status", "text"];
const filter = {};

const statuses = {
  bad: ["failed", isBad],
  pass: ["passed", (result) => result.status === "pass"],
  unsupported: ["unsupported", (result) => result.status === "unsupported"],
  skip: ["skipped", (result) => result.status === "skip"],
  broken: ["new failures", (result) => broken.has(result.place)],
  fixed: ["fixed since", (result) => fixed.has(result.place)],
};

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of choices) {
    filter[name] = given.get(name) || "";
    byId(name).value = filter[name];
    if (name !== "text" && byId(name).value !== filter[name]) filter[name] = byId(name).value = ""; // no such choice
  }
}

function writeAddress() {
  const given = new URLSearchParams(choices.filter((name) => filter[name]).map((name) => [name, filter[name]]));
  history.replaceState(null, "", "#" + given);
}

// haystack is what the search looks through, made once per result.
function haystack(result) {
  if (!result.hay) {
    result.hay = [result.op, result.adaptor, result.group, result.check, result.kernel, result.dtype, result.status, result.reason]
      .join(" ").toLowerCase();
  }
  return result.hay;
}

function select() {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const held = filter.status ? statuses[filter.status][1] : () => true;
  return results.filter((result) => ["op", "adaptor", "group"].every((name) => !filter[name] || result[name] === filter[name]) &&
    held(result) && words.every((word) => haystack(result).includes(word)));
}

function showMatrix(found) {
  const any = choices.some((name) => filter[name]), searched = filter.status || filter.text;
  const key = (op, adaptor, group) => JSON.stringify([op, adaptor, group]);
  const there = new Set(found.map((result) => key(result.op, result.adaptor, result.group)));
  const ops = new Set(found.map((result) => result.op));
  for (const row of document.querySelectorAll(".matrix tbody tr")) {
    row.hidden = Boolean(searched) && !ops.has(row.dataset.op);
    for (const mark of row.querySelectorAll(".mk")) {
      const cell = mark.parentElement.dataset;
      mark.classList.toggle("off", any && !there.has(key(cell.op, cell.adaptor, mark.dataset.group)));
    }
  }
}

// choose changes some filters and shows what is left.
function choose(change) {
  Object.assign(filter, change);
  for (const name of choices) {
    if (byId(name).value !== filter[name]) byId(name).value = filter[name];
    byId(name).classList.toggle("set", Boolean(filter[name]));
  }
  byId("reset").disabled = !choices.some((name) => filter[name]);
  writeAddress();
  const found = select();
  showMatrix(found);
  showResults(found);
  showPlots();
}

function startFilters() {
  const option = (value, label) => make("option", { value }, label);
  for (const name of ["op", "adaptor"]) byId(name).append(...distinct(name).map((value) => option(value, value)));
  const groups = [...document.querySelectorAll(".legend.groups span")].map((span) => span.dataset.group);
  byId("group").append(...groups.map((value) => option(value, value)));
  for (const value in statuses) {
    const n = results.filter(statuses[value][1]).length;
    if (n > 0) byId("status").append(option(value, statuses[value][0] + " (" + number(n) + ")"));
  }
  for (const name of choices) {
    byId(name).addEventListener(name === "text" ? "input" : "change", () => choose({ [name]: byId(name).value }));
  }
  byId("reset").addEventListener("click", () => choose({ op: "", adaptor: "", group: "", status: "", text: "" }));
  window.addEventListener("hashchange", () => { readAddress(); choose({}); });
  byId("bar").hidden = false;
}
