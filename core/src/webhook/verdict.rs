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
}

#[cfg(test)]
mod tests {
    use super::*;

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
