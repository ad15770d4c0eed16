import { expect, test } from "vitest";
import { clientDocuments } from "./client-documents.ts";

const metadata = (url: string) => ({ client_id: url, client_name: "Editor", redirect_uris: ["http://127.0.0.1/back"] });

test("documents of one domain do not keep those of others waiting", async () => {
  const gate = Promise.withResolvers<void>();
  const answer = clientDocuments(async (url) => {
    if (url.includes("slow")) await gate.promise;
    return metadata(url);
  });
  const slow = Array.from({ length: 30 }, (_, at) => answer(`https://a${at}.slow.example/x`));
  expect((await answer("https://editor.test/client")).status).toBe(200);
  gate.resolve();
  const statuses = (await Promise.all(slow)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  expect(statuses.filter((status) => status === 503)).toHaveLength(28);
});

test("a host whose document could not be fetched is not asked again at once", async () => {
  let asked = 0;
  const answer = clientDocuments(async () => {
    asked++;
    throw new Error("the name server does not answer");
  });
  await expect(answer("https://gone.example/x")).rejects.toThrow();
  expect((await answer("https://gone.example/y")).status).toBe(503);
  expect(asked).toBe(1);
});
