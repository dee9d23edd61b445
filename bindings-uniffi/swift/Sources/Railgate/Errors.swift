import Foundation

extension GatewayError: LocalizedError {
    /// The details, for any kind of error.
    public var problem: Problem {
        switch self {
        case .invalid(let problem), .refused(let problem), .unanswered(let problem), .unsigned(let problem),
            .notGenuine(let problem), .storage(let problem):
            return problem
        }
    }

    /// Stable code, for use by programs.
    public var code: String { problem.code }

    /// One sentence for people.
    public var message: String { problem.detail }

    /// It is safe and useful to make the same call again.
    public var isRetryable: Bool { problem.retryable }

    /// Provably nothing of the call was sent: it was not carried out, now or later.
    public var isNotSent: Bool { problem.notSent }

    /// All problems of the request's fields.
    public var fieldProblems: [FieldProblem] { problem.problems }

    /// The text of `localizedDescription`: the sentence for people.
    public var errorDescription: String? { message }
}

extension TransportError: LocalizedError {
    /// The text of `localizedDescription`.
    public var errorDescription: String? {
        switch self {
        case .notSent(let detail), .noAnswer(let detail): return detail
        }
    }
}

extension SignerError: LocalizedError {
    /// The text of `localizedDescription`.
    public var errorDescription: String? {
        switch self {
        case .unavailable(let detail): return detail
        }
    }
}
