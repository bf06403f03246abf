// Adds to a page that is whole without it: marks of one site light up together, icicles zoom, tables sort.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // Linking: everything about one site carries the same number.
  const marks = new Map();
  for (const element of all("[data-s]")) {
    const key = element.dataset.s;
    if (!marks.has(key)) marks.set(key, []);
    marks.get(key).push(element);
  }
  let lit = null;
  const light = (key) => {
    if (key === lit) return;
    for (const element of marks.get(lit) || []) element.classList.remove("on");
    for (const element of marks.get(key) || []) element.classList.add("on");
    lit = key;
  };
  const keyAt = (target) => {
    const element = target instanceof Element ? target.closest("[data-s]") : null;
    return element ? element.dataset.s : null;
  };
  document.addEventListener("pointerover", (event) => light(keyAt(event.target)));
  document.addEventListener("pointerleave", () => light(null));
  document.addEventListener("focusin", (event) => light(keyAt(event.target)));

  // Icicles. Boxes know their place as shares of the program, in per cent.
  const roomForText = 56;
  const pair = document.querySelector(".pair");
  const hint = "Point at a box for its numbers. Click or Enter: zoom; Escape: back; arrow keys: move.";
  let detail = null;
  if (pair) {
    detail = document.createElement("p");
    detail.className = "detail";
    detail.textContent = hint;
    pair.after(detail);
  }
  const describe = (g) => {
    if (detail) detail.textContent = g ? g.querySelector("title").textContent.replace("\n", " — ") : hint;
  };

  const icicle = (svg) => {
    const boxes = all("g", svg).map((g) => {
      const inner = g.querySelector("svg");
      const [x, y, width] = ["x", "y", "width"].map((name) => parseFloat(inner.getAttribute(name)));
      const text = g.querySelector("text");
      const label = text ? text.textContent : g.dataset.s === undefined ? "other" : data.labels[g.dataset.s];
      return { g, inner, text, label, x, y, width };
    });
    if (boxes.length === 0) return;
    const root = boxes[0];
    const close = 1e-3;
    let shown = root;

    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Whole program";
    reset.hidden = true;
    svg.parentElement.querySelector("figcaption").append(reset);

    const draw = () => {
      const pixels = svg.clientWidth;
      for (const box of boxes) {
        const x = ((box.x - shown.x) / shown.width) * 100;
        const width = (box.width / shown.width) * 100;
        const above = box.y < shown.y;
        const seen = above
          ? x <= close && x + width >= 100 - close
          : x > -close && x + width < 100 + close && width > 0;
        box.seen = seen;
        box.g.style.display = seen ? "" : "none";
        if (!seen) continue;
        box.g.classList.toggle("up", above);
        box.inner.setAttribute("x", above ? "0%" : `${x.toFixed(3)}%`);
        box.inner.setAttribute("width", above ? "100%" : `${width.toFixed(3)}%`);
        const fits = (Math.min(width, 100) / 100) * pixels >= roomForText;
        if (fits && !box.text) {
          box.text = document.createElementNS(svg.namespaceURI, "text");
          box.text.textContent = box.label;
          box.inner.append(box.text);
        }
        if (box.text) box.text.style.display = fits ? "" : "none";
      }
      reset.hidden = shown === root;
    };
    const zoom = (box) => {
      // What is merged has nothing below it.
      if (box.g.classList.contains("co")) return;
      shown = box;
      draw();
    };

    // One stop of the tab key per icicle; arrow keys move inside.
    const rows = [...new Set(boxes.map((box) => box.y))].sort((a, b) => a - b);
    const enter = (box) => {
      for (const other of boxes) other.g.setAttribute("tabindex", other === box ? "0" : "-1");
      box.g.focus();
    };
    const row = (y) => boxes.filter((box) => box.seen && box.y === y).sort((a, b) => a.x - b.x);
    const neighbour = (box, key) => {
      const index = rows.indexOf(box.y);
      const inside = (outer, inner) => inner.x > outer.x - close && inner.x + inner.width < outer.x + outer.width + close;
      switch (key) {
        case "ArrowUp": return row(rows[index - 1]).find((other) => inside(other, box));
        case "ArrowDown": return row(rows[index + 1]).find((other) => inside(box, other));
        case "ArrowLeft": return row(box.y)[row(box.y).indexOf(box) - 1];
        case "ArrowRight": return row(box.y)[row(box.y).indexOf(box) + 1];
        default: return undefined;
      }
    };
    svg.setAttribute("role", "tree");
    for (const box of boxes) {
      box.g.setAttribute("role", "treeitem");
      box.g.setAttribute("aria-level", String(rows.indexOf(box.y) + 1));
      box.g.setAttribute("tabindex", box === root ? "0" : "-1");
    }
    const boxAt = (event) => boxes.find((box) => box.g === event.target.closest("g"));
    svg.addEventListener("click", (event) => {
      const box = boxAt(event);
      if (box) zoom(box === shown ? root : box);
    });
    svg.addEventListener("keydown", (event) => {
      const box = boxAt(event);
      if (!box) return;
      if (event.key === "Enter" || event.key === " ") zoom(box === shown ? root : box);
      else if (event.key === "Escape") zoom(root);
      else if (event.key.startsWith("Arrow")) {
        const next = neighbour(box, event.key);
        if (next) enter(next);
      } else return;
      event.preventDefault();
    });
    svg.addEventListener("pointerover", (event) => describe(event.target.closest("g")));
    svg.addEventListener("pointerleave", () => describe(null));
    svg.addEventListener("focusin", (event) => describe(event.target.closest("g")));
    reset.addEventListener("click", () => { zoom(root); enter(root); });
    new ResizeObserver(draw).observe(svg);
    draw();
  };
  all("svg.icicle").forEach(icicle);

  // Tables. The order of a column is that of the numbers behind its cells; a click on a sorted column turns it round.
  for (const table of all("table[data-table]")) {
    const body = table.tBodies[0];
    const numbers = data.order[table.dataset.table];
    const rows = all("tr", body).map((element, i) => ({ element, i, numbers: numbers[i] }));
    const heads = all("thead th", table);
    const sort = (head, column) => {
      const isName = column === heads.length - 1;
      const before = head.getAttribute("aria-sort");
      const falling = before ? before === "ascending" : !isName;
      const compare = (a, b) => {
        if (isName) {
          const [left, right] = [a, b].map((row) => row.element.lastElementChild.textContent);
          return left.localeCompare(right, "en", { numeric: true });
        }
        return (a.numbers[column] ?? -Infinity) - (b.numbers[column] ?? -Infinity) || 0;
      };
      rows.sort((a, b) => (falling ? compare(b, a) : compare(a, b)) || a.i - b.i);
      body.append(...rows.map((row) => row.element));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(head, column));
    });
    // The rows come by falling share of the critical path.
    heads[0].setAttribute("aria-sort", "descending");
  }

  // A link may lead into a file that was folded.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const file = target && target.closest("details");
    if (file && !file.open) {
      file.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", unfold);
})();
