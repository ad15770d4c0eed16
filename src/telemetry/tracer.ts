import type { Config } from "../config/config.ts";
import type { Log } from "../core/log.ts";
import type { Stops } from "../core/stops.ts";
import type { Tracer } from "./span.ts";

interface TracerParts {
  log: Log;
  stops: Stops;
  cleanup: AsyncDisposableStack;
}

/**
 * The exporter of traces, if they are on; `cleanup` sends the last. Null: they are off, and their library is not
 * loaded.
 */
export async function openTracer(
  { traces, serverName: server }: Pick<Config, "traces" | "serverName">,
  version: string,
  { log, stops, cleanup }: TracerParts,
): Promise<Tracer | null> {
  if (!traces) return null;
  const { OpenTelemetry } = await import("./tracing.ts");
  const warn = (message: string, error: unknown) => log(message, { error });
  const telemetry = new OpenTelemetry({ ...traces, version, server, warn });
  cleanup.defer(stops.of("traces", () => telemetry[Symbol.asyncDispose]()));
  return telemetry;
}
