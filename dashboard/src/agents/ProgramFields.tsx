import type { AcpProgram } from "@berth/client";
import { Field, Input, TextArea } from "../ui/Field.tsx";

/** A program as a person types it: one argument a line. */
export interface ProgramText {
  command: string;
  args: string;
}

export const noProgram: ProgramText = { command: "", args: "" };

export function textOf({ command, args }: AcpProgram): ProgramText {
  return { command, args: args.join("\n") };
}

export function programOf({ command, args }: ProgramText): AcpProgram {
  return { command: command.trim(), args: args.split("\n").filter((line) => line !== "") };
}

/** The program that an agent on the runtime `acp` is. */
export function ProgramFields({ value, onChange }: { value: ProgramText; onChange: (value: ProgramText) => void }) {
  return (
    <>
      <Field
        label="Program"
        hint="In the machine. It speaks the Agent Client Protocol on its standard input and output."
      >
        {(props) => (
          <Input
            {...props}
            required
            value={value.command}
            placeholder="npx"
            onChange={({ target }) => onChange({ ...value, command: target.value })}
            className="max-w-xl font-mono"
          />
        )}
      </Field>
      <Field label="Arguments" hint="One a line.">
        {(props) => (
          <TextArea
            {...props}
            rows={3}
            value={value.args}
            placeholder={"-y\n@agentclientprotocol/codex-acp"}
            onChange={({ target }) => onChange({ ...value, args: target.value })}
            className="max-w-xl font-mono"
          />
        )}
      </Field>
    </>
  );
}
