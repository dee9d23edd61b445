//! Scopes: what a credential may do.

use std::fmt;

macro_rules! scopes {
    ($($(#[$doc:meta])* $variant:ident = $bit:literal $text:literal,)*) => {
        /// One permission. A route requires one; a token carries a set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope { $($(#[$doc])* $variant,)* }

        impl Scope {
            /// Every scope, in the order of the stored bits.
            pub const ALL: &'static [Scope] = &[$(Scope::$variant,)*];
            /// The scope's bit in storage. Never changes.
            pub const fn bit(self) -> u32 { match self { $(Self::$variant => 1 << $bit,)* } }
            /// The wire name. Never changes.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $text,)* } }
            /// The scope with this wire name; `None` if there is none.
            pub fn from_name(name: &str) -> Option<Self> { match name { $($text => Some(Self::$variant),)* _ => None } }
        }
    };
}

scopes! {
    /// Read settlements, their traces and reversals.
    SettlementsRead = 0 "settlements:read",
    /// Create and check settlements.
    SettlementsWrite = 1 "settlements:write",
    /// Cancel and reverse settlements.
    SettlementsReverse = 2 "settlements:reverse",
    /// Fetch receipts.
    ReceiptsRead = 3 "receipts:read",
    /// Read balances and statements.
    BalancesRead = 4 "balances:read",
    /// Read providers.
    ProvidersRead = 5 "providers:read",
    /// Read webhooks and their deliveries.
    WebhooksRead = 6 "webhooks:read",
    /// Subscribe, change, test and replay webhooks.
    WebhooksWrite = 7 "webhooks:write",
    /// Add and revoke keys.
    KeysWrite = 8 "keys:write",
    /// Everything that a phone may do for its one user.
    Mobile = 9 "mobile",
    /// Submit bundles.
    BundlesWrite = 10 "bundles:write",
    /// Review bundles.
    BundlesReview = 11 "bundles:review",
    /// Control the sandbox's simulator.
    Simulator = 12 "simulator",
    /// Change operators, their roles, and the gateway's settings. Operators only.
    Admin = 13 "admin",
    /// Read what concerns all clients. Operators only.
    OperatorRead = 14 "operator:read",
    /// Act on clients, money, providers, routes and reviews. Operators only.
    OperatorAct = 15 "operator:act",
    /// Confirm what other operators asked for. Operators only.
    OperatorApprove = 16 "operator:approve",
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ScopeSet(u32);

impl ScopeSet {
    /// The empty set.
    pub const NONE: ScopeSet = ScopeSet(0);
    /// What a client's own key may do: everything that concerns only that client.
    pub const CLIENT: ScopeSet = ScopeSet::all()
        .without(Scope::Mobile)
        .without(Scope::BundlesReview)
        .without(Scope::Admin)
        .without(Scope::OperatorRead)
        .without(Scope::OperatorAct)
        .without(Scope::OperatorApprove);

    /// The set of all scopes.
    pub const fn all() -> Self {
        let mut bits = 0;
        let mut n = 0;
        while n < Scope::ALL.len() {
            bits |= Scope::ALL[n].bit();
            n += 1;
        }
        Self(bits)
    }

    /// The set for stored bits; bits that belong to no scope are dropped.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::all().0)
    }

    /// The bits to store.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set with `scope` added.
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit())
    }

    /// The set without `scope`.
    pub const fn without(self, scope: Scope) -> Self {
        Self(self.0 & !scope.bit())
    }

    /// The scopes in both sets.
    pub const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the set contains `scope`.
    pub const fn allows(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Parses scope names separated by spaces (RFC 6749, section 3.3); `Err` with the first unknown name.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.split(' ').filter(|name| !name.is_empty()).try_fold(Self::NONE, |set, name| match Scope::from_name(name) {
            Some(scope) => Ok(set.with(scope)),
            None => Err(name.to_owned()),
        })
    }

    /// The scopes in the set, in the order of their bits.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.allows(*scope))
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, scope) in self.iter().enumerate() {
            let space = if n == 0 { "" } else { " " };
            write!(f, "{space}{}", scope.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopeSet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_round_trip_as_text_and_bits() {
        for scope in Scope::ALL {
            assert_eq!(Scope::from_name(scope.as_str()), Some(*scope));
            assert_eq!(ScopeSet::parse(scope.as_str()), Ok(ScopeSet::NONE.with(*scope)));
        }
        let all = ScopeSet::all();
        assert_eq!(ScopeSet::parse(&all.to_string()), Ok(all));
        assert_eq!(ScopeSet::from_bits(u32::MAX), all);
        assert_eq!(ScopeSet::parse("settlements:read  nothing"), Err("nothing".to_owned()));
        assert!(!ScopeSet::CLIENT.allows(Scope::Admin) && ScopeSet::CLIENT.allows(Scope::KeysWrite));
    }
}
