import type { Profile } from "@berth/client";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";
import { ChannelNotice } from "./channels.tsx";
import { useProfileChange } from "./use-profile-change.ts";

/** A stored token is not shown. */
function topicOf({ ntfy }: Profile) {
  return { url: ntfy?.url ?? "", token: "" };
}

/** A topic of an ntfy server. */
export function Ntfy({ profile }: { profile: Profile }) {
  const { ntfy } = profile;
  const edits = useEdits(topicOf(profile));
  const { url, token } = edits.fields;
  const settle = (saved: Profile) => edits.settle(topicOf(saved));
  const save = useProfileChange(settle);
  const remove = useProfileChange(settle);
  const asked = () => ({ url: url.trim(), ...(token === "" ? {} : { token: token.trim() }) });
  return (
    <Section title="ntfy">
      {ntfy && <ChannelNotice profile={profile} channel="ntfy" />}
      <Form of={save} onSubmit={() => save.run({ ntfy: asked() })}>
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <Field label="Topic" name="ntfy" hint="Everybody who knows a topic of a public server can read it.">
            {(props) => (
              <Input
                {...props}
                type="url"
                required
                maxLength={500}
                autoComplete="off"
                placeholder="https://ntfy.sh/my-secret-topic"
                value={url}
                onChange={({ target }) => edits.change({ url: target.value })}
              />
            )}
          </Field>
          <Field
            label="Access token"
            hint={ntfy?.hasToken ? "There is one. Empty: it stays." : "Only if the topic needs one."}
          >
            {(props) => (
              <Input
                {...props}
                type="password"
                maxLength={200}
                autoComplete="off"
                value={token}
                onChange={({ target }) => edits.change({ token: target.value })}
              />
            )}
          </Field>
        </div>
        <Failure of={remove.error} />
        <Submit
          of={save}
          isChanged={edits.isChanged}
          more={
            ntfy && (
              <Button isBusy={remove.isBusy} onClick={() => remove.run({ ntfy: null })}>
                Remove the topic
              </Button>
            )
          }
        >
          Save the topic
        </Submit>
      </Form>
    </Section>
  );
}
