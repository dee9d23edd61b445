//! Faults that are built in on purpose, to show that the simulation finds them. Only tests have them: without the feature `mutations`,
//! `mutated!(…)` is `false`, and nothing of this module is there.
//!
//! ```
//! use railgate::mutation::{Mutation, with};
//! use railgate::simulation::{Plan, play};
//!
//! let found = (1..=50).find(|seed| with(Mutation::FeeNotReversed, || play(&Plan { steps: 400, ..Plan::of(*seed) }).failure.is_some()));
//! assert!(found.is_some());
//! ```

use std::cell::Cell;

use crate::lifecycle::named_enum;
use crate::store::record::{AuditAction, EventType, Record};
use crate::store::{Commit, Write};

named_enum! {
    /// A fault that the engine has while it is switched on.
    pub enum Mutation {
        /// A commit whose outcome is unknown is answered as if it had been made.
        AnswerBeforeCommit = "answer_before_commit",
        /// A commit that was made is answered before a standby has it.
        AnswerBeforeStandby = "answer_before_standby",
        /// A repeat of a call is answered before a standby has the first one.
        ReplayBeforeStandby = "replay_before_standby",
        /// A callback that comes again is answered before a standby has the first one.
        CallbackBeforeStandby = "callback_before_standby",
        /// A reversal is answered before a standby has it.
        ReversalBeforeStandby = "reversal_before_standby",
        /// A client's cancellation is answered before a standby has it.
        CancellationBeforeStandby = "cancellation_before_standby",
        /// A user's decision is answered before a standby has it.
        ConsentBeforeStandby = "consent_before_standby",
        /// Who asks for something that a second person must confirm is answered before a standby has it.
        RequestBeforeStandby = "request_before_standby",
        /// Who decides about what somebody else asked for is answered before a standby has it.
        DecisionBeforeStandby = "decision_before_standby",
        /// The answer to a movement of money comes before a standby has it.
        MovementBeforeStandby = "movement_before_standby",
        /// A clock that is put ahead is answered before a standby has it.
        ClockBeforeStandby = "clock_before_standby",
        /// Money is released although nobody knows whether it was paid.
        ReleaseOnUnknown = "release_on_unknown",
        /// The next operator is tried although nobody knows whether the last one paid.
        FailOverOnUnknown = "fail_over_on_unknown",
        /// A payment whose host died is sent again.
        ResendAfterRestart = "resend_after_restart",
        /// A reversal whose host died is sent again.
        ResendReversal = "resend_reversal",
        /// An operator that does not vouch for what it has not found is believed when it has not found something.
        NotFoundIsProof = "not_found_is_proof",
        /// What was not found is proof although the payment may still be on its way.
        NotFoundTooEarly = "not_found_too_early",
        /// What was not found is proof although the lease under which the operator was asked has ended.
        StaleLeaseAccepted = "stale_lease_accepted",
        /// Two chains of inquiries begin where one should.
        InquiredTwice = "inquired_twice",
        /// A payment is stored without the task to send it.
        LostOutboxRow = "lost_outbox_row",
        /// A used nonce is not remembered.
        ForgottenNonce = "forgotten_nonce",
        /// What an `Idempotency-Key` was used for is not remembered.
        ForgottenKey = "forgotten_key",
        /// The answer to another request under the same reference is the payment that is there.
        OtherRequestReplayed = "other_request_replayed",
        /// One minor unit more than remains can be reversed.
        RemainderOffByOne = "remainder_off_by_one",
        /// What other reversals have announced can be reversed once more.
        ReversalAboveRest = "reversal_above_rest",
        /// A payment that comes back gives back everything, also what was reversed before.
        BounceAboveRest = "bounce_above_rest",
        /// A reversal gives back nothing of the fee.
        FeeNotReversed = "fee_not_reversed",
        /// A payment that fails stays on hold.
        HoldKept = "hold_kept",
        /// A payment that fails still counts for the limits of its day.
        LimitNotGivenBack = "limit_not_given_back",
        /// A payment does not count for the limits of its day.
        LimitNotCounted = "limit_not_counted",
        /// What was reviewed can be reviewed once more.
        ReviewedTwice = "reviewed_twice",
        /// Whoever asks may also confirm.
        ConfirmedByAsker = "confirmed_by_asker",
        /// What waited for too long can still be confirmed.
        ExpiredConfirmed = "expired_confirmed",
        /// What was declined can still be confirmed.
        DeclinedConfirmed = "declined_confirmed",
        /// Nobody has to confirm anything.
        NobodyConfirms = "nobody_confirms",
        /// An operator reports what becomes of another's payments.
        ForeignCallback = "foreign_callback",
        /// A client sees the settlements of all clients.
        WrongTenant = "wrong_tenant",
        /// A credential of the sandbox shows payments with real money.
        ModesMixed = "modes_mixed",
        /// An event has no place in its client's feed.
        EventSkipped = "event_skipped",
        /// A webhook that was refused counts as delivered.
        WebhookForgotten = "webhook_forgotten",
        /// A line of a client's statement is there twice.
        StatementLineTwice = "statement_line_twice",
        /// A provider's statement that was compared is compared once more.
        StatementComparedTwice = "statement_compared_twice",
        /// What a statement says otherwise waits for nobody.
        DifferenceNotFlagged = "difference_not_flagged",
        /// A line of a statement matches whatever its amount is.
        StatementAmountIgnored = "statement_amount_ignored",
        /// A large payment of a user leaves without asking the user.
        UserNotAsked = "user_not_asked",
        /// Another user approves a payment.
        ForeignConsent = "foreign_consent",
        /// What has expired is cancelled at each stop of a clock.
        ExpiredTwice = "expired_twice",
    }
}

thread_local! {
    static ON: Cell<Option<Mutation>> = const { Cell::new(None) };
}

/// Runs something on this thread with a fault switched on.
pub fn with<T>(mutation: Mutation, run: impl FnOnce() -> T) -> T {
    struct Off(Option<Mutation>);
    impl Drop for Off {
        fn drop(&mut self) {
            ON.set(self.0);
        }
    }
    let _off = Off(ON.replace(Some(mutation)));
    run()
}

/// Whether a fault is switched on.
pub(crate) fn is_on(mutation: Mutation) -> bool {
    ON.get() == Some(mutation)
}

/// Whether a fault that is switched on answers a commit like this one before a standby has it.
pub(crate) fn is_answered_early(commit: &Commit) -> bool {
    let adds = |is: fn(&Record) -> bool| commit.writes.iter().filter_map(Write::inserted).any(is);
    let changes = |is: fn(&Record) -> bool| commit.writes.iter().any(|write| matches!(write, Write::Update { record, .. } if is(record)));
    let tells = |kinds: &[EventType]| {
        commit.writes.iter().filter_map(Write::inserted).any(|it| matches!(it, Record::Event(event) if kinds.contains(&event.kind)))
    };
    mutated!(AnswerBeforeStandby)
        || mutated!(ReversalBeforeStandby) && tells(&[EventType::ReversalAccepted])
        || mutated!(CancellationBeforeStandby) && tells(&[EventType::SettlementCancelled])
        || mutated!(ConsentBeforeStandby) && tells(&[EventType::ApprovalApproved, EventType::ApprovalDeclined])
        || mutated!(RequestBeforeStandby) && adds(|record| matches!(record, Record::Approval(_)))
        || mutated!(DecisionBeforeStandby) && changes(|record| matches!(record, Record::Approval(_)))
        || mutated!(MovementBeforeStandby) && adds(|record| matches!(record, Record::Movement(_)))
        || mutated!(ClockBeforeStandby) && adds(|it| matches!(it, Record::Audit(audit) if audit.action == AuditAction::SetClock))
}
