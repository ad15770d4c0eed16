import type { Provider, ProviderTest } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useState } from "react";
import { berth } from "../api/client.ts";
import { modelsKey, providersKey, providersQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { useAction } from "../ui/use-action.ts";
import { View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { kinds } from "./kinds.ts";
import { Login } from "./Login.tsx";
import { ProviderForm } from "./ProviderForm.tsx";

const scopeWords = { person: "you alone", workspace: "this workspace", installation: "all workspaces" };

/** The accounts at providers whose models the workspace's agents can use. */
export function Providers() {
  const query = useQuery(providersQuery);
  const mayManage = useMay("manage");
  const mayUse = useMay("use");
  const [added, setAdded] = useState<string | null>(null);
  return (
    <View title="Providers" actions={mayUse && <AddProvider onAdded={setAdded} />}>
      <Loaded query={query}>
        {(providers) =>
          providers.length === 0 ? (
            <Empty title="No providers yet">
              Agents use the demonstration model, which does not think. Add an account at a provider of models.
            </Empty>
          ) : (
            <Table
              label="Providers"
              onlyWide={["Kind", "Runtimes", "Key"]}
              head={["Name", "Kind", "For", "Runtimes", "Key", ""]}
            >
              {providers.map((provider) => (
                <Row key={provider.name} of={provider} mayManage={mayManage} isNew={provider.name === added} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </View>
  );
}

interface RowProps {
  of: Provider;
  mayManage: boolean;
  /** It was just added here, and is tested at once. */
  isNew: boolean;
}

function Row({ of: provider, mayManage, isNew }: RowProps) {
  const { name, kind, scope, source, runtimes, credential, secret, problem, readable, models } = provider;
  const isChangeable = source === "api" && (scope === "person" || (mayManage && scope === "workspace"));
  return (
    <tr>
      <td className="min-w-28 wrap-anywhere">
        <span className="font-medium">{name}</span>
        {models && <p className="text-sm text-muted">{models.join(", ")}</p>}
        {!readable && <Badge tone="bad">key cannot be read</Badge>}
        {problem !== null && (
          <span title={problem}>
            <Badge tone="bad">secret cannot be used</Badge>
          </span>
        )}
        <Login of={provider} isChangeable={isChangeable} />
      </td>
      <td className="text-muted">{kinds[kind].label}</td>
      <td className="text-muted">{scopeWords[scope]}</td>
      <td className="text-muted">{runtimes.join(", ")}</td>
      <td className="font-mono text-sm whitespace-nowrap text-muted">{secret ?? credential}</td>
      <td className="text-right">{isChangeable && <ProviderActions of={provider} isNew={isNew} />}</td>
    </tr>
  );
}

function ProviderActions({ of: provider, isNew }: Pick<RowProps, "of" | "isNew">) {
  const { name, kind, models, scope } = provider;
  const queries = useQueryClient();
  const [result, setResult] = useState<ProviderTest | null>(null);
  const test = useAction(async () => {
    setResult(null);
    setResult(await berth.providers.test(name, {}, { scope }));
  });
  const mayTest = kinds[kind].lists || models !== null;
  // A login of ChatGPT is not finished yet.
  const isTested = isNew && mayTest && kind !== "chatgpt";
  const testNew = useEffectEvent(() => test.run());
  useEffect(() => {
    if (isTested) testNew();
  }, [isTested]);
  return (
    <div className="grid justify-items-end gap-2">
      <div className="flex flex-wrap justify-end gap-1">
        {mayTest && (
          <Button kind="quiet" isBusy={test.isBusy} onClick={() => test.run()}>
            Test
          </Button>
        )}
        <Edit of={provider} />
        <Confirm
          trigger={(open) => (
            <Button kind="quiet" onClick={open}>
              Delete
            </Button>
          )}
          title={`Delete the provider ${name}?`}
          action="Delete"
          onConfirm={async () => {
            await berth.providers.delete(name, { scope });
            await Promise.all([providersKey, modelsKey].map((queryKey) => queries.invalidateQueries({ queryKey })));
          }}
        >
          {provider.login ? "Its login" : "Its key"} is deleted. Agents that use its models fail until they have others.
        </Confirm>
      </div>
      <Failure of={test.error} />
      {result && <Result of={result} />}
    </div>
  );
}

function Result({ of: { ok, model, durationMs, error } }: { of: ProviderTest }) {
  if (ok)
    return <p role="status" className="text-sm text-good wrap-anywhere">{`${model} answered in ${durationMs} ms.`}</p>;
  return (
    <p role="alert" className="max-w-prose text-left text-sm text-bad wrap-anywhere">
      {error?.message}
    </p>
  );
}

function AddProvider({ onAdded }: { onAdded: (name: string) => void }) {
  const { add = false } = useSearch({ from: "/shell/providers" });
  const navigate = useNavigate();
  const setOpen = (isOpen: boolean) =>
    void navigate({ to: "/providers", search: isOpen ? { add: true } : {}, replace: true });
  const close = () => setOpen(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Add a provider
      </Button>
      <Dialog isOpen={add} onClose={close} title="Add a provider" isWide>
        <ProviderForm
          of={null}
          onDone={(name) => {
            onAdded(name);
            close();
          }}
          onCancel={close}
        />
      </Dialog>
    </>
  );
}

function Edit({ of: provider }: { of: Provider }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Edit
      </Button>
      <Dialog isOpen={isOpen} onClose={close} title={`Edit the provider ${provider.name}`} isWide>
        <ProviderForm of={provider} onDone={close} onCancel={close} />
      </Dialog>
    </>
  );
}
