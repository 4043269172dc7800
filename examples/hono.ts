/** A webhook route of a Hono app on Node. */
import { serve } from '@hono/node-server';
import { toHono } from '@sluice/kit/hono';
import { Hono } from 'hono';
import { handler } from './handler.ts';

const app = new Hono();
app.post('/webhooks', toHono(handler));
app.get('/health', (context) => context.json({ ok: true }));
serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000), hostname: '127.0.0.1' });
