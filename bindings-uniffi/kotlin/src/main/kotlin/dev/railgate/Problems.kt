package dev.railgate

/** The details, for any kind of error. */
public val GatewayException.problem: Problem
    get() = when (this) {
        is GatewayException.Invalid -> problem
        is GatewayException.Refused -> problem
        is GatewayException.Unanswered -> problem
        is GatewayException.Unsigned -> problem
        is GatewayException.NotGenuine -> problem
        is GatewayException.Storage -> problem
    }

/** Stable code, for use by programs. */
public val GatewayException.code: String get() = problem.code

/** It is safe and useful to send the same request again. */
public val GatewayException.retryable: Boolean get() = problem.retryable

/** Provably nothing of the call was sent: it was not carried out, now or later. */
public val GatewayException.notSent: Boolean get() = problem.notSent
