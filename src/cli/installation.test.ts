import type { InstallStatus } from "@berth/client";
import { expect, test } from "vitest";
import { type InstallStep, installSteps } from "../contract/agents.ts";
import { installText } from "./installation.ts";

function statusWith(...statuses: InstallStep["status"][]): InstallStatus {
  const steps = installSteps.map((name, index) => ({
    name,
    status: statuses[index] ?? ("pending" as const),
    startedAt: null,
    finishedAt: null,
  }));
  return { status: "installing", progress: 0, steps, error: null };
}

test("reports the running step with its position", () => {
  expect(installText(statusWith("done", "done", "running"))).toBe("3/4 starting the machine");
});

test("reports a step that is not running", () => {
  expect(installText(statusWith())).toBe("waiting to begin");
  expect(installText(statusWith("done"))).toBe("between two steps");
});

test("reports a step of a newer server by its name", () => {
  const status = statusWith("running");
  status.steps[0]!.name = "network" as never;
  expect(installText(status)).toBe("1/4 network");
});
