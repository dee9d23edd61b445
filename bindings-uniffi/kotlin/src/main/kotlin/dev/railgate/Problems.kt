package dev.railgate

/** What went wrong, whatever the kind. */
public val GatewayException.problem: Problem
    get() = when (this) {
        is GatewayException.Invalid -> problem
        is GatewayException.Refused -> problem
        is GatewayException.Unanswered -> problem
        is GatewayException.Unsigned -> problem
        is GatewayException.NotGenuine -> problem
        is GatewayException.Storage -> problem
    }

/** Stable code: what programs should look at. */
public val GatewayException.code: String get() = problem.code

/** The same request is safe and useful to send again. */
public val GatewayException.retryable: Boolean get() = problem.retryable
