import { berth } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";

/** Gives the agent the newest image, which waits for it. */
export function Upgrade({ name, onDone }: { name: string; onDone: () => Promise<unknown> }) {
  const upgrade = async () => {
    await berth.agent(name).upgrade();
    await onDone();
  };
  return (
    <Confirm
      trigger={(open) => <Button onClick={open}>Upgrade</Button>}
      title={`Upgrade ${name}?`}
      action="Upgrade"
      onConfirm={upgrade}
    >
      It reboots from its disk, so programs running in its machine end. Its current state is saved as a snapshot first,
      and rolling back to that undoes the upgrade.
    </Confirm>
  );
}
