import type { RestError } from './restShapes.ts';

/** A rejected request, with the fields of its error response. */
export class RestRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly vmCode: number | null;

  constructor(status: number, code: string, message: string, vmCode: number | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.vmCode = vmCode;
  }

  toBody(): RestError {
    return { message: this.message, error_code: this.code, vm_error_code: this.vmCode };
  }
}
