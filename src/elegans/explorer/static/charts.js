// Draws the charts of a page, follows a store that grows, and moves through tables by arrow keys.
const dark = matchMedia("(prefers-color-scheme: dark)");

function config() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const [text, soft, line, accent] = ["--text", "--soft", "--line", "--accent"].map(colour);
  const font = "system-ui, sans-serif";
  return {
    background: "transparent", font,
    axis: { labelColor: soft, titleColor: text, titleFontWeight: 500, gridColor: line, domainColor: line,
      tickColor: line, labelFontSize: 11, titleFontSize: 12, gridOpacity: 0.6 },
    axisBand: { grid: false },
    legend: { labelColor: soft, titleColor: text, titleFontWeight: 500, labelFontSize: 11 },
    title: { color: text, fontWeight: 500 }, header: { labelColor: text, titleColor: text },
    view: { stroke: null }, line: { color: accent }, area: { color: accent }, rule: { color: accent },
    point: { color: accent }, text: { color: text },
    range: { category: dark.matches
      ? ["#6cc4e4", "#f0a868", "#7ee2a8", "#e58fb0", "#c3b1f5", "#e3d26f", "#9fb7c9", "#f08d7a"]
      : ["#0b6a8c", "#c05a12", "#1a7f5a", "#b03a6b", "#6b4fb3", "#8a6d00", "#51697d", "#a83226"] },
  };
}

const views = new Map();

async function draw(element) {
  const source = document.getElementById(element.dataset.chart);
  const specification = JSON.parse(source.textContent);
  if (element.dataset.drawn) views.get(element.dataset.chart)?.finalize();
  element.dataset.drawn = "yes";
  // `ast` makes Vega interpret its expressions: nothing is compiled from text.
  const result = await window.vegaEmbed(element, specification, {
    ast: true, mode: "vega-lite", actions: false, renderer: "canvas", defaultStyle: false, config: config(),
    tooltip: { disableDefaultStyle: true, theme: "custom" },
  });
  views.set(element.dataset.chart, result);
  element.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
}

export function view(name) {
  return views.get(name)?.view;
}

export function drawAll(root = document) {
  for (const element of root.querySelectorAll("[data-chart]")) {
    draw(element).catch((error) => {
      element.textContent = `This chart cannot be drawn: ${error.message}`;
    });
  }
}

async function fill(element) {
  const answer = await fetch(element.dataset.part);
  if (!answer.ok) return;
  element.innerHTML = await answer.text();
  drawAll(element);
}

// A store that is being read or grows: say so, and offer the new picture when there is one.
async function follow(element) {
  let version = element.dataset.version, pause = 500;
  for (;;) {
    await new Promise((done) => setTimeout(done, pause));
    if (document.hidden) continue;
    const answer = await fetch(element.dataset.state).catch(() => null);
    if (!answer || !answer.ok) {
      element.textContent = "◌ the explorer does not answer";
      continue;
    }
    const state = await answer.json();
    const count = state.total.toLocaleString("en");
    pause = 2000;
    if (state.error) {
      element.textContent = `✗ ${state.error}`;
    } else if (!state.is_complete) {
      element.textContent = `◌ reading: ${state.shown.toLocaleString("en")} of ${count} runs`;
    } else if (state.is_growing) {
      element.textContent = `◉ growing · ${count} runs · last run ${state.last}`;
      element.classList.add("live");
    } else {
      element.textContent = `at rest · last run ${state.last}`;
      element.classList.remove("live");
    }
    if (String(state.version) !== version) {
      version = String(state.version);
      await renew();
    }
  }
}

// Replaces what is shown by what the same URL shows now; forms keep what a user is typing.
async function renew() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (page.querySelector("#cells") && !document.querySelector("#cells")) {
    location.reload(); // the first runs have come
    return;
  }
  for (const selector of ["#cells", "figcaption", "table.grid tbody", "table.runs tbody"]) {
    const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
    const isBusy = old?.contains(document.activeElement) || old?.querySelector(":checked");
    if (old && fresh && !isBusy) old.replaceWith(document.adoptNode(fresh));
  }
  const chart = document.querySelector('[data-chart="cells"]');
  if (chart) await draw(chart);
}

function keys(table) {
  table.addEventListener("keydown", (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    const row = event.target.closest("tr");
    const places = [...row.querySelectorAll("a, input")];
    const next = way > 0 ? row.nextElementSibling : row.previousElementSibling;
    const target = next?.querySelectorAll("a, input")[places.indexOf(event.target)];
    if (target) {
      event.preventDefault();
      target.focus();
    }
  });
}

drawAll();
document.querySelectorAll("[data-part]").forEach(fill);
document.querySelectorAll("[data-state]").forEach(follow);
document.querySelectorAll("table[data-keys]").forEach(keys);
dark.addEventListener("change", () => drawAll());
