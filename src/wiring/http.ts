import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { createApp } from "../app.ts";
import type { Backups } from "../backup/backups.ts";
import type { ServiceAddress } from "../config/address.ts";
import type { Config } from "../config/config.ts";
import { previewWarnings } from "../config/preview-domain.ts";
import { readVersion } from "../config/version.ts";
import type { Readiness } from "../contract/health.ts";
import type { Streams } from "../core/http/streams.ts";
import type { Passing } from "../hosts/passing/passing.ts";
import type { ModelChoice } from "../models/choice.ts";
import { PreviewHosts } from "../previews/hosts.ts";
import type { LocalSignIn } from "../sign-in/local-sign-in.ts";
import { protectedResource } from "../sign-in/open.ts";
import { logFormatOf } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/span.ts";
import type { openService } from "./service.ts";
import type { Stores } from "./stores.ts";

interface HttpParts {
  config: Config;
  logger: Logger;
  service: ReturnType<typeof openService>;
  backups: Backups;
  models: ModelChoice;
  stores: Stores;
  /** The built-in identity provider; null if another is configured. */
  signIn: LocalSignIn | null;
  address: ServiceAddress;
  metrics: Metrics;
  tracer: Tracer | null;
  readiness: () => Promise<Readiness>;
  streams: Streams;
  /** Null: this server does all itself. */
  passing: Passing | null;
}

/** The service's HTTP API. The caller makes it listen. */
export async function openHttp(parts: HttpParts): Promise<FastifyInstance> {
  const { config, logger, service, models, stores, signIn, address, metrics, readiness, streams, passing } = parts;
  for (const warning of previewWarnings(config)) logger.warn(warning);
  return createApp({
    version: await readVersion(),
    logger,
    requestLevel: logFormatOf(config) === "text" ? "debug" : "info",
    readiness,
    metrics: () => metrics.text(),
    answered: (status) => metrics.requestAnswered(status),
    tracer: parts.tracer,
    limiters: stores.limiters,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    idempotencyKeys: stores.idempotency,
    capacity: () => service.lifecycle.capacity(),
    ...service,
    backups: parts.backups,
    streams,
    passing,
    previewHosts: new PreviewHosts(config.previewDomain, () => address.public),
    models,
    auditLog: stores.audit,
    protectedResource: (path) => protectedResource(config, address.public, path),
    signIn,
    dashboardFolder: fileURLToPath(new URL("../../dashboard/dist", import.meta.url)),
    publicUrl: () => address.public,
  });
}
