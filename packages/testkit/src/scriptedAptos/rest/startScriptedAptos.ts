import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAptosNode } from './aptosNode.ts';
import { toAptosRequest } from './aptosRoutes.ts';
import { type AptosRoute, type AptosTrouble, createAptosTroubles } from './aptosTrouble.ts';
import {
  type ScriptedAptosLedger,
  type ScriptedAptosLedgerOptions,
  createScriptedAptosLedger,
} from '../ledger/scriptedAptosLedger.ts';

/** A scripted ledger with a fullnode that serves it over HTTP and fails on demand. */
export interface RunningScriptedAptos extends ScriptedAptosLedger {
  /** Base URL of the REST API: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly port: number;
  /** Number of received requests, by route. */
  readonly calls: Readonly<Partial<Record<AptosRoute, number>>>;
  /** Adds a trouble. Earlier troubles stay active. */
  trouble(trouble: AptosTrouble): void;
  /** Ends all troubles. */
  heal(): void;
  /** Closes every connection and frees the port. */
  stop(): Promise<void>;
}

export interface StartScriptedAptosOptions extends ScriptedAptosLedgerOptions {
  /**
   * Ledger to serve. Several nodes can serve one ledger, each with its own troubles. Default: a new
   * ledger with these options.
   */
  ledger?: ScriptedAptosLedger;
  /** Default: a free port. */
  port?: number;
}

/** Starts a scripted fullnode on 127.0.0.1. */
export async function startScriptedAptos(
  options: StartScriptedAptosOptions = {},
): Promise<RunningScriptedAptos> {
  const ledger = options.ledger ?? createScriptedAptosLedger(options);
  const troubles = createAptosTroubles();
  const node = createAptosNode({ ledger, troubles });

  const server = createServer((request, response) => {
    const answer = node.answer(toAptosRequest(request.url ?? ''));
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    ...ledger,
    get head() {
      return ledger.head;
    },
    get oldest() {
      return ledger.oldest;
    },
    url: `http://127.0.0.1:${port}/v1`,
    port,
    calls: node.calls,
    trouble: troubles.add,
    heal: troubles.heal,
    stop: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
