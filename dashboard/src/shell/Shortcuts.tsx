import { Dialog } from "../ui/Dialog.tsx";
import type { Place } from "./places.ts";

const inConversation = [
  ["Enter", "Send the message"],
  ["Shift Enter", "New line"],
  ["Ctrl Enter", "Send to the running turn"],
  ["Esc", "Interrupt the turn"],
  ["a", "Allow what the agent asks about"],
  ["d", "Deny it"],
  ["@", "Name a file of the agent"],
  ["/", "Commands"],
] as const;

const inFiles = [
  ["Ctrl P", "Open a file by its name"],
  ["Ctrl S", "Save the file"],
  ["Ctrl F", "Find in the file"],
  ["Esc Tab", "Leave the editor"],
] as const;

const inInbox = [
  ["j", "Next item"],
  ["k", "Previous item"],
  ["Enter", "Open the item"],
  ["e", "Dismiss the item"],
] as const;

const inChanges = [
  ["j", "Next file"],
  ["k", "Previous file"],
  ["n", "Next change"],
  ["p", "Previous change"],
] as const;

interface Props {
  places: readonly Place[];
  mayCreate: boolean;
  onClose: () => void;
}

/** The keys that the dashboard knows. */
export function Shortcuts({ places, mayCreate, onClose }: Props) {
  const anywhere: (readonly [string, string])[] = [
    ["Ctrl K", "Search and commands"],
    ["?", "Keyboard shortcuts"],
    ...(mayCreate ? [["c", "Create an agent"] as const] : []),
  ];
  return (
    <Dialog isOpen onClose={onClose} title="Keyboard shortcuts" isWide>
      <div className="grid gap-6 sm:grid-cols-2">
        <Keys title="Go to" keys={places.map(({ key, name }) => [`g ${key}`, name])} />
        <div className="grid content-start gap-6">
          <Keys title="Anywhere" keys={anywhere} />
          {mayCreate && <Keys title="In a conversation" keys={inConversation} />}
          <Keys title="In the inbox" keys={inInbox} />
          <Keys title="In the files" keys={inFiles} />
          <Keys title="In an agent's changes" keys={inChanges} />
          {mayCreate && <Keys title="In a terminal" keys={[["Shift Tab", "Leave the terminal"]]} />}
        </div>
      </div>
    </Dialog>
  );
}

function Keys({ title, keys }: { title: string; keys: readonly (readonly [string, string])[] }) {
  return (
    <section aria-label={title} className="grid content-start gap-2">
      <h3 className="text-sm font-medium text-muted">{title}</h3>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-1.5 text-sm">
        {keys.map(([key, does]) => (
          <div key={key} className="contents">
            <dt className="flex gap-1">
              {key.split(" ").map((each) => (
                <kbd
                  key={each}
                  className="min-w-6 rounded border bg-sunken px-1.5 text-center font-sans text-xs leading-5"
                >
                  {each}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
