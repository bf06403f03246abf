// The speedup on 1, 2, 4 … processors as bands between bounds, both axes in powers of two.

import { data, draw, type Predicted } from "./data";
import { ratio } from "./words";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [560, 300, 44, 34, 10, 12];
type Bounds = [least: number, most: number][];

const x = (power: number, powers: number) => LEFT + (power / (powers - 1)) * (WIDTH - LEFT - RIGHT);

function band(bounds: Bounds, y: (value: number) => number, name: string): SVGElement {
  const at = (edge: 0 | 1) => bounds.map((pair, power) => `${x(power, bounds.length).toFixed(1)} ${y(pair[edge]).toFixed(1)}`);
  const [least, most] = [at(0), at(1)];
  return draw(
    "g",
    { class: `band ${name}` },
    draw("path", { class: "fill", d: `M${most.join("L")}L${[...least].reverse().join("L")}Z` }),
    draw("path", { class: "edge", d: `M${most.join("L")}` }),
    draw("path", { class: "edge least", d: `M${least.join("L")}` }),
  );
}

/// Dots with their ranges, and a line through them.
function dots(points: Predicted[], powers: number, y: (value: number) => number, name: string): SVGElement {
  const group = draw("g", { class: `dots ${name}` });
  points.forEach(([, low, median, high, even], power) => {
    const at = x(power, powers);
    const loops = even === undefined ? "" : `; ${ratio(even)}× if iterations cost the same`;
    const title = draw("title", {}, `${2 ** power} ${power === 0 ? "processor" : "processors"}: ${ratio(median)}× by work stealing (${ratio(low)} to ${ratio(high)})${loops}`);
    group.append(
      draw("path", { class: "range", d: `M${at} ${y(low)}V${y(Math.max(high, even ?? 0))}` }),
      draw("circle", { class: "dot", cx: at, cy: y(median), r: 3.5 }, title),
    );
  });
  return group;
}

/// Draws the bounds as recorded and, where there are any, with changes; and what is predicted so far.
export function show(changed: Bounds | null, predicted: Predicted[] = []): void {
  const chart = document.querySelector("#speedup .chart");
  if (!chart) return;
  const recorded = data.bounds;
  const shown = [recorded, ...(changed ? [changed] : [])];
  const powers = recorded.length;
  const highest = Math.max(2, ...shown.flat(2));
  const levels = Math.ceil(Math.log2(highest));
  const y = (value: number) => {
    const level = Math.max(-0.5, Math.log2(Math.max(value, 1e-9)));
    return HEIGHT - BOTTOM - (level / levels) * (HEIGHT - BOTTOM - TOP);
  };
  const svg = draw("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": describe(recorded, changed),
  });
  for (let level = 0; level <= levels; level++) {
    const at = y(2 ** level);
    svg.append(
      draw("path", { class: "grid", d: `M${LEFT} ${at}H${WIDTH - RIGHT}` }),
      draw("text", { x: LEFT - 6, y: at + 4, class: "left" }, `${2 ** level}×`),
    );
  }
  for (let power = 0; power < powers; power++) {
    svg.append(draw("text", { x: x(power, powers), y: HEIGHT - BOTTOM + 16, class: "below" }, String(2 ** power)));
  }
  svg.append(draw("text", { x: (WIDTH + LEFT) / 2, y: HEIGHT - 3, class: "below name" }, "processors"));
  const ideal = Math.min(powers - 1, levels);
  const [ideal_x, ideal_y] = [x(ideal, powers), y(2 ** ideal)];
  const slope = (Math.atan2(ideal_y - y(1), ideal_x - x(0, powers)) * 180) / Math.PI;
  svg.append(
    draw("path", { class: "ideal", d: `M${x(0, powers)} ${y(1)}L${ideal_x} ${ideal_y}` }),
    draw("text", { class: "ideal-name", transform: `translate(${(x(0, powers) + ideal_x) / 2} ${(y(1) + ideal_y) / 2 - 5}) rotate(${slope})` }, "linear"),
  );
  svg.append(band(recorded, y, "recorded"));
  if (changed) svg.append(band(changed, y, "changed"));
  svg.append(dots(data.predicted ?? [], powers, y, "recorded"));
  if (changed) svg.append(dots(predicted, powers, y, "changed"));
  const names: [Bounds, string, string][] = [[recorded, "recorded", "as recorded"]];
  if (changed) names.push([changed, "changed", "changed"]);
  let last = HEIGHT;
  for (const [bounds, name, text] of names) {
    const most = bounds[powers - 1]![1];
    let at = y(most) - 5;
    if (Math.abs(at - last) < 13) at = last - 13;
    last = at;
    svg.append(draw("text", { x: WIDTH - RIGHT, y: Math.max(at, 10), class: `label ${name}` }, `${text}: ${ratio(most)}× at most`));
  }
  chart.replaceChildren(svg);
}

function describe(recorded: Bounds, changed: Bounds | null): string {
  const words = (bounds: Bounds) =>
    [1, 3, 6].map((p) => `on ${2 ** p} between ${ratio(bounds[p]?.[0] ?? 0)} and ${ratio(bounds[p]?.[1] ?? 0)}`).join(", ");
  return `Speedup as recorded: ${words(recorded)}${changed ? `; with the changes: ${words(changed)}` : ""}`;
}
