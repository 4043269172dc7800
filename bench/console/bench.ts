/** Browser and service for all parts of the benchmark. */
import type { Client } from '@sluice/kit';
import type { Browser, Page } from 'playwright-core';
import type { Front } from './front.ts';

export interface Bench {
  browser: Browser;
  /** A page that is signed in through the front. */
  page: Page;
  front: Front;
  /** Client of the service behind the front. */
  client: Client;
  streamId: string;
}
