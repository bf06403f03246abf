// What Rust wrote into the page: see `crates/workspan-report/src/html/data.rs`.

/// A piece: its handle, its three numbers, in words.
export type Piece = [handle: string, numbers: [number, number, number], text: string];

/// Speedups that were simulated; with even iterations of loops the median, where that is more.
export type Predicted = [greedy: number, low: number, median: number, high: number, even?: number];

export interface Data {
  labels: string[];
  ids: string[];
  order: Record<string, (number | null)[][]>;
  sizes: Record<string, [from: number, to: number, tasks: number][]>;
  /// What creating one of them costs on average, in nanoseconds, where that is known.
  creation: Record<string, number>;
  bounds: [least: number, most: number][];
  predicted?: Predicted[];
  timeline?: { from_ns: number; width_ns: number; running: number[] };
  what_if?: { run: number; runs: number; pieces: Piece[]; sites: Record<string, number[]> };
}

export const data: Data = JSON.parse(document.getElementById("data")!.textContent!);

/// Elements below `root`.
export function all<E extends Element = HTMLElement>(selector: string, root: ParentNode = document): E[] {
  return Array.from(root.querySelectorAll<E>(selector));
}

/// An element with attributes and children.
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// What elements of SVG are called in full, as the page's own are.
const holder = document.createElement("div");
holder.innerHTML = "<svg></svg>";
const SVG = holder.firstElementChild!.namespaceURI!;

/// The same in SVG.
export function draw(name: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}
