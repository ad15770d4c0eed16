import type { McpServers as Servers } from "@berth/client";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { useAction } from "../ui/use-action.ts";
import { emptyForm, formOf, type McpForm, type McpServer, secretsNamedBy, serverOf } from "./mcp-form.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
const reference = "${GITHUB_TOKEN}";

interface ListProps {
  servers: Servers;
  /** The names of the agent's secrets that are set; null while they are not known. */
  secrets: readonly string[] | null;
  onChange: (next: (current: Servers) => Servers) => Promise<unknown>;
}

/** An agent's MCP servers, which are added, edited and removed. */
export function McpServerList({ servers, secrets, onChange }: ListProps) {
  const [edited, setEdited] = useState<McpForm | null>(null);
  const entries = Object.entries(servers);
  return (
    <>
      {entries.length === 0 ? (
        <Empty title="No MCP servers yet">A remote service, or a program in the agent's machine.</Empty>
      ) : (
        <Table label="MCP servers" head={["Server", ""]}>
          {entries.map(([server, settings]) => (
            <tr key={server}>
              <td className="wrap-anywhere">
                <p className="font-medium">{server}</p>
                <Summary server={settings} secrets={secrets} />
              </td>
              <td className="text-right whitespace-nowrap">
                <Button
                  kind="quiet"
                  aria-label={`Edit ${server}`}
                  title="Edit"
                  onClick={() => setEdited(formOf(server, settings))}
                >
                  <Pencil className="size-4" aria-hidden />
                </Button>
                <Confirm
                  trigger={(open) => (
                    <Button kind="quiet" aria-label={`Remove ${server}`} title="Remove" onClick={open}>
                      <Trash2 className="size-4" aria-hidden />
                    </Button>
                  )}
                  title={`Remove ${server}?`}
                  action="Remove"
                  onConfirm={() => onChange(({ [server]: _, ...others }) => others)}
                >
                  The agent loses its tools from the next turn on.
                </Confirm>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Button className="justify-self-start" onClick={() => setEdited(emptyForm)}>
        Add a server
      </Button>
      <Dialog
        isOpen={edited !== null}
        onClose={() => setEdited(null)}
        title={edited?.name ? `Edit ${edited.name}` : "Add an MCP server"}
      >
        {edited && (
          <ServerForm
            initial={edited}
            onSave={async ({ name: server, ...form }) => {
              const settings = serverOf({ name: server, ...form });
              await onChange((current) => {
                if (edited.name === "" && server in current) throw new Error(`There is a server ${server} already.`);
                return { ...current, [server]: settings };
              });
              setEdited(null);
            }}
            onCancel={() => setEdited(null)}
          />
        )}
      </Dialog>
    </>
  );
}

/** `secrets`: the names of those that are set; null while they are not known. */
function Summary({ server, secrets }: { server: McpServer; secrets: readonly string[] | null }) {
  const missing = secrets === null ? [] : secretsNamedBy(server).filter((name) => !secrets.includes(name));
  return (
    <div className="flex flex-wrap items-center gap-2">
      <code className="font-mono text-[13px] text-muted">
        {"url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ")}
      </code>
      {missing.map((name) => (
        <Badge key={name} tone="warn">
          {name} is not set
        </Badge>
      ))}
    </div>
  );
}

interface FormProps {
  initial: McpForm;
  onSave: (form: McpForm) => Promise<unknown>;
  onCancel: () => void;
}

function ServerForm({ initial, onSave, onCancel }: FormProps) {
  const [form, setForm] = useState(initial);
  const save = useAction(() => onSave({ ...form, name: form.name.trim() }));
  const text = (field: keyof McpForm) => ({
    value: form[field],
    autoComplete: "off",
    autoCapitalize: "none",
    spellCheck: false,
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [field]: target.value }),
  });
  return (
    <Form onSubmit={() => save.run()}>
      {initial.name === "" && (
        <Field label="Name" hint="Lowercase letters, digits and hyphens: github">
          {(props) => <Input {...props} {...text("name")} required />}
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
          <Field label="Address" hint="The agent's egress policy must allow its host.">
            {(props) => <Input {...props} {...text("url")} required inputMode="url" placeholder="https://" />}
          </Field>
          <Field
            label="Headers"
            hint={`One per line: Authorization: Bearer ${reference}. A name in braces stands for that secret of the agent.`}
          >
            {(props) => <TextArea {...props} {...text("headers")} rows={2} className="font-mono text-[13px]" />}
          </Field>
        </>
      ) : (
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
      )}
      <DialogEnd of={save} action="Save" onCancel={onCancel} />
    </Form>
  );
}
