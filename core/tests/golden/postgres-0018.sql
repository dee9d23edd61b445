-- A database of schema 0018 as a gateway left it: payments of which one failed, one is reversed in part and one was not answered yet, a webhook with deliveries, an invited operator.
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
    description text COLLATE pg_catalog."C"
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
    more text COLLATE pg_catalog."C"
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
-- Data for Name: approval; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: attempt; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.attempt VALUES (131073, 1795770382281, 1795770382337, 1, 1, 4);
INSERT INTO public.attempt VALUES (196609, 1795770382405, 1795770382434, 1, 1, 4);
INSERT INTO public.attempt VALUES (262145, 1795770382479, 1795770382515, 1, 1, 5);
INSERT INTO public.attempt VALUES (327681, 1795770382625, 1795770382664, 1, 1, 2);
INSERT INTO public.attempt VALUES (393217, 1795770382695, 1795770382711, 1, 1, 5);
INSERT INTO public.attempt VALUES (393218, 1795770382718, 1795770382761, 2, 1, 4);
INSERT INTO public.attempt VALUES (458753, 1795770383065, 1795770383137, 1, 1, 4);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit VALUES (1883001724201705446, 1795770382119, 1, 1, 1, 1, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001724350603240, 1795770382261, 1, 1, 2, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001724485869552, 1795770382390, 1, 1, 3, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001724569755639, 1795770382470, 1, 1, 4, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001724723896317, 1795770382617, 1, 1, 5, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001724802539525, 1795770382692, 1, 1, 6, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001724937805840, 1795770382821, 1, 1, 2, 8, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001725063634966, 1795770382941, 1, 1, 1, 15, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001725180026904, 1795770383052, 1, 1, 7, 7, NULL, NULL, NULL, 1);
INSERT INTO public.audit VALUES (1883001725563778764, 1795770383418, 0, 0, 0, 60, 'opr_01M8E42Z1T0DC14JC2H3Z3GPEN', NULL, '{"name":"Ada","reason":null,"role":"agent"}', NULL);


--
-- Data for Name: client; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.client VALUES (1, 1795770382119, false, '\x01a21c4177273167366a70a375721272', 'Golden Bakery', '\x01000000018de5b27128644fb93cd6db7dfc65a7744767db5564ee1fc7620f309c22c76a5c3f0989ba000140c2e8acfea00b413896bef43ebd4a30a50b97406f2d2e04dbaee1cc69a8c0340aad', NULL);


--
-- Data for Name: clock; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: delivery; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.delivery VALUES (1883001725193658395, 1, 1795770387229, 7, 1, 1, 1, 1, 1, '\x01a21c417acc33962f1abaaee4c4588b', '{"type":"settlement.accepted","timestamp":"2026-11-27T09:06:23.052Z","data":{"id":"stl_01M8E42YPCHARB8NGCHAQ9883F","reference":"golden-3","status":"accepted","version":1,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":null,"metadata":{},"client_id":"cli_01M8E42XS765KKCTKGMDTQ44KJ","created_at":"2026-11-27T09:06:23.052Z","updated_at":"2026-11-27T09:06:23.052Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":1}}', '{"at":1795770383135,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001725291175969, 1, 1795770388537, 7, 4, 1, 13, 1, 1, '\x01a21c417b21270c038c6cffc0eceb5c', '{"type":"attempt.answered","timestamp":"2026-11-27T09:06:23.137Z","data":{"id":"stl_01M8E42YPCHARB8NGCHAQ9883F","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E42YPCHARB8NGCHAQ9883F-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42XS765KKCTKGMDTQ44KJ","created_at":"2026-11-27T09:06:23.052Z","updated_at":"2026-11-27T09:06:23.137Z","completed_at":"2026-11-27T09:06:23.137Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":4}}', '{"at":1795770383261,"took_ms":16,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001725291175970, 1, 1795770387940, 7, 5, 1, 4, 1, 1, '\x01a21c417b21d086a9e833623600af67', '{"type":"settlement.completed","timestamp":"2026-11-27T09:06:23.137Z","data":{"id":"stl_01M8E42YPCHARB8NGCHAQ9883F","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E42YPCHARB8NGCHAQ9883F-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42XS765KKCTKGMDTQ44KJ","created_at":"2026-11-27T09:06:23.052Z","updated_at":"2026-11-27T09:06:23.137Z","completed_at":"2026-11-27T09:06:23.137Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":5}}', '{"at":1795770383261,"took_ms":16,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001725227212829, 1, 1795770387243, 7, 2, 1, 2, 1, 1, '\x01a21c417ad9b1b01846569ea37f8003', '{"type":"settlement.submitted","timestamp":"2026-11-27T09:06:23.065Z","data":{"id":"stl_01M8E42YPCHARB8NGCHAQ9883F","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E42XS765KKCTKGMDTQ44KJ","created_at":"2026-11-27T09:06:23.052Z","updated_at":"2026-11-27T09:06:23.065Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":2}}', '{"at":1795770383162,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO public.delivery VALUES (1883001725227212830, 1, 1795770388368, 7, 3, 1, 12, 1, 1, '\x01a21c417ad9cd63e23f7bf1c0d74ad8', '{"type":"attempt.started","timestamp":"2026-11-27T09:06:23.065Z","data":{"id":"stl_01M8E42YPCHARB8NGCHAQ9883F","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E42XS765KKCTKGMDTQ44KJ","created_at":"2026-11-27T09:06:23.052Z","updated_at":"2026-11-27T09:06:23.065Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":3}}', '{"at":1795770383162,"took_ms":0,"error":"no connection could be made to the host"}');


--
-- Data for Name: endpoint; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint VALUES (1, 1, 1, NULL, 1795770382941, 1795770382941, 1, 1, '\x01a21c417a5d042f284bdb59b36be6f1', 'http://127.0.0.1:9/hook', NULL);


--
-- Data for Name: endpoint_secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint_secret VALUES (1, 1, 1795770382941, NULL, '\x01000000012121eb52e44ae42067e46333ce8b7e5cada1e0ed05349e346a4f61cb1559e3356795ddd8a90d712bb7b9de1a4e128435dfae802e1fa9b0b22c4179093eb2d4df89cc6af20aa4d0f1', NULL);


--
-- Data for Name: entry; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.entry VALUES (71236, 1, 1795770382261, 100000000, 100000000, 1, 1, 12);
INSERT INTO public.entry VALUES (71812, 1, 1795770382261, 1000000, 1000000, 1, 1, 4);
INSERT INTO public.entry VALUES (72004, 1, 1795770382261, 100000000, 100000000, 1, 1, 6);
INSERT INTO public.entry VALUES (72164, 1, 1795770382261, 1000000000, 1000000000, 1, 1, 5);
INSERT INTO public.entry VALUES (74596, 1, 1795770382261, 100000000, 100000000, 1, 1, 10);
INSERT INTO public.entry VALUES (78340, 1, 1795770382261, 1000000, 1000000, 1, 1, 7);
INSERT INTO public.entry VALUES (78756, 1, 1795770382261, 100000000, 100000000, 1, 1, 3);
INSERT INTO public.entry VALUES (78884, 1, 1795770382261, 100000000, 100000000, 1, 1, 8);
INSERT INTO public.entry VALUES (78980, 1, 1795770382261, 100000000, 100000000, 1, 1, 2);
INSERT INTO public.entry VALUES (80516, 1, 1795770382261, 100000000, 100000000, 1, 1, 9);
INSERT INTO public.entry VALUES (80772, 1, 1795770382261, 1000000, 1000000, 1, 1, 11);
INSERT INTO public.entry VALUES (81188, 1, 1795770382261, 100000000, 100000000, 1, 1, 1);
INSERT INTO public.entry VALUES (81188, 2, 1795770382337, -1050, 99998950, 2, 2, 2);
INSERT INTO public.entry VALUES (81188, 3, 1795770382434, -1050, 99997900, 3, 2, 2);
INSERT INTO public.entry VALUES (81188, 4, 1795770382761, -500, 99997400, 6, 2, 4);
INSERT INTO public.entry VALUES (81188, 5, 1795770382905, 250, 99997650, 2, 4, 4);
INSERT INTO public.entry VALUES (81188, 6, 1795770383137, -200, 99997450, 7, 2, 2);


--
-- Data for Name: event; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event VALUES (131073, 1795770382261, 0, 1, NULL, 1, 1, '\x60b9f5cb627987685fe80bb43619c173c0b075cd281419b9b5ffb1affd09b25b', NULL);
INSERT INTO public.event VALUES (131074, 1795770382281, 0, 2, 1, 2, 2, '\x1c9f5371f8eabd8a7c19c03ceb902d864e087d2ab6f46c961c0859f52a4aaa77', NULL);
INSERT INTO public.event VALUES (131075, 1795770382281, 1, 12, NULL, 10, 2, '\xcd12b91fb904a84fbceb2d1196ec44738f18e1da4acbc979c3974fe998221415', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (131076, 1795770382337, 1, 13, 10, 4, 3, '\xb93a78c9d6cc52149f021309ca102b551ee71e1ef34d381e3c156930af2ce64c', '{"answer":"completed","rail_reference":"SIM-01M8E42XXNC9EQ7EZTQ1KTKV1Y-1"}');
INSERT INTO public.event VALUES (131077, 1795770382337, 1, 4, 2, 4, 3, '\x865bf943621ce579ff655a78baa9f81c29095f158b5a1ed5160633ce887868cd', NULL);
INSERT INTO public.event VALUES (196609, 1795770382390, 0, 1, NULL, 1, 1, '\xf6745ca9381e3a0cc516b091af13a4ba4fbd7d8f450da9933a24b4d3675bf8a6', NULL);
INSERT INTO public.event VALUES (196610, 1795770382405, 0, 2, 1, 2, 2, '\xa7e3302086815a214cfdded11d48c26edc17efafc32ca8ef739cd4ea7d7667eb', NULL);
INSERT INTO public.event VALUES (196611, 1795770382405, 1, 12, NULL, 10, 2, '\x04dea0ac35de2a50dd2b1354e2da407e991488a70ec59aa3cf25185d730753c0', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (196612, 1795770382434, 1, 13, 10, 4, 3, '\x83f4acf2e1a9759449cdb1bc42f5211da3c1b547f9dd9ac9bb500f884ab92650', '{"answer":"completed","rail_reference":"SIM-01M8E42Y1PDXK003S8HR50WZD7-1"}');
INSERT INTO public.event VALUES (196613, 1795770382434, 1, 4, 2, 4, 3, '\x81fd6c2389b95df7fc98ddb89f6bcb4ec745cab4d72efc7bed243107d44690f3', NULL);
INSERT INTO public.event VALUES (262145, 1795770382470, 0, 1, NULL, 1, 1, '\xb43934090bb047bfafea3cc1fdc5708029d4206bc6a7740e34fbda8289af380b', NULL);
INSERT INTO public.event VALUES (262146, 1795770382479, 0, 2, 1, 2, 2, '\x501e6a2dd94c6749d6d6a313369fcacb66fb714562ea5ca6de415c8f50676ce5', NULL);
INSERT INTO public.event VALUES (262147, 1795770382479, 1, 12, NULL, 10, 2, '\x658ca854cdf898da69eb9e1001b825c826778903ab6fbf2aad85a1fde5d9fa42', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (262148, 1795770382515, 1, 13, 10, 11, 3, '\x0b4839fc038d57d28af917d402a7b04bab84862ac0c71fc088785753b5c0c372', '{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}');
INSERT INTO public.event VALUES (262149, 1795770382515, 1, 5, 2, 8, 3, '\xdf8eed2947e1ba8bfb3d50615786ac1b621345ff072ec96ef49aa905c4fc6d83', '{"code":"over_limit"}');
INSERT INTO public.event VALUES (327681, 1795770382617, 0, 1, NULL, 1, 1, '\xe0741c08220bc60fd2799924c29da26f69d204b743cd42c622b2e42e5064ea98', NULL);
INSERT INTO public.event VALUES (327682, 1795770382625, 0, 2, 1, 2, 2, '\x6ad0085af62dab4d7a849486fc2c5edbda50dd1fc9fd7317559f6b9df3b3d9a3', NULL);
INSERT INTO public.event VALUES (327683, 1795770382625, 1, 12, NULL, 10, 2, '\x9c1b6959ee7e15525dcde68188e29af8a3230f5310cc8cad735311153ef4b5c6', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (327684, 1795770382664, 1, 13, 10, 1, 3, '\x3e5b17e3812de3d7ab41169759ff537a4882560a6d6d5ac3929681aa34acd3ac', '{"answer":"accepted","rail_reference":"SIM-01M8E42Y8S8XQYGREAV0X6X2YV-1"}');
INSERT INTO public.event VALUES (393217, 1795770382692, 0, 1, NULL, 1, 1, '\x93f3bdaf0c485fe0e3e48b3b675056b17fc1c981e6949744391dcc1764b11f8d', NULL);
INSERT INTO public.event VALUES (393218, 1795770382695, 0, 2, 1, 2, 2, '\xee6ee267c50dd79b1e55fc38a4502af724b06a770135de101402d4bfc3c0c2fb', NULL);
INSERT INTO public.event VALUES (393219, 1795770382695, 1, 12, NULL, 10, 2, '\x26775c42cec3584223274ef721ea2923317b84bd12bd70651c3cf0c6d1f80f37', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (393220, 1795770382711, 1, 13, 10, 11, 3, '\x0900509598cb81157d5c0bb3a4d915e145890d81f93f0c59e8de86c26bb42b0f', '{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}');
INSERT INTO public.event VALUES (393221, 1795770382718, 2, 12, NULL, 10, 2, '\x39df508f036a1c91d16c96b58894c6bdacdb4544e4240e09858d31111d4855a2', '{"provider":"simulator-backup"}');
INSERT INTO public.event VALUES (393222, 1795770382761, 2, 13, 10, 4, 3, '\xb2bccfd2341d791bfecb29354000a1338db4078456d72d56397e77e9531dcf32', '{"answer":"completed","rail_reference":"SIM-01M8E42YB4SXZBS951AQY9EH95-2"}');
INSERT INTO public.event VALUES (393223, 1795770382761, 2, 4, 2, 4, 3, '\x5f0e2dae948190f319b57f8ca0263d89aadabc7f64a512b7018e0d77c67b1917', NULL);
INSERT INTO public.event VALUES (131078, 1795770382821, 1, 14, NULL, 1, 1, '\xfdeaeb412c1e06f115bcb4e7d7499a35511be622cf55bb2508262a9777ce93d5', '{"amount":"2.50","reversal":"rev_01M8E42YF5NYPZSMGTZT0MVD6Y"}');
INSERT INTO public.event VALUES (131079, 1795770382840, 1, 15, 1, 2, 2, '\x31119d266bb6a5660b5b9c7819e81f4e9632e00f58c29a42660ff65e51132804', '{"reversal":"rev_01M8E42YF5NYPZSMGTZT0MVD6Y"}');
INSERT INTO public.event VALUES (131080, 1795770382905, 1, 17, 2, 4, 3, '\xff758b2fedbb88b5ea48a80161c7366fc9acc6025560f355d28e53ec0cc7a645', '{"answer":"completed","rail_reference":"SIM-01M8E42XXNC9EQ7EZTQ1KTKV1Y-R1","reversal":"rev_01M8E42YF5NYPZSMGTZT0MVD6Y"}');
INSERT INTO public.event VALUES (131081, 1795770382905, 1, 7, 4, 5, 3, '\x4efd10ba01efd12957d4672ad3a60dffa57708a704a4dafe394e2bcdb7e29220', '{"reversal":"rev_01M8E42YF5NYPZSMGTZT0MVD6Y"}');
INSERT INTO public.event VALUES (458753, 1795770383052, 0, 1, NULL, 1, 1, '\xcc146ba7149eab0ecff0262e165b4c0727c469ed6a132d19ab54997d2364db70', NULL);
INSERT INTO public.event VALUES (458754, 1795770383065, 0, 2, 1, 2, 2, '\x982ca183941ee58a6162c131fb307a2908a9d171656c67acffee5a92bd671e0d', NULL);
INSERT INTO public.event VALUES (458755, 1795770383065, 1, 12, NULL, 10, 2, '\x19a0d4d1a15b491930c88e2a8c6fba34041b950fff46a35bca9cfaaff2d957e6', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (458756, 1795770383137, 1, 13, 10, 4, 3, '\xdec8c01c1e0b3011513fc601e57d7faf617f3f95d6a09d4a073939dca2ddeff2', '{"answer":"completed","rail_reference":"SIM-01M8E42YPCHARB8NGCHAQ9883F-1"}');
INSERT INTO public.event VALUES (458757, 1795770383137, 1, 4, 2, 4, 3, '\x178f6d7fea8eddcb39ef8ce6048693877630dca52929a6e3451cda83907cc103', NULL);


--
-- Data for Name: feed; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.feed VALUES (5, 1, 131073, 1795770382261, 0);
INSERT INTO public.feed VALUES (5, 2, 131074, 1795770382281, 1);
INSERT INTO public.feed VALUES (5, 3, 131075, 1795770382281, 2);
INSERT INTO public.feed VALUES (5, 4, 131076, 1795770382337, 3);
INSERT INTO public.feed VALUES (5, 5, 131077, 1795770382337, 4);
INSERT INTO public.feed VALUES (5, 6, 196609, 1795770382390, 5);
INSERT INTO public.feed VALUES (5, 7, 196610, 1795770382405, 6);
INSERT INTO public.feed VALUES (5, 8, 196611, 1795770382405, 7);
INSERT INTO public.feed VALUES (5, 9, 196612, 1795770382434, 8);
INSERT INTO public.feed VALUES (5, 10, 196613, 1795770382434, 9);
INSERT INTO public.feed VALUES (5, 11, 262145, 1795770382470, 10);
INSERT INTO public.feed VALUES (5, 12, 262146, 1795770382479, 11);
INSERT INTO public.feed VALUES (5, 13, 262147, 1795770382479, 12);
INSERT INTO public.feed VALUES (5, 14, 262148, 1795770382515, 13);
INSERT INTO public.feed VALUES (5, 15, 262149, 1795770382515, 14);
INSERT INTO public.feed VALUES (5, 16, 327681, 1795770382617, 15);
INSERT INTO public.feed VALUES (5, 17, 327682, 1795770382625, 16);
INSERT INTO public.feed VALUES (5, 18, 327683, 1795770382625, 17);
INSERT INTO public.feed VALUES (5, 19, 327684, 1795770382664, 18);
INSERT INTO public.feed VALUES (5, 20, 393217, 1795770382692, 19);
INSERT INTO public.feed VALUES (5, 21, 393218, 1795770382695, 20);
INSERT INTO public.feed VALUES (5, 22, 393219, 1795770382695, 21);
INSERT INTO public.feed VALUES (5, 23, 393220, 1795770382711, 22);
INSERT INTO public.feed VALUES (5, 24, 393221, 1795770382718, 23);
INSERT INTO public.feed VALUES (5, 25, 393222, 1795770382761, 24);
INSERT INTO public.feed VALUES (5, 26, 393223, 1795770382761, 25);
INSERT INTO public.feed VALUES (5, 27, 131078, 1795770382821, 26);
INSERT INTO public.feed VALUES (5, 28, 131079, 1795770382840, 27);
INSERT INTO public.feed VALUES (5, 29, 131080, 1795770382905, 28);
INSERT INTO public.feed VALUES (5, 30, 131081, 1795770382905, 29);
INSERT INTO public.feed VALUES (5, 31, 458753, 1795770383052, 30);
INSERT INTO public.feed VALUES (5, 32, 458754, 1795770383065, 31);
INSERT INTO public.feed VALUES (5, 33, 458755, 1795770383065, 32);
INSERT INTO public.feed VALUES (5, 34, 458756, 1795770383137, 33);
INSERT INTO public.feed VALUES (5, 35, 458757, 1795770383137, 34);


--
-- Data for Name: finding; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES (1, 2, 1795770382821, 1, 'sandbox
01M8E42YF3BRG4FR8AWHDWPCD7', '\x7c9ddfa3c986cb49e5e1ec60c1ca67f48442436ed6423b469790869f6bdb220e', NULL);


--
-- Data for Name: invitation; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.key VALUES (1, 1, 5631, 1795770382119, NULL, 1, 1, 1, '\x2d8908035b7e98ffbbb1d6b16de6e4c5ae82c302f00cd667fce9aaeafd6dbd05', '\x043caa152ae3b251a99be1749273576ba6866fe15b5fab215b5b50f8bcabe39cea88f6acd94705cd189f3eefa8e16b58c7cf2541c3077715a44ed8084deb8eb4bb', NULL, NULL);


--
-- Data for Name: log_head; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.log_head VALUES (35, -3597022076945121907, 0, 0);


--
-- Data for Name: matches; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('id_key', '\x8a7a547d6e0f7a916145387c0caa057e');
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

INSERT INTO public.nonce VALUES (1795770683000, '\xc78336a885696d437b85707da142507643ab55504a604004322ddeb264f08f62');
INSERT INTO public.nonce VALUES (1795770683000, '\x389aa3cb0913aa03a27248cb2d32cfe35139da50f617f57608160c158be3e7ec');
INSERT INTO public.nonce VALUES (1795770683000, '\xd4eca4218bdf4b9bc48295910f2e240413e14b46acc075ffac67b44e7b9f9fe7');


--
-- Data for Name: operator; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operator VALUES (1, 1795770383418, 1796375183418, NULL, NULL, 0, NULL, 2, 1, '\x01a21c417c3a035812498288fe3859d5', 'Ada', '\xc8b201ca633a98bbab816c39198b4b5ad67906ca7a50f7b6c780029875a266a0');


--
-- Data for Name: provider; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider VALUES (1, 'simulator');
INSERT INTO public.provider VALUES (2, 'simulator-backup');
INSERT INTO public.provider VALUES (3, 'books');


--
-- Data for Name: queue; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.queue VALUES (1, 10, 1795770387229, 0, NULL, 1795770383135, true);


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


--
-- Data for Name: reconciliation; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: reversal; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.reversal VALUES (131073, 1, 250, 1795770382821, 1795770382905, 1795770382905, 3, 4, NULL, false, NULL, NULL, 'SIM-01M8E42XXNC9EQ7EZTQ1KTKV1Y-R1', NULL);


--
-- Data for Name: review; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret VALUES (1, 1795770381907, NULL, 1, '\x01000000010400a907b505272d37afb794b871398d38f8d7fe603e4c1f186113befa2f7f53287587dda14ffc8f53d3c00e026068f207db035cc6d8b798b96cf22d1dce39a1493051d3951faeb3', '\x', NULL);
INSERT INTO public.secret VALUES (1, 1795770381907, NULL, 2, '\x0100000001461c40faa887904301a88eb46a2a68202efb5170ca4f91903ef86a43275673495a23b8d89e85eaa95c64fe1ba22ce579315923ac5034de7ceb793ea98b75b61336ce2a7dbea49c3d', '\x049b013b92f7c52fb03287af338d754c1d0ea2e66e2936699e860c5a3cfd2a210ee0b4cc435b53f1ef6db49d6697dd6fd1fbc33ac15dedebbccbe59a0451f383e0', NULL);
INSERT INTO public.secret VALUES (1, 1795770381908, NULL, 3, '\x010000000170d8bb43318956008ec4b84e76d564ecb617148b7c00d6466585830411b2685c699127c3027420048bec25133bda387f329eb9ccfbb70e94e0e855007cc6001530ada152fe52fa52', '\x052de69f8217dd6918264f41302886c14176afe6afba263d5497dcac586c07cb', NULL);


--
-- Data for Name: settlement; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settlement VALUES (3, 1, 5, 1050, 0, 0, 0, 610054077863, 1795770382390, 1795770382434, 1795770382434, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-2', 'sim:ok', '\x81fd6c2389b95df7fc98ddb89f6bcb4ec745cab4d72efc7bed243107d44690f3', '{"rail_reference":"SIM-01M8E42Y1PDXK003S8HR50WZD7-1"}');
INSERT INTO public.settlement VALUES (4, 1, 5, 300, 0, 0, 0, 493425243109, 1795770382470, 1795770382515, 1795770382515, NULL, 1, 1, 0, 2, 1, 404, 1, 8, false, 'golden-declined', 'sim:decline-over_limit', '\xdf8eed2947e1ba8bfb3d50615786ac1b621345ff072ec96ef49aa905c4fc6d83', '{"failure":{"code":"over_limit","rail_code":"SIM-AM14"}}');
INSERT INTO public.settlement VALUES (5, 1, 4, 700, 0, 0, 0, 928693259227, 1795770382617, 1795770382664, NULL, NULL, 1, 1, 0, 1, 1, 978, 1, 2, false, 'golden-open', 'sim:slow-30s', '\x3e5b17e3812de3d7ab41169759ff537a4882560a6d6d5ac3929681aa34acd3ac', '{"rail_reference":"SIM-01M8E42Y8S8XQYGREAV0X6X2YV-1"}');
INSERT INTO public.settlement VALUES (6, 1, 7, 500, 0, 0, 0, 369309992229, 1795770382692, 1795770382761, 1795770382761, NULL, 2, 2, 0, 4, 3, 978, 1, 4, false, 'golden-failover', 'sim:failover', '\x5f0e2dae948190f319b57f8ca0263d89aadabc7f64a512b7018e0d77c67b1917', '{"rail_reference":"SIM-01M8E42YB4SXZBS951AQY9EH95-2"}');
INSERT INTO public.settlement VALUES (2, 1, 9, 1050, 0, 250, 0, 792013171774, 1795770382261, 1795770382905, 1795770382337, NULL, 1, 1, 1, 4, 1, 978, 1, 5, false, 'golden-1', 'sim:ok', '\x4efd10ba01efd12957d4672ad3a60dffa57708a704a4dafe394e2bcdb7e29220', '{"rail_reference":"SIM-01M8E42XXNC9EQ7EZTQ1KTKV1Y-1"}');
INSERT INTO public.settlement VALUES (7, 1, 5, 200, 0, 0, 0, 595634430063, 1795770383052, 1795770383137, 1795770383137, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-3', 'sim:ok', '\x178f6d7fea8eddcb39ef8ce6048693877630dca52929a6e3451cda83907cc103', '{"rail_reference":"SIM-01M8E42YPCHARB8NGCHAQ9883F-1"}');


--
-- Data for Name: setup; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: sim_payment; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sim_payment VALUES (131073, 1795770382309, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (196609, 1795770382431, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (262145, 1795770382490, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (327681, 1795770382654, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (393217, 1795770382702, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (393218, 1795770382744, 2, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (163841, 1795770382871, 1, 1, NULL, NULL);
INSERT INTO public.sim_payment VALUES (458753, 1795770383097, 1, 1, NULL, NULL);


--
-- Data for Name: simulator; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: task; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.task VALUES (1883001756219973633, 5, 1795770382654, 0, 1, 0, 5, 1);
INSERT INTO public.task VALUES (1883001730016059394, 5, 1795770382664, 0, 1, 0, 2, 1);


--
-- Data for Name: tile; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tile VALUES (0, '\x499b8172ba75fe4646010ac87293ded020bd98b20b9509e0c21ea16c0f5820f592b2bf6f195a0deab976087acc976405d162577750e3eb332a823dd5f685537eebda8b2a56be3f9736f71ebef2418cb8f00098d741f35c2224ba5d644a65741383c1439da62d210eb27c6e4c9ddbec6613123a25415752fe035c08b4f2ef8ebd0f5831accce596c5cbdaf07244642d5604d6e939549247839d6a3352493e81d781c173a946a901733fccbc2833ee493500fbbe9cfb32f4c9354160d2f0d41554beae641e500af78980111cb59837b1812e65a9d4ec4aa0566d663e8961ee5bb562a82649085c8cb1addd61acc87e8d89c25a90a1639d5e70be156657843a302763fbde0b4f4222cad5973b580e4ceb12d70662476b41b51fdd90c354e45216de7616baf0e4214451034a1a268533d8ab140b840e39ec52d0bc5a3026f36e7b647a028975e17e3018260041b9796f05681f556d2bea5e8c401200da3d683082bf6dcbaa3607ee4652116309f6ea96183dc8c6f7074f7fa4a93b2f72e903f59af30be9569a9f0edf7812118680ecac9b0e2b9dd47a38758971848396e08955b46ad70b1e587ac10f400846556198e15b58eb02c788aafced84fa44de52b2e1a7fedded496473b8750dd0efd2860431fc0e613621ab810f4e19978c16620331b4745d184494e7a2ef8a1aea38c61d71d507270a6b5bcba8cedcb0d44bab76b10243617ba682fa9ed40d1302b7dae3ebc391745fefff49f6c3d8732701e2f18127a1ad9814aa32128a52687e2243880afe19bac9dd8369c47f48a369a4ee7bc7450d5f45a09016f1469a5248eeaf81dd34e1e271bf0b0bf97d3009eef8b84bc6d828f2597362a7cb0bebe7001333eef39bbb79d652694a04bbcd708e412d9573b061756f2c74fb6d3b328cf8c63fd528f9a92365dc2dfff11d0cba85fa0f64a1d3756571cd362c0559bc5005920146c4dcab5784728951f64ac2d0e7ac4e3507db9b348c2c157a877b4e0c619a1807b5128ba220df55cdc557c13e8abcaca7fd2c81a7631ab3d78e369b5119bd7850ec52e3e4741ee7a1274473fdefb3f52fc9c451d2d3acaf67b8fce45a550ac806a263fbacc5fb7114dba906967dc0fd43eb412f4b6cc3393567b580651bc67e66e1159c1065adc02395a7fc06554398dbf3b2682d74b40e0e65161e0b5b5e190ba29c60fa4d5ddc0e07e42efca24c8cd74f4cf607e3da54af66a9353091d45c5843eb9961b8e3e4a9d52cee2b632588171aec00f61dff83739799a0216446c9f5b6e113db67d03b6e535880c71fe5cdc92e5844b980018c101475fa45c23b7bb06b8e8a4595bf02bfc8b34576993a735888367dd04c25b60466c94b70b834a62d943a3d13d66a1babd27c02f3d2ca94857aa17d1d9a9d63b2fdbc606130de43b7e3f99c8fb4ae60b5c98474bc35e9c6371811be739487b4546d0992b83c41f7b7b6cd64cf6cb1ed1869dcf936b1715b278323a04e580a00f2e42e8c6976585f5bb93190c6983dac58d73562889ec51c66a77a82b2a5f842bc2b67c7fbd636dffc76d06184d548bfd2961477bddbb6297e493bfc');


--
-- Data for Name: token; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.token VALUES (1, 1, 5631, 1795770382119, 1795771282119, 1, '\x710b5228a6360b325e6575adb491507575158b42f7613e943c22f20ffd5af9ba', NULL);


--
-- Data for Name: transfer; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.transfer VALUES (65537, 15654, 81188, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65538, 13446, 78980, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65539, 13222, 78756, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65540, 6278, 71812, 1000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65541, 6630, 72164, 1000000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65542, 6470, 72004, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65543, 12806, 78340, 1000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65544, 13350, 78884, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65545, 14982, 80516, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65546, 9062, 74596, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65547, 15238, 80772, 1000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (65548, 5702, 71236, 100000000, 1795770382261, 0, 4, 1);
INSERT INTO public.transfer VALUES (131073, 81188, 81189, 1050, 1795770382261, 0, 1, 2);
INSERT INTO public.transfer VALUES (131074, 81188, 81189, 1050, 1795770382337, 1, 2, 2);
INSERT INTO public.transfer VALUES (196609, 81188, 81189, 1050, 1795770382390, 0, 1, 2);
INSERT INTO public.transfer VALUES (196610, 81188, 81189, 1050, 1795770382434, 1, 2, 2);
INSERT INTO public.transfer VALUES (262145, 72004, 72005, 300, 1795770382470, 0, 1, 2);
INSERT INTO public.transfer VALUES (262146, 72004, 72005, 300, 1795770382515, 1, 3, 2);
INSERT INTO public.transfer VALUES (327681, 81188, 81189, 700, 1795770382617, 0, 1, 2);
INSERT INTO public.transfer VALUES (393217, 81188, 81189, 500, 1795770382692, 0, 1, 2);
INSERT INTO public.transfer VALUES (393218, 81188, 81189, 500, 1795770382711, 1, 3, 2);
INSERT INTO public.transfer VALUES (393219, 81188, 146725, 500, 1795770382711, 0, 1, 2);
INSERT INTO public.transfer VALUES (393220, 81188, 146725, 500, 1795770382761, 3, 2, 2);
INSERT INTO public.transfer VALUES (131075, 81189, 81188, 250, 1795770382821, 0, 1, 4);
INSERT INTO public.transfer VALUES (131076, 81189, 81188, 250, 1795770382905, 3, 2, 4);
INSERT INTO public.transfer VALUES (458753, 81188, 81189, 200, 1795770383052, 0, 1, 2);
INSERT INTO public.transfer VALUES (458754, 81188, 81189, 200, 1795770383137, 1, 2, 2);


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


