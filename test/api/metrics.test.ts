import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";
import { ServerGroup } from "../support/server-group.ts";

// The metrics of each server for Prometheus, and the queries of the dashboard for Grafana.

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; datasource: { uid: string } }[];
}

interface Dashboard {
  annotations: { list: { expr: string }[] };
  templating: { list: { name: string; definition?: string }[] };
  panels: Panel[];
}

/** The labels of a metric's series; none if nothing has been counted yet. `le` and `quantile` are the format's own. */
function labelsOf(text: string, metric: string): Set<string> {
  const series = text.matchAll(new RegExp(`^${metric}(?:_bucket|_sum|_count)?\\{(.*)\\} `, "gm"));
  return new Set([...series].flatMap(([, labels]) => [...labels!.matchAll(/(\w+)="/g)].map(([, name]) => name!)));
}

/** The names of metrics as Prometheus stores them, each with the metric that it is a part of. */
function namesIn(text: string): Map<string, string> {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return new Map(
    types.flatMap(([, name, type]) => {
      const parts = type === "histogram" ? ["_bucket", "_sum", "_count"] : type === "summary" ? ["_sum", "_count"] : [];
      return [[name!, name!], ...parts.map((part) => [name! + part, name!] as const)] as [string, string][];
    }),
  );
}

let dashboard: Dashboard;
let expressions: string[];
beforeAll(async () => {
  dashboard = JSON.parse(await readFile(new URL("../../deploy/grafana/berth.json", import.meta.url), "utf8"));
  const { annotations, panels } = dashboard;
  expressions = [...annotations.list, ...panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr);
});

let service: ScriptedService;
afterAll(() => service?.[Symbol.asyncDispose]());

test("the dashboard asks for nothing but what a server has, by labels that it has", async () => {
  service = await ScriptedService.start({ serverName: "berth-1:7420" });
  await service.client.createAgent("ada");
  await service.client.chat("ada", "ask");
  const text = String((await service.client.call("GET", "/metrics")).body);
  const names = namesIn(text);
  expect(expressions.length).toBeGreaterThan(30);
  for (const expression of expressions) {
    const asked = expression.match(/\b(?:berth|nodejs|process)_\w+/g) ?? [];
    expect(asked, expression).not.toEqual([]);
    for (const name of asked) {
      expect([...names.keys()], expression).toContain(name);
      const labels = labelsOf(text, names.get(name)!);
      if (labels.size === 0) continue;
      const used = [...expression.matchAll(/(\w+)(?:!?=~?)"|\bby \(([^)]*)\)/g)].flatMap(
        ([, selector, by]) => selector ?? by!.split(", "),
      );
      for (const label of used) expect([...labels], `${label} of ${expression}`).toContain(label);
    }
  }
});

test("the documentation lists each metric, with its labels, and no other", async () => {
  const text = String((await service.client.call("GET", "/metrics")).body);
  const page = await readFile(new URL("../../docs/observability.md", import.meta.url), "utf8");
  const [table] = /^\| `berth_info[\s\S]*?\n\n/m.exec(page)!;
  const told = [...table.matchAll(/`(berth_\w+)(?:\{([\w,]+)\})?/g)].map(([, name, labels]) => ({
    name: name!,
    labels,
  }));
  const own = [...namesIn(text).values()].filter((name) => !/^berth_(nodejs|process)_/.test(name));
  const isGroup = (name: string) => name.endsWith("_");
  expect(new Set(told.map(({ name }) => name).filter((name) => !isGroup(name)))).toEqual(new Set(own));
  for (const { name, labels = "" } of told.filter(({ name }) => !isGroup(name))) {
    const found = [...labelsOf(text, name)].filter((label) => label !== "server" && label !== "le");
    if (labelsOf(text, name).size > 0)
      expect(found.toSorted(), name).toEqual(labels.split(",").filter(Boolean).toSorted());
  }
});

test("queries use the chosen servers and source; panels are side by side", () => {
  const { panels, templating } = dashboard;
  expect(templating.list.map(({ name }) => name)).toEqual(["datasource", "server"]);
  expect(templating.list[1]!.definition).toBe("label_values(berth_leads, server)");
  for (const expression of expressions) {
    const asked = expression.match(/\bberth_\w+/g)!;
    expect(expression.match(/server=~"\$server"/g), expression).toHaveLength(asked.length);
  }
  for (const { datasource } of panels.flatMap(({ targets = [] }) => targets))
    expect(datasource.uid).toMatch(/^\$\{datasource\}$/);
  expect(panels.filter(({ type }) => type === "row").map(({ title }) => title)).toEqual([
    "Health and leadership",
    "Turns",
    "Machines",
    "Gateway and credits",
    "Automations and webhooks",
    "Database",
  ]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(places).size).toBe(places.length);
});

test("each server answers for itself, by its name, and only the leader tells what is the host's", async () => {
  await using group = await ServerGroup.start(2);
  const leader = await group.leader();
  const [standby] = await group.others();
  await leader.client.createAgent("ada");
  // Passed on; an agent's creation, too, counts at both.
  expect(await standby!.client.ask("ada", "hello")).toBe("hello");
  const textOf = async ({ client }: typeof leader) => String((await client.call("GET", "/metrics")).body);
  const [leaders, standbys] = [await textOf(leader), await textOf(standby!)];
  const label = (name: string) => `server="${name}"`;
  for (const [text, { config }] of [
    [leaders, leader],
    [standbys, standby!],
  ] as const) {
    const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(series.filter((line) => !line.includes(label(config.serverName)))).toEqual([]);
  }
  expect(leaders).toContain(`berth_leads{${label(leader.config.serverName)}} 1`);
  expect(standbys).toContain(`berth_leads{${label(standby!.config.serverName)}} 0`);
  expect(leaders).toMatch(/^berth_agents\{status="ready",.*\} 1$/m);
  expect(leaders).toMatch(/^berth_machines_running\{.*\} 1$/m);
  expect(leaders).toMatch(/^berth_takeovers_total\{.*\} 1$/m);
  expect(standbys).not.toMatch(/^berth_(agents|machines_\w+|machine_memory\w+|spares|agents_waiting)\{/m);
  expect(standbys).toMatch(/^berth_requests_passed_on_total\{outcome="answered",.*\} 1$/m);
});
