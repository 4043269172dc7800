/**
 * Resolves the names of receivers, so that names whose servers are silent do not delay other names.
 *
 * The system resolver can look up only two names at once, because each lookup occupies one of the
 * threads that Node shares, and a silent name occupies it for many seconds. So it gets one name at
 * a time. A name that it has not resolved soon is also looked up by queries to the name servers,
 * which need no thread. The system resolver comes first, because it knows all settings of the
 * machine.
 */
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, isIPv4 } from 'node:net';
import { promisify } from 'node:util';
import { startDeadline } from '../../send/deadline.ts';

export type ResolveName = (hostname: string, options: LookupOptions) => Promise<LookupAddress[]>;

/** Maximum time that a caller waits for a lookup. */
export const LOOKUP_TIMEOUT_MS = 3_000;
/** Time that the system resolver has before the name servers are queried as well. */
const SYSTEM_MS = 300;

export interface NameResolverOptions {
  /** Default: the system resolver. */
  lookup?: typeof systemLookup;
  /** Default: queries the name servers of the system. */
  query?: (hostname: string) => Promise<LookupAddress[]>;
}

/**
 * Creates a function that resolves names. Requests for a name share the lookup in flight, so a
 * silent name occupies one lookup.
 *
 * @throws Error from that function: the error of the system resolver, or `ETIMEOUT`
 */
export function createNameResolver({
  lookup = systemLookup,
  query = queryNameServers,
}: NameResolverOptions = {}): ResolveName {
  const inFlight = new Map<string, Promise<LookupAddress[]>>();
  /** Lookups that wait for the system resolver, oldest first. */
  const waiting = new Set<() => void>();
  /** Time at which the running lookup of the system resolver began; undefined if none runs. */
  let busySince: number | undefined;

  const beginNext = (): void => {
    const [begin] = waiting;
    busySince = begin && performance.now();
    begin?.();
  };

  const start = (hostname: string, options: LookupOptions): Promise<LookupAddress[]> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        waiting.delete(begin);
        endDeadline();
        promisify(lookup)(hostname, { ...options, all: true })
          .then(resolve, reject)
          .finally(() => {
            clearTimeout(backup);
            beginNext();
          });
      };
      // Leaves the queue, because its callers have given up.
      const endDeadline = startDeadline(LOOKUP_TIMEOUT_MS, () => {
        waiting.delete(begin);
        reject(lookupTimeout(hostname));
      });
      const isStuck = busySince !== undefined && performance.now() - busySince > SYSTEM_MS;
      const queryServers = (): void => {
        query(hostname).then(
          (addresses) => {
            waiting.delete(begin);
            endDeadline();
            resolve(addresses);
          },
          // The system resolver may know the name anyway.
          () => {},
        );
      };
      const backup = setTimeout(queryServers, isStuck ? 0 : SYSTEM_MS);
      waiting.add(begin);
      if (busySince === undefined) beginNext();
    });

  return (hostname, options) => {
    const key = `${hostname} ${options.family} ${options.hints}`;
    let addresses = inFlight.get(key);
    if (addresses === undefined) {
      addresses = start(hostname, options).finally(() => inFlight.delete(key));
      inFlight.set(key, addresses);
    }
    return addresses;
  };
}

/** Resolves names for all receivers of this process, because they share the system resolver. */
export const resolveName = createNameResolver();

export const lookupTimeout = (hostname: string): Error =>
  Object.assign(
    new Error(`the name ${hostname} was not resolved within ${LOOKUP_TIMEOUT_MS / 1_000} s`),
    { code: 'ETIMEOUT' },
  );

const RESOLVER_FILE = '/etc/resolv.conf';
const HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env['SystemRoot']}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';

/**
 * Returns the addresses of a name in the machine's hosts file or, if it is not there, those that
 * the name servers return.
 * @throws Error if there are none
 */
async function queryNameServers(hostname: string): Promise<LookupAddress[]> {
  const inFile = findHost(await readText(HOSTS_FILE), hostname);
  if (inFile.length > 0) return inFile;
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  for (const name of namesToQuery(hostname, await readText(RESOLVER_FILE))) {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses.map(toLookupAddress);
  }
  throw lookupTimeout(hostname);
}

/** Returns the contents of a file; empty if it cannot be read. */
const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/**
 * Returns the names to query for a name, in order, with the search domains of the machine, as in
 * resolv.conf(5). Kubernetes needs them for names of services such as `app.namespace`.
 */
export function namesToQuery(hostname: string, resolverFile: string): string[] {
  if (hostname.endsWith('.')) return [hostname];
  const lines = resolverFile.split('\n').map((line) => line.trim().split(/\s+/));
  const read = (keyword: string) => lines.find(([first]) => first === keyword)?.slice(1) ?? [];
  const domains = read('search');
  const ndots = read('options').find((option) => option.startsWith('ndots:'));
  const minDots = Number(ndots?.slice('ndots:'.length) ?? 1);
  const searched = domains.map((domain) => `${hostname}.${domain}`);
  return hostname.split('.').length > minDots ? [hostname, ...searched] : [...searched, hostname];
}

function findHost(hosts: string, hostname: string): LookupAddress[] {
  const wanted = hostname.toLowerCase();
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isWanted = names.some((name) => name.toLowerCase() === wanted);
    return isWanted && isIP(address) !== 0 ? [toLookupAddress(address)] : [];
  });
}

const toLookupAddress = (address: string): LookupAddress => ({
  address,
  family: isIPv4(address) ? 4 : 6,
});
