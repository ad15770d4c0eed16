import { useState } from "react";
import { keepPageCookie } from "../api/page-cookie.ts";

export type Theme = "system" | "light" | "dark";

const stored = "berth theme";

function theme(): Theme {
  const value = localStorage.getItem(stored);
  return value === "light" || value === "dark" ? value : "system";
}

/** Shows the page as was chosen. */
export function applyTheme(): void {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  keepPageCookie("berth_theme", chosen === "system" ? null : chosen);
}

export function useTheme(): [Theme, (chosen: Theme) => void] {
  const [chosen, setChosen] = useState(theme);
  const choose = (next: Theme) => {
    localStorage.setItem(stored, next);
    applyTheme();
    setChosen(next);
  };
  return [chosen, choose];
}
