// Icicles. Boxes know their place as shares of the program, in per cent.

import { all, data, draw, make } from "./data";
import { choose, keyAt } from "./link";
import * as state from "./state";

interface Box {
  g: SVGGElement;
  inner: SVGSVGElement;
  text: SVGTextElement | null;
  label: string;
  x: number;
  y: number;
  width: number;
  seen: boolean;
}

const ROOM_FOR_TEXT = 56;
const CLOSE = 1e-3;
const HINT = "Point at a box for its numbers. Click or Enter: zoom and choose; Escape: back; arrow keys: move.";

function box(g: SVGGElement): Box {
  const inner = g.querySelector("svg")!;
  const number = (name: string) => parseFloat(inner.getAttribute(name)!);
  const text = g.querySelector("text");
  const key = g.dataset["s"];
  const label = text?.textContent ?? (key === undefined ? "other" : data.labels[Number(key)] ?? "");
  return { g, inner, text, label, x: number("x"), y: number("y"), width: number("width"), seen: true };
}

function start_icicle(svg: SVGSVGElement, describe: (g: Element | null) => void): void {
  const boxes = all<SVGGElement>("g", svg).map(box);
  const root = boxes[0];
  if (!root) return;
  const name = svg.closest("figure")!.id;
  let shown = root;

  const reset = make("button", { type: "button" }, "Whole program");
  reset.hidden = true;
  svg.parentElement!.querySelector("figcaption")!.append(reset);

  const redraw = () => {
    const pixels = svg.clientWidth;
    for (const it of boxes) {
      const x = ((it.x - shown.x) / shown.width) * 100;
      const width = (it.width / shown.width) * 100;
      const above = it.y < shown.y;
      it.seen = above ? x <= CLOSE && x + width >= 100 - CLOSE : x > -CLOSE && x + width < 100 + CLOSE && width > 0;
      it.g.style.display = it.seen ? "" : "none";
      if (!it.seen) continue;
      it.g.classList.toggle("up", above);
      it.inner.setAttribute("x", above ? "0%" : `${x.toFixed(3)}%`);
      it.inner.setAttribute("width", above ? "100%" : `${width.toFixed(3)}%`);
      const fits = (Math.min(width, 100) / 100) * pixels >= ROOM_FOR_TEXT;
      if (fits && !it.text) {
        it.text = draw("text", {}, it.label) as SVGTextElement;
        it.inner.append(it.text);
      }
      if (it.text) it.text.style.display = fits ? "" : "none";
    }
    reset.hidden = shown === root;
  };
  const zoom = (to: Box) => {
    // What is merged has nothing below it.
    if (to.g.classList.contains("co")) return;
    shown = to;
    state.set(`zoom-${name}`, to === root ? "" : String(boxes.indexOf(to)));
    redraw();
  };
  const act = (on: Box) => {
    choose(keyAt(on.g));
    zoom(on === shown ? root : on);
  };

  // One stop of the tab key per icicle; arrow keys move inside.
  const rows = [...new Set(boxes.map((it) => it.y))].sort((a, b) => a - b);
  const enter = (to: Box) => {
    for (const other of boxes) other.g.setAttribute("tabindex", other === to ? "0" : "-1");
    to.g.focus();
  };
  const row = (y: number | undefined) => boxes.filter((it) => it.seen && it.y === y).sort((a, b) => a.x - b.x);
  const inside = (outer: Box, it: Box) => it.x > outer.x - CLOSE && it.x + it.width < outer.x + outer.width + CLOSE;
  const neighbour = (it: Box, key: string): Box | undefined => {
    const level = rows.indexOf(it.y);
    switch (key) {
      case "ArrowUp": return row(rows[level - 1]).find((other) => inside(other, it));
      case "ArrowDown": return row(rows[level + 1]).find((other) => inside(it, other));
      case "ArrowLeft": return row(it.y)[row(it.y).indexOf(it) - 1];
      case "ArrowRight": return row(it.y)[row(it.y).indexOf(it) + 1];
      default: return undefined;
    }
  };
  svg.setAttribute("role", "tree");
  for (const it of boxes) {
    it.g.setAttribute("role", "treeitem");
    it.g.setAttribute("aria-level", String(rows.indexOf(it.y) + 1));
    it.g.setAttribute("tabindex", it === root ? "0" : "-1");
  }
  const group = (event: Event) => (event.target as Element).closest("g");
  const boxAt = (event: Event) => boxes.find((it) => it.g === group(event));
  svg.addEventListener("click", (event) => {
    const it = boxAt(event);
    if (it) act(it);
  });
  svg.addEventListener("keydown", (event) => {
    const it = boxAt(event);
    if (!it) return;
    if (event.key === "Enter" || event.key === " ") act(it);
    else if (event.key === "Escape") zoom(root);
    else if (event.key.startsWith("Arrow")) {
      const next = neighbour(it, event.key);
      if (next) enter(next);
    } else return;
    event.preventDefault();
  });
  svg.addEventListener("pointerover", (event) => describe(group(event)));
  svg.addEventListener("pointerleave", () => describe(null));
  svg.addEventListener("focusin", (event) => describe(group(event)));
  reset.addEventListener("click", () => {
    zoom(root);
    enter(root);
  });
  new ResizeObserver(redraw).observe(svg);
  state.follow(() => {
    shown = boxes[Number(state.get(`zoom-${name}`) ?? 0)] ?? root;
    redraw();
  });
}

export function start(): void {
  const pair = document.querySelector("#icicles .pair");
  if (!pair) return;
  const detail = make("p", { class: "detail" }, HINT);
  pair.after(detail);
  const describe = (g: Element | null) => {
    detail.textContent = g ? g.querySelector("title")!.textContent!.replace("\n", " — ") : HINT;
  };
  for (const svg of all<SVGSVGElement>("svg.icicle")) start_icicle(svg, describe);
}
