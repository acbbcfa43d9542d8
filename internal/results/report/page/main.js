
// The theme is the system's until someone chooses; the choice stays where the browser can keep it.
function startTheme() {
  const button = byId("theme"), modes = ["light dark", "dark", "light"], labels = ["Theme: system", "Theme: dark", "Theme: light"];
  let mode = 0;
  try { mode = Math.max(0, modes.indexOf(localStorage.getItem("opcast-theme"))); } catch { /* no storage for files here */ }
  const show = () => { document.documentElement.style.colorScheme = modes[mode]; button.textContent = labels[mode]; };
  button.addEventListener("click", () => {
    mode = (mode + 1) % modes.length;
    show();
    try { localStorage.setItem("opcast-theme", modes[mode]); } catch { /* it lasts as long as the page */ }
  });
  button.hidden = false;
  show();
}

// A mark of the matrix tells what it stands for, and a click shows its results.
function startMatrix() {
  const table = document.querySelector(".matrix"), tip = byId("tip");
  const legend = [...document.querySelectorAll(".legend.groups span")];
  const point = (mark) => {
    for (const span of legend) span.classList.toggle("on", Boolean(mark) && span.dataset.group === mark.dataset.group);
  };
  table.addEventListener("mousemove", (event) => {
    const mark = event.target.closest(".mk");
    point(mark);
    tip.hidden = !mark;
    if (!mark) return;
    const cell = mark.parentElement.dataset;
    tip.textContent = cell.op + " · " + cell.adaptor + " · " + mark.dataset.group + ": " + (mark.dataset.says || "not about this caller");
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8) + "px";
  });
  table.addEventListener("mouseleave", () => { tip.hidden = true; point(null); });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell"), mark = event.target.closest(".mk");
    if (!cell) return;
    event.preventDefault();
    choose({ op: cell.dataset.op, adaptor: cell.dataset.adaptor, group: mark ? mark.dataset.group : "", status: "", text: "" });
    byId("results").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  });
}

startTheme();
startFilters();
startResults();
startPlots();
startMatrix();
readAddress();
choose({});
