import { z } from "zod";
import {
  ChangeProvider,
  CreateProvider,
  Provider,
  ProviderList,
  ProviderParams,
  ProviderQuery,
  ProviderTest,
  TestProvider,
} from "../providers.ts";
import { reading, route, using } from "../route.ts";

/** Accounts at providers of models. Those of the workspace are for owners and admins to set: `ownerOf` in src/providers. */
export const providerRoutes = {
  listProviders: route({
    method: "GET",
    path: "/providers",
    summary: "List the providers of models that the workspace can use",
    responses: { 200: ProviderList },
    permission: reading,
  }),
  createProvider: route({
    method: "POST",
    path: "/providers",
    summary: "Add a provider of models",
    description:
      "Its models' ids are `NAME/MODEL`. The credentials are stored encrypted, and never returned. The kind `chatgpt` has none: a person finishes its `login`.",
    body: CreateProvider,
    responses: { 201: Provider },
    permission: using,
  }),
  changeProvider: route({
    method: "PATCH",
    path: "/providers/{name}",
    summary: "Change a provider's address or credentials",
    description:
      "Applies from the next call of a model. A change of the address needs the credentials again. Credentials replace all earlier ones.",
    params: ProviderParams,
    query: ProviderQuery,
    body: ChangeProvider,
    responses: { 200: Provider },
    permission: using,
  }),
  deleteProvider: route({
    method: "DELETE",
    path: "/providers/{name}",
    summary: "Delete a provider with its credentials",
    description: "Agents keep the ids of its models; their next turns fail until they have another model.",
    params: ProviderParams,
    query: ProviderQuery,
    responses: { 204: z.null() },
    permission: using,
  }),
  startProviderLogin: route({
    method: "POST",
    path: "/providers/{name}/login",
    summary: "Begin the login of a subscription again",
    description:
      "For `chatgpt`. A person opens `login.verificationUrl` and enters `login.userCode`. An earlier login stays in use until then.",
    params: ProviderParams,
    query: ProviderQuery,
    responses: { 200: Provider },
    permission: using,
  }),
  testProvider: route({
    method: "POST",
    path: "/providers/{name}/test",
    summary: "Test a provider with a call for one token",
    description: "The provider may charge for the call. It costs no credits.",
    params: ProviderParams,
    query: ProviderQuery,
    body: TestProvider,
    responses: { 200: ProviderTest },
    permission: using,
  }),
};
