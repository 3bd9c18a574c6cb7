// SPDX-License-Identifier: Apache-2.0
/**
 * Errors: a class for each status code and, below it, for reasons that programs often decide by. Each has `code`, `reason` (of
 * docs/errors.md; empty for a failure of the transport), `metadata`, and `retryAfterMs`: when the call may be sent again, or null.
 */
import { status } from "@grpc/grpc-js";
import { decodeRpcMessage } from "./api.js";

export class TavolaError extends Error {
  static code = "UNKNOWN";

  constructor(message, { code, reason = "", metadata = {}, retryAfterMs = null } = {}) {
    super(message);
    this.name = this.constructor.name;
    this.code = code ?? this.constructor.code;
    this.reason = reason;
    this.metadata = metadata;
    this.retryAfterMs = retryAfterMs;
  }
}

export class InvalidArgument extends TavolaError { static code = "INVALID_ARGUMENT"; }
export class OutOfRange extends TavolaError { static code = "OUT_OF_RANGE"; }
export class NotFound extends TavolaError { static code = "NOT_FOUND"; }
export class AlreadyExists extends TavolaError { static code = "ALREADY_EXISTS"; }
export class Aborted extends TavolaError { static code = "ABORTED"; }
export class FailedPrecondition extends TavolaError { static code = "FAILED_PRECONDITION"; }
export class Unauthenticated extends TavolaError { static code = "UNAUTHENTICATED"; }
export class PermissionDenied extends TavolaError { static code = "PERMISSION_DENIED"; }
export class ResourceExhausted extends TavolaError { static code = "RESOURCE_EXHAUSTED"; }
export class Unavailable extends TavolaError { static code = "UNAVAILABLE"; }
export class DeadlineExceeded extends TavolaError { static code = "DEADLINE_EXCEEDED"; }
export class Cancelled extends TavolaError { static code = "CANCELLED"; }
export class Unimplemented extends TavolaError { static code = "UNIMPLEMENTED"; }
export class Internal extends TavolaError { static code = "INTERNAL"; }

export class TableNotFound extends NotFound {}
export class EntityNotFound extends NotFound {}
export class IndexNotFound extends NotFound {}
export class TableAlreadyExists extends AlreadyExists {}
export class EntityAlreadyExists extends AlreadyExists {}
export class IndexAlreadyExists extends AlreadyExists {}
export class BlobNotFound extends NotFound {}
export class BlobAlreadyExists extends AlreadyExists {}
/** Another entity has the value; metadata names the index and its properties. */
export class UniqueViolation extends AlreadyExists {}
/** The entity has changed, or does not match; metadata has `clause` and `actual`. */
export class ConditionNotMet extends Aborted {}
export class IndexNotReady extends FailedPrecondition {}
export class NotFreshEnough extends FailedPrecondition {}
export class PlanTooExpensive extends FailedPrecondition {}
/** The changes behind a watch's token are gone: watch without a token, then read the table. */
export class ResyncRequired extends FailedPrecondition {}
/** Another scan of the account holds a snapshot. */
export class SnapshotRunning extends FailedPrecondition {}
/** The scan held its snapshot for the longest time. */
export class SnapshotEnded extends DeadlineExceeded {}
export class ServerBusy extends ResourceExhausted {}
/** The write may or may not have happened. */
export class OutcomeUnknown extends Unavailable {}
/** A transaction that ended otherwise than as DONE; `transaction` has its timeline. */
export class TransactionFailed extends TavolaError {}
/** An operation that ended otherwise than as DONE; `operation` is its last state. */
export class OperationFailed extends TavolaError {}

export const BY_CODE = Object.fromEntries([InvalidArgument, OutOfRange, NotFound, AlreadyExists, Aborted, FailedPrecondition,
  Unauthenticated, PermissionDenied, ResourceExhausted, Unavailable, DeadlineExceeded, Cancelled, Unimplemented, Internal]
  .map((kind) => [kind.code, kind]));
export const BY_REASON = {
  TABLE_NOT_FOUND: TableNotFound,
  RESOURCE_NOT_FOUND: EntityNotFound,
  INDEX_NOT_FOUND: IndexNotFound,
  TABLE_ALREADY_EXISTS: TableAlreadyExists,
  ENTITY_ALREADY_EXISTS: EntityAlreadyExists,
  INDEX_EXISTS: IndexAlreadyExists,
  BLOB_NOT_FOUND: BlobNotFound,
  BLOB_ALREADY_EXISTS: BlobAlreadyExists,
  UNIQUE_VIOLATION: UniqueViolation,
  UPDATE_CONDITION_NOT_SATISFIED: ConditionNotMet,
  INDEX_NOT_READY: IndexNotReady,
  NOT_FRESH_ENOUGH: NotFreshEnough,
  PLAN_TOO_EXPENSIVE: PlanTooExpensive,
  RESYNC_REQUIRED: ResyncRequired,
  SNAPSHOT_RUNNING: SnapshotRunning,
  SNAPSHOT_ENDED: SnapshotEnded,
  SERVER_BUSY: ServerBusy,
  OUTCOME_UNKNOWN: OutcomeUnknown,
};
/** With these reasons nothing was done: even a call that is not harmless to repeat may be sent again. */
export const NOTHING_DONE = new Set(["SERVER_BUSY", "SERVER_DRAINING", "STORE_UNAVAILABLE", "CATALOGUE_CHANGE_BLOCKED"]);

function make(message, parts) {
  const kind = BY_REASON[parts.reason] ?? BY_CODE[parts.code] ?? TavolaError;
  return new kind(message, parts);
}

/** The error of a call that gRPC ended. */
export function errorOfCall(failed) {
  if (failed instanceof TavolaError || typeof failed.code !== "number")
    return failed;
  const parts = { code: status[failed.code], reason: "", metadata: {}, retryAfterMs: null };
  for (const bytes of failed.metadata?.get("grpc-status-details-bin") ?? [])
    for (const detail of decodeRpcMessage("Status", bytes).details)
      if (detail.type_url.endsWith("/google.rpc.ErrorInfo"))
        Object.assign(parts, pick(decodeRpcMessage("ErrorInfo", detail.value)));
      else if (detail.type_url.endsWith("/google.rpc.RetryInfo"))
        parts.retryAfterMs = milliseconds(decodeRpcMessage("RetryInfo", detail.value).retryDelay);
  return make(failed.details || parts.code, parts);
}

const pick = ({ reason, metadata }) => ({ reason, metadata });
const milliseconds = (delay) => Number(delay.seconds) * 1000 + delay.nanos / 1e6;

/** The error of a message tavola.v1.Error: of an import, a step, an operation. */
export function errorOfMessage(error) {
  return make(`${error.reason}: ${error.message}`, { code: status[error.code], reason: error.reason, metadata: error.metadata });
}
