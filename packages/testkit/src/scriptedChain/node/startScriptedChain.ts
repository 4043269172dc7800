import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createRpcNode } from './rpcNode.ts';
import type { StateAnswers } from './rpcMethods.ts';
import {
  type ScriptedChain,
  type ScriptedChainOptions,
  createScriptedChain,
} from '../scriptedChain.ts';
import { type Trouble, createTroubles } from './trouble.ts';
import { serveWebSockets } from './webSockets.ts';

/** A scripted chain with a node that serves it over HTTP and WebSocket and fails on demand. */
export interface RunningScriptedChain extends ScriptedChain {
  /** JSON-RPC over HTTP: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** JSON-RPC over WebSocket: `ws://127.0.0.1:<port>`, on the same port as HTTP. */
  readonly wsUrl: string;
  readonly port: number;
  /** Number of calls to each method, including those in batches. */
  readonly calls: Readonly<Record<string, number>>;
  /** Makes the node misbehave from now on, in addition to earlier troubles. */
  trouble(trouble: Trouble): void;
  /** Ends all troubles. Calls that already hang never get a response. */
  heal(): void;
  /** Sets the function that responds to `eth_call`. By default, every call returns `0x`. */
  answerCalls(answer: StateAnswers['call']): void;
  /** Sets the function that responds to `eth_getBalance`. By default, every balance is 0. */
  answerBalances(answer: StateAnswers['balance']): void;
  /** Closes every connection, including hanging ones, and frees the port. */
  stop(): Promise<void>;
}

export interface StartScriptedChainOptions extends ScriptedChainOptions {
  /**
   * Chain to serve. Several nodes can serve one chain, each with its own troubles. Default: a new
   * chain with these options.
   */
  chain?: ScriptedChain;
  /** Default: a free port. */
  port?: number;
}

/** Starts a scripted node on 127.0.0.1. */
export async function startScriptedChain(
  options: StartScriptedChainOptions = {},
): Promise<RunningScriptedChain> {
  const chain = options.chain ?? createScriptedChain(options);
  const troubles = createTroubles();
  const answers: StateAnswers = { call: () => '0x', balance: () => 0n };
  const node = createRpcNode({ chain, troubles, answers });

  const server = createServer((request, response) => {
    answerOverHttp(request, response).catch(() => response.destroy());
  });
  const answerOverHttp = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = await node.answer(Buffer.concat(chunks).toString());
    if (answer === 'hang') return;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  };
  server.keepAliveTimeout = 60_000;
  const sockets = serveWebSockets({
    server: new WebSocketServer({ server }),
    chain,
    troubles,
    node,
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    ...chain,
    get head() {
      return chain.head;
    },
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    calls: node.calls,
    trouble: (trouble) => {
      troubles.add(trouble);
      if (trouble.kind === 'dropWebSockets') sockets.drop();
    },
    heal: troubles.heal,
    answerCalls: (answer) => {
      answers.call = answer;
    },
    answerBalances: (answer) => {
      answers.balance = answer;
    },
    stop: async () => {
      sockets.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
