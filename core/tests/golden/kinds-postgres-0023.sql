-- Two records or more of every kind in a database of schema 0023, as the store wrote them.
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

INSERT INTO public.account VALUES (15654, 0, 21, 0, 0);
INSERT INTO public.account VALUES (81188, 0, 0, 0, 7);
INSERT INTO public.account VALUES (212260, 0, 0, 0, 7);
INSERT INTO public.account VALUES (343332, 0, 0, 0, 7);


--
-- Data for Name: allowance; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.allowance VALUES (1, 1, 9);
INSERT INTO public.allowance VALUES (4294967295, 1, 5);


--
-- Data for Name: app_user; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.app_user VALUES (1, 1, 1, NULL, 1, 1, 'b', '[{"currency":"EUR","max":9,"daily_count":1,"approval_over":0}]', '');
INSERT INTO public.app_user VALUES (4294967295, 1, 1, NULL, 1, 1, 'a', '[{"currency":"EUR","max":9,"daily_count":1,"approval_over":0}]', '');


--
-- Data for Name: approval; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.approval VALUES (-1, 1, 9, NULL, NULL, 1, 1, 0, NULL, 7, 1, '\x0000000000000000000000000000000c', 'cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB', '{}', '\x00ff', NULL, NULL);
INSERT INTO public.approval VALUES (1, 1, 9, NULL, NULL, 1, 1, 0, NULL, 7, 1, '\x0000000000000000000000000000000b', 'cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB', '{}', '\x00ff', NULL, NULL);


--
-- Data for Name: attempt; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.attempt VALUES (65538, 1000, NULL, 1, 1, 1);
INSERT INTO public.attempt VALUES (131073, 1000, NULL, 1, 1, 1);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit VALUES (-1, 1000, 1, 1, 7, 7, NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 1000, 1, 1, 7, 7, NULL, NULL, NULL, NULL);


--
-- Data for Name: brought; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.brought VALUES (2099773441, 5, 1);
INSERT INTO public.brought VALUES (2099793440, 1, 1);


--
-- Data for Name: bundle; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bundle VALUES (-1, 2, 3, 1099511627776, 5, 4, 0, NULL, -1, 5, 6, NULL, 2, 1, 3, 2, 2, true, false, true, '\x0000000000000000000000000000000c', '\x0707070707070707070707070707070707070707070707070707070707070707', '\x0808080808080808080808080808080808080808080808080808080808080808', '\x0100ff', 'acme', '1.2.0');
INSERT INTO public.bundle VALUES (1, 1, 3, 1099511627776, 5, 4, 0, NULL, -1, 5, 6, NULL, 2, 1, 3, 2, 2, true, false, true, '\x0000000000000000000000000000000b', '\x0707070707070707070707070707070707070707070707070707070707070707', '\x0808080808080808080808080808080808080808080808080808080808080808', '\x0100ff', 'acme', '1.2.0');


--
-- Data for Name: bundle_part; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bundle_part VALUES (1, 1, 7, 5, 2, 'contract.pdf', '\x0909090909090909090909090909090909090909090909090909090909090909', '\x00ff25');
INSERT INTO public.bundle_part VALUES (1, 2, 7, 5, 0, 'contract.pdf', '\x0909090909090909090909090909090909090909090909090909090909090909', '\x00ff25');
INSERT INTO public.bundle_part VALUES (2, 1, 7, 5, 0, 'contract.pdf', '\x0909090909090909090909090909090909090909090909090909090909090909', '\x00ff25');


--
-- Data for Name: bundle_step; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bundle_step VALUES (1, 9, 5, 1073741826, 3, 2, 8, 3, 4, 'ü', NULL);
INSERT INTO public.bundle_step VALUES (2, 1, 5, 1073741826, 3, 2, 8, 3, 4, 'ü', NULL);


--
-- Data for Name: client; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.client VALUES (1, 0, false, '\x0000000000000000000000000000000c', 'client 1', '\x', NULL);
INSERT INTO public.client VALUES (2, 0, false, '\x0000000000000000000000000000000b', 'client 2', '\x', NULL);


--
-- Data for Name: clock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.clock VALUES (1, 86400000, NULL, NULL, false, 4096, 5, 5242881, 5, 1);
INSERT INTO public.clock VALUES (4294967295, 86400000, 6, NULL, false, 4096, 6, 6291457, 6, 1);


--
-- Data for Name: delivery; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.delivery VALUES (-1, 2, 5, 1, 1, 0, 1, 1, 1, '\x00000000000000000000000000000007', '{}', NULL);
INSERT INTO public.delivery VALUES (1, 1, NULL, 1, 1, 0, 1, 1, 1, '\x00000000000000000000000000000007', '{}', NULL);


--
-- Data for Name: device; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.device VALUES (1, 1, 1, NULL, NULL, '\x0000000000000000000000000000000c', 'mine', 'ios', NULL, 'Phone 9', NULL);
INSERT INTO public.device VALUES (200, 1, 1, NULL, NULL, '\x0000000000000000000000000000000b', 'mine', 'ios', NULL, 'Phone 9', NULL);


--
-- Data for Name: device_code; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.device_code VALUES ('\x0101010101010101010101010101010101010101010101010101010101010101', 2, 1, 6);
INSERT INTO public.device_code VALUES ('\xc8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8', 1, 1, 5);


--
-- Data for Name: elsewhere; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.elsewhere VALUES (1, 1, '', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, '', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, '', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, 'a', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, '', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, '', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, '', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, 'A', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, 'a', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, 'a', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, 'ab', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, 'ü', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 1, '􏿿', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (1, 2, 'a', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');
INSERT INTO public.elsewhere VALUES (2, 1, 'a', 'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE', 'https://a.pay.example');


--
-- Data for Name: endpoint; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint VALUES (1, 1, 1, NULL, 1000, 1000, 1, 1, '\x0000000000000000000000000000000c', 'https://shop.example/hooks', NULL, NULL);
INSERT INTO public.endpoint VALUES (2, 1, 1, NULL, 1000, 1000, 1, 1, '\x0000000000000000000000000000000b', 'https://shop.example/hooks', NULL, NULL);


--
-- Data for Name: endpoint_secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint_secret VALUES (1, 2, 1000, NULL, '\x010203', NULL);
INSERT INTO public.endpoint_secret VALUES (2, 1, 1000, NULL, '\x010203', NULL);


--
-- Data for Name: entry; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.entry VALUES (81188, 0, 5, -500, 500, 7, 2, 2);
INSERT INTO public.entry VALUES (81188, 7, 5, -500, 500, 7, 2, 2);
INSERT INTO public.entry VALUES (146724, 1, 5, -500, 500, 7, 2, 2);


--
-- Data for Name: event; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event VALUES (-393217, 1000, 0, 1, NULL, 1, 1, '\x0202020202020202020202020202020202020202020202020202020202020202', NULL);
INSERT INTO public.event VALUES (131071, 1000, 0, 1, NULL, 1, 1, '\x0202020202020202020202020202020202020202020202020202020202020202', NULL);
INSERT INTO public.event VALUES (131073, 1000, 0, 1, NULL, 1, 1, '\x0202020202020202020202020202020202020202020202020202020202020202', NULL);


--
-- Data for Name: feed; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.feed VALUES (5, 9, 65537, 1000, 8);
INSERT INTO public.feed VALUES (6, -1, 131073, 1000, -2);
INSERT INTO public.feed VALUES (6, 1, 196609, 1000, 0);
INSERT INTO public.feed VALUES (9, 1, 262145, 1000, 0);


--
-- Data for Name: finding; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.finding VALUES (1, 2, 7, -1, 0, 100, 3, 2, NULL);
INSERT INTO public.finding VALUES (2, 1, 0, -1, 0, 100, 3, NULL, '{"line":17,"direction":"outgoing","amount":1050,"currency":"EUR","at":5,"whole_day":true,"references":["R\"1"],"entry":"E"}');


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, 'a', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, 'A', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, 'a', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, 'a', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, 'ab', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, 'ü', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (1, 1, 5, 0, '􏿿', '\x0303030303030303030303030303030303030303030303030303030303030303', NULL);
INSERT INTO public.idempotency VALUES (2, 1, 4, 0, '', '\x0303030303030303030303030303030303030303030303030303030303030303', '{"a":"ü"}');


--
-- Data for Name: invitation; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.invitation VALUES (1, 6, '\x0101010101010101010101010101010101010101010101010101010101010101');
INSERT INTO public.invitation VALUES (1, 5, '\xc8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8');


--
-- Data for Name: key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.key VALUES (1, 2, 5631, 0, NULL, 1, 2, 1, '\x0202020202020202020202020202020202020202020202020202020202020202', '\x5866666666666666666666666666666666666666666666666666666666666666', NULL, NULL);
INSERT INTO public.key VALUES (4294967295, 1, 5631, 0, NULL, 1, 2, 1, '\x0101010101010101010101010101010101010101010101010101010101010101', '\x5866666666666666666666666666666666666666666666666666666666666666', NULL, NULL);


--
-- Data for Name: log_head; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.log_head VALUES (5, 0, 0, 0);
INSERT INTO public.log_head VALUES (7, 0, 0, 0);


--
-- Data for Name: matches; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.matches VALUES (1, 2, '\x00ff07');
INSERT INTO public.matches VALUES (2, 1, '\x00ff07');


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('', '\x31');
INSERT INTO public.meta VALUES ('', '\x31');
INSERT INTO public.meta VALUES ('', '\x31');
INSERT INTO public.meta VALUES ('a', '\x31');
INSERT INTO public.meta VALUES ('', '\x31');
INSERT INTO public.meta VALUES ('', '\x31');
INSERT INTO public.meta VALUES ('', '\x31');
INSERT INTO public.meta VALUES ('A', '\x31');
INSERT INTO public.meta VALUES ('a', '\x31');
INSERT INTO public.meta VALUES ('a', '\x31');
INSERT INTO public.meta VALUES ('ab', '\x31');
INSERT INTO public.meta VALUES ('ü', '\x31');
INSERT INTO public.meta VALUES ('􏿿', '\x31');


--
-- Data for Name: movement; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.movement VALUES (3, 1, 1000, 1000, 1, 2, 978, 'm-3', 'line 7 of the statement of November', NULL, NULL);
INSERT INTO public.movement VALUES (9, 1, 1000, 1000, 1, 2, 978, 'm-1', 'line 7 of the statement of November', NULL, NULL);


--
-- Data for Name: node; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.node VALUES (-1, 'pay-1', NULL, '1.2.3', 1, 5);
INSERT INTO public.node VALUES (1, 'pay-1', 'https://10.0.0.7:8443', '1.2.3', 1, 5);


--
-- Data for Name: nonce; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.nonce VALUES (6, '\x0101010101010101010101010101010101010101010101010101010101010101');
INSERT INTO public.nonce VALUES (5, '\xc8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8');


--
-- Data for Name: notification; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.notification VALUES (9, 1, 9, NULL, 1, 3, true, '{"amount":"1.00"}');
INSERT INTO public.notification VALUES (12, 1, 12, 9, 1, 3, false, '{"amount":"1.00"}');
INSERT INTO public.notification VALUES (-1, 1, -1, NULL, 2, 3, true, '{"amount":"1.00"}');


--
-- Data for Name: operator; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operator VALUES (1, 1, 9, 5, NULL, 0, NULL, 2, 2, '\x0000000000000000000000000000000c', 'Ada', '\x');
INSERT INTO public.operator VALUES (200, 1, 9, 5, NULL, 0, NULL, 2, 2, '\x0000000000000000000000000000000b', 'Ada', '\x');


--
-- Data for Name: provider; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider VALUES (1, 'q');
INSERT INTO public.provider VALUES (2, 'p');


--
-- Data for Name: quality; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.quality VALUES (5, 7, 1, 0, NULL, 0, 1, 1, false, 'a', '1', 'ios 26', '\x00000007', '\x01010e0e07000000000000000000000000000000940201');
INSERT INTO public.quality VALUES (5, 7, 1, 0, NULL, 0, 1, 1, false, 'a', '1.5', 'ios 26', '\x00000007', '\x01010e0e07000000000000000000000000000000940201');
INSERT INTO public.quality VALUES (5, 8, 1, 0, NULL, 0, 1, 1, false, 'a', '', 'ios 26', '\x00000007', '\x0101101008000000000000000000000000000000ae0201');
INSERT INTO public.quality VALUES (5, -7, 1, 0, NULL, 0, 1, 1, false, 'a.b', '1', 'ios 26', '\x00000007', '\x01010d0df9ffffffffffffffffffffffffffffff930201');
INSERT INTO public.quality VALUES (5, 1, 1, 0, NULL, 0, 1, 1, false, 'ab', '', 'ios 26', '\x00000007', '\x01010202010000000000000000000000000000000201');


--
-- Data for Name: quality_seen; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.quality_seen VALUES (-1, 7, NULL, '\x0707070707070707');
INSERT INTO public.quality_seen VALUES (1, 5, NULL, '\x0707070707070707');
INSERT INTO public.quality_seen VALUES (1, 6, NULL, '\x0707070707070707');


--
-- Data for Name: queue; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.queue VALUES (1, 1, NULL, 0, NULL, NULL, false);
INSERT INTO public.queue VALUES (2, 1, 5, 0, NULL, NULL, false);


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

INSERT INTO public.reconciliation VALUES (1, 1, 0, 0, 5, NULL, -1, 9, 1, NULL, 0, 0, 1, 2, 3, 4, 5, 6, 4294967295, 7, NULL, 1, 1, '\x0202020202020202020202020202020202020202020202020202020202020202', 'statement.csv');
INSERT INTO public.reconciliation VALUES (2, 1, 0, 0, 5, NULL, -1, 9, 1, NULL, 0, 0, 1, 2, 3, 4, 5, 6, 4294967295, 7, NULL, 1, 1, '\x0101010101010101010101010101010101010101010101010101010101010101', 'statement.csv');


--
-- Data for Name: reversal; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.reversal VALUES (131071, 1, 50, 2000, 2000, NULL, 3, 1, NULL, false, NULL, NULL, NULL, NULL);
INSERT INTO public.reversal VALUES (131073, 1, 50, 2000, 2000, NULL, 3, 1, NULL, false, 'r', NULL, NULL, NULL);


--
-- Data for Name: review; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.review VALUES (-458751, 1000, 9, 1);
INSERT INTO public.review VALUES (65536, 1000, 6, 1);
INSERT INTO public.review VALUES (65538, 1000, 5, 1);
INSERT INTO public.review VALUES (131072, 1000, 7, 1);


--
-- Data for Name: secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret VALUES (2, 0, NULL, 1, '\x010203', '\x', NULL);
INSERT INTO public.secret VALUES (1, 0, NULL, 2, '\x010203', '\x', NULL);
INSERT INTO public.secret VALUES (2, 0, NULL, 2, '\x010203', '\x', NULL);


--
-- Data for Name: settlement; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settlement VALUES (-7, 1, 1, 1050, 10, 0, 0, 78187493530, 993, 993, NULL, NULL, 1, 0, 0, 1, 1, 978, 1, 1, false, 'c', 'sim:ok', '\x0101010101010101010101010101010101010101010101010101010101010101', NULL, NULL);
INSERT INTO public.settlement VALUES (1, 1, 1, 1050, 10, 0, 0, 78187493530, 1001, 1001, NULL, NULL, 1, 0, 0, 1, 1, 978, 1, 1, false, 'b', 'sim:ok', '\x0101010101010101010101010101010101010101010101010101010101010101', NULL, NULL);
INSERT INTO public.settlement VALUES (2, 1, 1, 1050, 10, 0, 0, 78187493530, 1002, 1002, NULL, NULL, 1, 0, 0, 1, 1, 978, 1, 1, false, 'a', 'sim:ok', '\x0101010101010101010101010101010101010101010101010101010101010101', NULL, NULL);


--
-- Data for Name: setup; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.setup VALUES (1, 1000, 1, 1, '{}', '\x010203', 'a new contract', NULL);
INSERT INTO public.setup VALUES (2, 1000, 1, 1, '{}', '\x010203', 'a new contract', NULL);


--
-- Data for Name: sim_payment; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sim_payment VALUES (131071, 3000, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (131072, 3000, 1, 1, NULL, NULL);


--
-- Data for Name: simulator; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.simulator VALUES (1, 100000, 1000000, 2000, -1);
INSERT INTO public.simulator VALUES (4294967295, 100000, 1000000, 2000, 0);


--
-- Data for Name: task; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.task VALUES (-5242879, 1, -5, 0, 0, 0, 1, NULL);
INSERT INTO public.task VALUES (5242880, 1, 5, 0, 0, 0, 1, NULL);
INSERT INTO public.task VALUES (5242881, 1, 5, 0, 0, 0, 1, NULL);


--
-- Data for Name: tile; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tile VALUES (7, '\x0404040404040404040404040404040404040404040404040404040404040404');
INSERT INTO public.tile VALUES (72057594037927936, '\x0404040404040404040404040404040404040404040404040404040404040404');
INSERT INTO public.tile VALUES (4539628424389459969, '\x0404040404040404040404040404040404040404040404040404040404040404');


--
-- Data for Name: token; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.token VALUES (1, 1, 5631, 0, 6, 2, '\x0101010101010101010101010101010101010101010101010101010101010101', NULL);
INSERT INTO public.token VALUES (1, 1, 5631, 0, 5, 2, '\xc8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8', NULL);


--
-- Data for Name: transfer; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.transfer VALUES (-196607, 15654, 212260, 7, 1000, 0, 4, 2);
INSERT INTO public.transfer VALUES (65537, 15654, 81188, 7, 1000, 0, 4, 2);
INSERT INTO public.transfer VALUES (327681, 15654, 343332, 7, 1000, 0, 4, 2);


--
-- Data for Name: unbooked; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.unbooked VALUES (-1, '\x02c8f409e707020e020ac8f409feffffffffffffffff01050e020a');
INSERT INTO public.unbooked VALUES (1, '\x02c8f409e707020e020ac8f409feffffffffffffffff01050e020a');


--
-- Data for Name: unlogged; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.unlogged VALUES (-1, '\x0102010101010001000000d00f0000000101d00f0202020202020202020202020202020202020202020202020202020202020202');
INSERT INTO public.unlogged VALUES (1, '\x0102010101010001000000d00f0000000101d00f0202020202020202020202020202020202020202020202020202020202020202');


--
-- Data for Name: usage; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.usage VALUES (2099773441, 5, 1);
INSERT INTO public.usage VALUES (2099793440, 1, 1);


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


