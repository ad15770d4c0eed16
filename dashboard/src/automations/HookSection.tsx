import type { Automation, AutomationWithSecret } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { automationsKey } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { CopyButton, Once } from "../ui/CopyButton.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Form } from "../ui/Form.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { SecretField } from "./HookFields.tsx";
import { filterWords, type HookTrigger, senders } from "./hook.ts";

/** The address of an automation's hook, its sender and its filters. */
export function HookSection({ of: automation, trigger }: { of: Automation; trigger: HookTrigger }) {
  const { hook, paused } = automation;
  const mayUse = useMay("use");
  const { url, secretHint, earlierSecretUntil } = hook!;
  return (
    <Section title="Hook" actions={mayUse && <Rotate of={automation} trigger={trigger} />}>
      <div className="flex items-center gap-2 rounded-lg border bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-[13px] break-all">{url}</code>
        <CopyButton text={url} label="Copy the address" isSmall />
      </div>
      <ul className="grid gap-1 text-sm text-muted">
        <li>
          Sender: {senders[trigger.verify]}. The secret ends with {secretHint}.
        </li>
        {earlierSecretUntil && (
          <li>
            The secret before it is valid until <Time at={earlierSecretUntil} />.
          </li>
        )}
        {(trigger.filters ?? []).map((filter) => (
          <li key={filterWords(filter)} className="wrap-anywhere">
            Only if {filterWords(filter)}
          </li>
        ))}
        {paused && <li>It is paused.</li>}
      </ul>
      {trigger.verify === "bearer" && <Curl url={url} secret="SECRET" />}
    </Section>
  );
}

/** A command that sends a delivery. */
function Curl({ url, secret }: { url: string; secret: string }) {
  const command = `curl -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"host": "db1"}' ${url}`;
  return (
    <div className="flex items-center gap-2 rounded-lg border bg-sunken py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 font-mono text-[13px] break-all">{command}</code>
      <CopyButton text={command} label="Copy the command" isSmall />
    </div>
  );
}

/** The address and the secret of a hook, which is shown once. */
export function HookSecret({
  of: { hook, trigger, secret },
  onDone,
}: {
  of: AutomationWithSecret;
  onDone: () => void;
}) {
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">Give both to the sender. The secret is shown only once.</p>
      <Once text={hook!.url} label="Copy the address" />
      <Once text={secret!} label="Copy the secret" />
      {trigger.type === "hook" && trigger.verify === "bearer" && <Curl url={hook!.url} secret={secret!} />}
      <Button kind="primary" onClick={onDone}>
        Done
      </Button>
    </div>
  );
}

function Rotate({ of: { name }, trigger }: { of: Automation; trigger: HookTrigger }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState("");
  const [made, setMade] = useState<AutomationWithSecret | null>(null);
  const close = () => {
    setOpen(false);
    setMade(null);
    setSecret("");
  };
  const rotate = useAction(async () => {
    const rotated = await berth.automations.rotateSecret(name, secret === "" ? {} : { secret });
    await queries.invalidateQueries({ queryKey: automationsKey });
    setMade(rotated);
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Replace the secret</Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={made ? "Copy the secret now" : "Replace the secret"}
        isKept={made !== null}
      >
        {made ? (
          <HookSecret of={made} onDone={close} />
        ) : (
          <Form of={rotate} onSubmit={() => rotate.run()}>
            <p className="text-sm text-muted">The secret before it stays valid for 24 hours.</p>
            <SecretField label="New secret" sender={trigger.verify} value={secret} onChange={setSecret} />
            <DialogEnd of={rotate} action="Replace it" onCancel={close} />
          </Form>
        )}
      </Dialog>
    </>
  );
}
