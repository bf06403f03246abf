// Sliders: parts of the program become faster, and the program is computed anew at once.

import { all, data, make, type Predicted } from "./data";
import { Engine, type Answer, type Change } from "./engine";
import * as curve from "./curve";
import { chosenId, onChosen, remember } from "./link";
import * as state from "./state";
import { factor as factor_text, percent, ratio, time } from "./words";

const FACTORS = [1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, Infinity];
const ROWS = 8;

/// Factors by part: handles of pieces and sites.
const factors = new Map<string, number>();
const rows = new Map<string, { input: HTMLInputElement; output: HTMLElement }>();
const texts = new Map((data.what_if?.pieces ?? []).map(([, numbers, text]) => [numbers.join(), text]));

function changes(): Change[] {
  const found: Change[] = [];
  for (const [part, factor] of factors) {
    if (part.startsWith("s-")) {
      const [handle, what] = part.endsWith("/") ? [part.slice(0, -1), 1 as const] : [part, 0 as const];
      for (const site of data.what_if!.sites[handle] ?? []) found.push([what, site, 0, 0, factor]);
    } else {
      for (const [handle, numbers] of data.what_if!.pieces) {
        if (handle === part) found.push([2, ...numbers, factor]);
      }
    }
  }
  return found;
}

/// As `workspan what-if` says it.
function sentence(answer: Answer): string {
  const names = [...factors].map(([part, value]) => `${part}=${factor_text(value)}`);
  const { run, runs } = data.what_if!;
  const of = runs > 1 ? ` (run ${run} of ${runs})` : "";
  const [after, before, most] = [answer.after, answer.before, answer.ceiling].map((it) => ratio(it.parallelism));
  const least = ratio(answer.least.parallelism);
  if (least !== after) {
    return `parallelism between ${after} and ${least} instead of ${before}: with ${names.join(", ")}${of}`;
  }
  return `parallelism ${after} instead of ${before} (at most ${most}) with ${names.join(", ")}${of}`;
}

function command(): string {
  const run = data.what_if!.run === 1 ? "" : ` --run ${data.what_if!.run}`;
  return `workspan what-if FILE${run}${[...factors].map(([part, value]) => ` -s ${part}=${factor_text(value)}`).join("")}`;
}

function tell(answer: Answer, took: number): void {
  const line = document.querySelector<HTMLElement>("#sliders .answer")!;
  line.textContent = sentence(answer);
  const after = document.querySelector("#sliders .after")!;
  const row = (name: string, it: { work: number; span: number; parallelism: number }) =>
    make(
      "tr",
      { "data-work": String(it.work), "data-span": String(it.span), "data-parallelism": String(it.parallelism) },
      make("th", { scope: "row" }, name),
      ...[time(it.work), time(it.span), ratio(it.parallelism)].map((text) => make("td", {}, text)),
    );
  const head = (...names: string[]) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
  const figures = make(
    "table",
    { class: "plain figures" },
    head("", "work", "span", "parallelism"),
    make("tbody", {}, row("recorded", answer.before), row("changed", answer.after), row("at most", answer.ceiling)),
  );
  const steps = answer.path.slice(0, ROWS).map((it) =>
    make(
      "tr",
      { "data-before": String(it.before), "data-after": String(it.after) },
      make("td", {}, time(it.before)),
      make("td", {}, time(it.after)),
      make("td", {}, percent(it.after / answer.after.span)),
      make("td", {}, texts.get(it.numbers.join()) ?? "a segment too short to have a name here"),
    ),
  );
  const more = answer.path.length - steps.length;
  const path = make(
    "table",
    { class: "rows path" },
    head("critical before", "after", "share after", "on the critical path"),
    make("tbody", {}, ...steps),
  );
  after.replaceChildren(
    figures,
    path,
    make("p", { class: "none" }, more > 0 ? `${more} more. ` : "", "The same on the command line: ", make("code", {}, command())),
  );
  after.setAttribute("data-named", String(answer.named));
  after.setAttribute("data-strands", String(answer.strands));
  after.setAttribute("data-places", String(answer.path.length));
  after.setAttribute("data-took", took.toFixed(1));
}

export async function start(): Promise<void> {
  curve.show(null);
  const body = document.querySelector<HTMLTableSectionElement>("#sliders .parts tbody");
  if (!data.what_if || !body) return;
  const line = document.querySelector<HTMLElement>("#sliders .answer")!;
  line.textContent = "Move a slider to see what it changes.";
  const engine = await Engine.start();

  // Predictions take longer than a hand moves: one number of processors after the other, whenever there is time.
  let asked = 0;
  const note = make("p", { class: "none" });
  document.querySelector("#speedup .chart")!.after(note);
  const idle = (act: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(act, { timeout: 300 }) : setTimeout(act, 30));
  const predict = (bounds: [number, number][]) => {
    const number = ++asked;
    const points: Predicted[] = [];
    const next = () => {
      if (number !== asked || factors.size === 0) return;
      const point = engine.predict(2 ** points.length);
      if (point) {
        points.push(point);
        curve.show(bounds, points);
        if (points.length < bounds.length) {
          idle(next);
          return;
        }
      }
      document.querySelector<HTMLElement>("#speedup")!.dataset["predicted"] = JSON.stringify(points);
      note.textContent = point ? "" : `Dots for this change would take too long in a page: ${command().replace("what-if", "predict")}`;
    };
    delete document.querySelector<HTMLElement>("#speedup")!.dataset["predicted"];
    // Not while a hand still moves.
    note.textContent = "";
    setTimeout(() => idle(next), 400);
  };
  const update = () => {
    const before = performance.now();
    if (factors.size === 0) {
      asked++;
      note.textContent = "";
      curve.show(null);
      line.textContent = "Move a slider to see what it changes.";
      document.querySelector("#sliders .after")!.replaceChildren();
    } else {
      const answer = engine.ask(changes());
      curve.show(answer.after.bounds);
      tell(answer, performance.now() - before);
      predict(answer.after.bounds);
    }
    state.set("faster", [...factors].map(([part, value]) => `${part}=${factor_text(value)}`).join(","));
  };
  const show = (part: string) => {
    const row = rows.get(part);
    if (!row) return;
    const value = factors.get(part) ?? 1;
    const step = FACTORS.indexOf(value);
    row.input.value = String(step < 0 ? FACTORS.findIndex((known) => known >= value) : step);
    row.output.textContent = value === Infinity ? "∞" : `${value}×`;
    row.input.setAttribute("aria-valuetext", value === Infinity ? "infinitely faster" : `${value} times faster`);
  };
  const slider = (tr: HTMLTableRowElement, part: string) => {
    const label = tr.lastElementChild!.textContent!.trim();
    const attributes = { type: "range", min: "0", max: String(FACTORS.length - 1), value: "0", "aria-label": `How many times faster: ${label}` };
    const input = make("input", attributes);
    const output = make("output");
    tr.append(make("td", { class: "slider" }, input, output));
    rows.set(part, { input, output });
    input.addEventListener("input", () => {
      const value = FACTORS[Number(input.value)] ?? 1;
      if (value === 1) factors.delete(part);
      else factors.set(part, value);
      show(part);
      update();
    });
    show(part);
  };
  body.parentElement!.querySelector("thead tr")!.append(make("th", { scope: "col" }, "faster"));
  for (const tr of all<HTMLTableRowElement>("tr[data-part]", body)) slider(tr, tr.dataset["part"]!);

  const add = (part: string) => {
    if (rows.has(part)) return;
    const id = part.replace(/\/$/, "");
    const index = data.ids.indexOf(id);
    const below = part.endsWith("/") ? " and all below it" : "";
    const known = data.what_if!.pieces.find(([handle]) => handle === part);
    const name = known ? known[2] : `${data.labels[index] ?? id}${below}`;
    const tr = make("tr", { "data-part": part, ...(index < 0 ? {} : { "data-s": String(index) }) });
    tr.append(make("td", {}, ""), make("td", {}, name, " ", make("span", {}, part)));
    body.append(tr);
    remember(tr);
    slider(tr, part);
  };

  // The chosen site can be made faster, too.
  const more = make("p", { class: "more" });
  body.parentElement!.after(more);
  const offer = (id: string | null) => {
    more.replaceChildren();
    if (id === null || !data.what_if!.sites[id]) return;
    const name = data.labels[data.ids.indexOf(id)] ?? id;
    for (const [part, text] of [[id, `Add ${name}`], [`${id}/`, "… with all below it"]] as const) {
      if (rows.has(part)) continue;
      const button = make("button", { type: "button", "data-add": part }, text);
      button.addEventListener("click", () => {
        add(part);
        rows.get(part)!.input.focus();
        offer(chosenId());
      });
      more.append(button);
    }
  };
  onChosen(offer);
  offer(chosenId());

  state.follow(() => {
    const wanted = new Map<string, number>();
    for (const text of (state.get("faster") ?? "").split(",")) {
      const found = /^([sa]-[0-9a-f]{8}\/?)=(inf|[0-9.]+)$/.exec(text);
      const value = found?.[2] === "inf" ? Infinity : Number(found?.[2]);
      if (found?.[1] && value > 1) wanted.set(found[1], value);
    }
    const text = (map: Map<string, number>) => JSON.stringify([...map]);
    if (text(wanted) === text(factors) && factors.size === 0) return;
    const former = [...factors.keys()];
    factors.clear();
    for (const [part, value] of wanted) {
      factors.set(part, value);
      add(part);
    }
    for (const part of [...former, ...wanted.keys()]) show(part);
    update();
  });
  document.documentElement.dataset["ready"] = "yes";
}
