import type { ChangeProvider, CreateProvider, Provider } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { modelsKey, providersKey, workspaceSecretsQuery } from "../api/queries.ts";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { credentialNames, exampleOf, type FieldName, type Kind, kinds, labelOf } from "./kinds.ts";

interface ProviderFormProps {
  /** The one that is changed; null: a new one. */
  of: Provider | null;
  /** Gets the provider's name. */
  onDone: (name: string) => void;
  onCancel: () => void;
}

/** Those whose key can be a secret of the workspace. */
const secretKinds: readonly Kind[] = ["anthropic", "openai", "openai-compatible", "google", "azure"];

const secretFields: readonly FieldName[] = ["apiKey", "secretAccessKey"];

/** Adds a provider, or changes one. */
export function ProviderForm({ of: provider, onDone, onCancel }: ProviderFormProps) {
  const queries = useQueryClient();
  // Members who may not manage the workspace have subscriptions of their own.
  const mayManage = useMay("manage");
  const first: Kind = mayManage ? "anthropic" : "claude";
  const [kind, setKind] = useState<Kind>(provider?.kind ?? first);
  const [name, setName] = useState(provider?.name ?? first);
  const [isPersonal, setPersonal] = useState(!mayManage);
  const isSubscription = kind === "claude" || kind === "chatgpt";
  const [values, setValues] = useState<Partial<Record<FieldName, string>>>({
    baseUrl: provider?.baseUrl ?? "",
    region: provider?.region ?? "",
    project: provider?.project ?? "",
  });
  const [secret, setSecret] = useState(provider?.secret ?? "");
  const { data: secrets = [] } = useQuery({ ...workspaceSecretsQuery, enabled: mayManage });
  const takesSecret = secretKinds.includes(kind) && (provider?.scope ?? "workspace") === "workspace";
  const keepsKey = provider !== null && provider.secret === null;
  const hasSecret = takesSecret && secret !== "";
  const [models, setModels] = useState(provider?.models?.join("\n") ?? "");
  const { needs, allows, lists } = kinds[kind];
  const shown = [...needs, ...allows].filter((field) => field !== "apiKey" || !hasSecret);
  const save = useAction(async () => {
    const fields = {
      ...fieldsOf(shown, values, provider),
      ...(hasSecret && { secret }),
      models: namesIn(models),
    };
    if (provider) await berth.providers.update(provider.name, fields, { scope: provider.scope });
    else
      await berth.providers.create({
        ...{ name: name.trim(), kind, ...fields },
        ...(isSubscription && isPersonal && { scope: "person" }),
      } as CreateProvider);
    await Promise.all([providersKey, modelsKey].map((queryKey) => queries.invalidateQueries({ queryKey })));
    onDone(provider?.name ?? name.trim());
  });
  const choose = (chosen: Kind) => {
    // A kind's own name is what most people want.
    if (name === kind) setName(chosen === "openai-compatible" ? "" : chosen);
    setKind(chosen);
  };
  return (
    <Form of={save} onSubmit={() => save.run()}>
      {!provider && (
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <Field label="Kind" hint={kind === "openai-compatible" ? "vLLM, Ollama, LiteLLM, OpenRouter, …" : undefined}>
            {(props) => (
              <Select {...props} value={kind} onChange={({ target }) => choose(target.value as Kind)}>
                {kindsFor(mayManage).map(([value, { label }]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Name" name="name" hint="The first part of its models' names.">
            {(props) => (
              <Input
                {...props}
                required
                maxLength={40}
                autoComplete="off"
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            )}
          </Field>
        </div>
      )}
      {isSubscription && !provider && (
        <Field label="For" hint="Yours is used by your private agents alone.">
          {(props) => (
            <Select
              {...props}
              value={isPersonal ? "person" : "workspace"}
              onChange={({ target }) => setPersonal(target.value === "person")}
            >
              {mayManage && <option value="workspace">This workspace</option>}
              <option value="person">You alone</option>
            </Select>
          )}
        </Field>
      )}
      {kind === "chatgpt" && !provider && (
        <p className="text-sm text-muted">
          The next page shows a code that you enter at OpenAI. Only Codex can use the subscription, and OpenAI's terms
          for it apply.
        </p>
      )}
      {kind === "claude" && !provider && (
        <p className="text-sm text-muted">
          Run <code className="font-mono">claude setup-token</code> on your own computer. Only Claude Code can use the
          subscription, and Anthropic's terms for it apply.
        </p>
      )}
      {takesSecret && secrets.length > 0 && (
        <Field label="Key from" name="secret" hint="A secret may be the key if its hosts include the provider's.">
          {(props) => (
            <Select {...props} value={secret} onChange={({ target }) => setSecret(target.value)}>
              <option value="">A key of its own</option>
              {secrets.map((each) => (
                <option key={each.name} value={each.name}>
                  The secret {each.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      {shown.map((field) => (
        <ProviderField
          key={field}
          name={field}
          kind={kind}
          value={values[field] ?? ""}
          isRequired={needs.includes(field) && !(keepsKey && credentialNames.includes(field))}
          isKept={keepsKey && credentialNames.includes(field)}
          onChange={(value) => setValues({ ...values, [field]: value })}
        />
      ))}
      <Field
        label="Models"
        name="models"
        entry="Line"
        hint={`One name per line. Empty: ${lists ? "those that it lists" : "any name"}.`}
      >
        {(props) => <TextArea {...props} rows={2} value={models} onChange={({ target }) => setModels(target.value)} />}
      </Field>
      <DialogEnd of={save} action={provider ? "Save" : "Add it"} onCancel={onCancel} />
    </Form>
  );
}

function kindsFor(mayManage: boolean) {
  return Object.entries(kinds).filter(([kind]) => mayManage || kind === "claude" || kind === "chatgpt");
}

interface ProviderFieldProps {
  name: FieldName;
  kind: Kind;
  value: string;
  isRequired: boolean;
  /** Whether an empty field keeps the stored value. */
  isKept: boolean;
  onChange: (value: string) => void;
}

function ProviderField({ name, kind, value, isRequired, isKept, onChange }: ProviderFieldProps) {
  const hint = isKept ? `Empty: it stays.${kind === "claude" ? "" : " Another address needs it again."}` : undefined;
  const placeholder = exampleOf(name, kind);
  const label = isRequired || isKept ? labelOf(name, kind) : `${labelOf(name, kind)} (optional)`;
  return (
    <Field label={label} hint={hint}>
      {(props) =>
        name === "serviceAccount" ? (
          <TextArea
            {...props}
            rows={4}
            required={isRequired}
            placeholder={placeholder}
            spellCheck={false}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <Input
            {...props}
            type={secretFields.includes(name) ? "password" : name === "baseUrl" ? "url" : "text"}
            required={isRequired}
            placeholder={placeholder}
            autoComplete={secretFields.includes(name) ? "new-password" : "off"}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  );
}

/** The fields as the API takes them. An empty one is left out, or removed where it was set. */
function fieldsOf(
  shown: readonly FieldName[],
  values: Partial<Record<FieldName, string>>,
  before: Provider | null,
): ChangeProvider {
  const entries = shown.flatMap((name): [string, unknown][] => {
    const value = values[name]?.trim() ?? "";
    if (value === "") return name === "baseUrl" && before?.baseUrl ? [[name, null]] : [];
    return [[name, name === "serviceAccount" ? parsed(value) : value]];
  });
  return Object.fromEntries(entries);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The key file of the service account is not JSON. Paste the whole file.");
  }
}

function namesIn(text: string): string[] | null {
  const names = text.split(/\s+/).filter((name) => name !== "");
  return names.length === 0 ? null : names;
}
