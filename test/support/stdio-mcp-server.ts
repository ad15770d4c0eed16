import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { echoServer } from "./mcp-server.ts";

// An MCP server as a program: tests give it to agents by its command.

await echoServer(process.env.GREETING ?? "nothing").connect(new StdioServerTransport());
