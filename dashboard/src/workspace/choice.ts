const stored = "berth workspace";

/** The id of the chosen workspace; null for the personal one. */
export function chosenWorkspace(): string | null {
  return localStorage.getItem(stored);
}

/** Opens the home page of a workspace; null: of the personal one. Loading the page drops everything of the previous one. */
export function openWorkspace(id: string | null): void {
  choose(id);
  location.assign("/-/");
}

/** Opens the personal workspace because this one is gone, or the person is no longer in it. */
export function abandonWorkspace(id: string): void {
  if (chosenWorkspace() === id) choose(null);
  // An invitation to another can still be accepted.
  if (location.pathname === "/-/join") location.reload();
  else location.assign("/-/");
}

function choose(id: string | null): void {
  if (id === null) localStorage.removeItem(stored);
  else localStorage.setItem(stored, id);
}
