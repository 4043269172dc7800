import { expectTypeOf } from 'vitest';
import type { ReceivedWebhooks, familyOfWebhook, findWebhookFamily } from './webhooks.ts';

type Family = keyof ReceivedWebhooks;

// Every family is recognized.
expectTypeOf<ReturnType<typeof familyOfWebhook>>().toEqualTypeOf<Family>();
expectTypeOf<ReturnType<typeof findWebhookFamily>>().toEqualTypeOf<Family | undefined>();
