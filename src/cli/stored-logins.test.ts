import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Login, StoredLogins } from "./stored-logins.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-cli-"));
});
afterEach(() => rm(folder, { recursive: true }));

const login = (accessToken: string): Login => ({
  issuer: "https://login.example",
  clientId: "berth",
  audience: "berth",
  accessToken,
  refreshToken: null,
  expiresAt: "2030-01-01T00:00:00.000Z",
});

test("each server has a login of its own, and no file is left behind", async () => {
  const logins = new StoredLogins(folder);
  expect(await logins.read("http://one")).toBeNull();
  await logins.change("http://one", async () => login("1"));
  await logins.change("http://two", async () => login("2"));
  await logins.change("http://one", async () => null);
  expect(await logins.read("http://one")).toBeNull();
  expect(await logins.read("http://two")).toEqual(login("2"));
  expect(await readdir(folder)).toEqual(["credentials.json"]);
});

test("changes happen one after the other", async () => {
  const logins = new StoredLogins(folder);
  const add = () => logins.change("http://one", async (before) => login(`${before?.accessToken ?? ""}x`));
  await Promise.all([add(), add(), add()]);
  expect((await logins.read("http://one"))?.accessToken).toBe("xxx");
});

test("a lock that a dead tool left is taken over, and a failed change leaves all as it was", async () => {
  const logins = new StoredLogins(folder);
  const lock = join(folder, "credentials.json.lock");
  await writeFile(lock, "");
  await utimes(lock, new Date(0), new Date(0));
  await logins.change("http://one", async () => login("1"));
  const failing = logins.change("http://one", () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(await logins.read("http://one")).toEqual(login("1"));
  expect(await readdir(folder)).toEqual(["credentials.json"]);
});
