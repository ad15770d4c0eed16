import { z } from "zod";
import { Readiness } from "../health.ts";
import { HealthHeaders } from "../reachability.ts";
import { route } from "../route.ts";
import { ProtectedResource } from "../sign-in.ts";

/** Routes without credentials: monitoring, sign-in discovery, and signed events. */
export const publicRoutes = {
  getHealth: route({
    method: "GET",
    path: "/healthz",
    summary: "Alive",
    headers: HealthHeaders,
    responses: { 200: z.object({ ok: z.boolean() }) },
    permission: "public",
  }),
  getReadiness: route({
    method: "GET",
    path: "/readyz",
    summary: "Ready",
    responses: { 200: Readiness, 503: Readiness },
    permission: "public",
  }),
  getMetrics: route({
    method: "GET",
    path: "/metrics",
    summary: "Measurements in Prometheus' format",
    responses: {},
    givesBytes: ["text/plain"],
    permission: "public",
  }),
  getProtectedResource: route({
    method: "GET",
    path: "/.well-known/oauth-protected-resource",
    summary: "Where tokens come from (RFC 9728)",
    responses: { 200: ProtectedResource },
    permission: "public",
  }),
  getMcpResource: route({
    method: "GET",
    path: "/.well-known/oauth-protected-resource/mcp",
    summary: "Where tokens for /mcp come from (RFC 9728)",
    responses: { 200: ProtectedResource },
    permission: "public",
  }),
  getAuthorizationServer: route({
    method: "GET",
    path: "/.well-known/oauth-authorization-server/oidc",
    summary: null,
    responses: {},
    permission: "public",
  }),
  getOpenidProvider: route({
    method: "GET",
    path: "/.well-known/openid-configuration/oidc",
    summary: null,
    responses: {},
    permission: "public",
  }),
  receivePayment: route({
    method: "POST",
    path: "/webhooks/stripe",
    summary: null,
    responses: { 204: z.null() },
    permission: "public",
  }),
  getDocument: route({
    method: "GET",
    path: "/openapi.json",
    summary: null,
    responses: {},
    permission: "public",
  }),
};
