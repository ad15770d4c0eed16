import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { firstAnswers, removeFirstPage } from "./api/first-answers.ts";
import { queries } from "./api/queries.ts";
import { router } from "./router.tsx";
import { applyTheme } from "./shell/theme.ts";
import { CopyFallback, installClipboard } from "./ui/ManualCopy.tsx";
import "./styles.css";

applyTheme();
installClipboard();
// A conversation removes it when its turns are shown.
router.subscribe("onRendered", () => {
  if (!document.querySelector("#first .turns")) removeFirstPage();
});
router.subscribe("onBeforeNavigate", ({ fromLocation, pathChanged }) => {
  if (fromLocation && pathChanged) firstAnswers.clear();
});
for (const used of ["pointerdown", "keydown"])
  document.addEventListener(used, removeFirstPage, { capture: true, once: true });
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    {/* The server's policy allows no style elements; what they would hold is in styles.css. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <CopyFallback />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
