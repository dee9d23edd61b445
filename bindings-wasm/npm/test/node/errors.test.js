import assert from "node:assert/strict";
import test from "node:test";
import * as errors from "railgate/client";
import { problemError, thrown } from "../../dist/problem.js";

const PROBLEM = {
  type: "/docs/problems/invalid_fields",
  title: "Some fields are not valid",
  status: 422,
  detail: "/amount is required; and 1 more problem",
  code: "invalid_fields",
  category: "validation",
  retryable: false,
  request_id: "r-1",
  errors: [
    { pointer: "/amount", code: "required", message: "is required" },
    { pointer: "/to", code: "required", message: "is required" },
  ],
};

test("a problem becomes an error of its family, with all that it says", () => {
  const error = problemError(PROBLEM);
  assert.ok(error instanceof errors.ValidationError && error instanceof errors.RailgateError && error instanceof Error);
  assert.equal(error.name, "ValidationError");
  assert.equal(error.message, PROBLEM.detail);
  assert.deepEqual([error.code, error.status, error.retryable, error.requestId], ["invalid_fields", 422, false, "r-1"]);
  assert.deepEqual(error.errors, PROBLEM.errors);
  assert.equal(error.problem, PROBLEM);
});

test("each family has its class, and a problem without a family goes by its status", () => {
  const families = {
    authorisation: errors.AuthorisationError,
    identification: errors.NotFoundError,
    business_rule: errors.BusinessRuleError,
    service_unavailable: errors.UnavailableError,
    internal: errors.InternalError,
  };
  for (const [category, kind] of Object.entries(families)) {
    assert.equal(problemError({ code: "x", category }).constructor, kind, category);
  }
  const statuses = [[401, errors.AuthorisationError], [403, errors.AuthorisationError], [404, errors.NotFoundError],
    [409, errors.BusinessRuleError], [422, errors.ValidationError], [429, errors.UnavailableError], [503, errors.UnavailableError],
    [undefined, errors.ValidationError]];
  for (const [status, kind] of statuses) assert.equal(problemError({ code: "x", status }).constructor, kind, String(status));
  assert.equal(problemError({ code: "receipt_invalid", category: "validation" }).constructor, errors.ReceiptError);
});

test("what the core throws is one of ours, and a fault of it says so", () => {
  const known = thrown(new Error(JSON.stringify(PROBLEM)));
  assert.equal(known.code, "invalid_fields");
  const cause = new WebAssembly.RuntimeError("unreachable");
  const fault = thrown(cause);
  assert.ok(fault instanceof errors.InternalError);
  assert.equal(fault.cause, cause);
  const argument = new TypeError("jws must be a string");
  assert.equal(thrown(argument), argument);
  assert.equal(thrown("a string").code, "internal");
});
