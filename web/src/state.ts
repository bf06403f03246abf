// The state of the page, in the part of its address behind `#`: so a link says what its sender saw.
//
// `#~key=value&…`. What is not so is the name of a place in the page, as ever.

const state = new Map<string, string>();
const listeners: (() => void)[] = [];

function read(): void {
  state.clear();
  const hash = location.hash;
  if (hash.startsWith("#~")) {
    for (const [key, value] of new URLSearchParams(hash.slice(2))) state.set(key, value);
  } else if (hash.length > 1) {
    state.set("at", safely(hash.slice(1)));
  }
}

function safely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function get(key: string): string | undefined {
  return state.get(key);
}

/// Notes a value; an empty one is none. Whoever listens to the address is not named.
export function set(key: string, value: string): void {
  if (value === "") state.delete(key);
  else state.set(key, value);
  const text = new URLSearchParams([...state]).toString();
  const hash = text === "" ? "" : `#~${text}`;
  try {
    history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
  } catch {
    // A page that is shown within another one may not have an address.
  }
}

/// Calls now and whenever somebody changes the address.
export function follow(apply: () => void): void {
  listeners.push(apply);
  apply();
}

read();
addEventListener("hashchange", () => {
  read();
  for (const apply of listeners) apply();
});
