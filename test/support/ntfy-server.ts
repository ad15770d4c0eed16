import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { TrustedServer } from "./trusted-server.ts";

/** A message as JSON (https://docs.ntfy.sh/publish/#publish-as-json), as far as it may be sent here. */
const Message = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  title: z.string().max(250),
  message: z.string().max(4_096),
  click: z.url(),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()),
});

/** An ntfy server with a topic that requires a token, as its documentation says. */
export class NtfyServer extends TrustedServer {
  readonly messages: z.infer<typeof Message>[] = [];
  readonly token = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";
  /** The number of requests, also of refused ones. */
  asked = 0;
  /** The answer to valid messages. */
  status = 200;

  static async start(): Promise<NtfyServer> {
    return new NtfyServer(await TrustedServer.parts());
  }

  /** Requests are answered after that; null: at once. */
  #held: Promise<void> | null = null;

  /** Leaves requests without an answer until `release`. */
  hold(): { release: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return {
      release: () => {
        this.#held = null;
        resolve();
      },
    };
  }

  /** The messages of a topic. */
  of(topic: string): z.infer<typeof Message>[] {
    return this.messages.filter((message) => message.topic === topic);
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.asked++;
    await this.#held;
    const refuse = (http: number, code: number, error: string) =>
      response.writeHead(http, { "content-type": "application/json" }).end(JSON.stringify({ code, http, error }));
    if (request.method !== "POST" || request.url !== "/") return void refuse(404, 40_401, "page not found");
    const { authorization } = request.headers;
    if (authorization !== undefined && authorization !== `Bearer ${this.token}`) {
      return void refuse(401, 40_101, "unauthorized");
    }
    const { success, data } = Message.safeParse(JSON.parse(body));
    if (!success) return void refuse(400, 40_024, "invalid request: request body must be valid JSON");
    if (data.topic.startsWith("private") && authorization === undefined) return void refuse(403, 40_301, "forbidden");
    if (this.status !== 200) return void refuse(this.status, this.status * 100, "refused");
    this.messages.push(data);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: "x", time: 1, event: "message", ...data }));
  }
}
