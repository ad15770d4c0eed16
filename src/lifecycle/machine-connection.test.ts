import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { MachineConnection } from "./machine-connection.ts";

const held = { [Symbol.dispose]: () => {} };

/** A connection, and the machine's end of it. */
function connected(): { connection: MachineConnection; stream: Duplex; machine: Duplex } {
  const [stream, machine] = duplexPair();
  return { connection: new MachineConnection(stream, held, () => held), stream, machine };
}

/** Both directions of the machine's stream have ended; the connection's client may still send. */
async function closedByMachine(connection: MachineConnection, stream: Duplex, machine: Duplex): Promise<void> {
  machine.resume().end();
  connection.resume();
  await once(connection, "end");
  stream.end();
  await once(stream, "finish");
}

test("bytes move in both directions, which close independently", async () => {
  const { connection, machine } = connected();
  connection.end("to the machine");
  expect(String(await machine.toArray())).toBe("to the machine");
  machine.end("and back");
  expect(String(await connection.toArray())).toBe("and back");
});

test("a client may end its direction after the machine's stream has ended", async () => {
  const { connection, stream, machine } = connected();
  await closedByMachine(connection, stream, machine);
  connection.end();
  await once(connection, "finish");
  expect(connection.errored).toBeNull();
});

test("bytes that a machine takes no more destroy the connection, also where nobody listens for errors", async () => {
  const { connection, stream, machine } = connected();
  await closedByMachine(connection, stream, machine);
  stream.on("error", () => {});
  connection.write("late");
  await new Promise((resolve) => connection.once("close", resolve)); // `once` would listen for errors.
  expect(connection.errored).toMatchObject({ code: "ERR_STREAM_WRITE_AFTER_END" });
});
