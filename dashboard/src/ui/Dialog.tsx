import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useState } from "react";
import { classes } from "./classes.ts";

interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  isWide?: boolean;
  /** Only a button of the content closes it: for what is shown once. */
  isKept?: boolean;
  children?: ReactNode;
}

/**
 * A window over the view. Escape closes it, and a click outside while nothing was typed in it. Focus returns to its
 * previous element.
 */
export function Dialog({ isOpen, onClose, title, description, isWide = false, isKept = false, children }: DialogProps) {
  const [isTypedIn, setTypedIn] = useState(false);
  if (isTypedIn && !isOpen) setTypedIn(false);
  const change = (open: boolean, { reason }: Base.Root.ChangeEventDetails) => {
    if (open || isKept || (reason === "outside-press" && isTypedIn)) return;
    onClose();
  };
  return (
    <Base.Root open={isOpen} onOpenChange={change}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          onInput={() => setTypedIn(true)}
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
