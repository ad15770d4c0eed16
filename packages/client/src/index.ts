export { AgentHandle } from "./agent.ts";
export { authorText } from "./authors.ts";
export { Berth } from "./berth.ts";
export {
  type AgentCommands,
  type CommandExited,
  type CommandLine,
  type CommandReadOptions,
  outputBytes,
  RunningCommand,
} from "./commands.ts";
export { Connection, type ConnectionOptions, type RequestOptions } from "./connection.ts";
export {
  ApiError,
  ClientError,
  NoAnswerError,
  NotBerthError,
  TurnError,
  UnreachableError,
  UnsendableError,
} from "./errors.ts";
export { AgentFiles } from "./files.ts";
export type * from "./generated/types.gen.ts";
export { type Page, Pages } from "./pages.ts";
export type { AgentPorts } from "./ports.ts";
export { type ChatOptions, type Inclusion, isLast, type LastEvent, Reply } from "./reply.ts";
export type { Skills } from "./skills.ts";
export type { AgentSsh } from "./ssh.ts";
export { Terminal, type TerminalOptions } from "./terminal.ts";
export type { AgentUploads } from "./uploads.ts";
