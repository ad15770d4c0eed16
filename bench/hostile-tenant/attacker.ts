import { constants, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { TestClient } from "../../test/support/client.ts";

// One account that does what is costly for all, in a thread of its own so that it does not delay the measurement. Each
// message is an attack's name; it is answered with the number of its requests by status.

const { url, key, external, seconds } = workerData as { url: string; key: string; external: string; seconds: number };
const client = new TestClient(url, key);
const manyValues = JSON.stringify({ threadId: "t", runId: "r", messages: Array.from({ length: 300_000 }, () => ({})) });
// The other clients of a server are on machines of their own. This thread yields the processor to it.
setPriority(constants.priority.PRIORITY_LOW);
let names = 0;

/** How many requests are sent at once, and one of them. */
const attacks: Record<string, [number, () => Promise<Response>]> = {
  "bodies of many values, with an external key": [
    4,
    () =>
      fetch(`${url}/agents/bad/agui`, {
        method: "POST",
        headers: { authorization: `Bearer ${external}`, "content-type": "application/json" },
        body: manyValues,
      }),
  ],
  "duplicates of one Idempotency-Key": [
    200,
    () => client.fetch("POST", "/agents/bad/commands", { command: "sleep 5" }, { "idempotency-key": "same" }),
  ],
  "agents beyond its share of slots": [20, () => client.fetch("POST", "/agents", { name: `more-${names++}` })],
  "searches of the audit log": [50, () => client.fetch("GET", "/audit?search=no-such-word&limit=100")],
  "event streams beyond the limit": [150, () => client.fetch("GET", "/events")],
  "refused sockets": [50, () => client.fetch("GET", "/agents/bad/ports/1/connection")],
};

parentPort!.on("message", async (name: string) => {
  const [atOnce, request] = attacks[name]!;
  const counts: Record<string, number> = {};
  const signal = AbortSignal.timeout(seconds * 1000);
  const attack = async () => {
    while (!signal.aborted) {
      const status = await answered(request, signal);
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, attack));
  parentPort!.postMessage(counts);
});

/** The status of an answer, whose body is read; `open` for one that has not ended in time. */
async function answered(request: () => Promise<Response>, signal: AbortSignal): Promise<string> {
  const late = new Promise<"open">((resolve) =>
    signal.addEventListener("abort", () => resolve("open"), { once: true }),
  );
  const answer = request().then(async (response) => {
    const reader = response.body?.getReader();
    signal.addEventListener("abort", () => void reader?.cancel().catch(() => {}), { once: true });
    while (reader && !(await reader.read()).done);
    return String(response.status);
  });
  return Promise.race([answer.catch(() => "broken"), late]);
}
