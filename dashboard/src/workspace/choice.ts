import { keepPageCookie } from "../api/page-cookie.ts";

const stored = "berth workspace";
/** The name of the workspace that this tab shows, and of the one that it has left because the person is not in it. */
const nameStored = "berth workspace name";
const lostStored = "berth lost workspace";
/** Whether the page is about to open another workspace: requests that are refused in the meantime mean nothing. */
let isLeaving = false;

followLink();
keepPageCookie("berth_workspace", chosenWorkspace());

/** The id of the chosen workspace; null for the personal one. */
export function chosenWorkspace(): string | null {
  return localStorage.getItem(stored);
}

/** Chooses the workspace that a link names, as those of notifications do, before anything of another is read. */
function followLink(): void {
  const url = new URL(location.href);
  const id = url.searchParams.get("workspace");
  if (id === null) return;
  if (id === "personal" || /^[0-9a-f-]{36}$/.test(id)) {
    choose(id === "personal" ? null : id);
    sessionStorage.removeItem(nameStored);
  }
  url.searchParams.delete("workspace");
  history.replaceState(null, "", url);
}

/** Opens the home page of a workspace; null: of the personal one. Loading the page drops everything of the previous one. */
export function openWorkspace(id: string | null): void {
  isLeaving = true;
  forgetLostWorkspace();
  choose(id);
  location.assign("/-/");
}

/** Opens the personal workspace because this one is gone, or the person is no longer in it. */
export function abandonWorkspace(id: string): void {
  if (chosenWorkspace() === id) choose(null);
  if (!isLeaving) sessionStorage.setItem(lostStored, sessionStorage.getItem(nameStored) ?? "");
  // An invitation to another can still be accepted.
  if (location.pathname === "/-/join") location.reload();
  else location.assign("/-/");
}

/** Keeps the name that this tab's workspace has, for when it is gone. */
export function rememberName(name: string): void {
  sessionStorage.setItem(nameStored, name);
}

/** The name of the workspace that was abandoned; empty if it is not known, null if none was. */
export function lostWorkspace(): string | null {
  return sessionStorage.getItem(lostStored);
}

export function forgetLostWorkspace(): void {
  sessionStorage.removeItem(lostStored);
}

function choose(id: string | null): void {
  if (id === null) localStorage.removeItem(stored);
  else localStorage.setItem(stored, id);
  keepPageCookie("berth_workspace", id);
}
