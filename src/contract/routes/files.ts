import { z } from "zod";
import {
  ChangeQuery,
  FileEntry,
  FileEvent,
  FileOrFolder,
  FileParams,
  ReadQuery,
  RemoveQuery,
  WriteQuery,
  WrittenFile,
} from "../files.ts";
import { reading, route, using } from "../route.ts";

const path = "/agents/{name}/files/{path}";

/** Files in an agent's machine. */
export const fileRoutes = {
  readFile: route({
    method: "GET",
    path,
    rest: true,
    summary: "Read a file or list a folder in an agent's machine",
    description:
      "A file's bytes, complete or by `Range`, with `etag`; a folder as a page of entries, or as an archive if `Accept` is `application/gzip`, `application/x-tar` or `application/zip`. With `watch=true`, an event stream of FileEvent. HEAD returns only the headers.",
    params: FileParams,
    query: ReadQuery,
    responses: { 200: FileOrFolder, 206: z.null(), 304: z.null() },
    permission: reading,
    stream: FileEvent,
    givesBytes: ["*/*"],
    ticket: "file",
  }),
  writeFile: route({
    method: "PUT",
    path,
    rest: true,
    summary: "Write a file in an agent's machine",
    description:
      "The body is the file, of any size; missing folders are created. The file is replaced in one step, when the body has arrived completely. `If-Match` and `If-None-Match: *` are checked then. With `extract=true`, a body of `application/gzip` or `application/x-tar` is unpacked into a folder.",
    params: FileParams,
    query: WriteQuery,
    responses: { 200: WrittenFile, 201: WrittenFile },
    permission: using,
    takesBytes: "stream",
  }),
  changeFile: route({
    method: "POST",
    path,
    rest: true,
    summary: "Move or copy a file or folder, or make a folder",
    description: "Missing folders of the new path are created.",
    params: FileParams,
    query: ChangeQuery,
    responses: { 200: FileEntry },
    permission: using,
  }),
  removeFile: route({
    method: "DELETE",
    path,
    rest: true,
    summary: "Remove a file or a folder",
    params: FileParams,
    query: RemoveQuery,
    responses: { 204: z.null() },
    permission: using,
  }),
};
