import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ScriptedApi } from "../../test/support/scripted-api.ts";
import { readVersion } from "./checkout.ts";
import { readEnvironment } from "./environment.ts";
import { isNewer, latestVersion } from "./release-file.ts";

describe("isNewer", () => {
  test.each([
    ["1.2.3", "1.2.3", false],
    ["1.2.10", "1.2.9", true],
    ["1.10.0", "1.9.9", true],
    ["2.0.0", "1.9.9", true],
    ["1.9.9", "2.0.0", false],
    ["1.2.3", "1.2.3-beta.1", true],
    ["1.2.2", "1.2.3-beta.1", false],
    ["1.2.3", "1.2.3+build.1-2", false],
  ])("%s is newer than %s: %s", (latest, current, expected) => {
    expect(isNewer(latest, current)).toBe(expected);
  });
});

describe("a release file", () => {
  test.each([
    ['{"version":"1.2.3","files":[]}', "1.2.3"],
    ["<html>", /it is not JSON/],
    ['{"version":"1.2"}', /must have a version/],
    ['{"version":"1.2.3\\u001b[2J"}', /must have a version/],
    ['{"version":"99999999.0.0"}', /must have a version/],
    ['["1.2.3"]', /must have a version/],
    [`{"version":"1.2.3","x":"${"a".repeat(70_000)}"}`, /more than 64 KiB/],
  ])("%.40s", async (text, expected) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "berth-release-"));
    const file = join(folder.path, "release.json");
    await writeFile(file, text);
    const version = latestVersion(file);
    if (typeof expected === "string") expect(await version).toBe(expected);
    else await expect(version).rejects.toThrow(expected);
  });

  test("is fetched from an address, up to 64 KiB, and a failure names the address", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/release.json") return response.end('{"version":"1.2.3"}');
      if (request.url === "/endless") {
        const send = () => {
          while (response.write("x".repeat(16_384)));
        };
        response.on("drain", send);
        return send();
      }
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    try {
      expect(await latestVersion(`${url}/release.json`)).toBe("1.2.3");
      await expect(latestVersion(`${url}/endless`)).rejects.toThrow("more than 64 KiB");
      await expect(latestVersion(`${url}/other`)).rejects.toThrow(`${url}/other returned 404`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    await expect(latestVersion(`${url}/release.json`)).rejects.toThrow("cannot be read");
  });
});

test("the setting is an absolute path or an address", () => {
  expect(readEnvironment({ BERTH_RELEASE_FILE: "https://example.com/release.json" }).releaseFile).toContain("https:");
  expect(readEnvironment({ BERTH_RELEASE_FILE: "/srv/release.json" }).releaseFile).toBe("/srv/release.json");
  for (const value of ["release.json", "file:///etc/passwd", "ftp://example.com/release.json"])
    expect(() => readEnvironment({ BERTH_RELEASE_FILE: value })).toThrow("BERTH_RELEASE_FILE: an absolute path");
});

test("berth version --check says whether there is a newer version", async () => {
  using api = await ScriptedApi.listen();
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-release-"));
  const file = join(folder.path, "release.json");
  const checked = async (latest: string) => {
    await writeFile(file, JSON.stringify({ version: latest }));
    return (await api.berth(["version", "--check"], { environment: { BERTH_RELEASE_FILE: file } })).stdout;
  };
  const version = readVersion();
  expect(await checked("9999.0.0")).toBe(`Berth 9999.0.0 is available. This is ${version}.\n`);
  expect(await checked(version)).toContain(`Berth ${version} is the newest version`);
  expect((await api.berth(["version"])).stdout).toBe(`Berth ${version}\n`);
  expect(await api.berth(["version", "--check"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("BERTH_RELEASE_FILE is not set"),
  });
});
