import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startMcpFixture } from "../support/mcp-fixture.ts";

// The official conformance suite, against the service's own handler with the fixtures that the suite calls.

const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js");

/**
 * Features that Berth's server does not have, so that none of them is mounted: requests to the client (sampling,
 * elicitation, roots), subscriptions to single resources, for which its revision of 2025 would need sessions, and tools
 * whose arguments are headers. Failures that count against the revision are listed; those that the suite does not count are left out.
 */
const unsupported: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28": [
    "server-stateless", // Three of its 28 checks: of requests to the client.
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
  ],
  "2025-11-25": [
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
  ],
};

test.each(Object.keys(unsupported))("revision %s is served as the suite requires", async (revision) => {
  await using fixture = await startMcpFixture();
  const folder = await mkdtemp(join(tmpdir(), "berth-conformance-"));
  const given = ["server", "--url", `${fixture.url}/mcp`, "--requirements", revision, "-o", folder];
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...given], { maxBuffer: 2 ** 26 }).catch(
    (failed: { stdout: string }) => failed,
  );
  await rm(folder, { recursive: true });
  const [scored, notScored] = stdout.split("=== SUMMARY ===")[1]!.split("Not scored");
  const named = (mark: string, summary: string) =>
    [...summary.matchAll(new RegExp(`${mark} ([\\w/-]+)`, "g"))].map(([, name]) => name!);
  const optional = named("[✓✗]", notScored!);
  const failed = named("✗", scored!).filter((name) => !optional.includes(name));
  expect(failed).toEqual(unsupported[revision]);
  expect(named("✓", scored!).length).toBeGreaterThan(20);
});
