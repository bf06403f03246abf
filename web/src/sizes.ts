// Sizes of the tasks of the chosen site: how many were of which size, and how much of their time these are.

import { data, draw, make } from "./data";
import { chosenId, onChosen } from "./link";
import { count, percent, time } from "./words";

const [WIDTH, HEIGHT, BOTTOM, TOP] = [700, 150, 20, 8];

function show(panel: HTMLElement, id: string | null): void {
  // Without a choice: the first of those that have tasks, which has most of the critical path.
  const first = data.ids.find((known) => data.sizes[known]);
  const shown = id !== null && data.sizes[id] ? id : first;
  if (shown === undefined) return;
  const buckets = data.sizes[shown]!;
  const label = data.labels[data.ids.indexOf(shown)] ?? shown;
  const tasks = buckets.reduce((sum, [, , n]) => sum + n, 0);
  // Buckets are a quarter of a power of two wide: on such a scale all are of one width.
  const level = (nanos: number) => Math.log2(Math.max(nanos, 1));
  const creation = data.creation[shown];
  // What creation costs is within the picture.
  const smallest = Math.min(buckets[0]![0], creation === undefined ? Infinity : creation * 0.8);
  const largest = Math.max(buckets[buckets.length - 1]![1], creation === undefined ? 0 : creation * 1.25);
  const [first_level, last_level] = [level(smallest), level(largest)];
  // Four powers of two at least, so that tasks of one size are a bar, not a wall.
  const spare = Math.max(0, 4 - (last_level - first_level)) / 2;
  const [low, high] = [first_level - spare, last_level + spare];
  const range = high - low;
  const x = (nanos: number) => ((level(nanos) - low) / range) * WIDTH;
  const most = Math.max(...buckets.map(([, , n]) => n));
  const detail = make("span", { class: "detail" });
  const svg = draw("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": `Sizes of the ${tasks} tasks of ${label}: most are between ${buckets
      .filter(([, , n]) => n === most)
      .map(([from, to]) => `${time(from)} and ${time(to)}`)
      .join(", ")}`,
  });
  for (const [from, to, n] of buckets) {
    const height = Math.max((n / most) * (HEIGHT - BOTTOM - TOP), 1);
    const text = `${time(from)} to ${time(to)}: ${count(n)} ${n === 1 ? "task" : "tasks"}, ${percent(n / tasks)}`;
    const bar = draw("rect", { x: x(from) + 0.5, y: HEIGHT - BOTTOM - height, width: Math.max(x(to) - x(from) - 1, 1), height });
    bar.append(draw("title", {}, text));
    bar.addEventListener("pointerover", () => (detail.textContent = text));
    svg.append(bar);
  }
  if (creation !== undefined) {
    const at = x(creation);
    const left = at > WIDTH / 2;
    const text = `creating one: ${time(creation)}`;
    svg.append(
      draw("path", { class: "creation", d: `M${at} ${TOP}V${HEIGHT - BOTTOM}` }),
      draw("text", { class: "created", x: at + (left ? -5 : 5), y: TOP + 9, "text-anchor": left ? "end" : "start" }, text),
    );
  }
  // One mark for each power of ten, or of two where there are few.
  const tens = (high - low) / Math.log2(10) >= 3;
  const base = tens ? 10 : 2;
  const step = Math.log2(base);
  for (let power = Math.max(0, Math.ceil(low / step)); power * step <= high; power++) {
    const at = x(base ** power);
    svg.append(
      draw("path", { class: "grid", d: `M${at} ${HEIGHT - BOTTOM}v4` }),
      draw("text", { class: "below", x: at, y: HEIGHT - 4 }, time(base ** power)),
    );
  }
  panel.replaceChildren(
    make("figcaption", {}, make("b", {}, "Sizes of tasks"), ` ${label}: ${count(tasks)} ${tasks === 1 ? "task" : "tasks"}`, detail),
    svg,
  );
}

export function start(): void {
  const sites = document.getElementById("sites");
  if (!sites || Object.keys(data.sizes).length === 0) return;
  const help =
    "How many tasks of the chosen site ran how long by themselves: choose one by a click on its row, or by Enter. The dashed line is what " +
    "creating one of them costs on average, where that is known: tasks to the left of it take less time than their creation, and tasks " +
    "of less than ten times that are too small. A few tasks far to the right of all others keep those waiting. Not shown: in which order they ran.";
  const panel = make("figure", { id: "sizes" });
  sites.append(make("p", { class: "help" }, help), panel);
  onChosen((id) => show(panel, id));
  show(panel, chosenId());
}
