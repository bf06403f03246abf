// Links within the page go to their target and leave the rest of the state alone.

import * as state from "./state";

function show(name: string): boolean {
  const target = document.getElementById(name);
  if (!target) return false;
  // It may lie in a file that was folded.
  const file = target.closest("details");
  if (file) file.open = true;
  for (const former of document.querySelectorAll(".at")) former.classList.remove("at");
  target.classList.add("at");
  target.scrollIntoView({ block: target.tagName === "SECTION" ? "start" : "center" });
  return true;
}

export function start(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const name = link.getAttribute("href")!.slice(1);
    if (!show(name)) return;
    state.set("at", name);
    event.preventDefault();
  });
  state.follow(() => {
    const at = state.get("at");
    if (at !== undefined) show(at);
  });
}
