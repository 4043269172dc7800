/** An error that is returned in a JSON-RPC response. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** HTTP status of the response. Default: 200. */
  readonly status: number | undefined;
  /** If true, the body is the message alone. */
  readonly isPlain: boolean;

  constructor(
    code: number,
    message: string,
    data?: unknown,
    {
      status,
      isPlain = false,
    }: { status?: number | undefined; isPlain?: boolean | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
    this.isPlain = isPlain;
  }
}
