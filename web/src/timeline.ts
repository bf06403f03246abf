// What was how high at the moment pointed at.

import { data } from "./data";
import { ratio, time } from "./words";

export function start(): void {
  const over = data.timeline;
  const svg = document.querySelector<SVGSVGElement>("svg.timeline");
  const detail = document.querySelector("#timeline .axis .detail");
  if (!over || !svg || !detail) return;
  let at = 0;
  const tell = () => {
    const from = over.from_ns + at * over.width_ns;
    const value = over.running[at] ?? 0;
    detail.textContent = `${time(from)} to ${time(from + over.width_ns)}: ${value === 0 ? "0" : ratio(value)} running`;
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    at = Math.min(over.running.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * over.running.length)));
    tell();
  });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    at = Math.min(over.running.length - 1, Math.max(0, at + step));
    tell();
    event.preventDefault();
  });
}
