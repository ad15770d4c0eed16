/** The path of an entry in a folder. The empty path is the agent's home folder. */
export function childOf(folder: string, name: string): string {
  if (folder === "") return name;
  return folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}

/** The folders on the way to a path, the outermost first: from the home folder, or from the root. */
export function crumbsOf(path: string): { label: string; path: string }[] {
  const isAbsolute = path.startsWith("/");
  const names = path.split("/").filter((name) => name !== "");
  const crumbs = [{ label: "home", path: "" }];
  if (isAbsolute) crumbs[0] = { label: "root", path: "/" };
  for (const name of names) crumbs.push({ label: name, path: childOf(crumbs.at(-1)!.path, name) });
  return crumbs;
}

/** The folder that an entry is in. */
export function folderOf(path: string): string {
  const end = path.replace(/\/+$/, "").lastIndexOf("/");
  if (end < 0) return "";
  return end === 0 ? "/" : path.slice(0, end);
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The names of one entry with the numbers 2, 3, …: `notes (2).txt`. */
export function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  const stem = dot > 0 ? name.slice(0, dot) : name;
  return `${stem} (${number})${dot > 0 ? name.slice(dot) : ""}`;
}
