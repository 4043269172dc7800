/** Creates the Model Context Protocol server, whose tools share one connection to a service. */
import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '@sluice/service/build';
import type { Connection } from '../connection/connection.ts';
import { INSTRUCTIONS } from './results.ts';
import { READ_TOOLS } from './readTools.ts';
import { WRITE_TOOLS } from './writeTools.ts';

/** Maximum size of a request, the same as for most routes of the service. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

/** @param allowWrites whether to register the tools that change streams or send webhooks. */
export function createMcpServer(
  connection: Connection,
  { allowWrites }: { allowWrites: boolean },
): McpServer {
  const server = new McpServer(
    { name: 'sluice', version: VERSION },
    { instructions: INSTRUCTIONS, capabilities: { tools: {} } },
  );
  const tools = allowWrites ? [...READ_TOOLS, ...WRITE_TOOLS] : READ_TOOLS;
  for (const tool of tools) tool.register(server, connection);
  return server;
}
