import { z } from "zod";
import { ListQuery } from "../agents.ts";
import {
  Automation,
  AutomationList,
  AutomationParams,
  AutomationRun,
  AutomationRunList,
  AutomationsQuery,
  ChangeAutomation,
  CreateAutomation,
} from "../automations.ts";
import { reading, route, using } from "../route.ts";

/** Messages that agents get on a schedule. */
export const automationRoutes = {
  createAutomation: route({
    method: "POST",
    path: "/automations",
    summary: "Create an automation",
    body: CreateAutomation,
    responses: { 201: Automation },
    permission: using,
  }),
  listAutomations: route({
    method: "GET",
    path: "/automations",
    summary: "List the workspace's automations",
    query: AutomationsQuery,
    responses: { 200: AutomationList },
    permission: reading,
  }),
  getAutomation: route({
    method: "GET",
    path: "/automations/{name}",
    summary: "Show an automation",
    params: AutomationParams,
    responses: { 200: Automation },
    permission: reading,
  }),
  changeAutomation: route({
    method: "PATCH",
    path: "/automations/{name}",
    summary: "Change an automation",
    description: "From its next run on.",
    params: AutomationParams,
    body: ChangeAutomation,
    responses: { 200: Automation },
    permission: using,
  }),
  deleteAutomation: route({
    method: "DELETE",
    path: "/automations/{name}",
    summary: "Delete an automation with its runs",
    description: "Cancels the run that has not ended.",
    params: AutomationParams,
    responses: { 204: z.null() },
    permission: using,
  }),
  runAutomation: route({
    method: "POST",
    path: "/automations/{name}/run",
    summary: "Run an automation now",
    description:
      "Also while it is paused. While an earlier run has not ended, `overlap` applies; a run that it leaves out is 409 `run_in_progress`.",
    params: AutomationParams,
    responses: { 201: AutomationRun },
    permission: using,
  }),
  pauseAutomation: route({
    method: "POST",
    path: "/automations/{name}/pause",
    summary: "Pause an automation",
    description: "A run that has begun continues.",
    params: AutomationParams,
    responses: { 200: Automation },
    permission: using,
  }),
  resumeAutomation: route({
    method: "POST",
    path: "/automations/{name}/resume",
    summary: "Resume a paused automation",
    description: "From its next time on. Failed runs are counted from zero.",
    params: AutomationParams,
    responses: { 200: Automation },
    permission: using,
  }),
  listAutomationRuns: route({
    method: "GET",
    path: "/automations/{name}/runs",
    summary: "List an automation's runs",
    params: AutomationParams,
    query: ListQuery,
    responses: { 200: AutomationRunList },
    permission: reading,
  }),
};
