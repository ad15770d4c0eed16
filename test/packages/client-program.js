// What the test of the client's package runs in Node 20, in Bun and in Chromium: plain JavaScript, as its users have it.
import { ApiError, Berth } from "@berth/client";

/** Uses the client in each of its ways. Answers what it found. */
export async function useClient(url, key) {
  const berth = new Berth({ url, key });
  const names = ["one", "two", "three"];
  for (const name of names) await berth.agents.create({ name }, { wait: "ready" });
  const listed = [];
  for await (const { name } of berth.agents.list()) listed.push(name);

  const types = new Set();
  let text = "";
  for await (const event of berth.agent("one").chat("count 20 5", { include: ["status"] })) {
    types.add(event.type);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  const whole = await berth.agent("two").chat("hello").text();

  const endless = berth.agent("three").chat("count 100000 20");
  void endless.turnId.then(() => endless.cancel());
  const cancelled = await endless.text().catch((error) => error.code);

  const gone = new AbortController();
  const aborted = await berth
    .agent("two")
    .chat("count 100000 20", { signal: gone.signal, include: ["status"] })
    [Symbol.asyncIterator]()
    .next()
    .then(() => gone.abort())
    .then(() => gone.signal.aborted);
  const missing = await berth
    .agent("nobody")
    .get()
    .catch((error) => error instanceof ApiError && error.code);
  for (const name of names) await berth.agent(name).delete();
  return { listed: listed.sort(), types: [...types].sort(), text, whole, cancelled, aborted, missing };
}
