import { z } from "zod";
import {
  ChatCompletion,
  CreateChatCompletion,
  CreateResponse,
  DeletedResponse,
  InputItemsQuery,
  maximumOpenAiBytes,
  OpenAiEvent,
  OpenAiHeaders,
  OpenAiList,
  OpenAiModel,
  OpenAiResponse,
  ResponseParams,
  ResponseQuery,
} from "../../contract/openai.ts";
import { chatting, type RouteDefinition, route } from "../route.ts";

/** What the rows have in common: the chat's permission, and errors as OpenAI's clients read them. */
const openAi = { permission: chatting, errors: "openai" } as const satisfies Partial<RouteDefinition>;
const sent = { headers: OpenAiHeaders, maximumBytes: maximumOpenAiBytes } as const;

/** Agents as models of OpenAI's APIs, for clients that speak those. An external agent key sees only its own turns. */
export const openAiRoutes = {
  createResponse: route({
    ...openAi,
    ...sent,
    method: "POST",
    path: "/v1/responses",
    summary: "Send a message, as OpenAI's Responses API",
    description: "With `stream`, server-sent events. The turn goes on when the client goes away.",
    body: CreateResponse,
    responses: { 200: OpenAiResponse },
    stream: OpenAiEvent,
  }),
  openResponses: route({
    ...openAi,
    method: "GET",
    path: "/v1/responses",
    summary: "Send messages over a WebSocket, as OpenAI's Responses API",
    description:
      "Its frames are JSON. The client sends `{type: response.create, …}` with the fields of the POST; the service sends the response's events, then looks at the next.",
    responses: {},
    socket: "no ticket",
  }),
  getResponse: route({
    ...openAi,
    method: "GET",
    path: "/v1/responses/{responseId}",
    summary: "Read a response, as OpenAI's Responses API",
    description: "With `stream=true` its events, from the first or after `starting_after`.",
    params: ResponseParams,
    query: ResponseQuery,
    responses: { 200: OpenAiResponse },
    stream: OpenAiEvent,
  }),
  deleteResponse: route({
    ...openAi,
    method: "DELETE",
    path: "/v1/responses/{responseId}",
    summary: "Forget a response; its turn stays in the agent's history",
    params: ResponseParams,
    responses: { 200: DeletedResponse },
  }),
  cancelResponse: route({
    ...openAi,
    method: "POST",
    path: "/v1/responses/{responseId}/cancel",
    summary: "Interrupt a response",
    params: ResponseParams,
    responses: { 200: OpenAiResponse },
  }),
  listInputItems: route({
    ...openAi,
    method: "GET",
    path: "/v1/responses/{responseId}/input_items",
    summary: "List what a response was asked",
    params: ResponseParams,
    query: InputItemsQuery,
    responses: { 200: OpenAiList },
  }),
  createChatCompletion: route({
    ...openAi,
    ...sent,
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Send a message, as OpenAI's Chat Completions API",
    description: "With `stream`, server-sent events. The turn goes on when the client goes away.",
    body: CreateChatCompletion,
    responses: { 200: ChatCompletion },
    stream: OpenAiEvent,
  }),
  listOpenAiModels: route({
    ...openAi,
    method: "GET",
    path: "/v1/models",
    summary: "List the agents that the key may use, as OpenAI's models",
    responses: { 200: OpenAiList },
  }),
  getOpenAiModel: route({
    ...openAi,
    method: "GET",
    path: "/v1/models/{model}",
    summary: "Read an agent as one of OpenAI's models",
    params: z.object({ model: z.string().meta({ description: "The agent's name." }) }),
    responses: { 200: OpenAiModel },
  }),
};
