import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { workspaceSecretsQuery } from "../api/queries.ts";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";
import type { McpForm } from "./mcp-form.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
const reference = "${GITHUB_TOKEN}";

/** As the API says. */
const namePattern = "[a-z][a-z0-9\\-]{0,31}";
const wholeName = new RegExp(`^${namePattern}$`);
const nameRule = "1–32 lowercase letters, digits or hyphens; must start with a letter.";

/** The properties of the control for a field of the form. */
type TextProps = (field: keyof McpForm) => {
  value: string;
  autoComplete: string;
  autoCapitalize: string;
  spellCheck: boolean;
  onChange: (event: { target: { value: string } }) => void;
};

interface FormProps {
  initial: McpForm;
  onSave: (form: McpForm) => Promise<unknown>;
  onCancel: () => void;
}

/** The name and the settings of an MCP server. A name stays as it was given. */
export function McpServerForm({ initial, onSave, onCancel }: FormProps) {
  const [form, setForm] = useState(initial);
  const save = useAction(() => onSave({ ...form, name: form.name.trim() }));
  const text: TextProps = (field) => ({
    value: form[field],
    autoComplete: "off",
    autoCapitalize: "none",
    spellCheck: false,
    onChange: ({ target }) => setForm({ ...form, [field]: target.value }),
  });
  return (
    <Form of={save} onSubmit={() => save.run()}>
      {initial.name === "" && (
        <Field
          label="Name"
          hint="Lowercase letters, digits and hyphens: github"
          error={form.name === "" || wholeName.test(form.name) ? null : nameRule}
        >
          {(props) => (
            <Input
              {...props}
              {...text("name")}
              onChange={({ target }) => setForm({ ...form, name: target.value.toLowerCase().trim() })}
              required
              pattern={namePattern}
              title={nameRule}
            />
          )}
        </Field>
      )}
      <Field label="Where it is">
        {(props) => (
          <Select
            {...props}
            value={form.kind}
            onChange={({ target }) => setForm({ ...form, kind: target.value as McpForm["kind"] })}
          >
            <option value="remote">On the web</option>
            <option value="local">In the agent's machine</option>
          </Select>
        )}
      </Field>
      {form.kind === "remote" ? (
        <>
          <SignIns onChoose={(url, headers) => setForm({ ...form, url, headers })} />
          <RemoteFields text={text} />
        </>
      ) : (
        <LocalFields text={text} />
      )}
      <DialogEnd of={save} action="Save" onCancel={onCancel} />
    </Form>
  );
}

/** The workspace's sign-ins to MCP servers, for the address and the header. */
function SignIns({ onChoose }: { onChoose: (url: string, headers: string) => void }) {
  const { data: secrets = [] } = useQuery(workspaceSecretsQuery);
  const urls = new Map(secrets.flatMap(({ name, login }) => (login ? [[name, login.url] as const] : [])));
  if (urls.size === 0) return null;
  return (
    <Field label="Sign-in" hint="Fills in the address and the header.">
      {(props) => (
        <Select
          {...props}
          value=""
          onChange={({ target }) => onChoose(urls.get(target.value)!, `Authorization: Bearer \${${target.value}}`)}
        >
          <option value="" disabled>
            Choose one
          </option>
          {[...urls.keys()].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function RemoteFields({ text }: { text: TextProps }) {
  return (
    <>
      <Field label="Address" hint="The agent's egress policy must allow its host.">
        {(props) => (
          <Input
            {...props}
            {...text("url")}
            required
            type="url"
            pattern="https?://.+"
            title="An address: https://mcp.example.com/"
            placeholder="https://"
          />
        )}
      </Field>
      <Field
        label="Headers"
        hint={`One per line: Authorization: Bearer ${reference}. A name in braces stands for that secret of the agent.`}
      >
        {(props) => <TextArea {...props} {...text("headers")} rows={2} className="font-mono text-[13px]" />}
      </Field>
    </>
  );
}

function LocalFields({ text }: { text: TextProps }) {
  return (
    <>
      <Field label="Command" hint="A program in the agent's machine: npx">
        {(props) => <Input {...props} {...text("command")} required />}
      </Field>
      <Field label="Arguments" hint="One per line.">
        {(props) => <TextArea {...props} {...text("args")} rows={3} className="font-mono text-[13px]" />}
      </Field>
      <Field label="Environment" hint={`One variable per line: TOKEN=${reference}`}>
        {(props) => <TextArea {...props} {...text("env")} rows={2} className="font-mono text-[13px]" />}
      </Field>
    </>
  );
}
