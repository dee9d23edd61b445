-- A database of schema 0023 as a gateway left it: payments of which one failed, one is reversed in part and one was not answered yet, a webhook with deliveries, an invited operator, a user with a code for a device.
-- It must open for ever; this file never changes.
--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: account; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.account (
    id bigint NOT NULL,
    debits_pending bigint NOT NULL,
    debits_posted bigint NOT NULL,
    credits_pending bigint NOT NULL,
    credits_posted bigint NOT NULL
)
WITH (fillfactor='50');


--
-- Name: allowance; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.allowance (
    client bigint NOT NULL,
    version bigint NOT NULL,
    since bigint NOT NULL
);


--
-- Name: app_user; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.app_user (
    no bigint NOT NULL,
    client bigint NOT NULL,
    created_at bigint NOT NULL,
    version bigint,
    mode smallint NOT NULL,
    status smallint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    limits text NOT NULL COLLATE pg_catalog."C",
    preferences text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: approval; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.approval (
    no bigint NOT NULL,
    asked_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    decided_at bigint,
    replaces bigint,
    client bigint NOT NULL,
    asked_by bigint NOT NULL,
    decided_by bigint NOT NULL,
    version bigint,
    act smallint NOT NULL,
    status smallint NOT NULL,
    id bytea NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    request text NOT NULL COLLATE pg_catalog."C",
    sealed bytea NOT NULL,
    reason text COLLATE pg_catalog."C",
    comment text COLLATE pg_catalog."C"
);


--
-- Name: attempt; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.attempt (
    k bigint NOT NULL,
    started_at bigint NOT NULL,
    answered_at bigint,
    provider integer NOT NULL,
    sends integer NOT NULL,
    status smallint NOT NULL
)
WITH (fillfactor='80');


--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    no bigint NOT NULL,
    at bigint NOT NULL,
    client bigint NOT NULL,
    key bigint NOT NULL,
    target bigint NOT NULL,
    action smallint NOT NULL,
    name text COLLATE pg_catalog."C",
    refused text COLLATE pg_catalog."C",
    detail text COLLATE pg_catalog."C",
    signed_by smallint
);


--
-- Name: brought; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.brought (
    id bigint NOT NULL,
    value bigint NOT NULL,
    count bigint NOT NULL
);


--
-- Name: bundle; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bundle (
    no bigint NOT NULL,
    client bigint NOT NULL,
    revision bigint NOT NULL,
    bytes bigint NOT NULL,
    steps bigint NOT NULL,
    submission bigint NOT NULL,
    report bigint NOT NULL,
    due bigint,
    owner bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint,
    tries integer NOT NULL,
    mode smallint NOT NULL,
    status smallint NOT NULL,
    publishing smallint,
    conformance smallint,
    in_sandbox boolean NOT NULL,
    in_live boolean NOT NULL,
    with_routes boolean NOT NULL,
    id bytea NOT NULL,
    digest bytea NOT NULL,
    head bytea NOT NULL,
    sealed bytea NOT NULL,
    provider text NOT NULL COLLATE pg_catalog."C",
    release text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: bundle_part; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bundle_part (
    bundle bigint NOT NULL,
    revision bigint NOT NULL,
    signed_by bigint NOT NULL,
    at bigint NOT NULL,
    n integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    content bytea NOT NULL
);


--
-- Name: bundle_step; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bundle_step (
    bundle bigint NOT NULL,
    n bigint NOT NULL,
    at bigint NOT NULL,
    made_by bigint NOT NULL,
    signed_by bigint NOT NULL,
    revision bigint NOT NULL,
    kind smallint NOT NULL,
    from_status smallint NOT NULL,
    to_status smallint NOT NULL,
    comment text COLLATE pg_catalog."C",
    data text COLLATE pg_catalog."C"
);


--
-- Name: client; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.client (
    no bigint NOT NULL,
    created_at bigint NOT NULL,
    suspended boolean NOT NULL,
    id bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    webhook_secret bytea NOT NULL,
    version bigint
);


--
-- Name: clock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clock (
    client bigint NOT NULL,
    ahead bigint NOT NULL,
    stands_at bigint,
    goal bigint,
    stays boolean NOT NULL,
    stops bigint NOT NULL,
    stopped_at bigint NOT NULL,
    alarm bigint,
    since bigint NOT NULL,
    version bigint
);


--
-- Name: delivery; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.delivery (
    no bigint NOT NULL,
    endpoint bigint NOT NULL,
    due bigint,
    settlement bigint NOT NULL,
    n bigint NOT NULL,
    attempts integer NOT NULL,
    topic smallint NOT NULL,
    cause smallint NOT NULL,
    status smallint NOT NULL,
    message bytea NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C",
    last text COLLATE pg_catalog."C"
);


--
-- Name: device; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.device (
    no bigint NOT NULL,
    app_user bigint NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    version bigint,
    id bytea NOT NULL,
    label text COLLATE pg_catalog."C",
    platform text NOT NULL COLLATE pg_catalog."C",
    app_version text COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    attestation text COLLATE pg_catalog."C"
);


--
-- Name: device_code; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.device_code (
    hash bytea NOT NULL,
    app_user bigint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: elsewhere; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.elsewhere (
    client bigint NOT NULL,
    kind smallint NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL,
    url text NOT NULL
);


--
-- Name: endpoint; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.endpoint (
    no bigint NOT NULL,
    version bigint NOT NULL,
    client bigint NOT NULL,
    topics bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    mode smallint NOT NULL,
    status smallint NOT NULL,
    id bytea NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    push text COLLATE pg_catalog."C"
);


--
-- Name: endpoint_secret; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.endpoint_secret (
    endpoint bigint NOT NULL,
    n bigint NOT NULL,
    created_at bigint NOT NULL,
    until bigint,
    sealed bytea NOT NULL,
    version bigint
);


--
-- Name: entry; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.entry (
    account bigint NOT NULL,
    n bigint NOT NULL,
    at bigint NOT NULL,
    amount bigint NOT NULL,
    balance bigint NOT NULL,
    journal bigint NOT NULL,
    code smallint,
    transfer integer NOT NULL
);


--
-- Name: event; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event (
    k bigint NOT NULL,
    at bigint NOT NULL,
    child integer NOT NULL,
    kind smallint NOT NULL,
    from_state smallint,
    to_state smallint,
    actor smallint NOT NULL,
    hash bytea NOT NULL,
    data text COLLATE pg_catalog."C"
);


--
-- Name: feed; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.feed (
    owner bigint NOT NULL,
    "position" bigint NOT NULL,
    k bigint NOT NULL,
    at bigint NOT NULL,
    leaf bigint NOT NULL
);


--
-- Name: finding; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.finding (
    run bigint NOT NULL,
    n bigint NOT NULL,
    settlement bigint NOT NULL,
    entry bigint NOT NULL,
    child integer NOT NULL,
    confidence integer NOT NULL,
    kind smallint NOT NULL,
    matched_by smallint,
    line text COLLATE pg_catalog."C"
);


--
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency (
    client bigint NOT NULL,
    settlement bigint NOT NULL,
    created_at bigint NOT NULL,
    reversal integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL,
    answer text
);


--
-- Name: invitation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invitation (
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.key (
    no bigint NOT NULL,
    client bigint NOT NULL,
    scopes bigint NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    mode smallint NOT NULL,
    algorithm smallint NOT NULL,
    status smallint NOT NULL,
    id bytea NOT NULL,
    public bytea NOT NULL,
    label text COLLATE pg_catalog."C",
    version bigint
);


--
-- Name: log_head; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.log_head (
    events bigint NOT NULL,
    owner bigint NOT NULL,
    until bigint NOT NULL,
    live bigint
)
WITH (fillfactor='50');


--
-- Name: matches; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.matches (
    run bigint NOT NULL,
    n bigint NOT NULL,
    pairs bytea NOT NULL
);


--
-- Name: meta; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);


--
-- Name: movement; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.movement (
    journal bigint NOT NULL,
    client bigint NOT NULL,
    amount bigint NOT NULL,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    mode smallint NOT NULL,
    currency smallint NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    evidence text NOT NULL COLLATE pg_catalog."C",
    previous bigint,
    terms bigint
);


--
-- Name: node; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.node (
    no bigint NOT NULL,
    host text NOT NULL,
    address text,
    version text NOT NULL,
    started_at bigint NOT NULL,
    seen_at bigint NOT NULL
);


--
-- Name: nonce; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.nonce (
    expires_at bigint NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: notification; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.notification (
    n bigint NOT NULL,
    settlement bigint NOT NULL,
    at bigint NOT NULL,
    read_at bigint,
    app_user bigint NOT NULL,
    kind smallint NOT NULL,
    unread boolean NOT NULL,
    facts text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: operator; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operator (
    no bigint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    enrolled_at bigint,
    revoked_at bigint,
    invited_by bigint NOT NULL,
    version bigint,
    role smallint NOT NULL,
    status smallint NOT NULL,
    id bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    code bytea NOT NULL
);


--
-- Name: provider; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.provider (
    no integer NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: quality; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.quality (
    owner bigint NOT NULL,
    begins_at bigint NOT NULL,
    points bigint NOT NULL,
    failures bigint NOT NULL,
    version bigint,
    provider integer NOT NULL,
    unit smallint NOT NULL,
    network smallint NOT NULL,
    is_day boolean NOT NULL,
    metric text NOT NULL COLLATE pg_catalog."C",
    app_version text NOT NULL COLLATE pg_catalog."C",
    os text NOT NULL COLLATE pg_catalog."C",
    devices bytea NOT NULL,
    sketch bytea NOT NULL
);


--
-- Name: quality_seen; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.quality_seen (
    day bigint NOT NULL,
    device bigint NOT NULL,
    version bigint,
    ids bytea NOT NULL
);


--
-- Name: queue; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.queue (
    endpoint bigint NOT NULL,
    version bigint NOT NULL,
    due bigint,
    owner bigint NOT NULL,
    added bigint,
    failing_since bigint,
    troubled boolean NOT NULL
)
WITH (fillfactor='50');


--
-- Name: railgate_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.railgate_migration (
    no integer NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    oldest integer
);


--
-- Name: reconciliation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reconciliation (
    no bigint NOT NULL,
    provider smallint NOT NULL,
    round bigint NOT NULL,
    made_by bigint NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint,
    owner bigint NOT NULL,
    until bigint NOT NULL,
    period_from bigint,
    period_to bigint,
    lines bigint NOT NULL,
    skipped bigint NOT NULL,
    by_reference bigint NOT NULL,
    by_key bigint NOT NULL,
    by_amount bigint NOT NULL,
    missing_here bigint NOT NULL,
    missing_there bigint NOT NULL,
    amount_differs bigint NOT NULL,
    duplicate_there bigint NOT NULL,
    last_settlement bigint NOT NULL,
    version bigint,
    format smallint NOT NULL,
    status smallint NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: reversal; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reversal (
    k bigint NOT NULL,
    client bigint NOT NULL,
    amount bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    completed_at bigint,
    hold integer NOT NULL,
    status smallint NOT NULL,
    reason smallint,
    needs_review boolean NOT NULL,
    reference text COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    rail_reference text COLLATE pg_catalog."C",
    failure text COLLATE pg_catalog."C"
)
WITH (fillfactor='80');


--
-- Name: review; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.review (
    k bigint NOT NULL,
    opened_at bigint NOT NULL,
    due bigint NOT NULL,
    reason smallint NOT NULL
);


--
-- Name: secret; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret (
    no bigint NOT NULL,
    created_at bigint NOT NULL,
    retired_at bigint,
    kind smallint NOT NULL,
    sealed bytea NOT NULL,
    public bytea NOT NULL,
    version bigint
);


--
-- Name: settlement; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.settlement (
    no bigint NOT NULL,
    client bigint NOT NULL,
    version bigint NOT NULL,
    amount bigint NOT NULL,
    fee bigint NOT NULL,
    reversed bigint NOT NULL,
    reversing bigint NOT NULL,
    salt bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    completed_at bigint,
    expires_at bigint,
    provider integer NOT NULL,
    attempts integer NOT NULL,
    reversals integer NOT NULL,
    transfers integer NOT NULL,
    hold integer NOT NULL,
    currency smallint NOT NULL,
    mode smallint NOT NULL,
    status smallint NOT NULL,
    needs_review boolean NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    recipient text NOT NULL COLLATE pg_catalog."C",
    head bytea NOT NULL,
    more text COLLATE pg_catalog."C",
    app_user bigint
)
WITH (fillfactor='80');


--
-- Name: setup; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.setup (
    revision bigint NOT NULL,
    at bigint NOT NULL,
    subject smallint NOT NULL,
    provider integer NOT NULL,
    document text NOT NULL COLLATE pg_catalog."C",
    secrets bytea NOT NULL,
    reason text COLLATE pg_catalog."C",
    client bigint
);


--
-- Name: sim_payment; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sim_payment (
    k bigint NOT NULL,
    received_at bigint NOT NULL,
    provider integer NOT NULL,
    received integer NOT NULL,
    decided smallint,
    code smallint
);


--
-- Name: simulator; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.simulator (
    client bigint NOT NULL,
    rate bigint NOT NULL,
    drop_answer_rate bigint NOT NULL,
    latency_ms bigint NOT NULL,
    seed bigint NOT NULL
);


--
-- Name: task; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.task (
    key bigint NOT NULL,
    settlement bigint NOT NULL,
    since bigint NOT NULL,
    owner bigint NOT NULL,
    child integer NOT NULL,
    tries integer NOT NULL,
    kind smallint NOT NULL,
    client bigint
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');


--
-- Name: tile; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tile (
    k bigint NOT NULL,
    entries bytea NOT NULL
);


--
-- Name: token; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.token (
    client bigint NOT NULL,
    key bigint NOT NULL,
    scopes bigint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    mode smallint NOT NULL,
    hash bytea NOT NULL,
    session bytea
);


--
-- Name: transfer; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.transfer (
    k bigint NOT NULL,
    debit bigint NOT NULL,
    credit bigint NOT NULL,
    amount bigint NOT NULL,
    at bigint NOT NULL,
    resolves integer NOT NULL,
    kind smallint NOT NULL,
    code smallint NOT NULL
);


--
-- Name: unbooked; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.unbooked (
    no bigint NOT NULL,
    lines bytea NOT NULL
);


--
-- Name: unlogged; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.unlogged (
    no bigint NOT NULL,
    changes bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');


--
-- Name: usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.usage (
    id bigint NOT NULL,
    value bigint NOT NULL,
    count bigint NOT NULL
);


--
-- Data for Name: account; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.account VALUES (5702, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (6278, 0, 1000000, 0, 0);
INSERT INTO public.account VALUES (6470, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (6630, 0, 1000000000, 0, 0);
INSERT INTO public.account VALUES (9062, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (12806, 0, 1000000, 0, 0);
INSERT INTO public.account VALUES (13222, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (13350, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (13446, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (14982, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (15238, 0, 1000000, 0, 0);
INSERT INTO public.account VALUES (15654, 0, 100000000, 0, 0);
INSERT INTO public.account VALUES (71236, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (71812, 0, 0, 0, 1000000);
INSERT INTO public.account VALUES (72164, 0, 0, 0, 1000000000);
INSERT INTO public.account VALUES (74596, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (78340, 0, 0, 0, 1000000);
INSERT INTO public.account VALUES (78756, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (78884, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (78980, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (80516, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (80772, 0, 0, 0, 1000000);
INSERT INTO public.account VALUES (72004, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (72005, 0, 0, 0, 0);
INSERT INTO public.account VALUES (146725, 0, 0, 0, 500);
INSERT INTO public.account VALUES (81188, 700, 2800, 0, 100000250);
INSERT INTO public.account VALUES (81189, 0, 250, 700, 2300);


--
-- Data for Name: allowance; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: app_user; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.app_user VALUES (1, 1, 1795770387508, 1, 1, 1, 'ada', '[]', '');


--
-- Data for Name: approval; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: attempt; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.attempt VALUES (131073, 1795770386613, 1795770386723, 1, 1, 4);
INSERT INTO public.attempt VALUES (196609, 1795770386923, 1795770386981, 1, 1, 4);
INSERT INTO public.attempt VALUES (262145, 1795770387068, 1795770387131, 1, 1, 5);
INSERT INTO public.attempt VALUES (327681, 1795770387241, 1795770387350, 1, 1, 2);
INSERT INTO public.attempt VALUES (393217, 1795770387321, 1795770387357, 1, 1, 5);
INSERT INTO public.attempt VALUES (393218, 1795770387365, 1795770387371, 2, 1, 4);
INSERT INTO public.attempt VALUES (458753, 1795770387530, 1795770387634, 1, 1, 4);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit VALUES (1883001728769416650, 1795770386475, 1, 1, 1, 1, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001728887905740, 1795770386588, 1, 1, 2, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729224498644, 1795770386909, 1, 1, 3, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729365007835, 1795770387043, 1, 1, 4, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729566334433, 1795770387235, 1, 1, 5, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729644977638, 1795770387310, 1, 1, 6, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729742495220, 1795770387403, 1, 1, 2, 8, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729836867066, 1795770387493, 1, 1, 1, 15, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001729852595707, 1795770387508, 1, 1, 0, 71, 'ada', NULL, '{"limits":null}', 1);
INSERT INTO public.audit VALUES (1883001729868324349, 1795770387523, 1, 1, 7, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001730306526278, 1795770387941, 0, 0, 0, 60, 'opr_01M8E433F5R9N919B4AB3RAQ5N', NULL, '{"name":"Ada","reason":null,"role":"agent"}', NULL);


--
-- Data for Name: brought; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bundle; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bundle_part; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bundle_step; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: client; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.client VALUES (1, 1795770386475, false, '\x01a21c41882b23dfdc2b8293d1f75736', 'Golden Bakery', '\x0100000001fba7f25f01d9125c03b95f8e5d43fcd1881f662683d42b572903ea292d48b7e3971b4f548645390829cbe8d38ed1d2a203db8a2e85af2818373abfbedb0c10d9c56ead39f2448169', NULL);


--
-- Data for Name: clock; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: delivery; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.delivery VALUES (1883001729875664384, 1, 1795770393257, 7, 1, 1, 1, 1, 1, '\x01a21c418c43c780dd11bd7a23428f68', '{"type":"settlement.accepted","timestamp":"2026-11-27T09:06:27.523Z","data":{"id":"stl_01M8E43323XSZZZ6N2R3MRCW0C","reference":"golden-3","status":"accepted","version":1,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":null,"metadata":{},"client_id":"cli_01M8E4321B4FFXRAW2JF8ZENSP","created_at":"2026-11-27T09:06:27.523Z","updated_at":"2026-11-27T09:06:27.523Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":1}}', '{"at":1795770387610,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001730036096518, 1, 1795770392895, 7, 4, 1, 13, 1, 1, '\x01a21c418cb2de092cba3d4f22dcc2e1', '{"type":"attempt.answered","timestamp":"2026-11-27T09:06:27.634Z","data":{"id":"stl_01M8E43323XSZZZ6N2R3MRCW0C","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E43323XSZZZ6N2R3MRCW0C-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E4321B4FFXRAW2JF8ZENSP","created_at":"2026-11-27T09:06:27.523Z","updated_at":"2026-11-27T09:06:27.634Z","completed_at":"2026-11-27T09:06:27.634Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":4}}', '{"at":1795770387693,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001730036096519, 1, 1795770392834, 7, 5, 1, 4, 1, 1, '\x01a21c418cb2cfd632690d3a2568e0db', '{"type":"settlement.completed","timestamp":"2026-11-27T09:06:27.634Z","data":{"id":"stl_01M8E43323XSZZZ6N2R3MRCW0C","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E43323XSZZZ6N2R3MRCW0C-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E4321B4FFXRAW2JF8ZENSP","created_at":"2026-11-27T09:06:27.523Z","updated_at":"2026-11-27T09:06:27.634Z","completed_at":"2026-11-27T09:06:27.634Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":5}}', '{"at":1795770387693,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001729951161858, 1, 1795770392036, 7, 2, 1, 2, 1, 1, '\x01a21c418c4a42ccdfa3f13352a5789d', '{"type":"settlement.submitted","timestamp":"2026-11-27T09:06:27.530Z","data":{"id":"stl_01M8E43323XSZZZ6N2R3MRCW0C","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E4321B4FFXRAW2JF8ZENSP","created_at":"2026-11-27T09:06:27.523Z","updated_at":"2026-11-27T09:06:27.530Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":2}}', '{"at":1795770387690,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001729951161859, 1, 1795770393199, 7, 3, 1, 12, 1, 1, '\x01a21c418c4a0f53cb20f394f9e84197', '{"type":"attempt.started","timestamp":"2026-11-27T09:06:27.530Z","data":{"id":"stl_01M8E43323XSZZZ6N2R3MRCW0C","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E4321B4FFXRAW2JF8ZENSP","created_at":"2026-11-27T09:06:27.523Z","updated_at":"2026-11-27T09:06:27.530Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":3}}', '{"at":1795770387690,"took_ms":0,"error":"no connection could be made to the host"}');


--
-- Data for Name: device; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: device_code; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.device_code VALUES ('\xda4e91dbf611802761c189bc8815fca7e72f54c2100ad90715d1e563f11414cb', 1, 1795770387508, 1795770987508);


--
-- Data for Name: elsewhere; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: endpoint; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint VALUES (1, 1, 1, NULL, 1795770387493, 1795770387493, 1, 1, '\x01a21c418c25a441f2880d70ac8221cb', 'http://127.0.0.1:9/hook', NULL, NULL);


--
-- Data for Name: endpoint_secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint_secret VALUES (1, 1, 1795770387493, NULL, '\x01000000013c9b650078c1d9ea6496b9c597f83fdf592ff56fbeb96888502f30fc9f2f92516dc8a8b84e1c5ae2f19a7c9340c6a69ff82f9f3ea0b9d573aaa3e963ee4c4605d676835a20905781', NULL);


--
-- Data for Name: entry; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.entry VALUES (71236, 1, 1795770386588, 100000000, 100000000, 1, 1, 12);
INSERT INTO public.entry VALUES (71812, 1, 1795770386588, 1000000, 1000000, 1, 1, 4);
INSERT INTO public.entry VALUES (72004, 1, 1795770386588, 100000000, 100000000, 1, 1, 6);
INSERT INTO public.entry VALUES (72164, 1, 1795770386588, 1000000000, 1000000000, 1, 1, 5);
INSERT INTO public.entry VALUES (74596, 1, 1795770386588, 100000000, 100000000, 1, 1, 10);
INSERT INTO public.entry VALUES (78340, 1, 1795770386588, 1000000, 1000000, 1, 1, 7);
INSERT INTO public.entry VALUES (78756, 1, 1795770386588, 100000000, 100000000, 1, 1, 3);
INSERT INTO public.entry VALUES (78884, 1, 1795770386588, 100000000, 100000000, 1, 1, 8);
INSERT INTO public.entry VALUES (78980, 1, 1795770386588, 100000000, 100000000, 1, 1, 2);
INSERT INTO public.entry VALUES (80516, 1, 1795770386588, 100000000, 100000000, 1, 1, 9);
INSERT INTO public.entry VALUES (80772, 1, 1795770386588, 1000000, 1000000, 1, 1, 11);
INSERT INTO public.entry VALUES (81188, 1, 1795770386588, 100000000, 100000000, 1, 1, 1);
INSERT INTO public.entry VALUES (81188, 2, 1795770386723, -1050, 99998950, 2, 2, 2);
INSERT INTO public.entry VALUES (81188, 3, 1795770386981, -1050, 99997900, 3, 2, 2);
INSERT INTO public.entry VALUES (81188, 4, 1795770387371, -500, 99997400, 6, 2, 4);
INSERT INTO public.entry VALUES (81188, 5, 1795770387423, 250, 99997650, 2, 4, 4);
INSERT INTO public.entry VALUES (81188, 6, 1795770387634, -200, 99997450, 7, 2, 2);


--
-- Data for Name: event; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event VALUES (131073, 1795770386588, 0, 1, NULL, 1, 1, '\x6bc80650e23dfb1acf707b4d0dac7645cc520ac88c21fddd69e20e8755e629df', NULL);
INSERT INTO public.event VALUES (131074, 1795770386613, 0, 2, 1, 2, 2, '\xc086ab894cf9fa8f8fcc303f6c1497e3a11f5e95d9d9169844078903b94e9ae1', NULL);
INSERT INTO public.event VALUES (131075, 1795770386613, 1, 12, NULL, 10, 2, '\x7fdf7fc8f1615a226b7477bbd3771ee80b84568226de326f1318b4cbc9a84d25', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (131076, 1795770386723, 1, 13, 10, 4, 3, '\xca8a129552a6a5cdb80d974c9fac3b4875af7b575c4064756bdedccaa7e8b44b', '{"answer":"completed","rail_reference":"SIM-01M8E4324WEZJAP5AW246Q69X5-1"}');
INSERT INTO public.event VALUES (131077, 1795770386723, 1, 4, 2, 4, 3, '\x3a49ec7e17f6592ad51a70aa4e85478f5e404f30723636cc10987e245e96650f', NULL);
INSERT INTO public.event VALUES (196609, 1795770386909, 0, 1, NULL, 1, 1, '\x9f2689f9351f7215a0959963a3f0dd208d3aacb0c1e17fb9e9cd675629df9678', NULL);
INSERT INTO public.event VALUES (196610, 1795770386923, 0, 2, 1, 2, 2, '\xaee7f037755e0555f272f16599609fae9cc2c65380ca4b002030d340f394abf2', NULL);
INSERT INTO public.event VALUES (196611, 1795770386923, 1, 12, NULL, 10, 2, '\x14f0163c82c9ae7b080a15f9668f504b851126155a19a215e25427ad578936aa', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (196612, 1795770386981, 1, 13, 10, 4, 3, '\xf11bb2a5e41f43b96bd98ef9f15a21b8d563c863e7f6c99dbfe110d4cb9ab11d', '{"answer":"completed","rail_reference":"SIM-01M8E432EX13JRAHH1M54K4GJ7-1"}');
INSERT INTO public.event VALUES (196613, 1795770386981, 1, 4, 2, 4, 3, '\x76700539d37158d4e36e2de2c2dbbd8eccc5346b2df071456c49b154df2e6206', NULL);
INSERT INTO public.event VALUES (262145, 1795770387043, 0, 1, NULL, 1, 1, '\x11a3b0b0d31e66f3f84b1c7204b8677100fe4089047701b04ed72f0e8abbba1e', NULL);
INSERT INTO public.event VALUES (262146, 1795770387068, 0, 2, 1, 2, 2, '\xb68ceb1e984f7b8d9d9ab2600e600129414bff9ec7f5815df98beccf1ef3b0b1', NULL);
INSERT INTO public.event VALUES (262147, 1795770387068, 1, 12, NULL, 10, 2, '\xec665d9f3ddbc8346f1c843415e2ee92f8175118e745e80a405d38c60862bbc6', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (262148, 1795770387131, 1, 13, 10, 11, 3, '\xca6b5c5164cfb2eb48a9bcb8c171d464340b8a499cd5a05f22a3526381fc58fc', '{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}');
INSERT INTO public.event VALUES (262149, 1795770387131, 1, 5, 2, 8, 3, '\x9ab9534e9d23eb92c62823177353e3d67e611f92b3b3c0dee0de70a6bb3fc41d', '{"code":"over_limit"}');
INSERT INTO public.event VALUES (327681, 1795770387235, 0, 1, NULL, 1, 1, '\xa399772da96e8b46a38f5dc69cb594afbd696b817402aa4d29450d6844084faf', NULL);
INSERT INTO public.event VALUES (327682, 1795770387241, 0, 2, 1, 2, 2, '\x7bbcd24fb50b3b144cfa65212d2554e2b4eb59041cf86a3bf3eee55c9dffbc6e', NULL);
INSERT INTO public.event VALUES (327683, 1795770387241, 1, 12, NULL, 10, 2, '\x4445e6a8199b6b012d281c82f1ac1482f98df3614dbac44197d51bafe835f0f9', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (393217, 1795770387310, 0, 1, NULL, 1, 1, '\x9df7b10888f90c889f0f18fca80ad625061054946c659d2365b5a63b7fa8f819', NULL);
INSERT INTO public.event VALUES (393218, 1795770387321, 0, 2, 1, 2, 2, '\xa23b120ee40b1f724b9e94e862c802e9da00af888c92149f894aacb5cf06067b', NULL);
INSERT INTO public.event VALUES (393219, 1795770387321, 1, 12, NULL, 10, 2, '\xbe10eb7b3f1c0792e38569830201efbede3843e5da414c6ca5ec6d3b29e5a8c1', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (327684, 1795770387350, 1, 13, 10, 1, 3, '\x6b7539d7b90fdbb230d946bb0f5adde8718d144f413a9cb52d4a42f936b222f3', '{"answer":"accepted","rail_reference":"SIM-01M8E432S3WREKSSE7A5R0B5SB-1"}');
INSERT INTO public.event VALUES (393220, 1795770387357, 1, 13, 10, 11, 3, '\x316bd7c1eea8f86933d8967793688c3d8165f2b9bc8b885c7bd86c49fbe28ff6', '{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}');
INSERT INTO public.event VALUES (393221, 1795770387365, 2, 12, NULL, 10, 2, '\x01448be3c01abd31026a26afb4f4339a7ab4cb8e9f3dc51c8113d32753946b30', '{"provider":"simulator-backup"}');
INSERT INTO public.event VALUES (393222, 1795770387371, 2, 13, 10, 4, 3, '\xf31eb0e5dc8fc3d380d85cdcc41ff65ef96a63ce627280ea1207f63a48cbe004', '{"answer":"completed","rail_reference":"SIM-01M8E432VESZBXQNJ0M1T5BRQE-2"}');
INSERT INTO public.event VALUES (393223, 1795770387371, 2, 4, 2, 4, 3, '\xb3534ed8ce236414a201b3602f891ad32d79431c6bcc2a68d5d0dd70dde6f15a', NULL);
INSERT INTO public.event VALUES (131078, 1795770387403, 1, 14, NULL, 1, 1, '\x5ee3b21dc0c3543f8621a81442925709db5f30cb835aa08b08b6ee429d677c88', '{"amount":"2.50","reversal":"rev_01M8E432YBK3QK6EW7Y7T37JPB"}');
INSERT INTO public.event VALUES (131079, 1795770387409, 1, 15, 1, 2, 2, '\xba026e459ad96e04244f3c198e38d092a678bfe8a33895696261e6f3653a1d21', '{"reversal":"rev_01M8E432YBK3QK6EW7Y7T37JPB"}');
INSERT INTO public.event VALUES (131080, 1795770387423, 1, 17, 2, 4, 3, '\xd1d3fa1e6d9548296ace878d1f68d06ddde27eaeaefcaa3726b5da9c6d155dc1', '{"answer":"completed","rail_reference":"SIM-01M8E4324WEZJAP5AW246Q69X5-R1","reversal":"rev_01M8E432YBK3QK6EW7Y7T37JPB"}');
INSERT INTO public.event VALUES (131081, 1795770387423, 1, 7, 4, 5, 3, '\x4694b7a678e175d2683c75ac0affe2db778c1919df3e45ff27a3d8bd065e4855', '{"reversal":"rev_01M8E432YBK3QK6EW7Y7T37JPB"}');
INSERT INTO public.event VALUES (458753, 1795770387523, 0, 1, NULL, 1, 1, '\xcc210112397bee09dcf4ccf9654bb06290a94dbc8884b2318985ba26aba49d12', NULL);
INSERT INTO public.event VALUES (458754, 1795770387530, 0, 2, 1, 2, 2, '\xefc22fdf9a28483183f137194d0a19af365b2d57ace5c2abe3d9da6b1b33d701', NULL);
INSERT INTO public.event VALUES (458755, 1795770387530, 1, 12, NULL, 10, 2, '\x572c63fa0db3401fd0503f80581e2c19f8d0ce9beb705d8df6a494c771d9aff9', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (458756, 1795770387634, 1, 13, 10, 4, 3, '\x5345f849e955a98735d6b44285b33478ad376cc25a9624974eed40e31fe89480', '{"answer":"completed","rail_reference":"SIM-01M8E43323XSZZZ6N2R3MRCW0C-1"}');
INSERT INTO public.event VALUES (458757, 1795770387634, 1, 4, 2, 4, 3, '\x83c56d10cc41286f5183f42736355624ed56f06df12f33ff3b2a24f2d8a2b253', NULL);


--
-- Data for Name: feed; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.feed VALUES (5, 1, 131073, 1795770386588, 0);
INSERT INTO public.feed VALUES (5, 2, 131074, 1795770386613, 1);
INSERT INTO public.feed VALUES (5, 3, 131075, 1795770386613, 2);
INSERT INTO public.feed VALUES (5, 4, 131076, 1795770386723, 3);
INSERT INTO public.feed VALUES (5, 5, 131077, 1795770386723, 4);
INSERT INTO public.feed VALUES (5, 6, 196609, 1795770386909, 5);
INSERT INTO public.feed VALUES (5, 7, 196610, 1795770386923, 6);
INSERT INTO public.feed VALUES (5, 8, 196611, 1795770386923, 7);
INSERT INTO public.feed VALUES (5, 9, 196612, 1795770386981, 8);
INSERT INTO public.feed VALUES (5, 10, 196613, 1795770386981, 9);
INSERT INTO public.feed VALUES (5, 11, 262145, 1795770387043, 10);
INSERT INTO public.feed VALUES (5, 12, 262146, 1795770387068, 11);
INSERT INTO public.feed VALUES (5, 13, 262147, 1795770387068, 12);
INSERT INTO public.feed VALUES (5, 14, 262148, 1795770387131, 13);
INSERT INTO public.feed VALUES (5, 15, 262149, 1795770387131, 14);
INSERT INTO public.feed VALUES (5, 16, 327681, 1795770387235, 15);
INSERT INTO public.feed VALUES (5, 17, 327682, 1795770387241, 16);
INSERT INTO public.feed VALUES (5, 18, 327683, 1795770387241, 17);
INSERT INTO public.feed VALUES (5, 19, 393217, 1795770387310, 18);
INSERT INTO public.feed VALUES (5, 20, 393218, 1795770387321, 19);
INSERT INTO public.feed VALUES (5, 21, 393219, 1795770387321, 20);
INSERT INTO public.feed VALUES (5, 22, 327684, 1795770387350, 21);
INSERT INTO public.feed VALUES (5, 23, 393220, 1795770387357, 22);
INSERT INTO public.feed VALUES (5, 24, 393221, 1795770387365, 23);
INSERT INTO public.feed VALUES (5, 25, 393222, 1795770387371, 24);
INSERT INTO public.feed VALUES (5, 26, 393223, 1795770387371, 25);
INSERT INTO public.feed VALUES (5, 27, 131078, 1795770387403, 26);
INSERT INTO public.feed VALUES (5, 28, 131079, 1795770387409, 27);
INSERT INTO public.feed VALUES (5, 29, 131080, 1795770387423, 28);
INSERT INTO public.feed VALUES (5, 30, 131081, 1795770387423, 29);
INSERT INTO public.feed VALUES (5, 31, 458753, 1795770387523, 30);
INSERT INTO public.feed VALUES (5, 32, 458754, 1795770387530, 31);
INSERT INTO public.feed VALUES (5, 33, 458755, 1795770387530, 32);
INSERT INTO public.feed VALUES (5, 34, 458756, 1795770387634, 33);
INSERT INTO public.feed VALUES (5, 35, 458757, 1795770387634, 34);


--
-- Data for Name: finding; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES (1, 2, 1795770387403, 1, 'sandbox
01M8E432Y4969JJ50YTP92BXMB', '\x7c9ddfa3c986cb49e5e1ec60c1ca67f48442436ed6423b469790869f6bdb220e', NULL);


--
-- Data for Name: invitation; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.key VALUES (1, 1, 5631, 1795770386475, NULL, 1, 1, 1, '\xf3b50e72624acbd41e6e8dc3e2a54fcb8202f63e61470f326fcc5f97cf1c82cc', '\x04bf9f48399d7bde22e937289c24dcc19688cf15ce2987bb1a5945928ac482134671413d85074511a0c599f06f4ef55414ad301520b9dba73c551926f6edf34e85', NULL, NULL);


--
-- Data for Name: log_head; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.log_head VALUES (35, -8496943964994876271, 0, 0);


--
-- Data for Name: matches; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('id_key', '\xcfc8644fe82130f4015551d08f9310b2');
INSERT INTO public.meta VALUES ('webhook_secret_used/1', '\x');


--
-- Data for Name: movement; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: node; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: nonce; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.nonce VALUES (1795770687000, '\xd9a10a8cf73e86e1b19475ae77464543e585884ac2b8e6e90830704ee79d1de2');
INSERT INTO public.nonce VALUES (1795770687000, '\x4b438e15b32fd5ff0095922cb37ca79749355fb0bc5182f08a1c95ee7eca6168');
INSERT INTO public.nonce VALUES (1795770687000, '\x865f980af4438a5cce6326f463e035cfe542020cb71ea17a3c40c26815fa51df');
INSERT INTO public.nonce VALUES (1795770687000, '\xba525df67da641251ed8f8bf720add4e59202190c0b15fa1d583f662d49a5baf');


--
-- Data for Name: notification; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: operator; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operator VALUES (1, 1795770387941, 1796375187941, NULL, NULL, 0, NULL, 2, 1, '\x01a21c418de5c26a90a56452c7855cb5', 'Ada', '\xb3e5df633bb99cd47a73dee19b043d6d8eaf806fc35e865b9622795508058890');


--
-- Data for Name: provider; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider VALUES (1, 'simulator');
INSERT INTO public.provider VALUES (2, 'simulator-backup');
INSERT INTO public.provider VALUES (3, 'books');


--
-- Data for Name: quality; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: quality_seen; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: queue; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.queue VALUES (1, 10, 1795770392036, 0, NULL, 1795770387610, true);


--
-- Data for Name: railgate_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.railgate_migration VALUES (1, '0001_initial', '\x9ab704f285bb2ba25ad300cd68c6f72b2f49bf89f3bcfd7ad409fa9e29ac6593', 1);
INSERT INTO public.railgate_migration VALUES (2, '0002_versions', '\x06bab480ea71bf8935e1660f4cbe7460e564f5ad14f368b49a13aaaad031722b', 1);
INSERT INTO public.railgate_migration VALUES (3, '0003_lists', '\xac4466693ae9c372255d88fd183c04ff636231f1358108efb4123146d4227dc8', 1);
INSERT INTO public.railgate_migration VALUES (4, '0004_enrolment', '\x1f45e8c3d7507d2c8079e0cf1e0a96b95cf20f6ba262ff7eb4f5259bcfbe5138', 1);
INSERT INTO public.railgate_migration VALUES (5, '0005_trees', '\xaa9e2600d1eb2b4c18f779c7cbfff524187014f2a76990b3fe81d8965417a440', 5);
INSERT INTO public.railgate_migration VALUES (6, '0006_operation', '\x98e4226083b9302aa496c7ca6cc587cd3d9cddfcf18bd6f6c5064f81edfcd8f8', 6);
INSERT INTO public.railgate_migration VALUES (7, '0007_review', '\x96679c01f2a39bc8a4f74bf134358c3c95e2a78c4eead2ccc6d44cab7cf9592b', 6);
INSERT INTO public.railgate_migration VALUES (8, '0008_terms', '\xe0442cfa9012813410bcf10b3d1a3d72aabccd28185605f4e998292d314f1e28', 8);
INSERT INTO public.railgate_migration VALUES (9, '0009_simulator', '\xaf38e21efc6e971e50abc0aac67d8e7f38106ca467047d820a6c1230b9b33953', 8);
INSERT INTO public.railgate_migration VALUES (10, '0010_operators', '\xe8e42c295238d1ce82606a229e29626b9bf54763025cc44e37c9b4fcacd2a537', 8);
INSERT INTO public.railgate_migration VALUES (11, '0011_statement', '\x6b409f76a2cc8f4edfeb50a700c080c4bf870da052f542954798ca082116abec', 11);
INSERT INTO public.railgate_migration VALUES (12, '0012_answers', '\x6befab37f27f6b15d1777cde30a3783573093b27a51378d850dacf383beaf7fd', 11);
INSERT INTO public.railgate_migration VALUES (13, '0013_clock', '\xe6a7b974236bf4cdded42013a1c5b9ce2ee944e07a6a14410926b7aea75b7673', 13);
INSERT INTO public.railgate_migration VALUES (14, '0014_movement_events', '\x5be55ba08aef9196ebe9251867b379fddda7b4ec6fe3e66845866111fc930c27', 14);
INSERT INTO public.railgate_migration VALUES (15, '0015_credit_lines', '\xa36189bc1c5baae98ae8fa3900feb06a8457c58460b36e1b750c05387eed542d', 15);
INSERT INTO public.railgate_migration VALUES (16, '0016_nodes', '\x9ac548a9b9a19327906c50bfd6160eebf0941755ec810f5a6aad502e131473e2', 15);
INSERT INTO public.railgate_migration VALUES (17, '0017_reconciliation', '\x4df9e763f1dc541e27f62e54c0906c3bbad93b72ff52f37be525c237d41bee54', 17);
INSERT INTO public.railgate_migration VALUES (18, '0018_sessions', '\x8202e9c941abd35551187babc3a63b6e0e4d1f90af4707f86dc8ea0d0421c599', 18);
INSERT INTO public.railgate_migration VALUES (19, '0019_mobile', '\x8dc5313239cd81ee5701dbc9e57f16ce23186a453ea9fe03e4e9ca77a89cbad9', 19);
INSERT INTO public.railgate_migration VALUES (20, '0020_notifications', '\x30dd9b5a77b38b1f63b619e568d325c2b7e8adbf7494e0954975505fa16b89df', 20);
INSERT INTO public.railgate_migration VALUES (21, '0021_bundles', '\x8787174fbbb81431d44037b96b1f6f0cdc97f7b25faadf2ae911c34b5c35b9ae', 21);
INSERT INTO public.railgate_migration VALUES (22, '0022_cells', '\x0f8e7860085a1849eff756eb0fd6eab93bcc210ee05b4c896b7c6834f87b8601', 22);
INSERT INTO public.railgate_migration VALUES (23, '0023_quality', '\xec6219bfdbd9755187203987c360e67dd40af655cf81a480f15821f48a0905bd', 22);


--
-- Data for Name: reconciliation; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: reversal; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.reversal VALUES (131073, 1, 250, 1795770387403, 1795770387423, 1795770387423, 3, 4, NULL, false, NULL, NULL, 'SIM-01M8E4324WEZJAP5AW246Q69X5-R1', NULL);


--
-- Data for Name: review; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret VALUES (1, 1795770386228, NULL, 1, '\x0100000001e41e7e62b17116ea2171bc4c5230cc65642a707fb01b3d843d5addff1d3305955ec15aa684a7e13de8a2d14363a8101250fe9c4800273f35fddc3f8f5ae6a7b7669aa8a4bffc3224', '\x', NULL);
INSERT INTO public.secret VALUES (1, 1795770386228, NULL, 2, '\x0100000001e7f69eadf973ccb04ea5b6b6622806b3bb01bf4905a4864ab458af05fc82d402c0dd5997f1cdaf7d0f70ad3f4b146ef5fc69d5aaf4508a8ec5c8a03916c4f33bd41807d26ad5be00', '\x0401e1d3e4115ec85c5b3e166f9154bd23c27f05be9febcb6c37a74fb8e27cc88db2d0b46511ba0b81af608ad5f5987e0ea3ca7f425662df0bc9d786f988caeb59', NULL);
INSERT INTO public.secret VALUES (1, 1795770386229, NULL, 3, '\x0100000001e441332d58daf37067cf1023c8cce53d8fbe030162a842b1bbcd4531b3271a85abde3dbd46639eff06336e77427b33dda2f1daa5e14c1776b234ca91f22babb56abc59c0dbb2a4fd', '\x92fcb3a740dd3f160b6ff9e9e728554db334b83fff4a3957a3404c847b7a38be', NULL);


--
-- Data for Name: settlement; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settlement VALUES (3, 1, 5, 1050, 0, 0, 0, 692717765191, 1795770386909, 1795770386981, 1795770386981, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-2', 'sim:ok', '\x76700539d37158d4e36e2de2c2dbbd8eccc5346b2df071456c49b154df2e6206', '{"rail_reference":"SIM-01M8E432EX13JRAHH1M54K4GJ7-1"}', NULL);
INSERT INTO public.settlement VALUES (4, 1, 5, 300, 0, 0, 0, 10342303587, 1795770387043, 1795770387131, 1795770387131, NULL, 1, 1, 0, 2, 1, 404, 1, 8, false, 'golden-declined', 'sim:decline-over_limit', '\x9ab9534e9d23eb92c62823177353e3d67e611f92b3b3c0dee0de70a6bb3fc41d', '{"failure":{"code":"over_limit","rail_code":"SIM-AM14"}}', NULL);
INSERT INTO public.settlement VALUES (5, 1, 4, 700, 0, 0, 0, 349771765547, 1795770387235, 1795770387350, NULL, NULL, 1, 1, 0, 1, 1, 978, 1, 2, false, 'golden-open', 'sim:slow-30s', '\x6b7539d7b90fdbb230d946bb0f5adde8718d144f413a9cb52d4a42f936b222f3', '{"rail_reference":"SIM-01M8E432S3WREKSSE7A5R0B5SB-1"}', NULL);
INSERT INTO public.settlement VALUES (6, 1, 7, 500, 0, 0, 0, 689146553070, 1795770387310, 1795770387371, 1795770387371, NULL, 2, 2, 0, 4, 3, 978, 1, 4, false, 'golden-failover', 'sim:failover', '\xb3534ed8ce236414a201b3602f891ad32d79431c6bcc2a68d5d0dd70dde6f15a', '{"rail_reference":"SIM-01M8E432VESZBXQNJ0M1T5BRQE-2"}', NULL);
INSERT INTO public.settlement VALUES (2, 1, 9, 1050, 0, 250, 0, 73240094629, 1795770386588, 1795770387423, 1795770386723, NULL, 1, 1, 1, 4, 1, 978, 1, 5, false, 'golden-1', 'sim:ok', '\x4694b7a678e175d2683c75ac0affe2db778c1919df3e45ff27a3d8bd065e4855', '{"rail_reference":"SIM-01M8E4324WEZJAP5AW246Q69X5-1"}', NULL);
INSERT INTO public.settlement VALUES (7, 1, 5, 200, 0, 0, 0, 828551622668, 1795770387523, 1795770387634, 1795770387634, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-3', 'sim:ok', '\x83c56d10cc41286f5183f42736355624ed56f06df12f33ff3b2a24f2d8a2b253', '{"rail_reference":"SIM-01M8E43323XSZZZ6N2R3MRCW0C-1"}', NULL);


--
-- Data for Name: setup; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: sim_payment; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sim_payment VALUES (131073, 1795770386630, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (196609, 1795770386970, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (262145, 1795770387109, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (327681, 1795770387321, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (393217, 1795770387350, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (393218, 1795770387369, 2, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (163841, 1795770387419, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (458753, 1795770387592, 1, 1, NULL, NULL);


--
-- Data for Name: simulator; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: task; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.task VALUES (1883001761113791977, 5, 1795770387321, 0, 1, 0, 5, 1);
INSERT INTO public.task VALUES (1883001734929800683, 5, 1795770387350, 0, 1, 0, 2, 1);


--
-- Data for Name: tile; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tile VALUES (0, '\x29e1795b32df5c7f42580275ca7fae91067daae07a1813e1bfc6087c2bd58d03dc2e2eef58d2cd160d687d8030bd1e5c5afa6411c304387a8c64297b465119c402cfbe2b9e5f3950ba696b94fb146eef18e680c57f2fda074cf6ed0e96ac4812ce0cd136c2747ee766964788e26eb7e6469220a3dad080e375c6635dc924b57500beab060f9b5bb133124b15b2e77aa530420c9ee3cfa84592cdcea79c348980c2e2c00a6c91eb5a30b7c515c0a79e96c21df5b0d64cfd5af8a2099df97a7aba1609dd89682dc391c4884976e03ec7c4533f0646f6c5f08c3b7ac3e13f848275db8740764eeb26be5ba3afe66a3aabeaba6c728c87fdd662079747b93a6cb3f1140696ecee86149e7d9916d49e8da3f8ce6e3c344588dcd7bce4ea149564dc6db03eef1d25b29c2322112f062922ed8e7a6e3a12c16cd6ce5baf585527a1ce2087cef9050a0afaab1d7374612b1ea48b9f11098ced4798c92b319138e7898cc5c070c3a1de44ca4a66e047434c6cfb0a0723a197322a131a3cd852aac2e8bf11bc73ef2ffc4fb56f3470a2e32279b3b04adef75f1273436142897765ca5c277ce00bd11d05e6abd0013d8073968f328d6363dfd268e79309b5b1206777bce3c2993af31b524b7b8546e08ad1b94311185c4a6b1973dfbaaa74ea28cda462ba9c4bb41f143ae09bab848cb728857f58e83626a40cd49b45a9024de78f7d01e9ad6fc6f786832c0b264f8f24096a98004f0866b49708cc866d3a89229980eb77b09e742c7285b8cb40af11869976225a6a4124071269304f07dbb233f801b319ecd1eee22e57c390b552c439759a7b53bd30499d0fde90eb161063f1db9c495629f73dc868c05c37b6e53c9f4101499cfaa8be327f6980e3bea89815574f233be4fa867f2e0e9f74b268be4a0acb798747b07e160a80c2cb83b42037ad7118d4e10c6ab80ba6a79dccb08d14050f5dd0af674cc0a0b109e25c624bf269395a81f1698d8e2cf4f3f4d5ad6b9c6b517beb838ae972ec0f2dc06cfb4b5d67f29a402c39f755611de5862ad94d043949b4d22773716654744b3ba0608228c8680ac7d32a9be344c7ba21dd4c468bb9bba98875ef6d86cb7c3062f949f055f34a02f0ff4311f7373fd3f63ae7d8d97066720ee8a3d508316a5b73e1c8c28f7ac4070fc72d74184b9e2f7762b17a5e7bd152613f15dffc7c78a6724cd6976974006c2f6c9efc4eb1e920e19527d54c05a0bfd299765cf6da9e613287eb2d2db1c59943f351686bff1255e92055fa219e8aaffb7ee27fdbf466834fb7c9a351eefc3bb27188728ec594a57f5e99508905c92931475a21422142f5171d10f81ab70aa8cd9a83429e790cd617d2d4cfc046536db313b83d5ca48fdbb9de1f39fa0117ace17ab5f5a8b4001e4a5224eae090ed1d44e89ffd72b912ee540f8bd93f284f1602d1e83515bd551e299f7c8ae4f4e24006d8f613911800f83e357fc5ba5209a4a1e272eef4d65f06144526433e8566d1e409e63ccf0b337349a5043284f5ae88024bf6b685f68f53e66d97d14a610c417aa596363f67ed733817e226ff0ea5b6e324');


--
-- Data for Name: token; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.token VALUES (1, 1, 5631, 1795770386475, 1795771286475, 1, '\x97013f42b90f35503f0f31a0a7ba42ba271760f6bb41abf13a87c6b59fc6ead2', NULL);


--
-- Data for Name: transfer; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.transfer VALUES (65537, 15654, 81188, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65538, 13446, 78980, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65539, 13222, 78756, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65540, 6278, 71812, 1000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65541, 6630, 72164, 1000000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65542, 6470, 72004, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65543, 12806, 78340, 1000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65544, 13350, 78884, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65545, 14982, 80516, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65546, 9062, 74596, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65547, 15238, 80772, 1000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (65548, 5702, 71236, 100000000, 1795770386588, 0, 4, 1);
INSERT INTO public.transfer VALUES (131073, 81188, 81189, 1050, 1795770386588, 0, 1, 2);
INSERT INTO public.transfer VALUES (131074, 81188, 81189, 1050, 1795770386723, 1, 2, 2);
INSERT INTO public.transfer VALUES (196609, 81188, 81189, 1050, 1795770386909, 0, 1, 2);
INSERT INTO public.transfer VALUES (196610, 81188, 81189, 1050, 1795770386981, 1, 2, 2);
INSERT INTO public.transfer VALUES (262145, 72004, 72005, 300, 1795770387043, 0, 1, 2);
INSERT INTO public.transfer VALUES (262146, 72004, 72005, 300, 1795770387131, 1, 3, 2);
INSERT INTO public.transfer VALUES (327681, 81188, 81189, 700, 1795770387235, 0, 1, 2);
INSERT INTO public.transfer VALUES (393217, 81188, 81189, 500, 1795770387310, 0, 1, 2);
INSERT INTO public.transfer VALUES (393218, 81188, 81189, 500, 1795770387357, 1, 3, 2);
INSERT INTO public.transfer VALUES (393219, 81188, 146725, 500, 1795770387357, 0, 1, 2);
INSERT INTO public.transfer VALUES (393220, 81188, 146725, 500, 1795770387371, 3, 2, 2);
INSERT INTO public.transfer VALUES (131075, 81189, 81188, 250, 1795770387403, 0, 1, 4);
INSERT INTO public.transfer VALUES (131076, 81189, 81188, 250, 1795770387423, 3, 2, 4);
INSERT INTO public.transfer VALUES (458753, 81188, 81189, 200, 1795770387523, 0, 1, 2);
INSERT INTO public.transfer VALUES (458754, 81188, 81189, 200, 1795770387634, 1, 2, 2);


--
-- Data for Name: unbooked; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: unlogged; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: usage; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);


--
-- Name: allowance allowance_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.allowance
    ADD CONSTRAINT allowance_pkey PRIMARY KEY (client);


--
-- Name: app_user app_user_client_mode_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_client_mode_name_key UNIQUE (client, mode, name);


--
-- Name: app_user app_user_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_pkey PRIMARY KEY (no);


--
-- Name: approval approval_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_id_key UNIQUE (id);


--
-- Name: approval approval_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (no);


--
-- Name: attempt attempt_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (k);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (no);


--
-- Name: brought brought_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.brought
    ADD CONSTRAINT brought_pkey PRIMARY KEY (id);


--
-- Name: bundle bundle_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bundle
    ADD CONSTRAINT bundle_id_key UNIQUE (id);


--
-- Name: bundle_part bundle_part_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bundle_part
    ADD CONSTRAINT bundle_part_pkey PRIMARY KEY (bundle, revision, n);


--
-- Name: bundle bundle_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bundle
    ADD CONSTRAINT bundle_pkey PRIMARY KEY (no);


--
-- Name: bundle_step bundle_step_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bundle_step
    ADD CONSTRAINT bundle_step_pkey PRIMARY KEY (bundle, n);


--
-- Name: client client_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.client
    ADD CONSTRAINT client_id_key UNIQUE (id);


--
-- Name: client client_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.client
    ADD CONSTRAINT client_pkey PRIMARY KEY (no);


--
-- Name: clock clock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clock
    ADD CONSTRAINT clock_pkey PRIMARY KEY (client);


--
-- Name: delivery delivery_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (no);


--
-- Name: device_code device_code_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.device_code
    ADD CONSTRAINT device_code_pkey PRIMARY KEY (hash);


--
-- Name: device device_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.device
    ADD CONSTRAINT device_id_key UNIQUE (id);


--
-- Name: device device_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.device
    ADD CONSTRAINT device_pkey PRIMARY KEY (no);


--
-- Name: elsewhere elsewhere_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.elsewhere
    ADD CONSTRAINT elsewhere_pkey PRIMARY KEY (client, kind, reference);


--
-- Name: endpoint endpoint_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endpoint
    ADD CONSTRAINT endpoint_id_key UNIQUE (id);


--
-- Name: endpoint endpoint_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endpoint
    ADD CONSTRAINT endpoint_pkey PRIMARY KEY (no);


--
-- Name: endpoint_secret endpoint_secret_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endpoint_secret
    ADD CONSTRAINT endpoint_secret_pkey PRIMARY KEY (endpoint, n);


--
-- Name: entry entry_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (account, n);


--
-- Name: event event_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (k);


--
-- Name: feed feed_k_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_k_key UNIQUE (k);


--
-- Name: feed feed_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (owner, "position");


--
-- Name: finding finding_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_pkey PRIMARY KEY (run, n);


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (client, key);


--
-- Name: invitation invitation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (hash);


--
-- Name: key key_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key
    ADD CONSTRAINT key_id_key UNIQUE (id);


--
-- Name: key key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key
    ADD CONSTRAINT key_pkey PRIMARY KEY (no);


--
-- Name: log_head log_head_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.log_head
    ADD CONSTRAINT log_head_pkey PRIMARY KEY (events);


--
-- Name: matches matches_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.matches
    ADD CONSTRAINT matches_pkey PRIMARY KEY (run, n);


--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);


--
-- Name: movement movement_client_reference_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.movement
    ADD CONSTRAINT movement_client_reference_key UNIQUE (client, reference);


--
-- Name: movement movement_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.movement
    ADD CONSTRAINT movement_pkey PRIMARY KEY (journal);


--
-- Name: node node_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (no);


--
-- Name: nonce nonce_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nonce
    ADD CONSTRAINT nonce_pkey PRIMARY KEY (hash);


--
-- Name: notification notification_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (app_user, n);


--
-- Name: operator operator_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operator
    ADD CONSTRAINT operator_pkey PRIMARY KEY (no);


--
-- Name: provider provider_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provider
    ADD CONSTRAINT provider_id_key UNIQUE (id);


--
-- Name: provider provider_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provider
    ADD CONSTRAINT provider_pkey PRIMARY KEY (no);


--
-- Name: quality quality_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.quality
    ADD CONSTRAINT quality_pkey PRIMARY KEY (owner, metric, begins_at, unit, app_version, os, network, provider);


--
-- Name: quality_seen quality_seen_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.quality_seen
    ADD CONSTRAINT quality_seen_pkey PRIMARY KEY (day, device);


--
-- Name: queue queue_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (endpoint);


--
-- Name: railgate_migration railgate_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.railgate_migration
    ADD CONSTRAINT railgate_migration_pkey PRIMARY KEY (no);


--
-- Name: reconciliation reconciliation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reconciliation
    ADD CONSTRAINT reconciliation_pkey PRIMARY KEY (no);


--
-- Name: reconciliation reconciliation_provider_digest_round_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reconciliation
    ADD CONSTRAINT reconciliation_provider_digest_round_key UNIQUE (provider, digest, round);


--
-- Name: reversal reversal_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reversal
    ADD CONSTRAINT reversal_pkey PRIMARY KEY (k);


--
-- Name: review review_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.review
    ADD CONSTRAINT review_pkey PRIMARY KEY (k);


--
-- Name: secret secret_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret
    ADD CONSTRAINT secret_pkey PRIMARY KEY (kind, no);


--
-- Name: settlement settlement_client_reference_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settlement
    ADD CONSTRAINT settlement_client_reference_key UNIQUE (client, reference);


--
-- Name: settlement settlement_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settlement
    ADD CONSTRAINT settlement_pkey PRIMARY KEY (no);


--
-- Name: setup setup_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.setup
    ADD CONSTRAINT setup_pkey PRIMARY KEY (revision);


--
-- Name: sim_payment sim_payment_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sim_payment
    ADD CONSTRAINT sim_payment_pkey PRIMARY KEY (k);


--
-- Name: simulator simulator_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.simulator
    ADD CONSTRAINT simulator_pkey PRIMARY KEY (client);


--
-- Name: task task_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (key);


--
-- Name: tile tile_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tile
    ADD CONSTRAINT tile_pkey PRIMARY KEY (k);


--
-- Name: token token_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (hash);


--
-- Name: transfer transfer_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transfer
    ADD CONSTRAINT transfer_pkey PRIMARY KEY (k);


--
-- Name: unbooked unbooked_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.unbooked
    ADD CONSTRAINT unbooked_pkey PRIMARY KEY (no);


--
-- Name: unlogged unlogged_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.unlogged
    ADD CONSTRAINT unlogged_pkey PRIMARY KEY (no);


--
-- Name: usage usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (id);


--
-- Name: allowance_since; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX allowance_since ON public.allowance USING btree (since);


--
-- Name: approval_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX approval_status ON public.approval USING btree (status, no);


--
-- Name: audit_refused; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_refused ON public.audit USING btree (at) WHERE (refused IS NOT NULL);


--
-- Name: bundle_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX bundle_client ON public.bundle USING btree (client, mode, no);


--
-- Name: bundle_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX bundle_due ON public.bundle USING btree (due, no) WHERE (due IS NOT NULL);


--
-- Name: bundle_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX bundle_status ON public.bundle USING btree (status, no);


--
-- Name: clock_since; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX clock_since ON public.clock USING btree (since);


--
-- Name: delivery_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_due ON public.delivery USING btree (endpoint, due, no) WHERE (due IS NOT NULL);


--
-- Name: delivery_list; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_list ON public.delivery USING btree (endpoint, status, no);


--
-- Name: device_app_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX device_app_user ON public.device USING btree (app_user, no);


--
-- Name: device_code_app_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX device_code_app_user ON public.device_code USING btree (app_user, hash);


--
-- Name: device_code_expires; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX device_code_expires ON public.device_code USING btree (expires_at);


--
-- Name: endpoint_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX endpoint_client ON public.endpoint USING btree (client, mode, no) WHERE (status <> 5);


--
-- Name: finding_settlement; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX finding_settlement ON public.finding USING btree (settlement, run, n);


--
-- Name: idempotency_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);


--
-- Name: invitation_expires; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invitation_expires ON public.invitation USING btree (expires_at);


--
-- Name: key_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_client ON public.key USING btree (client, no);


--
-- Name: nonce_expires; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX nonce_expires ON public.nonce USING btree (expires_at);


--
-- Name: notification_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX notification_at ON public.notification USING btree (at);


--
-- Name: notification_unread; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX notification_unread ON public.notification USING btree (app_user, n) WHERE unread;


--
-- Name: quality_begins; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX quality_begins ON public.quality USING btree (is_day, begins_at);


--
-- Name: queue_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX queue_due ON public.queue USING btree (troubled, due, endpoint) WHERE (due IS NOT NULL);


--
-- Name: reconciliation_provider; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reconciliation_provider ON public.reconciliation USING btree (provider, no);


--
-- Name: reversal_reference; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX reversal_reference ON public.reversal USING btree (client, reference) WHERE (reference IS NOT NULL);


--
-- Name: review_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX review_due ON public.review USING btree (due, k);


--
-- Name: settlement_app_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_app_user ON public.settlement USING btree (app_user, created_at, no) WHERE (app_user IS NOT NULL);


--
-- Name: settlement_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_created ON public.settlement USING btree (client, created_at, no);


--
-- Name: settlement_ends; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_ends ON public.settlement USING btree (client, status, expires_at, no) WHERE (expires_at IS NOT NULL);


--
-- Name: settlement_expires; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_expires ON public.settlement USING btree (status, expires_at, no) WHERE (expires_at IS NOT NULL);


--
-- Name: settlement_review; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_review ON public.settlement USING btree (client, created_at, no) WHERE needs_review;


--
-- Name: task_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX task_client ON public.task USING btree (client, key) WHERE (client IS NOT NULL);


--
-- Name: token_expires; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX token_expires ON public.token USING btree (expires_at);


--
-- PostgreSQL database dump complete
--


