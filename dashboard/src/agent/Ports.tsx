import type { ListeningPort } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { portsQuery, sharesQuery } from "../api/queries.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Once } from "../ui/CopyButton.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { sideIn } from "../workbench/side.ts";
import { useAgentName } from "./agent-name.ts";
import { canFrame, openPreview } from "./open-preview.ts";
import { PreviewFrame } from "./PreviewFrame.tsx";
import { Tab } from "./Tab.tsx";

/** The listening ports of the machine, and their visibility; or the page of one of them. */
export function Ports() {
  const name = useAgentName();
  const { port } = sideIn(useSearch({ strict: false }));
  return port !== undefined && canFrame ? (
    <PreviewFrame key={`${name} ${port}`} name={name} port={port} />
  ) : (
    <PortList name={name} />
  );
}

function PortList({ name }: { name: string }) {
  const queries = useQueryClient();
  const ports = useQuery(portsQuery(name));
  const [link, setLink] = useState<string | null>(null);
  const [shared, setShared] = useState<number | null>(null);
  const made = async (url: string) => {
    setLink(url);
    setShared(null);
    await queries.invalidateQueries({ queryKey: sharesQuery(name).queryKey });
  };
  const preview = useAction((port: number) => openPreview(name, port));
  return (
    <Tab>
      <Section
        title="Open ports"
        actions={
          <Button onClick={() => void ports.refetch()} isBusy={ports.isFetching}>
            Refresh
          </Button>
        }
      >
        <Failure of={preview.error} />
        {shared !== null && <ShareDialog agent={name} port={shared} onMade={made} onClose={() => setShared(null)} />}
        {link !== null && (
          <div className="grid gap-2">
            <p className="text-sm">Anyone with this link can see the pages of that port. It is shown only once.</p>
            <Once text={link} label="Copy the link" />
          </div>
        )}
        <Loaded query={ports}>
          {(listening) =>
            listening.length === 0 ? (
              <Empty title="No open ports">Ask the agent to start a server, then refresh.</Empty>
            ) : (
              <Table label="Ports" onlyWide={["Address", "Since"]} head={["Port", "Program", "Address", "Since", ""]}>
                {listening.map((each) => (
                  <Row
                    key={`${each.address} ${each.port}`}
                    of={each}
                    onOpen={() => preview.run(each.port)}
                    onShare={() => setShared(each.port)}
                  />
                ))}
              </Table>
            )
          }
        </Loaded>
      </Section>
      <Shares name={name} />
    </Tab>
  );
}

interface RowProps {
  of: ListeningPort;
  onOpen: () => void;
  onShare: () => void;
}

function Row({ of: { port, program, address, since }, onOpen, onShare }: RowProps) {
  return (
    <tr>
      <td className="font-medium tabular-nums">{port}</td>
      <td>{program}</td>
      <td className="font-mono text-[13px] text-muted">{address}</td>
      <td className="whitespace-nowrap text-muted">{since && <Time at={since} />}</td>
      <td>
        <div className="flex justify-end gap-2">
          {canFrame && (
            <Link to="." search={(before: object) => ({ ...before, port })} className={buttonClasses()}>
              Preview
            </Link>
          )}
          <Button onClick={onOpen}>Open</Button>
          <Button kind="quiet" onClick={onShare}>
            Share
          </Button>
        </div>
      </td>
    </tr>
  );
}

/** How long a public link can be made for, in hours; none: until it is ended. */
const lifetimes = { "1": "In an hour", "24": "In a day", "168": "In a week", "": "Never" };
const hourMs = 3_600_000;

interface ShareDialogProps {
  agent: string;
  port: number;
  onMade: (url: string) => Promise<void>;
  onClose: () => void;
}

function ShareDialog({ agent, port, onMade, onClose }: ShareDialogProps) {
  const [hours, setHours] = useState("24");
  const share = useAction(async () => {
    const expiry = hours === "" ? {} : { expiresAt: new Date(Date.now() + Number(hours) * hourMs).toISOString() };
    await onMade((await berth.agent(agent).ports.share(port, expiry)).url);
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Share port ${port}`}
      description={`Anyone with the link can use port ${port} of ${agent}, without signing in.`}
    >
      <Form of={share} onSubmit={() => share.run()}>
        <Field label="Ends">
          {(props) => (
            <Select {...props} value={hours} onChange={(event) => setHours(event.target.value)}>
              {Object.entries(lifetimes).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <DialogEnd of={share} action="Make the link" onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

function Shares({ name }: { name: string }) {
  const queries = useQueryClient();
  const query = useQuery(sharesQuery(name));
  const end = useAction(async (id: string) => {
    await berth.agent(name).ports.removeShare(id);
    await queries.invalidateQueries({ queryKey: sharesQuery(name).queryKey });
  });
  return (
    <Section title="Public links">
      <Failure of={end.error} />
      <Loaded query={query}>
        {(shares) =>
          shares.length === 0 ? (
            <p className="text-sm text-muted">None. Share a port to make its pages public.</p>
          ) : (
            <Table label="Public links" head={["Port", "Made", "Ends", ""]}>
              {shares.map(({ id, port, createdAt, expiresAt }) => (
                <tr key={id}>
                  <td className="font-medium tabular-nums">{port}</td>
                  <td className="text-muted">
                    <Time at={createdAt} />
                  </td>
                  <td className="text-muted">{expiresAt ? <Time at={expiresAt} /> : "never"}</td>
                  <td className="text-right">
                    <Button kind="quiet" onClick={() => end.run(id)}>
                      Revoke link
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Section>
  );
}
