import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { modelOf, providersAt, realModels, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { putSkill, skillText } from "../support/skill-archives.ts";

// Skills of a workspace, as the real runtimes offer them to their models.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

/** The requests that the model got in the turn of a message. */
async function sentFor(agent: string, message: string): Promise<string> {
  const before = proxy.asked.length;
  await service.client.ask(agent, message);
  return JSON.stringify(proxy.asked.slice(before).map(({ body }) => body));
}

/** The folder with the skills, as the model was sent it: in a path, or once for all with a name of its own. */
function folderIn(sent: string): string {
  const [folder] = /[^\s"'`<>()\\]*\/skills\/added\/\.claude\/skills/.exec(sent) ?? [];
  if (folder === undefined) throw new Error("the model was sent no folder of skills");
  return folder.replace(/^~/, "$HOME");
}

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  const agent = `on-${runtime}`;
  const name = `weaving-${runtime}`;
  const put = (description: string) =>
    putSkill(service.client, name, {
      "SKILL.md": `${skillText(name, `description: ${description}`)}\nBegin with the selvedge.\n`,
      "scripts/weave.sh": { mode: 0o755, text: "#!/bin/sh\necho woven by $0\n" },
    });

  test("offers a skill from the next turn on, reads it and runs its programs", async () => {
    const { client } = service;
    await client.createAgent(agent, { runtime, model: modelOf(runtime) });
    expect(await sentFor(agent, "The word is heron.")).not.toContain(name);
    expect((await put("How to weave. Use it for looms.")).status).toBe(201);
    const sent = await sentFor(agent, "Which skills are there?");
    expect(sent).toContain("How to weave. Use it for looms.");
    expect(sent).toContain("The word is heron.");
    // Claude Code's model gets the folder with the text. opencode's tool needs ripgrep, which this host may not have.
    const used = runtime === "claude-code" ? await sentFor(agent, `use: Skill {"skill":"${name}"}`) : sent;
    const read = runtime === "claude-code" ? used : await sentFor(agent, `run: cat ${folderIn(used)}/${name}/SKILL.md`);
    expect(read).toContain("Begin with the selvedge.");
    const woven = await client.ask(agent, `run: ${folderIn(used)}/${name}/scripts/weave.sh`);
    expect(woven).toContain("woven by");
  });

  test("offers a skill as it is after a change, and none after its deletion", async () => {
    const { client } = service;
    await put("How to spin. Use it for wheels.");
    await client.call("POST", `/agents/${agent}/conversation/reset`);
    const sent = await sentFor(agent, "Which skills are there now?");
    expect(sent).toContain("How to spin. Use it for wheels.");
    expect(sent).not.toContain("How to weave.");
    await client.call("DELETE", `/skills/${name}`);
    await client.call("POST", `/agents/${agent}/conversation/reset`);
    expect(await sentFor(agent, "And now?")).not.toContain("How to spin.");
  });
});
