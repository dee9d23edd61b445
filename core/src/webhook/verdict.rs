//! What a receiver's response means.

/// What happens to a delivery after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The receiver accepted it: any 2xx.
    Delivered,
    /// The receiver wants no more webhooks (410): disable the endpoint.
    Gone,
    /// The receiver did not accept it: any other status, including redirects, which are never followed.
    Failed,
    /// The receiver, a push service, will never accept it.
    Refused,
}

impl Verdict {
    /// The verdict for an HTTP status.
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Delivered,
            410 => Self::Gone,
            _ => Self::Failed,
        }
    }

    /// The verdict for an HTTP status of a push service (RFC 8030): a subscription that is not known (404) or has ended (410) is gone; what
    /// was too much (429) or is its own trouble (408, 425, 5xx) may get better; everything else will not.
    pub const fn of_push_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Delivered,
            404 | 410 => Self::Gone,
            408 | 425 | 429 | 500..=599 => Self::Failed,
            _ => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_is_tried_again_only_if_that_can_help() {
        for status in 0..=999 {
            let expected = match status {
                404 | 410 => Verdict::Gone,
                408 | 425 | 429 => Verdict::Failed,
                _ if status / 100 == 2 => Verdict::Delivered,
                _ if status / 100 == 5 => Verdict::Failed,
                _ => Verdict::Refused,
            };
            assert_eq!(Verdict::of_push_status(status), expected, "{status}");
        }
    }

    #[test]
    fn only_2xx_is_success_and_only_410_is_for_ever() {
        for status in 0..=999 {
            let expected = match status {
                410 => Verdict::Gone,
                _ if status / 100 == 2 => Verdict::Delivered,
                _ => Verdict::Failed,
            };
            assert_eq!(Verdict::of_status(status), expected, "{status}");
        }
    }
}
