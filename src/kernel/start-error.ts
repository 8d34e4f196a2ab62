// SPDX-License-Identifier: Apache-2.0
// Errors of the program itself, printed on the command line; none is ever answered over HTTP.

/** Reason that the program cannot do what it was asked to, in one sentence that the operator can act on. */
export class StartError extends Error {}

/** The platform that a command speaks to does not answer. */
export class UnreachableError extends StartError {}
