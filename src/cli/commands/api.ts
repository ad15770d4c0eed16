import { InvalidArgumentError } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { copyBody, textOf } from "../streams.ts";
import { writeText } from "../terminal.ts";

interface ApiOptions {
  data?: string;
  header: Headers;
  include?: true;
}

export function register(program: ToolCommand): void {
  program
    .add("api <method> <path>", "send a raw API request and print the response", {
      method: "GET, POST, …",
      path: "such as /agents",
    })
    .option("-d, --data <json>", "the request body; - reads standard input")
    .option("-H, --header <key:value>", "add a header; can be repeated", addHeader, new Headers())
    .option("-i, --include", "print the response's status and headers on stderr")
    .after("The exit code is 1 when the response's status is 400 or above.")
    .runs(sendRaw);
}

async function sendRaw(method: string, path: string, { data, header: headers, include }: ApiOptions): Promise<void> {
  if (/^[a-z]+:/i.test(path)) throw new CliError("PATH must be a path of the API, such as /agents, not an address.", 2);
  const client = connect();
  const body = data === undefined ? undefined : await textOf(data);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const response = await client.connection.send(method.toUpperCase(), path.startsWith("/") ? path : `/${path}`, {
    headers,
    ...(body === undefined ? {} : { body }),
  });
  if (include) writeHead(response);
  await copyBody(response);
  if (response.status >= 400) process.exitCode = 1;
}

function writeHead({ status, statusText, headers }: Response): void {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\n`);
  writeText(process.stderr, `HTTP/1.1 ${status} ${statusText}\n${lines.join("")}\n`);
}

function addHeader(line: string, headers: Headers): Headers {
  const colon = line.indexOf(":");
  try {
    headers.append(line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim());
  } catch {
    throw new InvalidArgumentError("A header must have the form key:value.");
  }
  return headers;
}
