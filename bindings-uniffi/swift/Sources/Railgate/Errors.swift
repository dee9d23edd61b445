import Foundation

extension GatewayError: LocalizedError {
    /// What went wrong, whatever the kind.
    public var problem: Problem {
        switch self {
        case .invalid(let problem), .refused(let problem), .unanswered(let problem), .unsigned(let problem),
            .notGenuine(let problem), .storage(let problem):
            return problem
        }
    }

    /// Stable code: what programs should look at.
    public var code: String { problem.code }

    /// One sentence for people.
    public var message: String { problem.detail }

    /// The same call is safe and useful to make again.
    public var isRetryable: Bool { problem.retryable }

    /// Everything that is wrong with the request, and where.
    public var fieldProblems: [FieldProblem] { problem.problems }

    /// What `localizedDescription` says: the sentence for people.
    public var errorDescription: String? { message }
}

extension TransportError: LocalizedError {
    /// What `localizedDescription` says.
    public var errorDescription: String? {
        switch self {
        case .notSent(let detail), .noAnswer(let detail): return detail
        }
    }
}

extension SignerError: LocalizedError {
    /// What `localizedDescription` says.
    public var errorDescription: String? {
        switch self {
        case .unavailable(let detail): return detail
        }
    }
}
