/** The browser and service that each part of the benchmark measures. */
import type { Client } from '@sluice/kit';
import type { Browser, Page } from 'playwright-core';
import type { Front } from './front.ts';

export interface Bench {
  browser: Browser;
  /** Signed in, of the front. */
  page: Page;
  front: Front;
  /** Of the service behind it. */
  client: Client;
  streamId: string;
}
