//! Every way to write a forbidden address, and which addresses are allowed anyway.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;

fn guard() -> Guard {
    Guard::default()
}

fn development() -> Guard {
    Guard { insecure_loopback: true, ..Guard::default() }
}

fn allowing(ranges: &[&str]) -> Guard {
    Guard { allow: ranges.iter().map(|range| Cidr::parse(range).unwrap()).collect(), ..Guard::default() }
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn urls_of_public_receivers_are_taken_apart() {
    for (url, authority, port, path) in [
        ("https://example.com", "example.com", 443, "/"),
        ("https://example.com/", "example.com", 443, "/"),
        ("HTTPS://Example.COM:443/Hook?a=b%20c&d", "example.com", 443, "/Hook?a=b%20c&d"),
        ("https://example.com?token=1", "example.com", 443, "/?token=1"),
        ("https://hooks.example.com:8443/a/../b;c=(1)/@x:y!$&'*+,~", "hooks.example.com:8443", 8443, "/a/../b;c=(1)/@x:y!$&'*+,~"),
        ("https://example.com:22/", "example.com:22", 22, "/"),
        ("https://my_hook.example.co.uk:1/", "my_hook.example.co.uk:1", 1, "/"),
        ("https://xn--mnchen-3ya.example/", "xn--mnchen-3ya.example", 443, "/"),
        ("https://127.0.0.1.example.com/", "127.0.0.1.example.com", 443, "/"),
        ("https://8.8.8.8/", "8.8.8.8", 443, "/"),
        ("https://8.8.8.8:65535/", "8.8.8.8:65535", 65535, "/"),
        ("https://[2606:4700:0:0::1111]/", "[2606:4700::1111]", 443, "/"),
        ("https://[2606:4700::1111]:444?x", "[2606:4700::1111]:444", 444, "/?x"),
    ] {
        let destination = guard().check_url(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert!(destination.https);
        assert_eq!(
            (destination.authority().as_str(), destination.port, destination.path_and_query.as_str()),
            (authority, port, path),
            "{url}"
        );
        assert_eq!(guard().check_url(&destination.to_string()), Ok(destination), "{url}");
    }
}

#[test]
fn an_address_is_refused_in_every_notation() {
    use AddressKind::{Embedded, Example, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, Shared, Unspecified};
    use GuardError::{Address, AddressForm, Character, Host, LocalName};
    for (host, why) in [
        // In canonical form.
        ("127.0.0.1", Address(Loopback)),
        ("127.255.255.254", Address(Loopback)),
        ("0.0.0.0", Address(Unspecified)),
        ("10.0.0.1", Address(Private)),
        ("172.31.255.255", Address(Private)),
        ("192.168.1.1", Address(Private)),
        ("169.254.169.254", Address(LinkLocal)),
        ("100.100.100.200", Address(Shared)),
        ("168.63.129.16", Address(Metadata)),
        ("192.0.0.192", Address(Reserved)),
        ("198.19.255.255", Address(Example)),
        ("224.0.0.1", Address(Multicast)),
        ("255.255.255.255", Address(Multicast)),
        ("240.0.0.1", Address(Reserved)),
        // Decimal, octal, hexadecimal, mixed.
        ("2130706433", AddressForm),
        ("017700000001", AddressForm),
        ("0x7f000001", AddressForm),
        ("0X7F000001", AddressForm),
        ("0x7f.0.0.1", AddressForm),
        ("0177.0.0.01", AddressForm),
        ("127.0.0.01", AddressForm),
        ("0x7f.0x0.0x0.0x1", AddressForm),
        ("169.0xfea9fe", AddressForm),
        ("0xa9fea9fe", AddressForm),
        ("0", AddressForm),
        ("0x", AddressForm),
        // Short, long and too large.
        ("127.1", AddressForm),
        ("127.0.1", AddressForm),
        ("10.1", AddressForm),
        ("127.0.0.1.1", AddressForm),
        ("127.0.0.256", AddressForm),
        ("4294967297", AddressForm),
        ("1.2.3.0x", AddressForm),
        ("example.com.1", AddressForm),
        ("8.8.010", AddressForm),
        // A dot at the end, or somewhere else.
        ("127.0.0.1.", Host),
        ("example.com.", Host),
        (".example.com", Host),
        ("example..com", Host),
        ("127..1", Host),
        (".", Host),
        // Percent-encoding, full-width digits, other dots, ligatures, circled digits.
        ("%31%32%37.0.0.1", Host),
        ("127%2e0.0.1", Host),
        ("localhos%74", Host),
        ("１２７.０.０.１", Host),
        ("127。0。0。1", Host),
        ("①②⑦.⓪.⓪.①", Host),
        ("ｌocalhost", Host),
        ("localhoſt", Host),
        ("münchen.example", Host),
        ("exam\u{ad}ple.com", Host),
        // IPv6.
        ("[::1]", Address(Loopback)),
        ("[0:0:0:0:0:0:0:1]", Address(Loopback)),
        ("[0000:0000::0001]", Address(Loopback)),
        ("[::]", Address(Unspecified)),
        ("[::ffff:127.0.0.1]", Address(Loopback)),
        ("[::ffff:7f00:1]", Address(Loopback)),
        ("[::ffff:10.0.0.1]", Address(Private)),
        ("[::ffff:8.8.8.8]", Address(Embedded)),
        ("[::ffff:0:8.8.8.8]", Address(Embedded)),
        ("[::127.0.0.1]", Address(Embedded)),
        ("[::7f00:1]", Address(Embedded)),
        ("[64:ff9b::127.0.0.1]", Address(Embedded)),
        ("[64:ff9b::a9fe:a9fe]", Address(Embedded)),
        ("[64:ff9b:1::10.0.0.1]", Address(Embedded)),
        ("[64:ff9b:1:ffff::1]", Address(Embedded)),
        ("[2002:7f00:1::]", Address(Embedded)),
        ("[2002:808:808::1]", Address(Embedded)),
        ("[2001:0:4136:e378:8000:63bf:80ff:fffe]", Address(Embedded)),
        ("[2001:10::1]", Address(Reserved)),
        ("[2001:20::1]", Address(Reserved)),
        ("[2001:2::1]", Address(Reserved)),
        ("[2001:db8::1]", Address(Example)),
        ("[3fff::1]", Address(Example)),
        ("[100::1]", Address(Reserved)),
        ("[5f00::1]", Address(Reserved)),
        ("[4000::1]", Address(Reserved)),
        ("[fc00::1]", Address(Private)),
        ("[fd00:ec2::254]", Address(Private)),
        ("[fec0::1]", Address(Private)),
        ("[fe80::1]", Address(LinkLocal)),
        ("[ff02::1]", Address(Multicast)),
        // Zones, and misleading brackets.
        ("[fe80::1%25eth0]", Host),
        ("[fe80::1%eth0]", Host),
        ("[::1%250]", Host),
        ("[127.0.0.1]", Host),
        ("[v1.x]", Host),
        ("[]", Host),
        ("[::1", Host),
        ("[::1]x", Host),
        ("[::1].example.com", Host),
        ("[[::1]]", Host),
        ("::1", GuardError::Port),
        ("x[::1]", GuardError::Port),
        // Internal names.
        ("localhost", LocalName),
        ("LOCALHOST", LocalName),
        ("a.localhost", LocalName),
        ("printer.local", LocalName),
        ("metadata.google.internal", LocalName),
        ("router.home.arpa", LocalName),
        ("intranet", LocalName),
        ("com", LocalName),
        // No host at all, or not a host.
        ("", Host),
        ("-a.example", Host),
        ("a-.example", Host),
        ("a b.example", Host),
        ("a\tb.example", Host),
        ("a\\b.example", Host),
        ("a|b.example", Host),
        ("a,b.example", Host),
        ("example.com\\", Host),
        ("example.com\0", Host),
        ("example.com/\\..", Character),
    ] {
        for url in [format!("https://{host}/hook"), format!("https://{host}")] {
            assert_eq!(guard().check_url(&url), Err(why), "{url}");
        }
    }
}

#[test]
fn what_is_no_plain_https_url_is_refused() {
    let long = format!("https://example.com/{}", "a".repeat(URL_MAX_BYTES));
    let label = format!("https://{}.com/", "a".repeat(64));
    let name = format!("https://{}com/", "a.".repeat(126));
    for (url, why) in [
        ("http://example.com/", GuardError::Scheme),
        ("http://localhost/", GuardError::Scheme),
        ("http://127.0.0.1/", GuardError::Scheme),
        ("ftp://example.com/", GuardError::Scheme),
        ("file:///etc/passwd", GuardError::Scheme),
        ("gopher://example.com/", GuardError::Scheme),
        ("https:example.com", GuardError::Scheme),
        ("https:/example.com", GuardError::Scheme),
        ("//example.com/", GuardError::Scheme),
        ("example.com", GuardError::Scheme),
        (" https://example.com/", GuardError::Scheme),
        ("\nhttps://example.com/", GuardError::Scheme),
        ("ht\ttps://example.com/", GuardError::Scheme),
        ("", GuardError::Scheme),
        ("https://user@example.com/", GuardError::UserInfo),
        ("https://user:pw@example.com/", GuardError::UserInfo),
        ("https://example.com@127.0.0.1/", GuardError::UserInfo),
        ("https://@example.com/", GuardError::UserInfo),
        ("https://example.com/#", GuardError::Fragment),
        ("https://example.com#@127.0.0.1/", GuardError::Fragment),
        ("https://example.com:0/", GuardError::Port),
        ("https://example.com:65536/", GuardError::Port),
        ("https://example.com:/", GuardError::Port),
        ("https://example.com:+80/", GuardError::Port),
        ("https://example.com:80:80/", GuardError::Port),
        ("https://example.com:8 0/", GuardError::Port),
        ("https://[2606:4700::1]:x/", GuardError::Port),
        ("https:///example.com/", GuardError::Host),
        ("https://example.com/a b", GuardError::Character),
        ("https://example.com/a\r\nHost: x", GuardError::Character),
        ("https://example.com/é", GuardError::Character),
        ("https://example.com/%zz", GuardError::Character),
        ("https://example.com/%2", GuardError::Character),
        ("https://example.com/\"", GuardError::Character),
        ("https://example.com/{id}", GuardError::Character),
        ("https://example.com/ ", GuardError::Character),
        (&long, GuardError::TooLong),
        (&label, GuardError::Host),
        (&name, GuardError::Host),
    ] {
        assert_eq!(guard().check_url(url), Err(why), "{url:?}");
    }
}

#[test]
fn a_sandbox_in_development_reaches_this_machine_and_no_other_by_http() {
    let guard = development();
    for url in ["http://localhost:3000/hook", "http://127.0.0.1", "http://[::1]:8080/", "http://app.localhost/", "https://localhost:8443/"]
    {
        let destination = guard.check_url(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(guard.check_peer(&destination, ip("127.0.0.1")), Ok(()), "{url}");
        assert_eq!(guard.check_peer(&destination, ip("::1")), Ok(()), "{url}");
        assert_eq!(guard.check_peer(&destination, ip("10.0.0.1")), Err(GuardError::Address(AddressKind::Private)), "{url}");
        let elsewhere = guard.check_peer(&destination, ip("8.8.8.8"));
        assert_eq!(elsewhere.is_ok(), destination.https, "{url}: what is not encrypted stays on this machine");
    }
    // A name that anybody can buy does not mean this machine, wherever it points.
    let destination = guard.check_url("https://example.com/").unwrap();
    for here in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(guard.check_peer(&destination, ip(here)), Err(GuardError::Address(AddressKind::Loopback)), "{here}");
    }
    assert_eq!(Guard { allow: allowing(&["127.0.0.0/8"]).allow, ..guard.clone() }.check_peer(&destination, ip("127.0.0.1")), Ok(()));
    for url in
        ["http://example.com/", "http://10.0.0.1/", "http://8.8.8.8/", "http://0.0.0.0/", "http://127.1/", "http://localhost.example.com/"]
    {
        assert!(guard.check_url(url).is_err(), "{url}");
    }
    assert_eq!(guard.check_url("https://printer.local/"), Err(GuardError::LocalName));
}

#[test]
fn ranges_that_are_allowed_are_reached_in_every_form_of_them() {
    let guard = allowing(&["10.20.0.0/16", "fd00:1::/32"]);
    for address in ["10.20.0.0", "10.20.255.255", "::ffff:10.20.1.1", "fd00:1::1", "8.8.8.8"] {
        assert_eq!(guard.check_addr(ip(address)), Ok(()), "{address}");
    }
    for address in ["10.21.0.0", "10.19.255.255", "::ffff:10.21.0.1", "::10.20.0.1", "64:ff9b::10.20.0.1", "fd00:2::1", "127.0.0.1", "::1"]
    {
        assert!(guard.check_addr(ip(address)).is_err(), "{address}");
    }
    assert!(guard.check_url("https://10.20.1.1:8443/").is_ok());
    assert!(guard.check_url("https://[::ffff:10.20.1.1]/").is_ok());
    let destination = guard.check_url("https://hooks.corp.internal/").unwrap();
    assert_eq!(guard.check_peer(&destination, ip("10.20.1.1")), Ok(()));
    assert!(guard.check_peer(&destination, ip("10.0.0.1")).is_err());
    assert_eq!(guard.check_url("http://10.20.1.1/"), Err(GuardError::Scheme), "https all the same");
    assert_eq!(allowing(&["127.0.0.0/8"]).check_url("http://127.0.0.1/"), Err(GuardError::Scheme));
}

#[test]
fn the_first_and_the_last_address_beside_each_range_are_public() {
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::",
        "2606:4700:4700::1111",
        "3ffe:ffff::",
        "3fff:1000::",
        "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ] {
        assert_eq!(guard().check_addr(ip(address)), Ok(()), "{address}");
    }
}

#[test]
fn ranges_are_read_as_they_are_written() {
    for text in ["0.0.0.0/0", "10.0.0.0/8", "10.1.2.3/32", "::/0", "fd00::/8", "2001:db8::1/128"] {
        assert_eq!(Cidr::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(Cidr::parse("10.1.2.3").unwrap().to_string(), "10.1.2.3/32");
    assert_eq!("::1".parse::<Cidr>().unwrap().to_string(), "::1/128");
    let all = (Cidr::parse("0.0.0.0/0").unwrap(), Cidr::parse("::/0").unwrap());
    assert!(all.0.contains(ip("255.1.2.3")) && !all.0.contains(ip("::1")) && !all.0.contains(ip("::ffff:1.2.3.4")));
    assert!(all.1.contains(ip("ffff::1")) && !all.1.contains(ip("1.2.3.4")));
    assert_eq!(Cidr::parse("10.1.2.3/8").unwrap_err().to_string(), "has an address inside the range: write its first address, 10.0.0.0/8");
    for (bad, why) in [
        ("", CidrError::Address),
        ("/8", CidrError::Address),
        ("10.0.0/8", CidrError::Address),
        ("example.com/8", CidrError::Address),
        ("010.0.0.0/8", CidrError::Address),
        ("10.0.0.0/", CidrError::Bits),
        ("10.0.0.0/33", CidrError::Bits),
        ("10.0.0.0/-1", CidrError::Bits),
        ("10.0.0.0/+8", CidrError::Bits),
        ("10.0.0.0/8/8", CidrError::Bits),
        ("::/129", CidrError::Bits),
        ("::/256", CidrError::Bits),
    ] {
        assert_eq!(Cidr::parse(bad), Err(why), "{bad}");
    }
}

proptest! {
    /// Every accepted URL means the same to the parser used by browsers and many servers.
    #[test]
    fn another_reader_agrees_on_the_host(
        host in "([0-9a-fxX]{1,10}|[a-z0-9_-]{1,6}|%[0-9a-f]{2}|[０-９。.])(\\.([0-9]{1,10}|0[xX][0-9a-f]{0,4}|[a-zA-Z]{2,5})){0,4}\\.?",
        port in "(:[0-9]{0,6})?",
        rest in "([/?@:\\\\#.]|%[0-9a-zA-Z]{2}|[ -~]){0,12}",
    ) {
        let text = format!("https://{host}{port}{rest}");
        // Everything is public here: what matters is which host the two parsers would connect to.
        if let Ok(destination) = allowing(&["0.0.0.0/0", "::/0"]).check_url(&text) {
            match ::url::Url::parse(&text) {
                Ok(other) => {
                    prop_assert_eq!(other.host_str().unwrap(), destination.host.to_string());
                    prop_assert_eq!(other.port_or_known_default(), Some(destination.port));
                    prop_assert_eq!(other.username(), "");
                }
                // Punycode that decodes to nothing is a name that does not exist.
                Err(error) => prop_assert!(text.to_ascii_lowercase().contains("xn--"), "{}: {}", text, error),
            }
        }
    }

    /// No text makes the parser fail unexpectedly.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}", behind in "[\\x00-\\x7f]{0,40}") {
        for url in [text.clone(), format!("https://{text}{behind}"), format!("https://[{behind}")] {
            if let Ok(destination) = guard().check_url(&url) {
                prop_assert_eq!(guard().check_url(&destination.to_string()), Ok(destination));
            }
        }
    }
}
