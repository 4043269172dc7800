/**
 * Keeps one connection for each place that webhooks are sent to. It is opened when a webhook needs
 * it. Once it is lost, the next webhook opens a new one, so that addresses are checked again.
 */
import type { CertifiedKey } from './http/clientCertificate.ts';

export interface Connection {
  /** Whether it is lost or closed. */
  isClosed(): boolean;
  /** Closes it after the webhooks in flight. */
  drain(): Promise<void>;
  /** Closes it now, which fails the webhooks in flight. */
  close(): Promise<void>;
}

/** A webhook URL. Those with the same place share a connection. */
export interface Place {
  place: string;
  isTls: boolean;
}

export interface ConnectionsOptions<To extends Place, Open extends Connection> {
  open(to: To, certificate: CertifiedKey | undefined): Promise<Open>;
  /** Certificate for servers that request one. Default: none. */
  clientCertificate?: { read(): CertifiedKey | undefined } | undefined;
}

export interface Connections<To extends Place, Open extends Connection> {
  /**
   * Returns the connection to a place, and opens it if necessary.
   *
   * @returns `isNew` if the caller had to wait for it
   * @throws Error of `open`
   */
  reach(to: To): Promise<{ connection: Open; isNew: boolean }>;
  /** Closes the connections that were not used for {@link IDLE_MS}; returns their places. */
  closeIdle(): readonly string[];
  /** Closes all connections, which fails the attempts in flight. */
  close(): Promise<void>;
}

interface Entry<Open> {
  opening: Promise<Open>;
  /** The connection, once it is open. */
  connection: Open | undefined;
  /** The client certificate of the connection. */
  presented: CertifiedKey | undefined;
  usedAt: number;
}

const IDLE_MS = 60_000;

export function createConnections<To extends Place, Open extends Connection>({
  open,
  clientCertificate,
}: ConnectionsOptions<To, Open>): Connections<To, Open> {
  const entries = new Map<string, Entry<Open>>();
  let isClosed = false;

  const start = (to: To, presented: CertifiedKey | undefined): Entry<Open> => {
    const opening = open(to, presented);
    const entry: Entry<Open> = { opening, connection: undefined, presented, usedAt: 0 };
    entries.set(to.place, entry);
    opening.then(
      (connection) => (entry.connection = connection),
      () => {
        if (entries.get(to.place) === entry) entries.delete(to.place);
      },
    );
    return entry;
  };

  const retire = (entry: Entry<Open>): void =>
    void entry.opening.then((connection) => connection.drain()).catch(() => {});

  return {
    async reach(to) {
      if (isClosed) throw new Error('the service was stopped');
      const presented = to.isTls ? clientCertificate?.read() : undefined;
      let entry = entries.get(to.place);
      if (entry !== undefined && entry.presented !== presented) {
        retire(entry);
        entry = undefined;
      }
      if (entry?.connection?.isClosed() === true) entry = undefined;
      entry ??= start(to, presented);
      entry.usedAt = performance.now();
      const isNew = entry.connection === undefined;
      return { connection: await entry.opening, isNew };
    },
    closeIdle() {
      const idle = [...entries].filter(([, { usedAt }]) => performance.now() - usedAt >= IDLE_MS);
      for (const [place, entry] of idle) {
        entries.delete(place);
        retire(entry);
      }
      return idle.map(([place]) => place);
    },
    async close() {
      isClosed = true;
      const opened = [...entries.values()].map(({ opening }) => opening);
      entries.clear();
      await Promise.allSettled(opened.map(async (each) => (await each).close()));
    },
  };
}
