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
    refused text COLLATE pg_catalog."C"
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
    webhook_secret bytea NOT NULL
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
    sealed bytea NOT NULL
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
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency (
    client bigint NOT NULL,
    settlement bigint NOT NULL,
    created_at bigint NOT NULL,
    reversal integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL
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
    label text COLLATE pg_catalog."C"
);


--
-- Name: log_head; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.log_head (
    size bigint NOT NULL,
    owner bigint NOT NULL,
    until bigint NOT NULL
)
WITH (fillfactor='50');


--
-- Name: meta; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);


--
-- Name: nonce; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.nonce (
    expires_at bigint NOT NULL,
    hash bytea NOT NULL
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
-- Name: secret; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret (
    no bigint NOT NULL,
    created_at bigint NOT NULL,
    retired_at bigint,
    kind smallint NOT NULL,
    sealed bytea NOT NULL,
    public bytea NOT NULL
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
-- Name: sim_payment; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sim_payment (
    k bigint NOT NULL,
    received_at bigint NOT NULL,
    provider integer NOT NULL,
    received integer NOT NULL
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
    kind smallint NOT NULL
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
    hash bytea NOT NULL
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
-- Name: unlogged; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.unlogged (
    no bigint NOT NULL,
    changes bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');


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
INSERT INTO public.account VALUES (72004, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (72164, 0, 0, 0, 1000000000);
INSERT INTO public.account VALUES (74596, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (78340, 0, 0, 0, 1000000);
INSERT INTO public.account VALUES (78756, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (78884, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (78980, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (80516, 0, 0, 0, 100000000);
INSERT INTO public.account VALUES (80772, 0, 0, 0, 1000000);
INSERT INTO public.account VALUES (81188, 1000, 4200, 250, 100000000);
INSERT INTO public.account VALUES (81189, 250, 0, 1000, 4200);


--
-- Data for Name: attempt; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.attempt VALUES (851969, 1795257497042, 1795257497042, 1, 1, 4);
INSERT INTO public.attempt VALUES (917505, 1795257497042, 1795257497042, 1, 1, 4);
INSERT INTO public.attempt VALUES (983041, 1795257497042, 1795257497042, 1, 1, 4);
INSERT INTO public.attempt VALUES (1048577, 1795257497042, 1795257497042, 1, 1, 4);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: client; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.client VALUES (1, 1795257497042, false, '\x01a1fdaf75d2452f33333399e3f0e43d', 'Tester', '\x010000000166420da91ae9a3f565d6a32c75b9aface68b8980fce0eada37b49b887ad1eeab8a187b18e92fea659d7a84b510dfc552e509d7434685d66568467e154d41bb20f77c75af7c4ea352');


--
-- Data for Name: delivery; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.delivery VALUES (1882463925218554028, 1, 1795257497042, 13, 1, 0, 1, 1, 1, '\x01a1fdaf75d23c7b73d53a28f98c96f6', '{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":1}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554029, 1, 1795257497042, 14, 1, 0, 1, 1, 1, '\x01a1fdaf75d294793dec8e8c9a864f78', '{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":1}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554030, 1, 1795257497042, 15, 1, 0, 1, 1, 1, '\x01a1fdaf75d2b90b0fe9a5906097590a', '{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":1}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554031, 1, 1795257497042, 16, 1, 0, 1, 1, 1, '\x01a1fdaf75d2c6274fe16f27c1b71a9b', '{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":1}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554032, 1, 1795257497042, 13, 2, 0, 2, 1, 1, '\x01a1fdaf75d2cdcfb6f9e4160befbdb8', '{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":2}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554033, 1, 1795257497042, 13, 3, 0, 12, 1, 1, '\x01a1fdaf75d2afe5acf7d8ab6cdd2e7e', '{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":3}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554034, 1, 1795257497042, 14, 2, 0, 2, 1, 1, '\x01a1fdaf75d2242e5266e41849425984', '{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":2}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554035, 1, 1795257497042, 14, 3, 0, 12, 1, 1, '\x01a1fdaf75d2b67618dfc4f8fec4b1e7', '{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":3}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554036, 1, 1795257497042, 15, 2, 0, 2, 1, 1, '\x01a1fdaf75d2c00a43078f783a38d829', '{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":2}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554037, 1, 1795257497042, 15, 3, 0, 12, 1, 1, '\x01a1fdaf75d223fac707262846b3c8f2', '{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":3}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554038, 1, 1795257497042, 16, 2, 0, 2, 1, 1, '\x01a1fdaf75d29bddc1bde7f973b16d46', '{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":2}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554039, 1, 1795257497042, 16, 3, 0, 12, 1, 1, '\x01a1fdaf75d25f6039cc886e38259b5b', '{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":3}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554040, 1, 1795257497042, 13, 4, 0, 13, 1, 1, '\x01a1fdaf75d2f34b5b8964042062be90', '{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":4}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554041, 1, 1795257497042, 13, 5, 0, 4, 1, 1, '\x01a1fdaf75d2aade95d52b6cc09ed0a5', '{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":5}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554042, 1, 1795257497042, 14, 4, 0, 13, 1, 1, '\x01a1fdaf75d2be6fc2c8a1eff97f44d2', '{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":4}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554043, 1, 1795257497042, 14, 5, 0, 4, 1, 1, '\x01a1fdaf75d2e15f0576cf99284e57a3', '{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":5}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554044, 1, 1795257497042, 15, 4, 0, 13, 1, 1, '\x01a1fdaf75d2d947151fc2d1c7dc26c9', '{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":4}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554045, 1, 1795257497042, 15, 5, 0, 4, 1, 1, '\x01a1fdaf75d2931fc56fd2481578d0d7', '{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":5}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554046, 1, 1795257497042, 16, 4, 0, 13, 1, 1, '\x01a1fdaf75d275c456929599f920ba22', '{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":4}}', NULL);
INSERT INTO public.delivery VALUES (1882463925218554047, 1, 1795257497042, 16, 5, 0, 4, 1, 1, '\x01a1fdaf75d2e7c7d740bc2fda781006', '{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":5}}', NULL);


--
-- Data for Name: endpoint; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint VALUES (1, 1, 1, NULL, 1795257497042, 1795257497042, 1, 1, '\x01a1fdaf75d2f501166b9df0a6f4d33c', 'https://example.com/', 'till');


--
-- Data for Name: endpoint_secret; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.endpoint_secret VALUES (1, 1, 1795257497042, NULL, '\x0100000001efea7364fd9636c03a46bce7bdf4e8af6baf9331ca1b0c31e7cbc71a808cad84ff01c7edc8b123f24bddf219d476de012e8dcd250c637b1788c4f31ee52923ce2b597d0810caf6b4');


--
-- Data for Name: event; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event VALUES (851969, 1795257497042, 0, 1, NULL, 1, 1, '\xc132b0447b8b983b50b2f4458eecb73a15d9d6f7f2fb41eb1ab61a6d417cef0b', NULL);
INSERT INTO public.event VALUES (917505, 1795257497042, 0, 1, NULL, 1, 1, '\x05c49306e4e793841524256915960f73bcb6e2d2ae05848d0c4214023c9d1a6c', NULL);
INSERT INTO public.event VALUES (983041, 1795257497042, 0, 1, NULL, 1, 1, '\x685aa26fce66b302fceebef07aca5901ba9df81fdf3b89af63ef1ce1906d27e6', NULL);
INSERT INTO public.event VALUES (1048577, 1795257497042, 0, 1, NULL, 1, 1, '\xa7961d0ed985fe1a250f59de667c47cf7819f70909edd5dd2611eb5e3337227c', NULL);
INSERT INTO public.event VALUES (851970, 1795257497042, 0, 2, 1, 2, 2, '\xf29417dc26c417f561dbef8cb627842777c033b7100ee6e013d13002c99c6829', NULL);
INSERT INTO public.event VALUES (851971, 1795257497042, 1, 12, NULL, 10, 2, '\x38d2d27c96b1e0677a6568c3e23b592de1c768aef9cde8b5d5a407d57c786c18', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (917506, 1795257497042, 0, 2, 1, 2, 2, '\x9ed47351462f7b393d60abc9265a17e7ebe7d50a92f833c74733c0efc2057860', NULL);
INSERT INTO public.event VALUES (917507, 1795257497042, 1, 12, NULL, 10, 2, '\x88e916fcbc9f57fdb8eb5dfa20385ca2069c89df29d9a0e634ea5bfb54f4c61d', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (983042, 1795257497042, 0, 2, 1, 2, 2, '\xc911f95fe9b6e31d9aafd93816b8ecde0c3d0f3641baadfa6858adb3ac5d97ae', NULL);
INSERT INTO public.event VALUES (983043, 1795257497042, 1, 12, NULL, 10, 2, '\x4f7230632a343de1ac65c524ccc57e27edca9b8970e6baf24cd79e2dc20cbf4d', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (1048578, 1795257497042, 0, 2, 1, 2, 2, '\x32e45cbdab4e342ecb5794c640e48dec5a15dd7e684b7b8f0009ae26cb0cfaac', NULL);
INSERT INTO public.event VALUES (1048579, 1795257497042, 1, 12, NULL, 10, 2, '\x91342335f280a86632e668c57bf09de6ab79e9ceca1d7beb8d05c48a18c30d78', '{"provider":"simulator"}');
INSERT INTO public.event VALUES (851972, 1795257497042, 1, 13, 10, 4, 3, '\x16847ca08f8197615d35a2a9ad98e58987e1c34f77aa65e3ead140403cdc0ef7', '{"answer":"completed","rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1"}');
INSERT INTO public.event VALUES (851973, 1795257497042, 1, 4, 2, 4, 3, '\x41e013ca380c277d359c20bae84c66ee39f83b6fdae67e23775337c335353f74', NULL);
INSERT INTO public.event VALUES (917508, 1795257497042, 1, 13, 10, 4, 3, '\x0ff76223f71151ef287b7f2121da0cf2143530d9e6ac2153135bc7908b92151c', '{"answer":"completed","rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1"}');
INSERT INTO public.event VALUES (917509, 1795257497042, 1, 4, 2, 4, 3, '\x5c28a3c694dc0da1eb45085724b2bae51db2ad6ec286afe0fe71efc22c2f2157', NULL);
INSERT INTO public.event VALUES (983044, 1795257497042, 1, 13, 10, 4, 3, '\x9a6f577105f6dc8bdc1774eda7d0f0ae19dba493f7b016beb9f6df19493a2d55', '{"answer":"completed","rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1"}');
INSERT INTO public.event VALUES (983045, 1795257497042, 1, 4, 2, 4, 3, '\xb112b284dd36cb0fb69a187b0d032cac93875b2ae9e606d5276bb0fd7eb80aa2', NULL);
INSERT INTO public.event VALUES (1048580, 1795257497042, 1, 13, 10, 4, 3, '\x9138e4685bb2380db8697cf1d7fe086fd8da2d620a2f2cc09b7f03d6f9d92821', '{"answer":"completed","rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1"}');
INSERT INTO public.event VALUES (1048581, 1795257497042, 1, 4, 2, 4, 3, '\x5be56effed5054dec8c0de8ba1a5a4f1cfc38178594d3df79eba21b697b87f5d', NULL);
INSERT INTO public.event VALUES (851974, 1795257497042, 1, 14, NULL, 1, 1, '\x50af18c12355c5629619f253cb7c1c26c6f56add41dd8d1d212fec67d4223dd0', '{"amount":"2.50","reversal":"rev_01M7YTYXEJFEJMWZS16RWH25BP"}');
INSERT INTO public.event VALUES (1114113, 1795257497042, 0, 1, NULL, 1, 1, '\x8d9ac580d1980f6ebbc3b52ef7b94e577eead2322fee03af5bf0eec667d51bbc', NULL);


--
-- Data for Name: feed; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.feed VALUES (5, 1, 851969, 1795257497042, 0);
INSERT INTO public.feed VALUES (5, 2, 917505, 1795257497042, 1);
INSERT INTO public.feed VALUES (5, 3, 983041, 1795257497042, 2);
INSERT INTO public.feed VALUES (5, 4, 1048577, 1795257497042, 3);
INSERT INTO public.feed VALUES (5, 5, 851970, 1795257497042, 4);
INSERT INTO public.feed VALUES (5, 6, 851971, 1795257497042, 5);
INSERT INTO public.feed VALUES (5, 7, 917506, 1795257497042, 6);
INSERT INTO public.feed VALUES (5, 8, 917507, 1795257497042, 7);
INSERT INTO public.feed VALUES (5, 9, 983042, 1795257497042, 8);
INSERT INTO public.feed VALUES (5, 10, 983043, 1795257497042, 9);
INSERT INTO public.feed VALUES (5, 11, 1048578, 1795257497042, 10);
INSERT INTO public.feed VALUES (5, 12, 1048579, 1795257497042, 11);
INSERT INTO public.feed VALUES (5, 13, 851972, 1795257497042, 12);
INSERT INTO public.feed VALUES (5, 14, 851973, 1795257497042, 13);
INSERT INTO public.feed VALUES (5, 15, 917508, 1795257497042, 14);
INSERT INTO public.feed VALUES (5, 16, 917509, 1795257497042, 15);
INSERT INTO public.feed VALUES (5, 17, 983044, 1795257497042, 16);
INSERT INTO public.feed VALUES (5, 18, 983045, 1795257497042, 17);
INSERT INTO public.feed VALUES (5, 19, 1048580, 1795257497042, 18);
INSERT INTO public.feed VALUES (5, 20, 1048581, 1795257497042, 19);


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES (1, 1, 1795257497042, 0, 'key  ü', '\x0303030303030303030303030303030303030303030303030303030303030303');


--
-- Data for Name: key; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: log_head; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.log_head VALUES (20, 7071056692253012125, 1795257502042);


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('id_key', '\x1fa1b691b366d4bc89cbea750586a897');
INSERT INTO public.meta VALUES ('webhook_secret_used/1', '\x');
INSERT INTO public.meta VALUES ('odd ', '\x00ff');


--
-- Data for Name: nonce; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.nonce VALUES (9223372036854775806, '\x0909090909090909090909090909090909090909090909090909090909090909');


--
-- Data for Name: provider; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider VALUES (1, 'simulator');
INSERT INTO public.provider VALUES (2, 'simulator-backup');


--
-- Data for Name: queue; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.queue VALUES (1, 2, 1795257497042, 0, NULL, NULL, false);


--
-- Data for Name: railgate_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.railgate_migration VALUES (1, '0001_initial', '\x9ab704f285bb2ba25ad300cd68c6f72b2f49bf89f3bcfd7ad409fa9e29ac6593', 1);


--
-- Data for Name: reversal; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.reversal VALUES (851969, 1, 250, 1795257497042, 1795257497042, NULL, 3, 1, NULL, false, 'back', NULL, NULL, NULL);


--
-- Data for Name: secret; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: settlement; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settlement VALUES (14, 1, 5, 1050, 0, 0, 0, 692255020974, 1795257497042, 1795257497042, 1795257497042, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-1', 'sim:ok', '\x5c28a3c694dc0da1eb45085724b2bae51db2ad6ec286afe0fe71efc22c2f2157', '{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1"}');
INSERT INTO public.settlement VALUES (15, 1, 5, 1050, 0, 0, 0, 1034184909484, 1795257497042, 1795257497042, 1795257497042, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-2', 'sim:decline', '\xb112b284dd36cb0fb69a187b0d032cac93875b2ae9e606d5276bb0fd7eb80aa2', '{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1"}');
INSERT INTO public.settlement VALUES (16, 1, 5, 1050, 0, 0, 0, 355957624934, 1795257497042, 1795257497042, 1795257497042, NULL, 1, 1, 0, 2, 1, 978, 1, 4, false, 'golden-3', 'sim:ok', '\x5be56effed5054dec8c0de8ba1a5a4f1cfc38178594d3df79eba21b697b87f5d', '{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1"}');
INSERT INTO public.settlement VALUES (13, 1, 6, 1050, 0, 0, 250, 813160925789, 1795257497042, 1795257497042, 1795257497042, NULL, 1, 1, 1, 3, 1, 978, 1, 4, false, 'golden-0', 'sim:ok', '\x50af18c12355c5629619f253cb7c1c26c6f56add41dd8d1d212fec67d4223dd0', '{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1"}');
INSERT INTO public.settlement VALUES (17, 1, 1, 1000, 0, 0, 0, 134303648726, 1795257497042, 1795257497042, NULL, NULL, 1, 0, 0, 1, 1, 978, 1, 1, false, 'golden-late', 'sim:ok', '\x8d9ac580d1980f6ebbc3b52ef7b94e577eead2322fee03af5bf0eec667d51bbc', NULL);


--
-- Data for Name: sim_payment; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sim_payment VALUES (851969, 1795257497042, 1, 1);
INSERT INTO public.sim_payment VALUES (917505, 1795257497042, 1, 1);
INSERT INTO public.sim_payment VALUES (983041, 1795257497042, 1, 1);
INSERT INTO public.sim_payment VALUES (1048577, 1795257497042, 1, 1);


--
-- Data for Name: task; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.task VALUES (1882463925218554048, 13, 1795257497042, 0, 1, 0, 3);
INSERT INTO public.task VALUES (1882463925218554050, 17, 1795257497042, 0, 1, 0, 1);


--
-- Data for Name: tile; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tile VALUES (0, '\x300047553e5177a3db4e22bb3b0e8b414e6cdd3d786b4a39a68c87a76e89ad63f852539211b6057deaeca03aab8f01e835cc8c08fb43145d495cad196fa9f78f3856213a08392129170b8e2b38ac53bc3e38599462f6733f1cc71bae38d6fa75cdae4b29460c85297e67dd5c62ec3fdd180838d53628f50ff8c5b3de22d17d7dd0b20edab0982fba1e9468930f110edcf1c3016a11607bbee1bca93bf6de4e04d2974e37fd3abc1656d7156d06cda255f085072975ac6eb3d2ec6d9255275e6d372a81371ab8a9702a3b63ef39f916a5e23dca5b9c203bbe0c7d3793d9f7138f0c0c84341ed593117635f9108d4a9a4f301da65f8caf6b01ffdd72d3d36877f8092322dad18e9d4c3794208f2e25e29ca0207afbd2e943783d2ac785d5c11e1ecfebb0dd4d11933b84ac19c6ad594881be5c95d2cbdc1278859015b89992843d277ce971b4aa20b0d8c740a186180cc77ee9c97c03a3fe4a29676f7a5ec81d5ac570f97abbdbd293f969d79d417f866a38c9b858a07d721a34a0eafe4776a4d77f31e21110aabe2992ae01aa446d1f917b86691d65294a70e6ea6f630d79bd8ca991014da88c452d6012524b7bd0a781ad841a4c423ea9f4986a66d8580c511cfe5de322a84f6267a0cdcbb4830c4650bb33ddcc90b660a4bd48e2815f78ede2eb5a89d5f479af11213703c010d6b072838c5f16105e6bb8384e6d4efa59e5f38e95688a75379831bd6ca73ae3cf19ef653683ca1b91f5a55de083b1e176700679a48235c53153d33074bab389bb8d50de5403115368df21c6c286038d51bc447d3edbc9e1b5b6355921ca55cfc28a12d6ce37b9c57e19aea19d77281a971a882ad6f9caacdc30fe9c87ad749ef83816ce882761911adeb216ed435faa300ca0');


--
-- Data for Name: token; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: transfer; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.transfer VALUES (65537, 15654, 81188, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (131073, 13446, 78980, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (196609, 13222, 78756, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (262145, 6278, 71812, 1000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (327681, 6630, 72164, 1000000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (393217, 6470, 72004, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (458753, 12806, 78340, 1000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (524289, 13350, 78884, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (589825, 14982, 80516, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (655361, 9062, 74596, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (720897, 15238, 80772, 1000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (786433, 5702, 71236, 100000000, 1795257497042, 0, 4, 1);
INSERT INTO public.transfer VALUES (851969, 81188, 81189, 1050, 1795257497042, 0, 1, 2);
INSERT INTO public.transfer VALUES (917505, 81188, 81189, 1050, 1795257497042, 0, 1, 2);
INSERT INTO public.transfer VALUES (983041, 81188, 81189, 1050, 1795257497042, 0, 1, 2);
INSERT INTO public.transfer VALUES (1048577, 81188, 81189, 1050, 1795257497042, 0, 1, 2);
INSERT INTO public.transfer VALUES (851970, 81188, 81189, 1050, 1795257497042, 1, 2, 2);
INSERT INTO public.transfer VALUES (917506, 81188, 81189, 1050, 1795257497042, 1, 2, 2);
INSERT INTO public.transfer VALUES (983042, 81188, 81189, 1050, 1795257497042, 1, 2, 2);
INSERT INTO public.transfer VALUES (1048578, 81188, 81189, 1050, 1795257497042, 1, 2, 2);
INSERT INTO public.transfer VALUES (851971, 81189, 81188, 250, 1795257497042, 0, 1, 4);
INSERT INTO public.transfer VALUES (1114113, 81188, 81189, 1000, 1795257497042, 0, 1, 2);


--
-- Data for Name: unlogged; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.unlogged VALUES (1882463925218554049, '\x011a01010406000100f40301a4d7fbdabf6801a4d7fbdabf68012053494d2d30314d3759545958454a5353344b59593447514e413250324a582d3100010ea4d7fbdabf6850af18c12355c5629619f253cb7c1c26c6f56add41dd8d1d212fec67d4223dd0');
INSERT INTO public.unlogged VALUES (1882463925218554051, '\x0122010101010001000000a4d7fbdabf680000000101a4d7fbdabf688d9ac580d1980f6ebbc3b52ef7b94e577eead2322fee03af5bf0eec667d51bbc');


--
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);


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
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (client, key);


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
    ADD CONSTRAINT log_head_pkey PRIMARY KEY (size);


--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);


--
-- Name: nonce nonce_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nonce
    ADD CONSTRAINT nonce_pkey PRIMARY KEY (hash);


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
-- Name: reversal reversal_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reversal
    ADD CONSTRAINT reversal_pkey PRIMARY KEY (k);


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
-- Name: sim_payment sim_payment_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sim_payment
    ADD CONSTRAINT sim_payment_pkey PRIMARY KEY (k);


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
-- Name: unlogged unlogged_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.unlogged
    ADD CONSTRAINT unlogged_pkey PRIMARY KEY (no);


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
-- Name: idempotency_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);


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
-- Name: reversal_reference; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX reversal_reference ON public.reversal USING btree (client, reference) WHERE (reference IS NOT NULL);


--
-- Name: settlement_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_client ON public.settlement USING btree (client, no);


--
-- Name: settlement_review; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX settlement_review ON public.settlement USING btree (client, no) WHERE needs_review;


--
-- Name: token_expires; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX token_expires ON public.token USING btree (expires_at);


--
-- PostgreSQL database dump complete
--


