/**
 * Serves the Model Context Protocol over HTTP. The tools call the service with the API key of each
 * request, so that the key's scopes, networks and limits apply, and the audit log names the key.
 */
import { once } from 'node:events';
import { type HttpBindings, createAdaptorServer } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { isSluiceError } from '@sluice/kit';
import { CommandError } from '../terminal/errors.ts';
import { createHostCheck, hostNameProblem, originProblem } from '@sluice/service/hostNames';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { HTTPException } from 'hono/http-exception';
import type { Connection } from '../connection/connection.ts';
import { MAX_REQUEST_BYTES, createMcpServer } from './server.ts';

const MCP_PATH = '/mcp';

export interface McpHttpOptions {
  host: string;
  /** Port; 0 for any free port. */
  port: number;
  allowHosts: readonly string[];
  corsOrigins: readonly string[];
  allowWrites: boolean;
  /** Connects to the service with a caller's key, on behalf of the caller's IP address. */
  connect(apiKey: string, address: string): Connection;
}

export interface RunningMcp {
  url: string;
  stop(): Promise<void>;
}

function refuseName(flag: string, name: string, problem: string | undefined): void {
  if (problem !== undefined) throw new CommandError('usage', `${flag} ${name}: ${problem}`);
}

/** @throws CommandError for an invalid name in `allowHosts` or `corsOrigins`. */
export async function serveMcpOverHttp(options: McpHttpOptions): Promise<RunningMcp> {
  const { host, port, allowHosts, corsOrigins, allowWrites, connect } = options;
  for (const name of allowHosts) refuseName('--allow-host', name, hostNameProblem(name));
  for (const origin of corsOrigins) refuseName('--cors-origin', origin, originProblem(origin));
  const isOurHost = createHostCheck(host, allowHosts);
  const handler = createMcpHandler(
    ({ authInfo }) =>
      createMcpServer(authInfo?.extra?.['connection'] as Connection, { allowWrites }),
    { maxRequestBodySize: MAX_REQUEST_BYTES, maxSubscriptions: 64 },
  );
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(async (context, next) => {
    const name = context.req.header('host') ?? '';
    if (!isOurHost(name)) {
      refuse(403, `Host ${JSON.stringify(name)} is not accepted: pass it to --allow-host`);
    }
    const origin = context.req.header('origin');
    if (origin !== undefined && !corsOrigins.includes(origin)) {
      refuse(403, `Origin ${origin} is not accepted: pass it to --cors-origin`);
    }
    return next();
  });
  app.use(cors({ origin: [...corsOrigins], allowMethods: ['POST'] }));
  app.all(MCP_PATH, async (context) => {
    const connection = await authenticate(context, connect);
    const authInfo = {
      token: connection.apiKey,
      clientId: 'sluice',
      scopes: [],
      extra: { connection },
    };
    return handler.fetch(context.req.raw, { authInfo });
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}${MCP_PATH}`,
    async stop() {
      await handler.close();
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}

function refuse(status: 401 | 403 | 503, message: string): never {
  const headers = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  throw new HTTPException(status, { res: Response.json({ message }, { status, headers }) });
}

/**
 * Returns the connection of a caller whose key the service accepts; otherwise responds with an
 * error.
 */
async function authenticate(
  context: Context<{ Bindings: HttpBindings }>,
  connect: McpHttpOptions['connect'],
): Promise<Connection> {
  const { authorization = '', 'x-api-key': key } = context.req.header();
  const apiKey = key ?? /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (apiKey === undefined) {
    refuse(401, 'No API key: send yours in the x-api-key header, or as a bearer token');
  }
  try {
    const connection = connect(apiKey, context.env.incoming.socket.remoteAddress ?? '');
    if (await connection.sluice.checkSession()) return connection;
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    if (error.code === 'forbidden') refuse(403, error.message);
    if (error.code !== 'invalid_argument')
      refuse(503, `Could not check the API key: ${error.message}`);
  }
  refuse(401, 'The service rejected this API key');
}
