/** The appearance of a menu's item. */
export const menuItem =
  "flex cursor-pointer items-center gap-2 rounded-md px-3 py-1.5 text-sm data-highlighted:bg-sunken";
