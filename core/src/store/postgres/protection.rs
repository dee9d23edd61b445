//! Whether anybody between the gateway and its database could read or change what they send each other.

use std::net::IpAddr;
use std::str::FromStr as _;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::connect::{Split, refused, split};
use crate::store::StoreError;

/// Whether everything sent to the database of this URL stays on this machine, or goes to a server whose certificate is verified.
pub(super) fn is_protected(url: &str) -> Result<bool, StoreError> {
    let Split { url, protection, root, .. } = split(url)?;
    if protection.verifies(root.as_deref()) {
        return Ok(true);
    }
    let given = Config::from_str(&url).map_err(|_| refused("it is not a URL of PostgreSQL"))?;
    // Where there are addresses, the names are not looked up.
    Ok(match given.get_hostaddrs() {
        [] => given.get_hosts().iter().all(is_here),
        addresses => addresses.iter().all(IpAddr::is_loopback),
    })
}

/// Whether a host can only be this machine.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_this_machine_only_a_verified_server_is_protected() {
        let of = |url: &str| is_protected(url).unwrap();
        for query in ["", "?sslmode=disable", "?sslmode=prefer", "?sslmode=require"] {
            for away in ["db.example", "10.0.0.1", "localhost,db.example", "localhost.example", "[2001:db8::1]"] {
                assert!(!of(&format!("postgres://g@{away}/db{query}")), "{away} {query}");
            }
            for here in ["localhost", "127.0.0.1", "127.0.0.2:5433", "[::1]", "%2Fvar%2Frun%2Fpostgresql", "localhost,127.0.0.1"] {
                assert!(of(&format!("postgres://g@{here}/db{query}")), "{here} {query}");
            }
        }
        assert!(of("postgres://g@db.example/db?sslmode=verify-full"));
        assert!(of("postgres://g@db.example/db?sslmode=require&sslrootcert=/root.pem"));
        assert!(!of("postgres://g@localhost/db?hostaddr=10.0.0.1") && of("postgres://g@db.example/db?hostaddr=127.0.0.1"));
        assert!(is_protected("postgres://g@h/db?sslmode=verify-ca").is_err());
    }
}
