use super::*;

fn connections(all: usize, of_one: usize) -> Connections {
    let proxies = vec!["192.0.2.0/24".parse().unwrap()];
    Connections::new(Bounds { all, of_one, proxies }, Arc::default())
}

fn enter(connections: &Connections, address: &str) -> Entry {
    Places::enter(&connections.0, address.parse().unwrap())
}

fn open(connections: &Connections, address: &str) -> Open {
    match enter(connections, address) {
        Entry::Open(open) => open,
        Entry::Refused | Entry::Full => panic!("no place for {address}"),
    }
}

fn is_refused(connections: &Connections, address: &str) -> bool {
    matches!(enter(connections, address), Entry::Refused)
}

/// Whether the connection was told to end.
fn ended(open: &Open) -> bool {
    let state = open.link.state();
    match state.phase {
        Phase::Idle(rank) => !open.link.places.table().idle.contains_key(&rank),
        Phase::Busy { last } => last,
        Phase::Leaving => true,
    }
}

/// A whole request.
fn begin(open: &Open) {
    open.link.begin(open.link.request());
}

/// A request that is answered to its end.
fn serve(open: &Open) {
    begin(open);
    open.link.hand_over();
    open.link.flushed();
}

#[test]
fn an_address_has_its_share_and_proxies_and_this_machine_have_no_bound() {
    let all = connections(100, 2);
    let mut held = vec![open(&all, "198.51.100.1"), open(&all, "198.51.100.1")];
    assert!(is_refused(&all, "198.51.100.1"));
    held.push(open(&all, "198.51.100.2"));
    held.push(open(&all, "2001:db8::1"));
    held.push(open(&all, "2001:db8::ffff:2"));
    assert!(is_refused(&all, "2001:db8::3"), "a /64 is one address");
    held.push(open(&all, "2001:db8:0:1::1"));
    for proxy in ["192.0.2.7", "127.0.0.1", "::1"] {
        held.extend((0..5).map(|_| open(&all, proxy)));
    }
    held.remove(0);
    held.push(open(&all, "198.51.100.1"));
    drop(held);
    let table = all.0.table();
    assert!(table.open == 0 && table.of.is_empty() && table.idle.is_empty() && table.leaving == 0);
}

#[test]
fn strangers_make_room_before_those_who_called_and_those_before_known_clients() {
    let all = connections(4, 100);
    let [known, served, first, second] = [(); 4].map(|()| open(&all, "198.51.100.1"));
    known.link.recognise();
    serve(&known);
    serve(&served);
    for (next, connection) in [first, second, served, known].into_iter().enumerate() {
        assert!(!ended(&connection));
        assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
        assert!(ended(&connection), "number {next} was not the one to go");
        drop(connection);
        let busy = open(&all, "198.51.100.2");
        begin(&busy);
        std::mem::forget(busy);
    }
    assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full), "none is idle");
    assert_eq!(all.0.table().leaving, 0);
}

#[test]
fn a_request_protects_its_connection_once_it_has_arrived_until_its_answer_is_sent() {
    let all = connections(2, 100);
    let (arriving, busy) = (open(&all, "198.51.100.1"), open(&all, "198.51.100.1"));
    let request = arriving.link.request();
    arriving.link.hear();
    begin(&busy);
    assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
    assert!(ended(&arriving) && !ended(&busy));
    // It arrives just now: it is answered, and the connection ends afterwards.
    arriving.link.begin(request);
    assert!(arriving.link.is_busy());
    busy.link.flushed();
    assert!(busy.link.is_busy(), "its response is not complete");
    busy.link.hand_over();
    assert!(busy.link.is_busy(), "its response is not sent");
    busy.link.flushed();
    assert!(!busy.link.is_busy());
    serve(&arriving);
    arriving.link.hand_over();
    arriving.link.flushed();
    assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
    assert!(!ended(&busy), "the other one is about to go");
    drop(arriving);
    assert!(matches!(enter(&all, "198.51.100.2"), Entry::Open(_)));
}

#[test]
fn a_body_that_ends_after_its_response_or_its_connection_protects_nothing_and_upsets_no_count() {
    let all = connections(1, 100);
    let refused = open(&all, "198.51.100.1");
    let request = refused.link.request();
    refused.link.hear();
    refused.link.hand_over();
    refused.link.flushed();
    refused.link.begin(request);
    assert!(!refused.link.is_busy());
    assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
    assert!(ended(&refused));
    drop(refused);

    let gone = open(&all, "198.51.100.1");
    let (link, request) = (Arc::clone(&gone.link), gone.link.request());
    link.hear();
    drop(gone);
    link.begin(request);
    assert_eq!(all.0.table().leaving, 0);
    let idle = open(&all, "198.51.100.1");
    assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
    assert!(ended(&idle), "room is still made");
}

#[test]
fn behind_a_proxy_each_caller_has_as_many_requests_as_others_have_connections() {
    let all = connections(100, 2);
    let proxy = open(&all, "192.0.2.7");
    let mut headers = HeaderMap::new();
    headers.insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
    assert_eq!(open(&all, "198.51.100.1").link.caller(&headers).to_string(), "198.51.100.1", "anybody may send that header");
    let caller = proxy.link.caller(&headers);
    assert_eq!(caller.to_string(), "203.0.113.9");
    let turns = [proxy.link.turn(caller), proxy.link.turn(caller)];
    assert!(turns.iter().all(Result::is_ok) && proxy.link.turn(caller).is_err());
    assert!(proxy.link.turn("203.0.113.10".parse().unwrap()).is_ok());
    drop(turns);
    assert!(proxy.link.turn(caller).is_ok());
    // The proxy's own calls, such as its probes, have no bound.
    let own = proxy.link.caller(&HeaderMap::new());
    assert!([(); 9].iter().all(|()| proxy.link.turn(own).is_ok_and(|turn| turn.is_none())));
}

#[tokio::test]
async fn who_comes_while_all_are_busy_waits_for_the_first_to_become_idle() {
    let all = Arc::new(connections(1, 100));
    let busy = open(&all, "198.51.100.1");
    begin(&busy);
    let waiting = tokio::spawn({
        let all = Arc::clone(&all);
        async move { all.admit("198.51.100.2".parse().unwrap()).await.is_some() }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    busy.link.hand_over();
    busy.link.flushed();
    busy.link.told_to_end().await;
    drop(busy);
    assert!(waiting.await.unwrap());
}
