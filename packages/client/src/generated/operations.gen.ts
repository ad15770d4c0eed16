// Generated from docs/openapi.json by scripts/client-types.ts. Do not edit.
import type * as types from "./types.gen.ts";

export const operations = {
  getHealth: { method: "GET", path: "/healthz" },
  getReadiness: { method: "GET", path: "/readyz" },
  getMetrics: { method: "GET", path: "/metrics" },
  getProtectedResource: { method: "GET", path: "/.well-known/oauth-protected-resource" },
  getMcpResource: { method: "GET", path: "/.well-known/oauth-protected-resource/mcp" },
  listAgents: { method: "GET", path: "/agents" },
  createAgent: { method: "POST", path: "/agents" },
  getAgent: { method: "GET", path: "/agents/{name}" },
  changeAgent: { method: "PATCH", path: "/agents/{name}" },
  deleteAgent: { method: "DELETE", path: "/agents/{name}" },
  restartAgent: { method: "POST", path: "/agents/{name}/restart" },
  upgradeAgent: { method: "POST", path: "/agents/{name}/upgrade" },
  suspendAgent: { method: "POST", path: "/agents/{name}/suspend" },
  resumeAgent: { method: "POST", path: "/agents/{name}/resume" },
  getLog: { method: "GET", path: "/agents/{name}/logs" },
  resetConversation: { method: "POST", path: "/agents/{name}/conversation/reset" },
  getInstallStatus: { method: "GET", path: "/agents/{name}/install-status" },
  listOpenApprovals: { method: "GET", path: "/approvals" },
  listApprovals: { method: "GET", path: "/agents/{name}/turns/{turnId}/approvals" },
  answerApproval: { method: "POST", path: "/agents/{name}/turns/{turnId}/approvals/{approvalId}" },
  createAutomation: { method: "POST", path: "/automations" },
  listAutomations: { method: "GET", path: "/automations" },
  getAutomation: { method: "GET", path: "/automations/{name}" },
  changeAutomation: { method: "PATCH", path: "/automations/{name}" },
  deleteAutomation: { method: "DELETE", path: "/automations/{name}" },
  runAutomation: { method: "POST", path: "/automations/{name}/run" },
  pauseAutomation: { method: "POST", path: "/automations/{name}/pause" },
  resumeAutomation: { method: "POST", path: "/automations/{name}/resume" },
  listAutomationRuns: { method: "GET", path: "/automations/{name}/runs" },
  listScheduleTimes: { method: "GET", path: "/schedule-times" },
  rotateAutomationSecret: { method: "POST", path: "/automations/{name}/rotate-secret" },
  listHookDeliveries: { method: "GET", path: "/automations/{name}/deliveries" },
  sendHookDeliveryAgain: { method: "POST", path: "/automations/{name}/deliveries/{deliveryId}/send-again" },
  deliverToHook: { method: "POST", path: "/hooks/{hookId}" },
  createWebhook: { method: "POST", path: "/webhooks" },
  listWebhooks: { method: "GET", path: "/webhooks" },
  getWebhook: { method: "GET", path: "/webhooks/{id}" },
  changeWebhook: { method: "PATCH", path: "/webhooks/{id}" },
  deleteWebhook: { method: "DELETE", path: "/webhooks/{id}" },
  rotateWebhookSecret: { method: "POST", path: "/webhooks/{id}/rotate" },
  testWebhook: { method: "POST", path: "/webhooks/{id}/test" },
  listWebhookDeliveries: { method: "GET", path: "/webhooks/{id}/deliveries" },
  redeliver: { method: "POST", path: "/webhooks/{id}/deliveries/{deliveryId}/redeliver" },
  listConversations: { method: "GET", path: "/agents/{name}/conversations" },
  createConversation: { method: "POST", path: "/agents/{name}/conversations" },
  getConversation: { method: "GET", path: "/agents/{name}/conversations/{conversation}" },
  changeConversation: { method: "PATCH", path: "/agents/{name}/conversations/{conversation}" },
  deleteConversation: { method: "DELETE", path: "/agents/{name}/conversations/{conversation}" },
  getQueue: { method: "GET", path: "/agents/{name}/queue" },
  actOnQueue: { method: "POST", path: "/agents/{name}/queue" },
  changeQueuedTurn: { method: "PATCH", path: "/agents/{name}/turns/{turnId}" },
  getTurn: { method: "GET", path: "/agents/{name}/turns/{turnId}" },
  createSnapshot: { method: "POST", path: "/agents/{name}/snapshots" },
  listSnapshots: { method: "GET", path: "/agents/{name}/snapshots" },
  removeSnapshot: { method: "DELETE", path: "/agents/{name}/snapshots/{snapshot}" },
  rollBack: { method: "POST", path: "/agents/{name}/rollback" },
  exportAgent: { method: "GET", path: "/agents/{name}/export" },
  importAgent: { method: "POST", path: "/imports" },
  chat: { method: "POST", path: "/agents/{name}/chat" },
  listTurns: { method: "GET", path: "/agents/{name}/turns" },
  listAccountTurns: { method: "GET", path: "/turns" },
  getTurnEvents: { method: "GET", path: "/agents/{name}/turns/{turnId}/events" },
  getTurnChanges: { method: "GET", path: "/agents/{name}/turns/{turnId}/changes" },
  revertFiles: { method: "POST", path: "/agents/{name}/turns/{turnId}/changes/revert" },
  getChanges: { method: "GET", path: "/agents/{name}/changes" },
  restoreTurn: { method: "POST", path: "/agents/{name}/turns/{turnId}/restore" },
  cancelTurn: { method: "POST", path: "/agents/{name}/turns/{turnId}/cancel" },
  search: { method: "GET", path: "/search" },
  createUpload: { method: "POST", path: "/agents/{name}/uploads" },
  listUploads: { method: "GET", path: "/agents/{name}/uploads" },
  getUpload: { method: "GET", path: "/agents/{name}/uploads/{uploadId}" },
  removeUpload: { method: "DELETE", path: "/agents/{name}/uploads/{uploadId}" },
  readUpload: { method: "GET", path: "/agents/{name}/uploads/{uploadId}/content" },
  createResponse: { method: "POST", path: "/v1/responses" },
  openResponses: { method: "GET", path: "/v1/responses" },
  compactResponse: { method: "POST", path: "/v1/responses/compact" },
  getResponse: { method: "GET", path: "/v1/responses/{responseId}" },
  deleteResponse: { method: "DELETE", path: "/v1/responses/{responseId}" },
  cancelResponse: { method: "POST", path: "/v1/responses/{responseId}/cancel" },
  listInputItems: { method: "GET", path: "/v1/responses/{responseId}/input_items" },
  createOpenAiConversation: { method: "POST", path: "/v1/conversations" },
  getOpenAiConversation: { method: "GET", path: "/v1/conversations/{conversationId}" },
  changeOpenAiConversation: { method: "POST", path: "/v1/conversations/{conversationId}" },
  deleteOpenAiConversation: { method: "DELETE", path: "/v1/conversations/{conversationId}" },
  listOpenAiItems: { method: "GET", path: "/v1/conversations/{conversationId}/items" },
  addOpenAiItems: { method: "POST", path: "/v1/conversations/{conversationId}/items" },
  getOpenAiItem: { method: "GET", path: "/v1/conversations/{conversationId}/items/{itemId}" },
  deleteOpenAiItem: { method: "DELETE", path: "/v1/conversations/{conversationId}/items/{itemId}" },
  createOpenAiFile: { method: "POST", path: "/v1/files" },
  listOpenAiFiles: { method: "GET", path: "/v1/files" },
  getOpenAiFile: { method: "GET", path: "/v1/files/{fileId}" },
  deleteOpenAiFile: { method: "DELETE", path: "/v1/files/{fileId}" },
  readOpenAiFile: { method: "GET", path: "/v1/files/{fileId}/content" },
  createChatCompletion: { method: "POST", path: "/v1/chat/completions" },
  listOpenAiModels: { method: "GET", path: "/v1/models" },
  getOpenAiModel: { method: "GET", path: "/v1/models/{model}" },
  runCommand: { method: "POST", path: "/agents/{name}/commands" },
  listCommands: { method: "GET", path: "/agents/{name}/commands" },
  getCommand: { method: "GET", path: "/agents/{name}/commands/{commandId}" },
  getCommandEvents: { method: "GET", path: "/agents/{name}/commands/{commandId}/events" },
  writeCommandInput: { method: "POST", path: "/agents/{name}/commands/{commandId}/stdin" },
  signalCommand: { method: "POST", path: "/agents/{name}/commands/{commandId}/signal" },
  createTicket: { method: "POST", path: "/agents/{name}/tickets" },
  openTerminal: { method: "GET", path: "/agents/{name}/terminal" },
  readFile: { method: "GET", path: "/agents/{name}/files/{path}" },
  writeFile: { method: "PUT", path: "/agents/{name}/files/{path}" },
  changeFile: { method: "POST", path: "/agents/{name}/files/{path}" },
  removeFile: { method: "DELETE", path: "/agents/{name}/files/{path}" },
  listPorts: { method: "GET", path: "/agents/{name}/ports" },
  connectPort: { method: "GET", path: "/agents/{name}/ports/{port}/connection" },
  createShare: { method: "POST", path: "/agents/{name}/ports/{port}/share" },
  listShares: { method: "GET", path: "/agents/{name}/shares" },
  removeShare: { method: "DELETE", path: "/agents/{name}/shares/{shareId}" },
  certifySsh: { method: "POST", path: "/agents/{name}/ssh" },
  connectSsh: { method: "GET", path: "/agents/{name}/ssh/connection" },
  listModels: { method: "GET", path: "/models" },
  listRuntimes: { method: "GET", path: "/runtimes" },
  listProviders: { method: "GET", path: "/providers" },
  createProvider: { method: "POST", path: "/providers" },
  changeProvider: { method: "PATCH", path: "/providers/{name}" },
  deleteProvider: { method: "DELETE", path: "/providers/{name}" },
  startProviderLogin: { method: "POST", path: "/providers/{name}/login" },
  testProvider: { method: "POST", path: "/providers/{name}/test" },
  getNetwork: { method: "GET", path: "/agents/{name}/network" },
  setNetwork: { method: "PUT", path: "/agents/{name}/network" },
  listConnections: { method: "GET", path: "/agents/{name}/network/log" },
  listAccountConnections: { method: "GET", path: "/network/log" },
  listSecrets: { method: "GET", path: "/agents/{name}/secrets" },
  setSecret: { method: "PUT", path: "/agents/{name}/secrets/{secret}" },
  removeSecret: { method: "DELETE", path: "/agents/{name}/secrets/{secret}" },
  listWorkspaceSecrets: { method: "GET", path: "/secrets" },
  getWorkspaceSecret: { method: "GET", path: "/secrets/{secret}" },
  setWorkspaceSecret: { method: "PUT", path: "/secrets/{secret}" },
  removeWorkspaceSecret: { method: "DELETE", path: "/secrets/{secret}" },
  connectMcpServer: { method: "POST", path: "/secrets/{secret}/connect" },
  confirmMcpServer: { method: "POST", path: "/secrets/{secret}/confirm" },
  getMcpClient: { method: "GET", path: "/mcp/client.json" },
  listSkills: { method: "GET", path: "/skills" },
  getSkill: { method: "GET", path: "/skills/{skill}" },
  setSkill: { method: "PUT", path: "/skills/{skill}" },
  removeSkill: { method: "DELETE", path: "/skills/{skill}" },
  uploadSkill: { method: "PUT", path: "/skills/{skill}/archive" },
  getAccount: { method: "GET", path: "/account" },
  listPrograms: { method: "GET", path: "/account/programs" },
  endProgram: { method: "DELETE", path: "/account/programs/{id}" },
  getEvents: { method: "GET", path: "/events" },
  listKeys: { method: "GET", path: "/keys" },
  createKey: { method: "POST", path: "/keys" },
  revokeKey: { method: "DELETE", path: "/keys/{id}" },
  listAuditEntries: { method: "GET", path: "/audit" },
  getMe: { method: "GET", path: "/me" },
  listWorkspaces: { method: "GET", path: "/workspaces" },
  createWorkspace: { method: "POST", path: "/workspaces" },
  renameWorkspace: { method: "PATCH", path: "/workspaces/{name}" },
  deleteWorkspace: { method: "DELETE", path: "/workspaces/{name}" },
  listDeletedWorkspaces: { method: "GET", path: "/deleted-workspaces" },
  restoreWorkspace: { method: "POST", path: "/deleted-workspaces/{id}/restore" },
  listMembers: { method: "GET", path: "/workspaces/{name}/members" },
  changeMember: { method: "PATCH", path: "/workspaces/{name}/members/{id}" },
  removeMember: { method: "DELETE", path: "/workspaces/{name}/members/{id}" },
  listInvitations: { method: "GET", path: "/workspaces/{name}/invitations" },
  createInvitation: { method: "POST", path: "/workspaces/{name}/invitations" },
  revokeInvitation: { method: "DELETE", path: "/workspaces/{name}/invitations/{id}" },
  acceptInvitation: { method: "POST", path: "/invitations/{token}/accept" },
  listPushSubscriptions: { method: "GET", path: "/me/push-subscriptions" },
  createPushSubscription: { method: "POST", path: "/me/push-subscriptions" },
  deletePushSubscription: { method: "DELETE", path: "/me/push-subscriptions/{id}" },
  getProfile: { method: "GET", path: "/me/profile" },
  changeProfile: { method: "PATCH", path: "/me/profile" },
  verifyEmail: { method: "POST", path: "/me/profile/verify-email" },
  testNotifications: { method: "POST", path: "/me/profile/test" },
  listAgentNotify: { method: "GET", path: "/me/profile/agents" },
  setAgentNotify: { method: "PUT", path: "/me/profile/agents/{name}" },
  deleteAgentNotify: { method: "DELETE", path: "/me/profile/agents/{name}" },
  listInbox: { method: "GET", path: "/inbox" },
  countInbox: { method: "GET", path: "/inbox/unread" },
  readInbox: { method: "POST", path: "/inbox/read" },
  dismissInbox: { method: "POST", path: "/inbox/dismiss" },
  dismissInboxItem: { method: "DELETE", path: "/inbox/{id}" },
  getBilling: { method: "GET", path: "/billing" },
  changeBilling: { method: "PATCH", path: "/billing" },
  listEntries: { method: "GET", path: "/billing/entries" },
  getUsage: { method: "GET", path: "/billing/usage" },
  createTopUp: { method: "POST", path: "/billing/top-ups" },
  listUsers: { method: "GET", path: "/admin/users" },
  createUser: { method: "POST", path: "/admin/users" },
  resetUser: { method: "POST", path: "/admin/users/{name}/reset" },
  disableUser: { method: "POST", path: "/admin/users/{name}/disable" },
  enableUser: { method: "POST", path: "/admin/users/{name}/enable" },
  replaceSigningKeys: { method: "POST", path: "/admin/signing-keys" },
  getCapacity: { method: "GET", path: "/admin/capacity" },
  getReachability: { method: "GET", path: "/admin/reachability" },
  createBackup: { method: "POST", path: "/admin/backups" },
  readBackup: { method: "GET", path: "/admin/backups/{id}" },
  removeBackup: { method: "DELETE", path: "/admin/backups/{id}" },
  listOrphans: { method: "GET", path: "/admin/orphans" },
  giveBackOrphan: { method: "POST", path: "/admin/orphans/{id}/give-back" },
  removeOrphan: { method: "DELETE", path: "/admin/orphans/{id}" },
  listCredits: { method: "GET", path: "/admin/credits" },
  grantCredits: { method: "POST", path: "/admin/credits/grants" },
  mcp: { method: "POST", path: "/mcp" },
  a2a: { method: "POST", path: "/agents/{name}/a2a" },
  agui: { method: "POST", path: "/agents/{name}/agui" },
  getA2aCard: { method: "GET", path: "/agents/{name}/a2a/.well-known/agent-card.json" },
} as const;

export interface Operations {
  getHealth: { data: types.GetHealthData; answer: types.GetHealthResponses[200]; event: null };
  getReadiness: { data: types.GetReadinessData; answer: types.Readiness; event: null };
  getMetrics: { data: types.GetMetricsData; answer: null; event: null };
  getProtectedResource: { data: types.GetProtectedResourceData; answer: types.ProtectedResource; event: null };
  getMcpResource: { data: types.GetMcpResourceData; answer: types.ProtectedResource; event: null };
  listAgents: { data: types.ListAgentsData; answer: types.AgentList; event: null };
  createAgent: { data: types.CreateAgentData; answer: types.Agent; event: null };
  getAgent: { data: types.GetAgentData; answer: types.Agent; event: null };
  changeAgent: { data: types.ChangeAgentData; answer: types.Agent; event: null };
  deleteAgent: { data: types.DeleteAgentData; answer: null; event: null };
  restartAgent: { data: types.RestartAgentData; answer: types.Agent; event: null };
  upgradeAgent: { data: types.UpgradeAgentData; answer: types.Agent; event: null };
  suspendAgent: { data: types.SuspendAgentData; answer: types.Agent; event: null };
  resumeAgent: { data: types.ResumeAgentData; answer: types.Agent; event: null };
  getLog: { data: types.GetLogData; answer: types.AgentLog; event: types.LogEvent };
  resetConversation: { data: types.ResetConversationData; answer: types.Agent; event: null };
  getInstallStatus: { data: types.GetInstallStatusData; answer: types.InstallStatus; event: types.InstallStatus };
  listOpenApprovals: { data: types.ListOpenApprovalsData; answer: types.ApprovalList; event: null };
  listApprovals: { data: types.ListApprovalsData; answer: types.ApprovalList; event: null };
  answerApproval: { data: types.AnswerApprovalData; answer: types.Approval; event: null };
  createAutomation: { data: types.CreateAutomationData; answer: types.AutomationWithSecret; event: null };
  listAutomations: { data: types.ListAutomationsData; answer: types.AutomationList; event: null };
  getAutomation: { data: types.GetAutomationData; answer: types.Automation; event: null };
  changeAutomation: { data: types.ChangeAutomationData; answer: types.Automation; event: null };
  deleteAutomation: { data: types.DeleteAutomationData; answer: null; event: null };
  runAutomation: { data: types.RunAutomationData; answer: types.AutomationRun; event: null };
  pauseAutomation: { data: types.PauseAutomationData; answer: types.Automation; event: null };
  resumeAutomation: { data: types.ResumeAutomationData; answer: types.Automation; event: null };
  listAutomationRuns: { data: types.ListAutomationRunsData; answer: types.AutomationRunList; event: null };
  listScheduleTimes: { data: types.ListScheduleTimesData; answer: types.ScheduleTimes; event: null };
  rotateAutomationSecret: { data: types.RotateAutomationSecretData; answer: types.AutomationWithSecret; event: null };
  listHookDeliveries: { data: types.ListHookDeliveriesData; answer: types.HookDeliveryList; event: null };
  sendHookDeliveryAgain: { data: types.SendHookDeliveryAgainData; answer: types.AutomationRun; event: null };
  deliverToHook: { data: types.DeliverToHookData; answer: types.SlackAnswer; event: null };
  createWebhook: { data: types.CreateWebhookData; answer: types.WebhookWithSecret; event: null };
  listWebhooks: { data: types.ListWebhooksData; answer: types.WebhookList; event: null };
  getWebhook: { data: types.GetWebhookData; answer: types.Webhook; event: null };
  changeWebhook: { data: types.ChangeWebhookData; answer: types.Webhook; event: null };
  deleteWebhook: { data: types.DeleteWebhookData; answer: null; event: null };
  rotateWebhookSecret: { data: types.RotateWebhookSecretData; answer: types.WebhookWithSecret; event: null };
  testWebhook: { data: types.TestWebhookData; answer: types.WebhookDelivery; event: null };
  listWebhookDeliveries: { data: types.ListWebhookDeliveriesData; answer: types.WebhookDeliveryList; event: null };
  redeliver: { data: types.RedeliverData; answer: types.WebhookDelivery; event: null };
  listConversations: { data: types.ListConversationsData; answer: types.ConversationList; event: null };
  createConversation: { data: types.CreateConversationData; answer: types.Conversation; event: null };
  getConversation: { data: types.GetConversationData; answer: types.Conversation; event: null };
  changeConversation: { data: types.ChangeConversationData; answer: types.Conversation; event: null };
  deleteConversation: { data: types.DeleteConversationData; answer: null; event: null };
  getQueue: { data: types.GetQueueData; answer: types.Queue; event: null };
  actOnQueue: { data: types.ActOnQueueData; answer: types.Queue; event: null };
  changeQueuedTurn: { data: types.ChangeQueuedTurnData; answer: types.Queue; event: null };
  getTurn: { data: types.GetTurnData; answer: types.Turn; event: null };
  createSnapshot: { data: types.CreateSnapshotData; answer: types.Snapshot; event: null };
  listSnapshots: { data: types.ListSnapshotsData; answer: types.SnapshotList; event: null };
  removeSnapshot: { data: types.RemoveSnapshotData; answer: null; event: null };
  rollBack: { data: types.RollBackData; answer: types.Agent; event: null };
  exportAgent: { data: types.ExportAgentData; answer: null; event: null };
  importAgent: { data: types.ImportAgentData; answer: types.Import; event: null };
  chat: { data: types.ChatData; answer: null; event: types.TurnEvent };
  listTurns: { data: types.ListTurnsData; answer: types.TurnList; event: null };
  listAccountTurns: { data: types.ListAccountTurnsData; answer: types.AccountTurnList; event: null };
  getTurnEvents: { data: types.GetTurnEventsData; answer: null; event: types.TurnEvent };
  getTurnChanges: { data: types.GetTurnChangesData; answer: types.TurnChangesWithDiffs; event: null };
  revertFiles: { data: types.RevertFilesData; answer: types.RevertedFiles; event: null };
  getChanges: { data: types.GetChangesData; answer: types.AgentChanges; event: null };
  restoreTurn: { data: types.RestoreTurnData; answer: types.Agent; event: null };
  cancelTurn: { data: types.CancelTurnData; answer: types.CancelTurnResponses[202]; event: null };
  search: { data: types.SearchData; answer: types.SearchResult; event: null };
  createUpload: { data: types.CreateUploadData; answer: types.Upload; event: null };
  listUploads: { data: types.ListUploadsData; answer: types.UploadList; event: null };
  getUpload: { data: types.GetUploadData; answer: types.Upload; event: null };
  removeUpload: { data: types.RemoveUploadData; answer: null; event: null };
  readUpload: { data: types.ReadUploadData; answer: null; event: null };
  createResponse: { data: types.CreateResponseData; answer: types.OpenAiResponse; event: types.OpenAiResponseEvent };
  openResponses: { data: types.OpenResponsesData; answer: null; event: null };
  compactResponse: { data: types.CompactResponseData; answer: types.CompactedResponse; event: null };
  getResponse: { data: types.GetResponseData; answer: types.OpenAiResponse; event: types.OpenAiResponseEvent };
  deleteResponse: { data: types.DeleteResponseData; answer: types.DeleteResponseResponses[200]; event: null };
  cancelResponse: { data: types.CancelResponseData; answer: types.OpenAiResponse; event: null };
  listInputItems: { data: types.ListInputItemsData; answer: types.ListInputItemsResponses[200]; event: null };
  createOpenAiConversation: { data: types.CreateOpenAiConversationData; answer: types.OpenAiConversation; event: null };
  getOpenAiConversation: { data: types.GetOpenAiConversationData; answer: types.OpenAiConversation; event: null };
  changeOpenAiConversation: { data: types.ChangeOpenAiConversationData; answer: types.OpenAiConversation; event: null };
  deleteOpenAiConversation: { data: types.DeleteOpenAiConversationData; answer: types.DeleteOpenAiConversationResponses[200]; event: null };
  listOpenAiItems: { data: types.ListOpenAiItemsData; answer: types.ListOpenAiItemsResponses[200]; event: null };
  addOpenAiItems: { data: types.AddOpenAiItemsData; answer: types.AddOpenAiItemsResponses[200]; event: null };
  getOpenAiItem: { data: types.GetOpenAiItemData; answer: types.GetOpenAiItemResponses[200]; event: null };
  deleteOpenAiItem: { data: types.DeleteOpenAiItemData; answer: types.OpenAiConversation; event: null };
  createOpenAiFile: { data: types.CreateOpenAiFileData; answer: types.OpenAiFile; event: null };
  listOpenAiFiles: { data: types.ListOpenAiFilesData; answer: types.ListOpenAiFilesResponses[200]; event: null };
  getOpenAiFile: { data: types.GetOpenAiFileData; answer: types.OpenAiFile; event: null };
  deleteOpenAiFile: { data: types.DeleteOpenAiFileData; answer: types.DeleteOpenAiFileResponses[200]; event: null };
  readOpenAiFile: { data: types.ReadOpenAiFileData; answer: null; event: null };
  createChatCompletion: { data: types.CreateChatCompletionData; answer: types.ChatCompletion; event: types.CreateChatCompletionResponses[200] };
  listOpenAiModels: { data: types.ListOpenAiModelsData; answer: types.ListOpenAiModelsResponses[200]; event: null };
  getOpenAiModel: { data: types.GetOpenAiModelData; answer: types.GetOpenAiModelResponses[200]; event: null };
  runCommand: { data: types.RunCommandData; answer: types.CommandResult; event: types.CommandEvent };
  listCommands: { data: types.ListCommandsData; answer: types.CommandList; event: null };
  getCommand: { data: types.GetCommandData; answer: types.Command; event: null };
  getCommandEvents: { data: types.GetCommandEventsData; answer: null; event: types.CommandEvent };
  writeCommandInput: { data: types.WriteCommandInputData; answer: null; event: null };
  signalCommand: { data: types.SignalCommandData; answer: null; event: null };
  createTicket: { data: types.CreateTicketData; answer: types.Ticket; event: null };
  openTerminal: { data: types.OpenTerminalData; answer: null; event: null };
  readFile: { data: types.ReadFileData; answer: types.FileOrFolder; event: types.FileEvent };
  writeFile: { data: types.WriteFileData; answer: types.WrittenFile; event: null };
  changeFile: { data: types.ChangeFileData; answer: types.FileEntry; event: null };
  removeFile: { data: types.RemoveFileData; answer: null; event: null };
  listPorts: { data: types.ListPortsData; answer: types.PortList; event: null };
  connectPort: { data: types.ConnectPortData; answer: null; event: null };
  createShare: { data: types.CreateShareData; answer: types.Share; event: null };
  listShares: { data: types.ListSharesData; answer: types.ShareList; event: null };
  removeShare: { data: types.RemoveShareData; answer: null; event: null };
  certifySsh: { data: types.CertifySshData; answer: types.SshAccess; event: null };
  connectSsh: { data: types.ConnectSshData; answer: null; event: null };
  listModels: { data: types.ListModelsData; answer: types.ModelList; event: null };
  listRuntimes: { data: types.ListRuntimesData; answer: types.RuntimeList; event: null };
  listProviders: { data: types.ListProvidersData; answer: types.ProviderList; event: null };
  createProvider: { data: types.CreateProviderData; answer: types.Provider; event: null };
  changeProvider: { data: types.ChangeProviderData; answer: types.Provider; event: null };
  deleteProvider: { data: types.DeleteProviderData; answer: null; event: null };
  startProviderLogin: { data: types.StartProviderLoginData; answer: types.Provider; event: null };
  testProvider: { data: types.TestProviderData; answer: types.ProviderTest; event: null };
  getNetwork: { data: types.GetNetworkData; answer: types.Network; event: null };
  setNetwork: { data: types.SetNetworkData; answer: types.Network; event: null };
  listConnections: { data: types.ListConnectionsData; answer: types.NetworkLog; event: null };
  listAccountConnections: { data: types.ListAccountConnectionsData; answer: types.AccountConnectionList; event: null };
  listSecrets: { data: types.ListSecretsData; answer: types.SecretList; event: null };
  setSecret: { data: types.SetSecretData; answer: types.Secret; event: null };
  removeSecret: { data: types.RemoveSecretData; answer: null; event: null };
  listWorkspaceSecrets: { data: types.ListWorkspaceSecretsData; answer: types.WorkspaceSecretList; event: null };
  getWorkspaceSecret: { data: types.GetWorkspaceSecretData; answer: types.WorkspaceSecret; event: null };
  setWorkspaceSecret: { data: types.SetWorkspaceSecretData; answer: types.WorkspaceSecret; event: null };
  removeWorkspaceSecret: { data: types.RemoveWorkspaceSecretData; answer: null; event: null };
  connectMcpServer: { data: types.ConnectMcpServerData; answer: types.McpConnection; event: null };
  confirmMcpServer: { data: types.ConfirmMcpServerData; answer: types.WorkspaceSecret; event: null };
  getMcpClient: { data: types.GetMcpClientData; answer: types.McpClient; event: null };
  listSkills: { data: types.ListSkillsData; answer: types.SkillList; event: null };
  getSkill: { data: types.GetSkillData; answer: types.Skill; event: null };
  setSkill: { data: types.SetSkillData; answer: types.Skill; event: null };
  removeSkill: { data: types.RemoveSkillData; answer: null; event: null };
  uploadSkill: { data: types.UploadSkillData; answer: types.Skill; event: null };
  getAccount: { data: types.GetAccountData; answer: types.Account; event: null };
  listPrograms: { data: types.ListProgramsData; answer: types.ProgramList; event: null };
  endProgram: { data: types.EndProgramData; answer: null; event: null };
  getEvents: { data: types.GetEventsData; answer: null; event: types.AccountEvent };
  listKeys: { data: types.ListKeysData; answer: types.KeyList; event: null };
  createKey: { data: types.CreateKeyData; answer: types.CreatedKey; event: null };
  revokeKey: { data: types.RevokeKeyData; answer: null; event: null };
  listAuditEntries: { data: types.ListAuditEntriesData; answer: types.AuditList; event: null };
  getMe: { data: types.GetMeData; answer: types.Me; event: null };
  listWorkspaces: { data: types.ListWorkspacesData; answer: types.WorkspaceList; event: null };
  createWorkspace: { data: types.CreateWorkspaceData; answer: types.Workspace; event: null };
  renameWorkspace: { data: types.RenameWorkspaceData; answer: types.Workspace; event: null };
  deleteWorkspace: { data: types.DeleteWorkspaceData; answer: types.DeleteWorkspaceResponses[202]; event: null };
  listDeletedWorkspaces: { data: types.ListDeletedWorkspacesData; answer: types.DeletedWorkspaceList; event: null };
  restoreWorkspace: { data: types.RestoreWorkspaceData; answer: types.Workspace; event: null };
  listMembers: { data: types.ListMembersData; answer: types.MemberList; event: null };
  changeMember: { data: types.ChangeMemberData; answer: types.Member; event: null };
  removeMember: { data: types.RemoveMemberData; answer: null; event: null };
  listInvitations: { data: types.ListInvitationsData; answer: types.InvitationList; event: null };
  createInvitation: { data: types.CreateInvitationData; answer: types.CreatedInvitation; event: null };
  revokeInvitation: { data: types.RevokeInvitationData; answer: null; event: null };
  acceptInvitation: { data: types.AcceptInvitationData; answer: types.Workspace; event: null };
  listPushSubscriptions: { data: types.ListPushSubscriptionsData; answer: types.PushSubscriptionList; event: null };
  createPushSubscription: { data: types.CreatePushSubscriptionData; answer: types.PushSubscription; event: null };
  deletePushSubscription: { data: types.DeletePushSubscriptionData; answer: null; event: null };
  getProfile: { data: types.GetProfileData; answer: types.Profile; event: null };
  changeProfile: { data: types.ChangeProfileData; answer: types.Profile; event: null };
  verifyEmail: { data: types.VerifyEmailData; answer: types.Profile; event: null };
  testNotifications: { data: types.TestNotificationsData; answer: types.NotificationTest; event: null };
  listAgentNotify: { data: types.ListAgentNotifyData; answer: types.AgentNotifyList; event: null };
  setAgentNotify: { data: types.SetAgentNotifyData; answer: types.AgentNotify; event: null };
  deleteAgentNotify: { data: types.DeleteAgentNotifyData; answer: null; event: null };
  listInbox: { data: types.ListInboxData; answer: types.InboxList; event: null };
  countInbox: { data: types.CountInboxData; answer: types.InboxUnread; event: null };
  readInbox: { data: types.ReadInboxData; answer: types.InboxChanged; event: null };
  dismissInbox: { data: types.DismissInboxData; answer: types.InboxChanged; event: null };
  dismissInboxItem: { data: types.DismissInboxItemData; answer: null; event: null };
  getBilling: { data: types.GetBillingData; answer: types.Billing; event: null };
  changeBilling: { data: types.ChangeBillingData; answer: types.Billing; event: null };
  listEntries: { data: types.ListEntriesData; answer: types.CreditEntryList; event: null };
  getUsage: { data: types.GetUsageData; answer: types.UsageReport; event: null };
  createTopUp: { data: types.CreateTopUpData; answer: types.TopUp; event: null };
  listUsers: { data: types.ListUsersData; answer: types.UserList; event: null };
  createUser: { data: types.CreateUserData; answer: types.UserWithLink; event: null };
  resetUser: { data: types.ResetUserData; answer: types.UserWithLink; event: null };
  disableUser: { data: types.DisableUserData; answer: types.User; event: null };
  enableUser: { data: types.EnableUserData; answer: types.User; event: null };
  replaceSigningKeys: { data: types.ReplaceSigningKeysData; answer: types.SigningKeysReplaced; event: null };
  getCapacity: { data: types.GetCapacityData; answer: types.Capacity; event: null };
  getReachability: { data: types.GetReachabilityData; answer: types.Reachability; event: null };
  createBackup: { data: types.CreateBackupData; answer: types.Backup; event: null };
  readBackup: { data: types.ReadBackupData; answer: null; event: null };
  removeBackup: { data: types.RemoveBackupData; answer: null; event: null };
  listOrphans: { data: types.ListOrphansData; answer: types.OrphanList; event: null };
  giveBackOrphan: { data: types.GiveBackOrphanData; answer: types.Agent; event: null };
  removeOrphan: { data: types.RemoveOrphanData; answer: null; event: null };
  listCredits: { data: types.ListCreditsData; answer: types.AccountCreditsList; event: null };
  grantCredits: { data: types.GrantCreditsData; answer: types.CreditGrant; event: null };
  mcp: { data: types.McpData; answer: types.McpResponses[200]; event: types.McpResponses[200] };
  a2a: { data: types.A2aData; answer: types.A2aResponses[200]; event: types.A2aResponses[200] };
  agui: { data: types.AguiData; answer: null; event: types.AguiResponses[200] };
  getA2aCard: { data: types.GetA2aCardData; answer: types.GetA2aCardResponses[200]; event: null };
}
