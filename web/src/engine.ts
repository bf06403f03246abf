// The analyses themselves, as WebAssembly, and the rows that they read: see `crates/workspan-page/src/abi.rs`.

import type { Predicted } from "./data";

interface Exports {
  memory: WebAssembly.Memory;
  workspan_room(bytes: number): number;
  workspan_load(): number;
  workspan_ask(): number;
  workspan_predict(processors: number): number;
  workspan_answer(): number;
}

/// A part to be made faster: what it names, and its numbers.
export type Change = [what: 0 | 1 | 2, first: number, before: number, after: number, factor: number];

export interface Program {
  work: number;
  span: number;
  parallelism: number;
  bounds: [least: number, most: number][];
}

export interface Answer {
  before: Program;
  after: Program;
  ceiling: { work: number; span: number; parallelism: number };
  /// With the changes, if what was merged cost nothing: the truth lies between.
  least: { span: number; parallelism: number };
  named: number;
  strands: number;
  path: { numbers: [number, number, number]; before: number; after: number }[];
}

const POWERS = 11;

/// What is in a block of the page, inflated.
async function inflated(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const letters = atob(document.getElementById(id)!.textContent!);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Engine {
  private constructor(private readonly exports: Exports) {}

  /// Makes the engine and gives it the rows.
  static async start(): Promise<Engine> {
    const [code, rows] = await Promise.all([inflated("engine"), inflated("rows")]);
    const { instance } = await WebAssembly.instantiate(code, {});
    const exports = instance.exports as unknown as Exports;
    const at = exports.workspan_room(rows.length);
    new Uint8Array(exports.memory.buffer, at, rows.length).set(rows);
    if (exports.workspan_load() !== 1) throw new Error("the strands in this page are damaged");
    return new Engine(exports);
  }

  /// The numbers of an answer. The memory may have grown: then its buffer is another one.
  private numbers(length: number): number[] {
    const from = this.exports.workspan_answer();
    return Array.from(new Float64Array(this.exports.memory.buffer.slice(from, from + length * 8)));
  }

  /// What the last answer's program takes on so many processors; nothing if that would take too long.
  predict(processors: number): Predicted | null {
    const length = this.exports.workspan_predict(processors);
    if (length === 0) return null;
    const [greedy = 0, low = 0, median = 0, high = 0] = this.numbers(length);
    return [greedy, low, median, high];
  }

  ask(changes: Change[]): Answer {
    const { exports } = this;
    const at = exports.workspan_room(changes.length * 40);
    const view = new DataView(exports.memory.buffer, at, changes.length * 40);
    changes.flat().forEach((number, index) => view.setFloat64(index * 8, number, true));
    const length = exports.workspan_ask();
    if (length === 0) throw new Error("the question was not understood");
    const numbers = this.numbers(length);
    const take = (index: number) => numbers[index] ?? 0;
    const whole = (index: number) => ({ work: take(index), span: take(index + 1), parallelism: take(index + 2) });
    const curve = (index: number) =>
      Array.from({ length: POWERS }, (_, p): [number, number] => [take(index + 2 * p), take(index + 2 * p + 1)]);
    const path: Answer["path"] = [];
    for (let index = 13 + 4 * POWERS; index < length; index += 5) {
      path.push({
        numbers: [take(index), take(index + 1), take(index + 2)],
        before: take(index + 3),
        after: take(index + 4),
      });
    }
    return {
      before: { ...whole(0), bounds: curve(11) },
      after: { ...whole(3), bounds: curve(11 + 2 * POWERS) },
      ceiling: whole(6),
      least: { span: take(11 + 4 * POWERS), parallelism: take(12 + 4 * POWERS) },
      named: take(9),
      strands: take(10),
      path,
    };
  }
}
