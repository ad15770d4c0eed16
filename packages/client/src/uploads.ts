import type { Bytes, RequestOptions } from "./connection.ts";
import { UploadsMethods } from "./generated/methods.gen.ts";
import type { Upload } from "./generated/types.gen.ts";

/** Images and files for messages to an agent. Every method throws as `Connection.call`. */
export class AgentUploads extends UploadsMethods {
  /** Stores a file of up to 100 MiB for 24 hours. A message names it by its id. */
  create(
    bytes: Bytes,
    { name, mediaType, ...options }: RequestOptions & { name: string; mediaType?: string },
  ): Promise<Upload> {
    return this.connection.upload("createUpload", bytes, { path: this.path, query: { name, mediaType }, ...options });
  }

  /** Its bytes, as the body of a response. */
  read(uploadId: string, options: RequestOptions = {}): Promise<Response> {
    return this.connection.request("readUpload", { path: { ...this.path, uploadId }, ...options });
  }
}
