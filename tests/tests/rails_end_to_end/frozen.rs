//! A server that stands still while it pays, over every rail at once. It takes the time that the gateway waits before it takes "not found"
//! as proof: less than three minutes.

use railgate_tests::operators::{ADAPTERS, Frozen, freeze, gsma, mojaloop};

#[test]
fn a_server_that_stood_still_while_it_paid_sends_nothing_when_it_goes_on() {
    freeze(vec![
        Frozen { cast: ADAPTERS, payee: "msisdn:+254700000001", after: 0 },
        Frozen { cast: gsma::thorough(), payee: "business:600100", after: 0 },
        // It finds the payee, and asks for a quote.
        Frozen { cast: mojaloop::stepwise(), payee: "alias:jane", after: 2 },
    ]);
}
