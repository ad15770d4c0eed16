import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { GitServer } from "../support/git-server.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { described, putSkill, skillText } from "../support/skill-archives.ts";

// Skills from git, over git's own server.

let git: GitServer;
let service: ScriptedService;

beforeAll(async () => {
  git = await GitServer.start();
  service = await ScriptedService.start({ skillsInside: [git.authority] });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await git[Symbol.asyncDispose]();
});
afterEach(() => {
  git.instead = () => false;
});

const put = (skill: string, fields: object, more: object = {}) =>
  service.client.call("PUT", `/skills/${skill}`, { git: fields, ...more });

const files = {
  "README.md": "A collection.",
  "skills/pdf-forms/SKILL.md": skillText("pdf-forms", described),
  "skills/pdf-forms/scripts/fill.py": { executable: "print()" },
  "skills/docx/SKILL.md": skillText("docx", described),
};

describe.each([
  ["that can leave out content", "true"],
  ["that sends all content", "false"],
])("a server %s", (_, filters) => {
  const name = `skills-${filters}`;
  let first: string;

  beforeAll(async () => {
    await git.create(name);
    await git.git(name, "config", "uploadpack.allowFilter", filters);
    first = await git.commit(name, files);
    await git.git(name, "tag", "--annotate", "--message", "one", "v1");
    await git.git(name, "branch", "feature/one");
    // Similar versions, which git stores as differences.
    const long = Array.from({ length: 3_000 }, (_, index) => `line ${index} of the text`);
    for (const number of [1, 2, 3]) {
      long[number * 500] = `changed ${number}`;
      await git.commit(name, {
        "skills/pdf-forms/long.md": long.join("\n"),
        [`skills/docx/${number}.md`]: long.join("\n"),
      });
    }
    await git.git(name, "gc", "--quiet");
  });

  test("gives a folder at HEAD, which stays when the repository changes", async () => {
    const head = await git.git(name, "rev-parse", "HEAD");
    const made = await put("pdf-forms", { url: git.url(name), path: "skills/pdf-forms" }, { agents: [] });
    expect(made).toMatchObject({
      status: 201,
      body: {
        agents: [],
        programs: ["scripts/fill.py"],
        files: [{ path: "SKILL.md" }, { path: "long.md" }, { path: "scripts/fill.py", executable: true }],
        source: { type: "git", url: git.url(name), ref: null, path: "skills/pdf-forms", commit: head },
      },
    });
    const before = git.asked.length;
    await git.commit(name, { "skills/pdf-forms/later.md": name });
    expect((await service.client.call("GET", "/skills/pdf-forms")).body).toEqual(made.body);
    expect(git.asked.length).toBe(before);
    const { hash } = made.body;
    const other = await put("pdf-forms", { url: git.url(name), path: "skills/pdf-forms" }, { hash });
    expect(other).toMatchObject({ status: 409, body: { code: "skill_changed" } });
    const same = await put("pdf-forms", { url: git.url(name), ref: head, path: "/skills/pdf-forms/" }, { hash });
    expect(same).toMatchObject({ status: 200, body: { hash, agents: [], source: { ref: head, commit: head } } });
    await service.client.call("DELETE", "/skills/pdf-forms");
  });

  test.each(["v1", "refs/tags/v1", "feature/one", "commit"])("gives the ref %s", async (ref) => {
    const asked = ref === "commit" ? first : ref;
    const { body } = await put("docx", { url: `${git.url(name)}/`, ref: asked, path: "skills/docx" });
    expect(body).toMatchObject({ files: [{ path: "SKILL.md" }], source: { ref: asked, commit: first } });
    // The same content as an archive has the same hash.
    const archive = await putSkill(service.client, "docx", { "SKILL.md": files["skills/docx/SKILL.md"] });
    expect(archive.body).toMatchObject({ hash: body.hash, source: { type: "archive" } });
  });

  test.each([
    [{ ref: "nope" }, "git_failed", 'has no branch and no tag "nope"'],
    [{ ref: "0".repeat(40) }, "git_failed", "does not have this commit"],
    [{ path: "skills/none" }, "skill_invalid", 'has no folder "skills/none"'],
    [{ path: "README.md" }, "skill_invalid", "has no folder"],
    [{ path: "../.." }, "skill_invalid", "has no folder"],
    [{ path: null }, "skill_invalid", "no SKILL.md"],
    [{ path: "skills/docx" }, "skill_invalid", "the name docx, not pdf-forms"],
    [{ ref: "a b" }, "request_invalid", "A ref is"],
    [{ ref: "a\nb" }, "request_invalid", "A ref is"],
  ])("refuses %j", async (fields, code, said) => {
    const { body } = await put("pdf-forms", { url: git.url(name), path: "skills/pdf-forms", ...fields });
    expect(body.code).toBe(code);
    expect(body.message).toContain(said);
  });
});

describe("a repository", () => {
  const refused: [string, Parameters<GitServer["commit"]>[1], string][] = [
    ["with a link", { "SKILL.md": skillText("bad", described), a: { link: "/etc/passwd" } }, "is a link"],
    ["with a folder that is a link", { "SKILL.md": skillText("bad", described), a: { link: ".." } }, "is a link"],
    [
      "with Git LFS",
      { "SKILL.md": skillText("bad", described), a: "version https://git-lfs.github.com/spec/v1\n" },
      "LFS",
    ],
    [
      "with many files",
      { ...Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}`, ""])) },
      "500 files",
    ],
    ["with a large file", { "SKILL.md": skillText("bad", described), a: "x".repeat(5_000_000) }, "exceed the 4 MiB"],
    ["with names that differ by case", { "SKILL.md": skillText("bad", described), a: "x", A: "y" }, "it has both"],
    ["with a backslash", { "SKILL.md": skillText("bad", described), "a\\b": "x" }, "not a relative path"],
  ];

  test.each(refused)("%s is refused", async (title, content, said) => {
    const name = title.replaceAll(" ", "-");
    await git.create(name);
    await git.commit(name, content);
    expect((await put("bad", { url: git.url(name) })).body.message).toContain(said);
    expect((await put("bad", { url: git.url(name) })).body.code).toBe("skill_invalid");
  });

  test("with a submodule is refused, and one without commits", async () => {
    await git.create("submodule");
    await git.commit("submodule", { "SKILL.md": skillText("bad", described) });
    const id = await git.git("submodule", "rev-parse", "HEAD");
    await git.git("submodule", "update-index", "--add", "--cacheinfo", `160000,${id},inner`);
    await git.git("submodule", "commit", "--quiet", "--message", "inner");
    expect((await put("bad", { url: git.url("submodule") })).body.message).toContain('"inner" is a submodule');
    await git.create("empty");
    expect((await put("bad", { url: git.url("empty") })).body.message).toContain("it is empty");
    expect((await put("bad", { url: git.url("nowhere") })).body).toMatchObject({
      code: "git_failed",
      message: "The repository cannot be read: it does not exist, or is not public.",
    });
  });

  test("of folders that contain each other many times is given up", async () => {
    await git.create("bomb");
    await git.commit("bomb", { a: "" });
    let tree = await git.git("bomb", "write-tree");
    for (let level = 0; level < 10; level++) {
      const lines = Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}\n`);
      tree = await git.git("bomb", "-c", `alias.tree=!printf '${lines.join("")}' | git mktree`, "tree");
    }
    const commit = await git.git("bomb", "commit-tree", "-m", "bomb", tree);
    await git.git("bomb", "update-ref", "HEAD", commit);
    expect((await put("bad", { url: git.url("bomb") })).body.message).toContain("more than 500 files or folders");
  });
});

describe("an address", () => {
  test.each([
    ["http://example.com/a", "Only https is allowed"],
    ["ssh://git@example.com/a", "An address is https"],
    ["git@example.com:a/b", "An address is https"],
    ["file:///etc", "An address is https"],
    ["https://user:token@example.com/a", "without a user name"],
    ["https://127.0.0.1/a", "not on the public internet"],
    ["https://localhost/a", "not on the public internet"],
    ["https://169.254.169.254/a", "not on the public internet"],
    ["https://example.com/a?b=c", "has no query"],
    ["https://example.com:25/a", "port is not allowed"],
  ])("%s is refused", async (url, said) => {
    const { status, body } = await put("bad", { url });
    expect([status, body.code]).toEqual([400, "request_invalid"]);
    expect(body.message).toContain(said);
  });

  test("without content to check takes no hash", async () => {
    const { body } = await service.client.call("PUT", "/skills/bad", { hash: "0".repeat(64) });
    expect(body.message).toContain("it is for content from git alone");
  });
});

describe("a server that", () => {
  const answers: [string, (response: ServerResponse) => void, string][] = [
    ["redirects", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), "redirects"],
    ["wants a password", (response) => response.writeHead(401).end("secret words"), "is not public"],
    ["fails", (response) => response.writeHead(500).end("secret words"), "its server answered 500"],
    ["sends a page", (response) => response.end("<html>secret words</html>"), "does not speak git's protocol"],
    ["speaks an old version", (response) => response.end("001e# service=git-upload-pack\n0000"), "version 2"],
    ["disconnects", (response) => response.destroy(), "The repository cannot be read"],
    [
      "has ids of another kind",
      (response) => response.end("000eversion 2\n0019object-format=sha256\n0000"),
      "not SHA-1",
    ],
    ["sends without end", (response) => endless(response), "sent more than 1 MiB"],
  ];

  function endless(response: ServerResponse): void {
    const more = () => {
      while (response.write(Buffer.alloc(64 * 1024, "0000")));
    };
    response.on("drain", more);
    more();
  }

  test.each(answers)("%s is reported without its words", async (_, answer, said) => {
    git.instead = (_request, response) => {
      answer(response);
      return true;
    };
    const { status, body } = await put("bad", { url: git.url("skills-true") });
    expect([status, body.code]).toEqual([502, "git_failed"]);
    expect(body.message).toContain(said);
    expect(body.message).not.toContain("secret words");
  });

  test("is slow keeps no second request of the workspace", async () => {
    const held = Promise.withResolvers<void>();
    git.instead = (_request, response) => {
      void held.promise.then(() => response.destroy());
      return true;
    };
    const asked = git.asked.length;
    const slow = put("bad", { url: git.url("skills-true") });
    await expect.poll(() => git.asked.length).toBeGreaterThan(asked);
    const second = await put("bad", { url: git.url("skills-true") });
    expect([second.status, second.body.code]).toEqual([429, "too_many_requests"]);
    held.resolve();
    expect((await slow).body.code).toBe("git_failed");
  });
});
