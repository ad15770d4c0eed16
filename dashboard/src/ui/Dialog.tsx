import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";

interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  isWide?: boolean;
  children?: ReactNode;
}

/** A window over the view. Escape and a click outside close it; focus returns to its previous element. */
export function Dialog({ isOpen, onClose, title, description, isWide = false, children }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          className={classes(
            "fixed inset-x-4 top-[12vh] z-50 mx-auto grid max-h-[80vh] gap-4 overflow-y-auto rounded-2xl border bg-raised p-5 shadow-xl",
            isWide ? "max-w-3xl" : "max-w-lg",
          )}
        >
          <div className="grid gap-1">
            <Base.Title className="text-lg font-semibold">{title}</Base.Title>
            {description && (
              <Base.Description className="text-sm text-muted wrap-anywhere">{description}</Base.Description>
            )}
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
