import type { Command } from 'commander';
import {
  type ConnectionOptions,
  addConnectionOptions,
  connect,
  connectTo,
  findTarget,
  toClientOptions,
} from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { CommandError } from '../terminal/errors.ts';
import { type Terminal, untilInterrupted } from '../terminal/terminal.ts';

export const declareMcp = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .option(
      '--allow-writes',
      'Add tools that create, pause and resume streams, and replay deliveries',
    )
    .option(
      '--http <port>',
      'Serve HTTP on this port, 0 for any free port; default: standard input and output',
    )
    .option('--host <host>', 'With --http, address to listen on', '127.0.0.1')
    .option('--allow-host <name...>', 'With --http, accept requests for these host names')
    .option(
      '--cors-origin <origin...>',
      'With --http, accept requests from web pages of these origins',
    )
    .addHelpText(
      'after',
      examples(
        'sluice mcp',
        'sluice mcp --context production --allow-writes',
        'sluice mcp --http 4420 --api-url https://sluice.example.com',
      ),
    )
    .action((options: McpOptions) => serveMcp(options, terminal));

interface McpOptions extends ConnectionOptions {
  allowWrites?: boolean;
  http?: string;
  host: string;
  allowHost?: string[];
  corsOrigin?: string[];
}

/**
 * Serves the Model Context Protocol over HTTP until Ctrl-C, or over standard input and output until
 * the client disconnects or Ctrl-C.
 */
async function serveMcp(options: McpOptions, terminal: Terminal): Promise<void> {
  const allowWrites = options.allowWrites ?? false;
  if (options.http !== undefined) {
    return serveOverHttp({ ...options, allowWrites, http: options.http }, terminal);
  }
  const connection = connect(options, terminal);
  const [
    { serveStdio, StdioServerTransport },
    { MAX_REQUEST_BYTES, createMcpServer },
    { dropLongLines },
  ] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../mcp/server.ts'),
    import('../mcp/longLines.ts'),
  ]);
  // The transport closes the connection after a line that exceeds its buffer.
  const lines = dropLongLines(MAX_REQUEST_BYTES, () => {
    const message = `The request exceeds ${MAX_REQUEST_BYTES} bytes`;
    const error = { jsonrpc: '2.0', id: null, error: { code: -32_600, message } };
    process.stdout.write(`${JSON.stringify(error)}\n`);
  });
  const transport = new StdioServerTransport(terminal.stdin.pipe(lines), process.stdout, {
    maxBufferSize: MAX_REQUEST_BYTES,
  });
  const served = serveStdio(() => createMcpServer(connection, { allowWrites }), {
    transport,
    onerror: ({ message }) => terminal.note(message),
  });
  // The transport closes if standard input ends or standard output fails.
  const { onclose } = transport;
  const closed = new Promise<void>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no events
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  await Promise.race([closed, untilInterrupted(terminal)]);
  await served.close();
  terminal.stdin.unpipe(lines).pause();
}

async function serveOverHttp(
  options: McpOptions & { allowWrites: boolean; http: string },
  terminal: Terminal,
): Promise<void> {
  const port = toCount('--http', options.http);
  if (port > 65_535) throw new CommandError('usage', `--http ${port}: should be at most 65535`);
  if (options.apiKey !== undefined) {
    throw new CommandError(
      'usage',
      '--api-key cannot be combined with --http, because callers send their own keys',
    );
  }
  const { url, source } = findTarget(options, terminal);
  const { serveMcpOverHttp } = await import('../mcp/http.ts');
  const running = await serveMcpOverHttp({
    host: options.host,
    port,
    allowHosts: options.allowHost ?? [],
    corsOrigins: options.corsOrigin ?? [],
    allowWrites: options.allowWrites,
    connect: (apiKey, address) =>
      connectTo(
        { url, source, apiKey },
        // The service trusts this header only from a trusted proxy.
        { ...toClientOptions(options, terminal), headers: { 'x-forwarded-for': address } },
      ),
  });
  terminal.print(`sluice mcp listening on ${running.url}, for the service at ${url}`);
  await untilInterrupted(terminal);
  await running.stop();
}
