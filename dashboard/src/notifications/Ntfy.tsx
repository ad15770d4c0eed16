import type { Profile } from "@berth/client";
import { useState } from "react";
import { Actions } from "../ui/Actions.tsx";
import { Button } from "../ui/Button.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Section } from "../ui/View.tsx";
import { ChannelNotice } from "./channels.tsx";
import { useProfileChange } from "./use-profile-change.ts";

/** A topic of an ntfy server. */
export function Ntfy({ profile }: { profile: Profile }) {
  const { ntfy } = profile;
  const [url, setUrl] = useState(ntfy?.url ?? "");
  const [token, setToken] = useState("");
  const save = useProfileChange();
  const remove = useProfileChange();
  const asked = () => ({ url: url.trim(), ...(token === "" ? {} : { token: token.trim() }) });
  return (
    <Section title="ntfy">
      {ntfy && <ChannelNotice profile={profile} channel="ntfy" />}
      <Form onSubmit={() => save.run({ ntfy: asked() })}>
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <Field label="Topic" hint="Everybody who knows a topic of a public server can read it.">
            {(props) => (
              <Input
                {...props}
                type="url"
                required
                maxLength={500}
                autoComplete="off"
                placeholder="https://ntfy.sh/my-secret-topic"
                value={url}
                onChange={({ target }) => setUrl(target.value)}
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
                onChange={({ target }) => setToken(target.value)}
              />
            )}
          </Field>
        </div>
        <Actions errors={[save.error, remove.error]}>
          <Button type="submit" isBusy={save.isBusy}>
            Save the topic
          </Button>
          {ntfy && (
            <Button isBusy={remove.isBusy} onClick={() => remove.run({ ntfy: null })}>
              Remove the topic
            </Button>
          )}
        </Actions>
      </Form>
    </Section>
  );
}
