import { z } from "zod";
import { AgentParams } from "../agents.ts";
import {
  ChangeConversation,
  Conversation,
  ConversationList,
  ConversationParams,
  ConversationsQuery,
  CreateConversation,
} from "../conversations.ts";
import { chatReading, chatting, route, using } from "../route.ts";

/** An agent's conversations. An external agent key sees only those that it created. */
export const conversationRoutes = {
  listConversations: route({
    method: "GET",
    path: "/agents/{name}/conversations",
    summary: "List an agent's conversations, the newest activity first",
    params: AgentParams,
    query: ConversationsQuery,
    responses: { 200: ConversationList },
    permission: chatReading,
    by: "any",
  }),
  createConversation: route({
    method: "POST",
    path: "/agents/{name}/conversations",
    summary: "Create a conversation, empty or continued from a turn",
    description:
      "Send messages to it with `conversation` of a chat. Files and the machine are those of the agent, also if it continues from an earlier turn.",
    params: AgentParams,
    body: CreateConversation,
    responses: { 201: Conversation },
    permission: chatting,
  }),
  getConversation: route({
    method: "GET",
    path: "/agents/{name}/conversations/{conversation}",
    summary: "Read a conversation's title and times",
    params: ConversationParams,
    responses: { 200: Conversation },
    permission: chatReading,
    by: "any",
  }),
  changeConversation: route({
    method: "PATCH",
    path: "/agents/{name}/conversations/{conversation}",
    summary: "Rename a conversation, or make it current",
    params: ConversationParams,
    body: ChangeConversation,
    responses: { 200: Conversation },
    permission: using,
  }),
  deleteConversation: route({
    method: "DELETE",
    path: "/agents/{name}/conversations/{conversation}",
    summary: "Delete a conversation with its turns",
    description:
      "Files and charges stay. Refused for the current conversation, and for one with a running or queued turn.",
    params: ConversationParams,
    responses: { 204: z.null() },
    permission: using,
  }),
};
