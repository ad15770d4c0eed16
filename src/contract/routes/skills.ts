import { z } from "zod";
import { managing, route, using } from "../route.ts";
import { SetSkill, Skill, SkillArchiveQuery, SkillList, SkillParams } from "../skills.ts";

/** Skills of a workspace, which several of its agents can have. */
export const skillRoutes = {
  listSkills: route({
    method: "GET",
    path: "/skills",
    summary: "List the workspace's skills",
    responses: { 200: SkillList },
    permission: using,
  }),
  getSkill: route({
    method: "GET",
    path: "/skills/{skill}",
    summary: "Show a skill with its files",
    params: SkillParams,
    responses: { 200: Skill },
    permission: using,
  }),
  setSkill: route({
    method: "PUT",
    path: "/skills/{skill}",
    summary: "Add a skill from git, or change which agents have it",
    description:
      "With `git`, the service reads a folder of a public repository at one commit, over https, and stores it. A new skill without `git` is 404: see `PUT /skills/{skill}/archive`.",
    params: SkillParams,
    body: SetSkill,
    responses: { 200: Skill, 201: Skill },
    permission: managing,
  }),
  uploadSkill: route({
    method: "PUT",
    path: "/skills/{skill}/archive",
    summary: "Add a skill from an archive, or replace its files",
    description:
      "The body is a tar, a tar.gz or a zip, up to 8 MiB, of a folder with a SKILL.md (agentskills.io). Its files have up to 4 MiB, those of a workspace's skills together up to 32 MiB. Machines get the files with their agents' next turns.",
    params: SkillParams,
    query: SkillArchiveQuery,
    responses: { 200: Skill, 201: Skill },
    permission: managing,
    takesBytes: "stream",
  }),
  removeSkill: route({
    method: "DELETE",
    path: "/skills/{skill}",
    summary: "Delete a skill",
    params: SkillParams,
    responses: { 204: z.null() },
    permission: managing,
  }),
};
