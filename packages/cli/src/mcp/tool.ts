/** Defines tools and registers them with the server. */
import type {
  CallToolResult,
  McpServer,
  StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { isSluiceError } from '@sluice/kit';
import { cutText } from '@sluice/kit/contract';
import type { ZodType } from 'zod';
import type { Connection } from '../connection/connection.ts';
import { CommandError } from '../terminal/errors.ts';
import { toUntrusted } from './results.ts';

export interface Tool {
  name: string;
  register(server: McpServer, connection: Connection): void;
}

interface ToolParts<Input> {
  title: string;
  description: string;
  input: ZodType<Input>;
  /** Whether the tool changes streams or sends webhooks. Default: false. */
  writes?: true;
  /** Returns the result. The result must contain no secrets except in URLs, which are masked. */
  call(input: Input, connection: Connection): Promise<unknown>;
}

export const defineTool = <Input>(name: string, parts: ToolParts<Input>): Tool => ({
  name,
  register(server, connection) {
    const { title, description, input, writes = false, call } = parts;
    const config = {
      title,
      description,
      inputSchema: toInputSchema(input),
      annotations: { readOnlyHint: !writes, destructiveHint: writes, openWorldHint: true },
    };
    server.registerTool(name, config, async (given) => {
      try {
        return toResult(toUntrusted(await call(given, connection)));
      } catch (error) {
        return { ...toResult(describeFailure(error)), isError: true };
      }
    });
  },
});

const toResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** Describes an error. Marks the message as data, because it may quote untrusted values. */
function describeFailure(error: unknown): string {
  if (isSluiceError(error)) {
    const { code, message, details, retryAfterMs } = error;
    return `Failed with ${code}.\n${toUntrusted({ message, details, retryAfterMs })}`;
  }
  const { message } = error as Error;
  if (!(error instanceof CommandError)) return `Failed.\n${toUntrusted({ message })}`;
  const { code, fix } = error;
  return `Failed with ${code}.\n${toUntrusted({ message, fix })}`;
}

const MAX_ISSUES = 10;
const MAX_ISSUE_LENGTH = 300;

/**
 * Converts a schema, and limits the number and length of messages about invalid input, which may
 * quote megabytes.
 */
function toInputSchema<Input>(schema: ZodType<Input>): StandardSchemaWithJSON<unknown, Input> {
  const standard = schema['~standard'];
  const { validate, jsonSchema } = standard as typeof standard &
    StandardSchemaWithJSON<unknown, Input>['~standard'];
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      async validate(value) {
        const result = await validate(value);
        if (result.issues === undefined) return result;
        const issues = result.issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => ({
          message: cutText(message, MAX_ISSUE_LENGTH),
          path: path.map((part) =>
            cutText(String(typeof part === 'object' ? part.key : part), MAX_ISSUE_LENGTH),
          ),
        }));
        return { issues };
      },
      jsonSchema: {
        input: (options) => withoutReferences(jsonSchema.input(options)),
        output: (options) => withoutReferences(jsonSchema.output(options)),
      },
    },
  };
}

/**
 * Replaces references to components of the OpenAPI document with `{ type: 'object' }`, because the
 * schema of a tool does not contain the components.
 */
const withoutReferences = (schema: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(schema, (_, value: unknown) =>
      typeof value === 'object' && value !== null && '$ref' in value ? { type: 'object' } : value,
    ),
  ) as Record<string, unknown>;
