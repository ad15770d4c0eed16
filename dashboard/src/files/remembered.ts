const orders = ["name", "size", "changed"] as const;
/** The order of a folder's entries: by name, the largest first, or the latest first. */
export type FileOrder = (typeof orders)[number];

/** The person's choices for files, which this browser remembers. */
export const remembered = {
  get wraps(): boolean {
    return localStorage.getItem("berth wrap lines") !== "no";
  },
  set wraps(wraps: boolean) {
    localStorage.setItem("berth wrap lines", wraps ? "yes" : "no");
  },
  get showsHidden(): boolean {
    return localStorage.getItem("berth hidden files") === "yes";
  },
  set showsHidden(shows: boolean) {
    localStorage.setItem("berth hidden files", shows ? "yes" : "no");
  },
  get order(): FileOrder {
    const value = localStorage.getItem("berth file order");
    return orders.find((each) => each === value) ?? "name";
  },
  set order(order: FileOrder) {
    localStorage.setItem("berth file order", order);
  },
};
