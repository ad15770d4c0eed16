import { useEffect } from "react";

let shown = "";
let unread = 0;

function write(): void {
  const count = unread === 0 ? "" : `(${unread}) `;
  document.title = `${count}${shown === "" ? "" : `${shown} · `}Berth`;
}

/** The browser tab's label, before the name of the product. */
export function useTitle(title: string): void {
  useEffect(() => {
    shown = title;
    write();
  }, [title]);
}

/** A number in front of the label; 0: none. */
export function useTitleCount(count: number): void {
  useEffect(() => {
    unread = count;
    write();
  }, [count]);
}
