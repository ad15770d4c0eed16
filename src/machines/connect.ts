import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BerthError } from "../contract/errors.ts";
import type { Challenge, ChannelName, Download, Hello, Proof, TokenHello, Welcome } from "../contract/guest.ts";
import { isProof, newNonce, proofOf } from "../core/channel-proof.ts";
import { readJsonLine, writeJsonLine } from "../core/socket-line.ts";

/** The timeout of one attempt. A booting guest does not respond at first, and loses anything sent to it until then. */
const tryTimeoutMs = 2_000;

/** How a guest's runner opens channels. Runners of images that predate `proof` need the token itself. */
export type Handshake = "proof" | "token";

/** The channel to open, and the tokens that the guest may know. */
export interface ChannelRequest {
  channel: ChannelName;
  tokens: readonly string[];
  handshake: Handshake;
  /** For the channel of this name. */
  download?: Download;
}

export interface Channel {
  socket: Socket;
  token: string;
}

/**
 * Dials until the guest's runner opens the channel. Throws `machine_failed` after `timeoutMs`, and forwards the errors
 * of `dial` for a stopped machine.
 */
export async function connectChannel(
  dial: () => Promise<Socket>,
  request: ChannelRequest,
  timeoutMs: number,
): Promise<Channel> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++) {
    let socket: Socket | undefined;
    try {
      socket = await dial();
      const { channel, handshake, tokens } = request;
      // A runner that needs the token itself gets one at a time.
      const known = handshake === "proof" ? tokens : [tokens[tries % tokens.length]!];
      const token = await openChannel(
        socket,
        { channel, handshake, tokens: known },
        Math.min(tryTimeoutMs, deadline - performance.now()),
      );
      return { socket, token };
    } catch (error) {
      socket?.destroy();
      if (error instanceof BerthError) throw error;
      if (performance.now() + 50 >= deadline) {
        throw new BerthError("machine_failed", `The agent's machine did not respond within ${timeoutMs / 1000} s.`, {
          cause: error,
        });
      }
      await sleep(50);
    }
  }
}

/**
 * Opens a channel on this connection, and returns the token that the guest knows. Another program listening on the port
 * learns no token: the guest first proves that it knows one. Rejects if it does not, or refuses, within `timeoutMs`.
 */
export async function openChannel(
  socket: Socket,
  { channel, tokens, handshake, download }: ChannelRequest,
  timeoutMs: number,
): Promise<string> {
  socket.setNoDelay(true);
  const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))); // It accepts whole numbers only.
  let token = tokens[0]!;
  if (handshake === "token") writeJsonLine(socket, { channel, token } satisfies TokenHello);
  else {
    const serverNonce = newNonce();
    writeJsonLine(socket, { channel, nonce: serverNonce, ...(download && { download }) } satisfies Hello);
    const { nonce: guestNonce, proof } = (await readJsonLine(socket, signal)) as Challenge;
    const nonces = { channel, serverNonce, guestNonce };
    const known = tokens.find((each) => isProof(proof, each, { role: "guest", ...nonces }));
    if (known === undefined) throw new Error("the guest does not know the token");
    token = known;
    writeJsonLine(socket, { proof: proofOf(token, { role: "server", ...nonces }) } satisfies Proof);
  }
  const welcome = (await readJsonLine(socket, signal)) as Welcome;
  if (!welcome.ok) throw new Error(`the guest refused the connection: ${welcome.reason}`);
  return token;
}

export async function dialPort(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
