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
