import type { SkillSummary } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { AllOrSome } from "../agents/AllOrSome.tsx";
import { berth } from "../api/client.ts";
import { skillsKey } from "../api/queries.ts";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

interface SkillFormProps {
  /** The one that is changed; null: a new one. */
  of: SkillSummary | null;
  onDone: () => void;
  onCancel: () => void;
}

/** The source of a skill's files. */
type Source = "stays" | "git" | "archive";

/** Adds a skill of the workspace, replaces its files, or changes which agents have it. */
export function SkillForm({ of: skill, onDone, onCancel }: SkillFormProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(skill?.name ?? "");
  const [source, setSource] = useState<Source>(skill ? "stays" : "git");
  const [git, setGit] = useState(gitOf(skill));
  const [file, setFile] = useState<File | null>(null);
  const [agents, setAgents] = useState<readonly string[] | null>(skill?.agents ?? null);
  const save = useAction(async () => {
    const chosen = agents && [...agents];
    const { url, ref, path } = git;
    if (source === "archive") await berth.skills.upload(name.trim(), file!, chosen ? { agents: chosen } : {});
    const given =
      source === "git" ? { git: { url: url.trim(), ref: ref.trim() || null, path: path.trim() || null } } : {};
    if (source !== "archive" || chosen === null) await berth.skills.set(name.trim(), { ...given, agents: chosen });
    await queries.invalidateQueries({ queryKey: skillsKey });
    onDone();
  });
  const plain = { autoComplete: "off", spellCheck: false };
  return (
    <Form of={save} onSubmit={() => save.run()}>
      {!skill && (
        <Field label="Name" name="skill" hint="The name in its SKILL.md: pdf-forms">
          {(props) => (
            <Input {...props} {...plain} required value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
      )}
      <Field label="Files" hint="Read a skill before you add it: agents do what it says, with all that they may do.">
        {(props) => (
          <Select {...props} value={source} onChange={({ target }) => setSource(target.value as Source)}>
            {skill && <option value="stays">Stay as they are</option>}
            <option value="git">From a git repository</option>
            <option value="archive">From an archive</option>
          </Select>
        )}
      </Field>
      {source === "git" && <GitFields value={git} onChange={setGit} />}
      {source === "archive" && (
        <Field label="Archive" hint="A tar, tar.gz or zip of a folder with a SKILL.md, up to 8 MiB.">
          {(props) => (
            <Input {...props} required type="file" onChange={({ target }) => setFile(target.files?.[0] ?? null)} />
          )}
        </Field>
      )}
      <AllOrSome value={agents} onChange={setAgents} />
      <DialogEnd of={save} action={skill ? "Save" : "Add it"} onCancel={onCancel} />
    </Form>
  );
}

interface GitText {
  url: string;
  ref: string;
  path: string;
}

function gitOf(skill: SkillSummary | null): GitText {
  if (skill?.source.type !== "git") return { url: "", ref: "", path: "" };
  const { url, ref, path } = skill.source;
  return { url, ref: ref ?? "", path: path ?? "" };
}

function GitFields({ value, onChange }: { value: GitText; onChange: (value: GitText) => void }) {
  const fields = [
    ["url", "Address", "https://github.com/example/skills"],
    ["path", "Folder", "The skill's folder. Empty: the root."],
    ["ref", "Branch, tag or commit", "Empty: HEAD. It is read once, and stays at that commit."],
  ] as const;
  return fields.map(([field, label, hint]) => (
    <Field key={field} label={label} hint={hint}>
      {(props) => (
        <Input
          {...props}
          autoComplete="off"
          spellCheck={false}
          required={field === "url"}
          value={value[field]}
          onChange={({ target }) => onChange({ ...value, [field]: target.value })}
        />
      )}
    </Field>
  ));
}
