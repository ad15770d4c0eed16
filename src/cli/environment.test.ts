import { expect, test } from "vitest";
import { readEnvironment } from "./environment.ts";

test.each([
  [{}, "http://127.0.0.1:7420"],
  [{ BERTH_HOST: "", BERTH_PORT: "" }, "http://127.0.0.1:7420"],
  [{ BERTH_HOST: "10.0.0.1", BERTH_PORT: "80" }, "http://10.0.0.1:80"],
  [{ BERTH_HOST: "0.0.0.0" }, "http://127.0.0.1:7420"],
  [{ BERTH_HOST: "::" }, "http://[::1]:7420"],
  [{ BERTH_URL: "https://berth.example/api/", BERTH_PORT: "1" }, "https://berth.example/api"],
])("%j is the address %s", (variables, url) => {
  expect(readEnvironment(variables).url).toBe(url);
});

test("port 0 is no address", () => {
  expect(readEnvironment({ BERTH_PORT: "0" })).toMatchObject({ url: null, localUrl: null });
});

test.each([
  { BERTH_PORT: "70000" },
  { BERTH_PORT: "x" },
  { BERTH_URL: "ftp://berth.example" },
  { BERTH_URL: "http://user:secret@berth.example" },
  { BERTH_API_KEY: "berth_sk_with blank" },
])("%j is refused by its name, without a secret", (variables) => {
  const read = () => readEnvironment(variables);
  expect(read).toThrow(new RegExp(`^${Object.keys(variables)[0]}\\b`));
  expect(read).not.toThrow(/secret|with blank/);
});

test("the data folder is absolute", () => {
  expect(readEnvironment({ BERTH_DATA_DIR: "here" }).dataFolder).toBe(`${process.cwd()}/here`);
});
