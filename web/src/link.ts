// Everything about one site carries the same number: it lights up together, and what is chosen stays lit.

import { all, data } from "./data";
import * as state from "./state";

const marks = new Map<string, Element[]>();
for (const element of all("[data-s]")) remember(element);

let lit: string | null = null;
let chosen: string | null = null;
const choosers: ((id: string | null) => void)[] = [];

/// Takes part in what is lit.
export function remember(element: HTMLElement | SVGElement): void {
  const key = element.dataset["s"];
  if (key === undefined) return;
  const known = marks.get(key);
  if (known) known.push(element);
  else marks.set(key, [element]);
  if (key === chosen) element.classList.add("sel");
}

function paint(key: string | null, name: string, on: boolean): void {
  for (const element of (key !== null && marks.get(key)) || []) element.classList.toggle(name, on);
}

export function light(key: string | null): void {
  if (key === lit) return;
  paint(lit, "on", false);
  paint(key, "on", true);
  lit = key;
}

export function keyAt(target: EventTarget | null): string | null {
  const element = target instanceof Element ? target.closest<HTMLElement>("[data-s]") : null;
  return element?.dataset["s"] ?? null;
}

/// Chooses a site by its number, or none.
export function choose(key: string | null): void {
  paint(chosen, "sel", false);
  chosen = key;
  paint(chosen, "sel", true);
  const id = key === null ? null : data.ids[Number(key)] ?? null;
  state.set("sel", id ?? "");
  for (const tell of choosers) tell(id);
}

/// Calls whenever another site is chosen.
export function onChosen(tell: (id: string | null) => void): void {
  choosers.push(tell);
}

export function chosenId(): string | null {
  return chosen === null ? null : data.ids[Number(chosen)] ?? null;
}

export function start(): void {
  document.addEventListener("pointerover", (event) => light(keyAt(event.target)));
  document.addEventListener("pointerleave", () => light(null));
  document.addEventListener("focusin", (event) => light(keyAt(event.target)));
  // A click on a row of a table chooses; on a link or a slider it does what it says.
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target || target.closest("a, button, input, summary, label")) return;
    const row = target.closest("tr[data-s]");
    if (row) choose(keyAt(row) === chosen ? null : keyAt(row));
  });
  for (const row of all("table[data-table] tbody tr[data-s]")) row.tabIndex = 0;
  document.addEventListener("keydown", (event) => {
    const row = event.target instanceof Element && event.target.matches("tr[data-s]") ? event.target : null;
    if (!row) return;
    if (event.key === "Enter" || event.key === " ") choose(keyAt(row) === chosen ? null : keyAt(row));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      let next = row;
      do next = (event.key === "ArrowDown" ? next.nextElementSibling : next.previousElementSibling) ?? row;
      while (next !== row && (next as HTMLElement).hidden);
      (next as HTMLElement).focus();
    } else return;
    event.preventDefault();
  });
  state.follow(() => {
    const index = data.ids.indexOf(state.get("sel") ?? "\0");
    const key = index < 0 ? null : String(index);
    if (key !== chosen) choose(key);
  });
}
