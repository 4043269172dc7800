/**
 * Preload for `sluice serve` (`node --import`). Connects sockets for `diverted.example` to
 * 127.0.0.1 after the lookup returned an allowed address, like a name that rebinds, so only the
 * peer address reveals the diversion.
 */
import { type LookupFunction, Socket } from 'node:net';

interface Named {
  host?: string;
  lookup?: LookupFunction;
}

const connect = Socket.prototype.connect as (...args: unknown[]) => Socket;

function diverted(this: Socket, ...args: unknown[]): Socket {
  // `net.connect` passes its arguments as one normalized list.
  const [options] = (Array.isArray(args[0]) ? args[0] : args) as [Named];
  const { lookup } = options;
  if (options.host === 'diverted.example' && lookup !== undefined) {
    options.lookup = (hostname, wanted, callback) =>
      lookup(hostname, wanted, (error, address) => {
        if (error !== null) callback(error, address);
        else if (wanted.all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
        else callback(null, '127.0.0.1', 4);
      });
  }
  return connect.apply(this, args);
}

Object.assign(Socket.prototype, { connect: diverted });
