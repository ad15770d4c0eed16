import { acp } from "./acp-program.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { geminiCli } from "./gemini-cli.ts";
import { openclaw } from "./openclaw.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { Runtime } from "./runtime.ts";

/** The runtimes that agents can use. The first is the default. */
export const runtimes: readonly Runtime[] = [claudeCode, opencode, codex, openclaw, pi, geminiCli, acp];
