import { type WebSocket, type WebSocketServer } from 'ws';
import { RpcError } from './rpcError.ts';
import type { RpcNode } from './rpcNode.ts';
import { toQuantity, toRpcHeader } from './rpcShapes.ts';
import type { ScriptedChain } from '../scriptedChain.ts';
import type { Troubles } from './trouble.ts';

export interface WebSockets {
  /** Terminates every open connection without a closing handshake. */
  drop(): void;
  /** Terminates all connections and stops announcing heads. */
  close(): void;
}

/** Serves calls on each connection and announces heads to subscribers. */
export function serveWebSockets(options: {
  server: WebSocketServer;
  chain: ScriptedChain;
  troubles: Troubles;
  node: RpcNode;
}): WebSockets {
  const { server, chain, troubles, node } = options;
  /** The connection of each subscription, by the subscription's id. */
  const subscribers = new Map<string, WebSocket>();
  let subscriptionsMade = 0;

  const methodsOf = (socket: WebSocket) => ({
    eth_subscribe: ([topic]: readonly unknown[]) => {
      if (topic !== 'newHeads') {
        throw new RpcError(-32601, `no ${JSON.stringify(topic)} subscription in eth namespace`);
      }
      subscriptionsMade += 1;
      const id = toQuantity(subscriptionsMade);
      // Subscribes after the response is sent, because a client cannot assign a head to an unknown
      // subscription.
      setImmediate(() => subscribers.set(id, socket));
      return id;
    },
    eth_unsubscribe: ([id]: readonly unknown[]) => {
      const isKnown = subscribers.delete(String(id));
      if (!isKnown) throw new RpcError(-32000, 'subscription not found');
      return true;
    },
  });

  server.on('connection', (socket) => {
    socket.on('error', () => {}); // the client has disconnected; a `close` event follows
    if (troubles.take('dropWebSockets', '')) {
      socket.terminate();
      return;
    }
    const own = methodsOf(socket);
    socket.on('message', (data: Buffer) => {
      node.answer(data.toString(), own).then(
        (answer) => answer !== 'hang' && socket.send(answer.body),
        () => socket.terminate(),
      );
    });
    socket.on('close', () => {
      for (const [id, subscriber] of subscribers) {
        if (subscriber === socket) subscribers.delete(id);
      }
    });
  });

  const stopListening = chain.onHead((block) => {
    for (const [subscription, socket] of subscribers) {
      if (troubles.take('silentHeads', 'newHeads')) continue;
      const result = troubles.distort('newHeads', toRpcHeader(block));
      const params = { subscription, result };
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }));
    }
  });

  const drop = () => {
    for (const socket of server.clients) socket.terminate();
  };
  return {
    drop,
    close: () => {
      stopListening();
      drop();
    },
  };
}
