/**
 * Opens tracing as OpenTelemetry's standard variables configure it. The packages are loaded only if
 * these name a collector.
 */
import { describeError } from './log.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/**
 * @param env `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns it on,
 *   `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` off
 * @throws when a collector is named and the packages are not installed
 */
export async function openTracing(env: NodeJS.ProcessEnv, version: string): Promise<Tracing> {
  const isNamed =
    Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT']) ||
    Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
  const isOff = env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!isNamed || isOff) return NO_TRACING;
  try {
    const { createOtlpTracing } = await import('./otlpTracing.ts');
    return createOtlpTracing(env['OTEL_SERVICE_NAME'] ?? 'sluice', version);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `OTEL_EXPORTER_OTLP_ENDPOINT names a collector, and a package to send traces with is missing: ` +
        `npm install @opentelemetry/api @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-http (${describeError(error)})`,
      { cause: error },
    );
  }
}
