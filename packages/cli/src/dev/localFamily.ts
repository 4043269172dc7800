import type { Client } from '@sluice/kit';
import type { Config } from '@sluice/service';
import type { Activity } from '@sluice/testkit';

/** A local chain of one family, which is part of the service's settings. */
export interface LocalFamily {
  /** Ids of chains that start over with this run. */
  readonly freshChains: readonly string[];
  /** Entries on the start screen: name, value, and a hint. */
  readonly rows: readonly (readonly [name: string, value: string, hint?: string])[];
  /** Creates the demo stream, or updates the existing one. */
  keepDemoStream(client: Client, webhookUrl: string): Promise<void>;
  startActivity(): Activity | undefined;
  stop(): Promise<void>;
}

/** Settings and folder with which a local chain starts. */
export interface LocalNeeds {
  /** Settings of the service, to which the chain is added. */
  readonly config: Config;
  readonly folder: string;
  warn(text: string): void;
}
