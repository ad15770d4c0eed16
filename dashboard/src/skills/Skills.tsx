import type { SkillSummary } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { skillQuery, skillsKey, skillsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { SkillForm } from "./SkillForm.tsx";

/** Folders of instructions and programs that agents of the workspace have. */
export function Skills() {
  const query = useQuery(skillsQuery);
  const mayChange = useMay("manage");
  return (
    <View title="Skills" actions={mayChange && <ChangeSkill of={null} />}>
      <p className="text-sm text-muted">
        Instructions and programs in the format of Agent Skills. Agents have them from their next turn on, and their
        permissions decide about each use of a tool.
      </p>
      <Loaded query={query}>
        {(skills) =>
          skills.length === 0 ? (
            <Empty title="No skills yet">For example, how to fill in your forms.</Empty>
          ) : (
            <Table
              label="Skills"
              onlyWide={["May run", "Agents", "Set"]}
              head={["Name", "For", "May run", "Agents", "Set", ""]}
            >
              {skills.map((skill) => (
                <Row key={skill.name} of={skill} mayChange={mayChange} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </View>
  );
}

function Row({ of: skill, mayChange }: { of: SkillSummary; mayChange: boolean }) {
  const { name, description, allowedTools, programs, agents, updatedAt } = skill;
  const [isOpen, setOpen] = useState(false);
  return (
    <tr>
      <td className="font-mono text-[13px] wrap-anywhere">{name}</td>
      <td className="text-muted wrap-anywhere">{description}</td>
      <td className="text-muted wrap-anywhere">{[...programs, ...allowedTools].join(", ") || "nothing named"}</td>
      <td className="text-muted">{agents === null ? "all" : agents.join(", ") || "none"}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={updatedAt} />
      </td>
      <td className="text-right whitespace-nowrap">
        <Button kind="quiet" onClick={() => setOpen(true)}>
          Read
        </Button>
        {mayChange && (
          <>
            <ChangeSkill of={skill} />
            <DeleteSkill name={name} />
          </>
        )}
        <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={name} isWide>
          {isOpen && <Content name={name} />}
        </Dialog>
      </td>
    </tr>
  );
}

/** The skill's instructions as its author wrote them, and its files. */
function Content({ name }: { name: string }) {
  const query = useQuery(skillQuery(name));
  return (
    <Loaded query={query}>
      {({ instructions, files, hash, source }) => (
        <div className="grid gap-3 text-sm">
          <pre className="max-h-[40vh] overflow-auto rounded-lg border p-3 text-[13px] whitespace-pre-wrap">
            {instructions}
          </pre>
          <ul className="grid gap-1 font-mono text-[13px]">
            {files.map(({ path, size, executable }) => (
              <li key={path} className="wrap-anywhere">
                {path} <span className="text-muted">{`${size} B${executable ? ", executable" : ""}`}</span>
              </li>
            ))}
          </ul>
          <p className="text-muted wrap-anywhere">
            {source.type === "git" ? `${source.url} at the commit ${source.commit}. ` : "From an archive. "}
            {`Hash ${hash}`}
          </p>
        </div>
      )}
    </Loaded>
  );
}

function DeleteSkill({ name }: { name: string }) {
  const queries = useQueryClient();
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          Delete
        </Button>
      )}
      title={`Delete ${name}?`}
      action="Delete"
      onConfirm={async () => {
        await berth.skills.delete(name);
        await queries.invalidateQueries({ queryKey: skillsKey });
      }}
    >
      Agents no longer have it from their next turn on.
    </Confirm>
  );
}

/** `of`: the skill that is changed; null: a new one. */
function ChangeSkill({ of: skill }: { of: SkillSummary | null }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button kind={skill ? "quiet" : "primary"} onClick={() => setOpen(true)}>
        {skill ? "Edit" : "Add a skill"}
      </Button>
      <Dialog isOpen={isOpen} onClose={close} title={skill ? `Edit ${skill.name}` : "Add a skill"}>
        <SkillForm of={skill} onDone={close} onCancel={close} />
      </Dialog>
    </>
  );
}
