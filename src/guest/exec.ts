import { spawn } from "node:child_process";
import type { Exec, ExecResult } from "../contract/guest.ts";
import { proxyEnvironment } from "../runtimes/process.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";

/** Limit on each output stream of a command, in bytes. */
const maximumOutput = 1024 * 1024;

/** Kills the command on a timeout; `exitCode` is then null. */
export function exec({ command, user, timeoutMs }: Exec, agent: RuntimeContext) {
  const asAgent = user === "agent";
  const child = spawn("/bin/bash", ["-c", command], {
    cwd: asAgent ? agent.home : "/root",
    env: {
      ...proxyEnvironment(agent),
      HOME: asAgent ? agent.home : "/root",
      USER: user,
      LANG: "C.UTF-8",
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    },
    ...(asAgent ? { uid: agent.uid, gid: agent.gid } : {}),
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  return new Promise<ExecResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout: stdout(), stderr: stderr() }));
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size < maximumOutput) chunks.push(chunk.subarray(0, maximumOutput - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
