import type { Profile } from "@berth/client";
import { Failure } from "../ui/Failure.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";
import { ChannelNotice } from "./channels.tsx";
import { useProfileChange } from "./use-profile-change.ts";

function addressOf({ email, pendingEmail }: Profile) {
  return { address: pendingEmail ?? email ?? "" };
}

/** The person's address, and whether notifications are mailed to it. */
export function Mail({ profile }: { profile: Profile }) {
  const { pendingEmail, emailNotifications } = profile;
  const edits = useEdits(addressOf(profile));
  const { address } = edits.fields;
  const save = useProfileChange((saved) => edits.settle(addressOf(saved)));
  const toggle = useProfileChange();
  return (
    <Section title="E-mail">
      <ChannelNotice profile={profile} channel="email" />
      {pendingEmail !== null && (
        <Notice>{pendingEmail} is used once you have opened the link that was sent to it.</Notice>
      )}
      <label className="flex w-fit items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={toggle.wanted.emailNotifications ?? emailNotifications}
          onChange={({ target }) => toggle.run({ emailNotifications: target.checked })}
        />
        Send notifications by e-mail
      </label>
      <Failure of={toggle.error} />
      <Form of={save} onSubmit={() => save.run({ email: address.trim() || null })}>
        <Field label="Address" name="email" className="max-w-80">
          {(props) => (
            <Input
              {...props}
              type="email"
              maxLength={254}
              autoComplete="email"
              value={address}
              onChange={({ target }) => edits.change({ address: target.value })}
            />
          )}
        </Field>
        <Submit of={save} isChanged={edits.isChanged} isRepeatable>
          {pendingEmail === null ? "Change the address" : "Send the link again"}
        </Submit>
      </Form>
    </Section>
  );
}
