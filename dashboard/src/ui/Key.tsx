/** The key that does what a button does. Screen readers find it in the list of keys. */
export function Key({ children }: { children: string }) {
  return (
    <kbd
      aria-hidden
      className="rounded border border-current px-1.5 font-sans text-xs opacity-70 pointer-coarse:hidden"
    >
      {children}
    </kbd>
  );
}
