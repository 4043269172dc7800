/** The browser and service that all parts of the benchmark share. */
import type { Client } from '@sluice/kit';
import type { Browser, Page } from 'playwright-core';
import type { Front } from './front.ts';

export interface Bench {
  browser: Browser;
  /** A page that is signed in through the proxy. */
  page: Page;
  front: Front;
  /** Client of the service behind the proxy. */
  client: Client;
  streamId: string;
}
