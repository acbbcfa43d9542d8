
// Plots of the errors against the reference.
const plotPage = 12;
let plotsShown = plotPage;

// measured joins callers whose worst element is the same: they give the same bits, but not all measure all cases. Shown are the
// bins of the one that measured most. Those nearest to their tolerance come first.
const measured = (() => {
  const by = new Map();
  for (const one of raw.ulps || []) {
    const [op, adaptor, kernel, dtype, output, allowed, got, want] = one.t.map((i) => raw.texts[i]);
    const key = JSON.stringify([op, kernel, dtype, output, one.w, one.i, got, want]);
    const sum = (bins) => bins.reduce((a, b) => a + b, 0);
    if (by.has(key)) {
      const have = by.get(key);
      have.adaptors.push(adaptor);
      if (sum(one.b || []) > sum(have.bins)) have.bins = one.b;
    } else {
      by.set(key, {
        op, kernel, dtype, output, allowed, got, want, adaptors: [adaptor],
        bins: one.b || [], worst: one.w, share: one.s, index: one.i || [],
      });
    }
  }
  return [...by.values()].sort((a, b) => b.share - a.share || b.worst - a.worst);
})();

const binLabel = (i) => i === 0 ? "0" : i === 1 ? "½" : i < 12 ? String(2 ** (i - 2)) : "2^" + (i - 2);

function inUlps(v) {
  if (v > 1e300) return "not finite";
  return (v >= 1e6 ? v.toExponential(1) : String(Number(v.toPrecision(3)))) + " ulp";
}

const percent = (share) => share > 1e6 ? "far more than 100 " : share < .01 ? "less than 1 " : Math.round(100 * share) + " ";

// histogram draws one bar per bin, of logarithmic height; empty bins at the end are left out.
function histogram(bins) {
  let n = bins.length;
  while (n > 7 && !bins[n - 1]) n--;
  const step = 240 / Math.max(n, 1), top = Math.log10(1 + Math.max(1, ...bins));
  const svg = drawn("svg", { viewBox: "0 0 240 78", role: "img", "aria-label": "elements by error" });
  svg.append(drawn("line", { x1: 0, x2: 240, y1: 66.5, y2: 66.5 }));
  for (let i = 0; i < n; i++) {
    const height = 64 * Math.log10(1 + bins[i]) / top;
    if (bins[i]) {
      const limit = i === bins.length - 1 ? "more than " + binLabel(i - 1) : i ? "up to " + binLabel(i) : "exactly 0";
      svg.append(drawn("rect", { x: i * step + 1, width: step - 2, y: 66 - height, height, class: i ? "" : "exact" },
        drawn("title", {}, number(bins[i]) + " elements, " + limit + " ulp")));
    }
    const label = drawn("text", { x: (i + .5) * step, y: 76 });
    label.textContent = n > 14 && i % 2 && i > 1 ? "" : i === bins.length - 1 ? ">" : binLabel(i);
    svg.append(label);
  }
  return svg;
}

function plot(one) {
  const where = one.index.length ? "Worst at [" + one.index.join(", ") + "]: got " + one.got + ", want " + one.want
    : one.worst > 0 ? "Worst: got " + one.got + ", want " + one.want : "Every element is exact.";
  return make("div", { className: "plot" },
    make("h3", {}, make("span", {}, one.op + " · " + one.output), make("b", {}, inUlps(one.worst))),
    make("p", {}, [one.dtype, one.kernel].filter(Boolean).join(" · ")),
    histogram(one.bins),
    make("p", {}, where),
    make("p", {}, make("span", { className: one.share > 1 ? "fail" : "" }, percent(one.share) + "% of what is allowed: "), one.allowed),
    make("p", {}, "Through " + one.adaptors.join(", ")));
}

function showPlots() {
  if (measured.length === 0) return;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = measured.filter((one) =>
    (!filter.op || one.op === filter.op) && (!filter.adaptor || one.adaptors.includes(filter.adaptor)) &&
    words.every((word) => [one.op, one.kernel, one.dtype, one.output, ...one.adaptors].join(" ").toLowerCase().includes(word)));
  byId("accuracy").hidden = false;
  byId("measured").textContent = number(found.length) + (found.length === 1 ? " distribution" : " distributions");
  byId("plots").replaceChildren(...found.slice(0, plotsShown).map(plot));
  byId("moreplots").hidden = found.length <= plotsShown;
}

function startPlots() {
  byId("moreplots").addEventListener("click", () => { plotsShown += plotPage; showPlots(); });
}
