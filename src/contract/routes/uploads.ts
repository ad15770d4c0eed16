import { z } from "zod";
import { AgentParams, ListQuery } from "../agents.ts";
import { chatReading, chatting, reading, route } from "../route.ts";
import { Upload, UploadList, UploadParams, UploadQuery } from "../uploads.ts";

/** Files for messages to agents. An external agent key sees only those that it uploaded. */
export const uploadRoutes = {
  createUpload: route({
    method: "POST",
    path: "/agents/{name}/uploads",
    summary: "Upload a file for a message to an agent",
    description:
      "The body is the file, up to 100 MiB. A message names it by its id. It is kept for 24 hours, or for seven days after a message that used it.",
    params: AgentParams,
    query: UploadQuery,
    responses: { 201: Upload },
    permission: chatting,
    takesBytes: "stream",
    by: "any",
  }),
  listUploads: route({
    method: "GET",
    path: "/agents/{name}/uploads",
    summary: "List an agent's uploads, newest first",
    description: "Images and files that messages contained in base64 are among them.",
    params: AgentParams,
    query: ListQuery,
    responses: { 200: UploadList },
    permission: reading,
    by: "any",
  }),
  getUpload: route({
    method: "GET",
    path: "/agents/{name}/uploads/{uploadId}",
    summary: "Read an upload's record",
    params: UploadParams,
    responses: { 200: Upload },
    permission: chatReading,
    by: "any",
  }),
  readUpload: route({
    method: "GET",
    path: "/agents/{name}/uploads/{uploadId}/content",
    summary: "Read an upload's bytes",
    params: UploadParams,
    responses: {},
    permission: chatReading,
    givesBytes: ["application/octet-stream", "image/*"],
    by: "any",
  }),
  removeUpload: route({
    method: "DELETE",
    path: "/agents/{name}/uploads/{uploadId}",
    summary: "Delete an upload",
    description: "One that a waiting or running turn uses cannot be deleted: 409 `upload_in_use`.",
    params: UploadParams,
    responses: { 204: z.null() },
    permission: chatting,
    by: "any",
  }),
};
