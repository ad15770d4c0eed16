import { GuestError, type GuestHandlers } from "../control.ts";
import type { Commands } from "./commands.ts";

type CommandCall =
  | "startCommand"
  | "listCommands"
  | "commandEvents"
  | "commandEnds"
  | "commandInput"
  | "signalCommand"
  | "resizeCommand";

export function commandHandlers(commands: Commands): Pick<GuestHandlers, CommandCall> {
  return {
    startCommand: ({ id, run }) => commands.start(id, run),
    listCommands: async () => ({ commands: await commands.list() }),
    commandEvents: async ({ id, after, lastBytes }, { gone }) => {
      const output = await (await commands.find(id)).output();
      if (output.isOver(after))
        throw new GuestError("command_exited", "The command has ended, and all of it was read.");
      return output.read(after, gone, lastBytes);
    },
    commandEnds: async ({ ids }, { gone }) => commands.ends(ids, gone),
    commandInput: async ({ id, inputId, data, end }) => {
      const command = await commands.running(id);
      return { accepted: command.input(inputId, Buffer.from(data, "base64"), end) };
    },
    signalCommand: async ({ id, signal }) => {
      (await commands.running(id)).signal(signal);
      return {};
    },
    resizeCommand: async ({ id, cols, rows }) => {
      (await commands.running(id)).resize({ cols, rows });
      return {};
    },
  };
}
