import type { McpServers as Servers } from "@berth/client";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { McpServerForm } from "./McpServerForm.tsx";
import { emptyForm, formOf, type McpForm, type McpServer, secretsNamedBy, serverOf } from "./mcp-form.ts";

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
  const save = async (form: McpForm) => {
    const settings = serverOf(form);
    await onChange((current) => {
      if (edited?.name === "" && form.name in current) throw new Error(`There is a server ${form.name} already.`);
      return { ...current, [form.name]: settings };
    });
    setEdited(null);
  };
  return (
    <>
      {entries.length === 0 ? (
        <Empty title="No MCP servers yet">A remote service, or a program in the agent's machine.</Empty>
      ) : (
        <Table label="MCP servers" head={["Server", ""]}>
          {entries.map(([name, server]) => (
            <Row
              key={name}
              name={name}
              server={server}
              secrets={secrets}
              onEdit={() => setEdited(formOf(name, server))}
              onRemove={() => onChange(({ [name]: _, ...others }) => others)}
            />
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
        {edited && <McpServerForm initial={edited} onSave={save} onCancel={() => setEdited(null)} />}
      </Dialog>
    </>
  );
}

interface RowProps extends Pick<ListProps, "secrets"> {
  name: string;
  server: McpServer;
  onEdit: () => void;
  onRemove: () => Promise<unknown>;
}

function Row({ name, server, secrets, onEdit, onRemove }: RowProps) {
  return (
    <tr>
      <td className="wrap-anywhere">
        <p className="font-medium">{name}</p>
        <Summary server={server} secrets={secrets} />
      </td>
      <td className="text-right whitespace-nowrap">
        <Button kind="quiet" aria-label={`Edit ${name}`} title="Edit" onClick={onEdit}>
          <Pencil className="size-4" aria-hidden />
        </Button>
        <Confirm
          trigger={(open) => (
            <Button kind="quiet" aria-label={`Remove ${name}`} title="Remove" onClick={open}>
              <Trash2 className="size-4" aria-hidden />
            </Button>
          )}
          title={`Remove ${name}?`}
          action="Remove"
          onConfirm={onRemove}
        >
          The agent loses its tools from the next turn on.
        </Confirm>
      </td>
    </tr>
  );
}

function Summary({ server, secrets }: Pick<RowProps, "server" | "secrets">) {
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
