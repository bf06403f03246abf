// Tables. The order of a column is that of the numbers behind its cells; a click on a sorted column turns it round. Rows are
// filtered by words, all of which they must have.

import { all, data, make } from "./data";
import * as state from "./state";

interface Row {
  element: HTMLTableRowElement;
  at: number;
  numbers: (number | null)[];
  text: string;
}

function start_table(table: HTMLTableElement, name: string): void {
  const body = table.tBodies[0]!;
  const numbers = data.order[name] ?? [];
  const rows: Row[] = all<HTMLTableRowElement>("tr", body).map((element, at) => ({
    element,
    at,
    numbers: numbers[at] ?? [],
    text: element.textContent!.toLowerCase(),
  }));
  const heads = all<HTMLTableCellElement>("thead th", table);
  const text = (row: Row) => row.element.lastElementChild!.textContent!;
  let [column, falling] = [0, true];

  const sort = () => {
    const isName = column === heads.length - 1;
    const compare = (a: Row, b: Row) =>
      isName
        ? text(a).localeCompare(text(b), "en", { numeric: true })
        : (a.numbers[column] ?? -Infinity) - (b.numbers[column] ?? -Infinity) || 0;
    const order = [...rows].sort((a, b) => (falling ? compare(b, a) : compare(a, b)) || a.at - b.at);
    body.append(...order.map((row) => row.element));
    for (const other of heads) other.removeAttribute("aria-sort");
    heads[column]!.setAttribute("aria-sort", falling ? "descending" : "ascending");
  };
  heads.forEach((head, at) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      falling = at === column ? !falling : at !== heads.length - 1;
      column = at;
      sort();
      state.set(`sort-${name}`, `${column}${falling ? "-" : "+"}`);
    });
  });

  const input = make("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${name}` });
  const shown = make("span", { class: "found", role: "status" });
  table.parentElement!.before(make("p", { class: "filter" }, input, shown));
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of rows) {
      row.element.hidden = !words.every((word) => row.text.includes(word));
      found += Number(!row.element.hidden);
    }
    shown.textContent = words.length === 0 ? "" : `${found} of ${rows.length}`;
  };
  input.addEventListener("input", () => {
    filter();
    state.set(`find-${name}`, input.value);
  });

  state.follow(() => {
    const order = /^(\d+)([+-])$/.exec(state.get(`sort-${name}`) ?? "0-");
    const [wanted, down] = [Number(order?.[1] ?? 0), order?.[2] !== "+"];
    // The rows come by falling share of the critical path.
    if (wanted < heads.length) [column, falling] = [wanted, down];
    sort();
    input.value = state.get(`find-${name}`) ?? "";
    filter();
  });
}

export function start(): void {
  for (const table of all<HTMLTableElement>("table[data-table]")) start_table(table, table.dataset["table"]!);
}
