import { z } from "zod";
import { route } from "../route.ts";
import { DashboardToken, dashboardPrefix, dashboardSignIn, SignedOut, SignInQuery, SignOutQuery } from "../sign-in.ts";

/** The dashboard's files, and the sign-in of a browser. No program needs them. */
export const dashboardRoutes = {
  /** The dashboard, and the page that its identity provider redirects a browser to. */
  openDashboard: route({ method: "GET", path: "/", summary: null, responses: {}, permission: "public" }),
  openDashboardPage: route({
    method: "GET",
    path: `${dashboardPrefix}/{page}`,
    rest: true,
    params: z.object({ page: z.string() }),
    summary: null,
    responses: {},
    permission: "public",
  }),
  getDashboardWorker: route({
    method: "GET",
    path: `${dashboardPrefix}/push.js`,
    summary: null,
    responses: {},
    permission: "public",
  }),
  /** The page of a frame that draws a diagram. */
  getDashboardDiagram: route({
    method: "GET",
    path: `${dashboardPrefix}/diagram.html`,
    summary: null,
    responses: {},
    permission: "public",
  }),
  getDashboardFile: route({
    method: "GET",
    path: "/assets/{file}",
    rest: true,
    params: z.object({ file: z.string() }),
    summary: null,
    responses: {},
    permission: "public",
  }),
  signInToDashboard: route({
    method: "GET",
    path: dashboardSignIn,
    query: SignInQuery,
    summary: null,
    responses: {},
    permission: "public",
  }),
  getDashboardToken: route({
    method: "POST",
    path: "/dashboard/session",
    summary: null,
    responses: { 200: DashboardToken },
    permission: "public",
  }),
  signOutOfDashboard: route({
    method: "DELETE",
    path: "/dashboard/session",
    query: SignOutQuery,
    summary: null,
    responses: { 200: SignedOut },
    permission: "public",
  }),
};
