// The page of a network: a slider over training, weights as pictures, one neuron as bars.
import { view } from "./charts.js";

const form = document.getElementById("network");
const slider = document.getElementById("slider");
const steps = JSON.parse(form.dataset.steps);
const chosen = (name) => form.elements.namedItem(name);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = matchMedia("(prefers-color-scheme: dark)");
let asked = 0;

function step() {
  return slider ? steps[Number(slider.value)] : 0;
}

// Blue for negative, red for positive, the page's own colour for zero.
function colour(value, largest) {
  if (!Number.isFinite(value)) return [128, 128, 128, 255];
  const share = largest > 0 ? Math.max(-1, Math.min(1, value / largest)) : 0;
  const strength = Math.round(255 * Math.sqrt(Math.abs(share)));
  const [positive, negative] = dark.matches ? [[244, 124, 92], [92, 172, 244]] : [[178, 60, 38], [22, 100, 170]];
  return [...(share >= 0 ? positive : negative), strength];
}

// A canvas with an entry of a matrix per pixel, and its name below.
function frame(rows, columns, title) {
  const figure = document.createElement("figure");
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  canvas.style.maxWidth = `${Math.max(160, 36 * columns)}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title || "weights"}, ${rows} by ${columns}`);
  figure.append(canvas);
  if (title) {
    const caption = document.createElement("figcaption");
    caption.className = "soft";
    caption.textContent = title;
    figure.append(caption);
  }
  return figure;
}

function paint(canvas, values, largest) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  for (let i = 0; i < values.length; i++) image.data.set(colour(values[i], largest), 4 * i);
  context.putImageData(image, 0, 0);
}

function bars(id, values, names, marked) {
  const canvas = document.getElementById(id);
  if (!canvas || !values) return;
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth || 640;
  canvas.dataset.height ||= canvas.getAttribute("height");
  const tall = Number(canvas.dataset.height);
  [canvas.width, canvas.height] = [width * ratio, tall * ratio]; // also clears it
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const [soft, special, accent] = ["--soft", "--known", "--accent"].map(style);
  const known = values.filter((value) => value !== null);
  const high = Math.max(0, ...known), low = Math.min(0, ...known);
  const [left, bottom, top] = [52, names ? 46 : 20, 8];
  const y = (value) => top + (tall - top - bottom) * (high - value) / (high - low || 1);
  const slot = (width - left - 4) / values.length;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = soft;
  context.textAlign = "right";
  for (const value of new Set([high, 0, low])) {
    context.fillText(Number(value.toPrecision(3)), left - 6, y(value) + 4);
    context.fillRect(left, y(value), width - left, value === 0 ? 1 : 0.25);
  }
  values.forEach((value, i) => {
    context.fillStyle = marked.includes(i) ? special : accent;
    const [x, from, to] = [left + i * slot, y(Math.max(0, value ?? 0)), y(Math.min(0, value ?? 0))];
    context.fillRect(x + slot * 0.1, from, Math.max(0.5, slot * 0.8), Math.max(0.5, to - from));
    const every = Math.ceil(34 / slot);
    if (!names && i % every === 0) {
      context.fillStyle = soft;
      context.textAlign = "center";
      context.fillText(i, x + slot / 2, tall - 5);
    }
    if (names && (slot > 13 || i % Math.ceil(14 / slot) === 0)) {
      context.save();
      context.fillStyle = soft;
      context.translate(x + slot / 2 + 4, tall - bottom + 8);
      context.rotate(-0.7);
      context.textAlign = "right";
      context.fillText(names[i].length > 12 ? `${names[i].slice(0, 11)}…` : names[i], 0, 4);
      context.restore();
    }
  });
}

function table(id, values, names) {
  const rows = document.querySelectorAll(`#${id} tbody tr`);
  values.forEach((value, i) => {
    if (!rows[i]) return;
    rows[i].cells[1].textContent = value === null ? "–" : Number(value.toPrecision(4));
    if (names) rows[i].cells[0].textContent = names[i];
  });
}

function show(answer) {
  const bytes = Uint8Array.from(atob(answer.float32), (letter) => letter.charCodeAt(0));
  const values = new Float32Array(bytes.buffer);
  const [count, rows, columns] = answer.shape;
  const panel = document.getElementById("pictures");
  const neuron = answer.neuron;
  if (neuron) bars("weights", neuron.weights, null, neuron.support); // measured before the page changes
  if (neuron?.spectrum) bars("spectrum", neuron.spectrum.values, neuron.spectrum.names, []);
  if (panel.children.length !== count) {
    panel.replaceChildren(...Array.from({ length: count }, (_, i) => frame(rows, columns, answer.names[i])));
    if (neuron) for (const canvas of panel.querySelectorAll("canvas")) choose(canvas, rows, columns, neuron.weights.length);
  }
  panel.querySelectorAll("canvas").forEach((canvas, i) =>
    paint(canvas, values.subarray(i * rows * columns, (i + 1) * rows * columns), answer.largest));
  const size = `${answer.shown.toLocaleString("en")} of ${answer.total.toLocaleString("en")} numbers shown`;
  document.getElementById("scale").textContent =
    `Red is positive, blue negative, up to ${Number(answer.largest.toPrecision(3))}; ${size}.`;
  if (neuron) table("weight-table", neuron.weights);
  if (neuron?.spectrum) table("spectrum-table", neuron.spectrum.values, neuron.spectrum.names);
  document.body.dataset.step = String(answer.step);
}

function choose(canvas, rows, columns, inputs) {
  canvas.classList.add("pick");
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const isColumn = rows === inputs;
    const share = isColumn ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height;
    chosen("neuron").value = Math.min(Math.floor(share * (isColumn ? columns : rows)), (isColumn ? columns : rows) - 1);
    update();
  });
}

async function update() {
  const ticket = ++asked;
  const now = step();
  const url = new URL(form.dataset.api, location);
  url.searchParams.set("layer", chosen("layer").value);
  url.searchParams.set("encoding", "base64");
  if (slider) {
    url.searchParams.set("step", now);
    slider.setAttribute("aria-valuetext", `step ${now}`);
    document.getElementById("step-text").textContent = now.toLocaleString("en");
    chosen("step").value = now;
  }
  if (chosen("neuron")) {
    url.searchParams.set("neuron", chosen("neuron").value);
    const label = document.getElementById("neuron-number");
    if (label) label.textContent = chosen("neuron").value;
  }
  const asking = fetch(url);
  const query = new URLSearchParams(new FormData(form));
  history.replaceState(null, "", `?${query}`);
  const answer = await asking;
  if (ticket !== asked || !answer.ok) return;
  show(await answer.json());
  requestAnimationFrame(() => view("measures")?.signal("cursor", now).runAsync()); // after the picture
}

slider?.addEventListener("input", update);
chosen("neuron")?.addEventListener("input", () => chosen("neuron").checkValidity() && update());
chosen("layer").addEventListener("change", () => form.submit());
addEventListener("resize", update);
dark.addEventListener("change", update);
update();
