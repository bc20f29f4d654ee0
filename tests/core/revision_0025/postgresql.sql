CREATE TABLE public.accounts (
    id bigint NOT NULL,
    email character varying(320) NOT NULL,
    password_hash character varying(255),
    status character varying(50) NOT NULL,
    role character varying(50) NOT NULL,
    phone character varying(32),
    last_login_date timestamp with time zone,
    current_workspace_id bigint,
    created_at timestamp with time zone NOT NULL,
    tokens_valid_from timestamp with time zone,
    logged_out_at timestamp with time zone,
    email_unverified_since timestamp with time zone,
    suspended_until timestamp with time zone,
    suspended_reason character varying(500),
    locale character varying(35),
    time_zone character varying(64)
);
CREATE SEQUENCE public.accounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.accounts_id_seq OWNED BY public.accounts.id;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.frontdesk_account_deletions (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    former_status character varying(50) NOT NULL,
    deletes_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_account_deletions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_account_deletions_id_seq OWNED BY public.frontdesk_account_deletions.id;
CREATE TABLE public.frontdesk_authenticators (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    kind character varying(10) NOT NULL,
    name character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    last_used_at timestamp with time zone,
    secret character varying(255),
    last_step bigint,
    user_handle bytea,
    credential_id bytea,
    public_key bytea,
    sign_count bigint,
    aaguid character varying(36),
    transports json,
    backed_up boolean
);
CREATE SEQUENCE public.frontdesk_authenticators_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_authenticators_id_seq OWNED BY public.frontdesk_authenticators.id;
CREATE TABLE public.frontdesk_deliveries (
    id bigint NOT NULL,
    outgoing_id bigint NOT NULL,
    receiver_id bigint NOT NULL,
    channel character varying(50) NOT NULL,
    lane smallint NOT NULL,
    state character varying(10) NOT NULL,
    attempts smallint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claim character varying(32),
    reason character varying(200),
    reference character varying(100),
    finished_at timestamp with time zone
);
CREATE SEQUENCE public.frontdesk_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_deliveries_id_seq OWNED BY public.frontdesk_deliveries.id;
CREATE TABLE public.frontdesk_email_changes (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    old_email character varying(320) NOT NULL,
    new_email character varying(320) NOT NULL,
    is_undoable boolean NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone
);
CREATE SEQUENCE public.frontdesk_email_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_email_changes_id_seq OWNED BY public.frontdesk_email_changes.id;
CREATE TABLE public.frontdesk_events (
    id bigint NOT NULL,
    type character varying(64) NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_kind character varying(20) NOT NULL,
    actor_id bigint,
    account_id bigint,
    workspace_id bigint,
    target_kind character varying(64),
    target_id character varying(255),
    address character varying(45),
    user_agent character varying(255),
    request_id character varying(128),
    data json NOT NULL
);
CREATE SEQUENCE public.frontdesk_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_events_id_seq OWNED BY public.frontdesk_events.id;
CREATE TABLE public.frontdesk_expansions (
    id bigint NOT NULL,
    notification_id bigint NOT NULL,
    audience json NOT NULL,
    channels json NOT NULL,
    outgoing_id bigint,
    last_id bigint,
    last_created_at timestamp with time zone,
    "position" character varying(255),
    stored bigint NOT NULL,
    state character varying(10) NOT NULL,
    attempts smallint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claim character varying(32),
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_expansions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_expansions_id_seq OWNED BY public.frontdesk_expansions.id;
CREATE TABLE public.frontdesk_exports (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    state character varying(10) NOT NULL,
    attempts smallint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claim character varying(32),
    file character varying(64),
    size bigint,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone
);
CREATE SEQUENCE public.frontdesk_exports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_exports_id_seq OWNED BY public.frontdesk_exports.id;
CREATE TABLE public.frontdesk_identities (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    provider character varying(50) NOT NULL,
    issuer character varying(255) NOT NULL,
    subject character varying(255) NOT NULL,
    email character varying(320) NOT NULL,
    linked_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_identities_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_identities_id_seq OWNED BY public.frontdesk_identities.id;
CREATE TABLE public.frontdesk_inbox (
    id bigint NOT NULL,
    notification_id bigint NOT NULL,
    receiver_id bigint NOT NULL,
    is_read boolean DEFAULT false NOT NULL
);
CREATE SEQUENCE public.frontdesk_inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_inbox_id_seq OWNED BY public.frontdesk_inbox.id;
CREATE TABLE public.frontdesk_installation (
    id smallint NOT NULL,
    secret character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.frontdesk_invitations (
    id bigint NOT NULL,
    workspace_id bigint NOT NULL,
    inviter_id bigint,
    email character varying(320) NOT NULL,
    type character varying(20) NOT NULL,
    message character varying(500),
    state character varying(20) NOT NULL,
    sends integer NOT NULL,
    sent_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_invitations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_invitations_id_seq OWNED BY public.frontdesk_invitations.id;
CREATE TABLE public.frontdesk_keystore_entries (
    key character varying(512) NOT NULL,
    value text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.frontdesk_notifications (
    id bigint NOT NULL,
    title character varying(200) NOT NULL,
    message text NOT NULL,
    channels json NOT NULL,
    sender_id bigint,
    notification_type character varying(20) NOT NULL,
    scope character varying(50) NOT NULL,
    receivers bigint DEFAULT '0'::bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    counts json,
    counted_at timestamp with time zone
);
CREATE SEQUENCE public.frontdesk_notifications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_notifications_id_seq OWNED BY public.frontdesk_notifications.id;
CREATE TABLE public.frontdesk_outgoing_messages (
    id bigint NOT NULL,
    title character varying(200) NOT NULL,
    message text NOT NULL,
    template_file character varying(255),
    context text,
    created_at timestamp with time zone NOT NULL,
    subject_kind character varying(30),
    subject_id bigint
);
CREATE SEQUENCE public.frontdesk_outgoing_messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_outgoing_messages_id_seq OWNED BY public.frontdesk_outgoing_messages.id;
CREATE TABLE public.frontdesk_profiles (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    first_name character varying(100),
    last_name character varying(100),
    date_of_birth date,
    gender character varying(50),
    marital_status character varying(50),
    phone character varying(50),
    address character varying(255),
    city character varying(100),
    state character varying(100),
    country character varying(100),
    postal_code character varying(20),
    bio character varying(2000),
    avatar character varying(2048),
    avatar_file character varying(64),
    extra json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_profiles_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_profiles_id_seq OWNED BY public.frontdesk_profiles.id;
CREATE TABLE public.frontdesk_recovery_codes (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    digest character varying(64) NOT NULL,
    used_at timestamp with time zone
);
CREATE SEQUENCE public.frontdesk_recovery_codes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_recovery_codes_id_seq OWNED BY public.frontdesk_recovery_codes.id;
CREATE TABLE public.frontdesk_saved_filters (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    name character varying(80) NOT NULL,
    query character varying(1000) NOT NULL
);
CREATE SEQUENCE public.frontdesk_saved_filters_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_saved_filters_id_seq OWNED BY public.frontdesk_saved_filters.id;
CREATE TABLE public.frontdesk_sessions (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    account_id bigint NOT NULL,
    kind character varying(10) NOT NULL,
    secret bytea NOT NULL,
    counter integer NOT NULL,
    refreshed_at timestamp with time zone,
    amr character varying(60) NOT NULL,
    authenticated_at timestamp with time zone NOT NULL,
    factor_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    end_reason character varying(20),
    ip character varying(45),
    user_agent character varying(255)
);
CREATE SEQUENCE public.frontdesk_sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_sessions_id_seq OWNED BY public.frontdesk_sessions.id;
CREATE TABLE public.frontdesk_tasks (
    id bigint NOT NULL,
    title character varying(200) NOT NULL,
    done boolean NOT NULL,
    priority character varying(50) NOT NULL,
    owner character varying(255) NOT NULL
);
CREATE SEQUENCE public.frontdesk_tasks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_tasks_id_seq OWNED BY public.frontdesk_tasks.id;
CREATE TABLE public.frontdesk_trusted_devices (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    digest character varying(64) NOT NULL,
    user_agent character varying(255),
    ip character varying(45),
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_trusted_devices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_trusted_devices_id_seq OWNED BY public.frontdesk_trusted_devices.id;
CREATE TABLE public.frontdesk_workspace_members (
    id bigint NOT NULL,
    workspace_id bigint NOT NULL,
    account_id bigint NOT NULL,
    type character varying(20) NOT NULL,
    status character varying(50) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_workspace_members_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_workspace_members_id_seq OWNED BY public.frontdesk_workspace_members.id;
CREATE TABLE public.frontdesk_workspaces (
    id bigint NOT NULL,
    slug character varying(63) NOT NULL,
    name character varying(200) NOT NULL,
    is_default boolean NOT NULL,
    is_personal boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    creator_id bigint
);
CREATE SEQUENCE public.frontdesk_workspaces_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_workspaces_id_seq OWNED BY public.frontdesk_workspaces.id;
ALTER TABLE ONLY public.accounts ALTER COLUMN id SET DEFAULT nextval('public.accounts_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_account_deletions ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_account_deletions_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_authenticators ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_authenticators_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_deliveries ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_deliveries_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_email_changes ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_email_changes_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_events ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_events_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_expansions ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_expansions_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_exports ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_exports_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_identities ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_identities_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_inbox ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_inbox_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_invitations ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_invitations_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_notifications ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_notifications_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_outgoing_messages ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_outgoing_messages_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_profiles ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_profiles_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_recovery_codes ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_recovery_codes_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_saved_filters ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_saved_filters_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_sessions ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_sessions_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_tasks ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_tasks_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_trusted_devices ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_trusted_devices_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_workspace_members ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_workspace_members_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_workspaces ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_workspaces_id_seq'::regclass);
INSERT INTO public.accounts VALUES (3, 'new@example.com', '$2b$04$C0qaq8xlYdmMGl9scEULLOh.oIKWUm2arkOH0whqs2U1W4w/Fv8HG', 'active', 'user', NULL, NULL, 3, '2026-11-25 14:44:43.279597+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.accounts VALUES (2, 'bob@example.com', '$2b$04$4JIJeL8gh1rj6bti6vqYQOW4XTvlmKQoXjKJ6Y0o4qSYgEMSm2GB6', 'active', 'user', NULL, '2026-11-25 14:44:43.50703+00', 2, '2026-11-25 14:44:43.211025+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.accounts VALUES (1, 'ada@example.com', '$2b$04$Yqrbxu6PaSFadj9oaVdnjupgWumtlC2FWnPYyKck.dmHBhhu7IUW6', 'active', 'root', NULL, '2026-11-25 14:44:43.409204+00', 1, '2026-11-25 14:44:43.108031+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.alembic_version VALUES ('0025_saved_filters');
INSERT INTO public.frontdesk_deliveries VALUES (1, 1, 3, 'email', 0, 'sent', 1, '2026-11-25 14:45:04.121748+00', 'bf60c26fa13fbab464b837edf03fb4c9', NULL, NULL, '2026-11-25 14:44:44.230303+00');
INSERT INTO public.frontdesk_deliveries VALUES (2, 1, 2, 'email', 0, 'sent', 1, '2026-11-25 14:45:04.121748+00', 'bf60c26fa13fbab464b837edf03fb4c9', NULL, NULL, '2026-11-25 14:44:44.23377+00');
INSERT INTO public.frontdesk_deliveries VALUES (3, 1, 1, 'email', 0, 'sent', 1, '2026-11-25 14:45:04.121748+00', 'bf60c26fa13fbab464b837edf03fb4c9', NULL, NULL, '2026-11-25 14:44:44.235958+00');
INSERT INTO public.frontdesk_events VALUES (1, 'account.created', '2026-11-25 14:44:43.128321+00', 'system', NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, '{"after": {"role": "root", "status": "active"}}');
INSERT INTO public.frontdesk_events VALUES (2, 'workspace.created', '2026-11-25 14:44:43.184308+00', 'system', NULL, 1, 1, NULL, NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.frontdesk_events VALUES (3, 'account.created', '2026-11-25 14:44:43.213681+00', 'system', NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, '{"after": {"role": "user", "status": "active"}}');
INSERT INTO public.frontdesk_events VALUES (4, 'workspace.created', '2026-11-25 14:44:43.231991+00', 'system', NULL, 2, 2, NULL, NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.frontdesk_events VALUES (5, 'account.created', '2026-11-25 14:44:43.285505+00', 'system', NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL, '{"after": {"role": "user", "status": "active"}}');
INSERT INTO public.frontdesk_events VALUES (6, 'workspace.created', '2026-11-25 14:44:43.305163+00', 'system', NULL, 3, 3, NULL, NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.frontdesk_events VALUES (7, 'login.succeeded', '2026-11-25 14:44:43.409287+00', 'account', 1, 1, NULL, NULL, NULL, '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-1', '{"proofs": ["password"]}');
INSERT INTO public.frontdesk_events VALUES (8, 'login.succeeded', '2026-11-25 14:44:43.507107+00', 'account', 2, 2, NULL, NULL, NULL, '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-2', '{"proofs": ["password"]}');
INSERT INTO public.frontdesk_events VALUES (9, 'workspace.created', '2026-11-25 14:44:43.621003+00', 'account', 1, 1, 4, NULL, NULL, '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-5', '{}');
INSERT INTO public.frontdesk_events VALUES (10, 'invitation.created', '2026-11-25 14:44:43.721529+00', 'account', 1, 1, 4, 'invitation', '1', '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-6', '{"type": "member"}');
INSERT INTO public.frontdesk_events VALUES (11, 'member.added', '2026-11-25 14:44:43.880295+00', 'account', 2, 2, 4, NULL, NULL, '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-7', '{"after": {"type": "member", "status": "active"}}');
INSERT INTO public.frontdesk_events VALUES (12, 'invitation.accepted', '2026-11-25 14:44:43.880377+00', 'account', 2, 2, 4, 'invitation', '1', '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-7', '{}');
INSERT INTO public.frontdesk_events VALUES (13, 'profile.created', '2026-11-25 14:44:43.940075+00', 'account', 1, 1, NULL, NULL, NULL, '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-8', '{}');
INSERT INTO public.frontdesk_events VALUES (14, 'notification.sent', '2026-11-25 14:44:44.077461+00', 'account', 1, 1, NULL, 'notification', '1', '127.0.0.1', 'Werkzeug/3.1.9', 'ed8fc07125e3-3050-9', '{"channels": ["inapp", "email"], "notification_type": "admin", "scope": "account", "receivers": 3}');
INSERT INTO public.frontdesk_inbox VALUES (1, 1, 3, false);
INSERT INTO public.frontdesk_inbox VALUES (2, 1, 2, false);
INSERT INTO public.frontdesk_inbox VALUES (3, 1, 1, false);
INSERT INTO public.frontdesk_installation VALUES (1, '94e74f306abef1637e81a7dee55c1ce625d5bdfb3e432576ade5af71222d5fca', '2026-11-25 14:44:44.201203+00');
INSERT INTO public.frontdesk_invitations VALUES (1, 4, 1, 'bob@example.com', 'member', NULL, 'accepted', 1, '2026-11-25 14:44:43.721614+00', '2026-12-02 14:44:43.721614+00', '2026-11-25 14:44:43.713846+00');
INSERT INTO public.frontdesk_keystore_entries VALUES ('known:ada@example.com:127.0.0.1', '1', '2027-02-23 14:44:43.369982+00');
INSERT INTO public.frontdesk_keystore_entries VALUES ('known:bob@example.com:127.0.0.1', '1', '2027-02-23 14:44:43.497423+00');
INSERT INTO public.frontdesk_keystore_entries VALUES ('task-create-60:127.0.0.1', '2', '2026-11-25 14:45:43.530819+00');
INSERT INTO public.frontdesk_keystore_entries VALUES ('invitations:1', '1', '2026-11-25 15:44:43.65098+00');
INSERT INTO public.frontdesk_notifications VALUES (1, 'Welcome', 'Hello', '["inapp", "email"]', 1, 'admin', 'account', 3, '2026-11-25 14:44:43.962907+00', NULL, NULL);
INSERT INTO public.frontdesk_outgoing_messages VALUES (1, 'Welcome', 'Hello', NULL, NULL, '2026-11-25 14:44:44.019473+00', 'notification', 1);
INSERT INTO public.frontdesk_profiles VALUES (1, 1, 'Ada', 'King', '1985-12-10', 'female', 'married', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', '2026-11-25 14:44:43.918231+00', '2026-11-25 14:44:43.918231+00');
INSERT INTO public.frontdesk_sessions VALUES (1, '255a19f0-8747-4fc3-9f78-7f9dbf136bdb', 1, 'token', '\x6620520e9c9e9b59215448e19268c729b70523196cc52043c2940483ccc0f619', 0, NULL, 'pwd', '2026-11-25 14:44:43.409323+00', NULL, '2026-11-25 14:44:43.409323+00', '2026-11-25 14:44:43.409323+00', '2026-11-25 15:14:43.409323+00', NULL, NULL, '127.0.0.0/24', 'Werkzeug/3.1.9');
INSERT INTO public.frontdesk_sessions VALUES (2, '5319488b-e7fa-46b9-a011-7ad9d8ce9409', 2, 'token', '\x57fb7e8183c72656389c2764a3459bafe81c5fd7a3416475b80e8799a87411a8', 0, NULL, 'pwd', '2026-11-25 14:44:43.507139+00', NULL, '2026-11-25 14:44:43.507139+00', '2026-11-25 14:44:43.507139+00', '2026-11-25 15:14:43.507139+00', NULL, NULL, '127.0.0.0/24', 'Werkzeug/3.1.9');
INSERT INTO public.frontdesk_tasks VALUES (1, 'Water the plants', false, 'high', 'ada');
INSERT INTO public.frontdesk_tasks VALUES (2, 'Read', true, 'normal', 'ada');
INSERT INTO public.frontdesk_workspace_members VALUES (1, 1, 1, 'owner', 'active', '2026-11-25 14:44:43.184333+00');
INSERT INTO public.frontdesk_workspace_members VALUES (2, 2, 2, 'owner', 'active', '2026-11-25 14:44:43.23201+00');
INSERT INTO public.frontdesk_workspace_members VALUES (3, 3, 3, 'owner', 'active', '2026-11-25 14:44:43.305185+00');
INSERT INTO public.frontdesk_workspace_members VALUES (4, 4, 1, 'owner', 'active', '2026-11-25 14:44:43.621023+00');
INSERT INTO public.frontdesk_workspace_members VALUES (5, 4, 2, 'member', 'active', '2026-11-25 14:44:43.874021+00');
INSERT INTO public.frontdesk_workspaces VALUES (1, 'ada', 'ada', true, true, '2026-11-25 14:44:43.128551+00', NULL);
INSERT INTO public.frontdesk_workspaces VALUES (2, 'bob', 'bob', true, true, '2026-11-25 14:44:43.213806+00', NULL);
INSERT INTO public.frontdesk_workspaces VALUES (3, 'new-2', 'new', true, true, '2026-11-25 14:44:43.285642+00', NULL);
INSERT INTO public.frontdesk_workspaces VALUES (4, 'team', 'Team', false, false, '2026-11-25 14:44:43.616755+00', 1);
SELECT pg_catalog.setval('public.accounts_id_seq', 3, true);
SELECT pg_catalog.setval('public.frontdesk_account_deletions_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_authenticators_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_deliveries_id_seq', 3, true);
SELECT pg_catalog.setval('public.frontdesk_email_changes_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_events_id_seq', 14, true);
SELECT pg_catalog.setval('public.frontdesk_expansions_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_exports_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_identities_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_inbox_id_seq', 3, true);
SELECT pg_catalog.setval('public.frontdesk_invitations_id_seq', 1, true);
SELECT pg_catalog.setval('public.frontdesk_notifications_id_seq', 1, true);
SELECT pg_catalog.setval('public.frontdesk_outgoing_messages_id_seq', 1, true);
SELECT pg_catalog.setval('public.frontdesk_profiles_id_seq', 1, true);
SELECT pg_catalog.setval('public.frontdesk_recovery_codes_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_saved_filters_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_sessions_id_seq', 2, true);
SELECT pg_catalog.setval('public.frontdesk_tasks_id_seq', 2, true);
SELECT pg_catalog.setval('public.frontdesk_trusted_devices_id_seq', 1, false);
SELECT pg_catalog.setval('public.frontdesk_workspace_members_id_seq', 5, true);
SELECT pg_catalog.setval('public.frontdesk_workspaces_id_seq', 4, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT pk_accounts PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_account_deletions
    ADD CONSTRAINT pk_frontdesk_account_deletions PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_authenticators
    ADD CONSTRAINT pk_frontdesk_authenticators PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_deliveries
    ADD CONSTRAINT pk_frontdesk_deliveries PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_email_changes
    ADD CONSTRAINT pk_frontdesk_email_changes PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_events
    ADD CONSTRAINT pk_frontdesk_events PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_expansions
    ADD CONSTRAINT pk_frontdesk_expansions PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_exports
    ADD CONSTRAINT pk_frontdesk_exports PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_identities
    ADD CONSTRAINT pk_frontdesk_identities PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_inbox
    ADD CONSTRAINT pk_frontdesk_inbox PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_installation
    ADD CONSTRAINT pk_frontdesk_installation PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_invitations
    ADD CONSTRAINT pk_frontdesk_invitations PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_keystore_entries
    ADD CONSTRAINT pk_frontdesk_keystore_entries PRIMARY KEY (key);
ALTER TABLE ONLY public.frontdesk_notifications
    ADD CONSTRAINT pk_frontdesk_notifications PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_outgoing_messages
    ADD CONSTRAINT pk_frontdesk_outgoing_messages PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_profiles
    ADD CONSTRAINT pk_frontdesk_profiles PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_recovery_codes
    ADD CONSTRAINT pk_frontdesk_recovery_codes PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_saved_filters
    ADD CONSTRAINT pk_frontdesk_saved_filters PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_sessions
    ADD CONSTRAINT pk_frontdesk_sessions PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_tasks
    ADD CONSTRAINT pk_frontdesk_tasks PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_trusted_devices
    ADD CONSTRAINT pk_frontdesk_trusted_devices PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT pk_frontdesk_workspace_members PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_workspaces
    ADD CONSTRAINT pk_frontdesk_workspaces PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT uq_accounts_email UNIQUE (email);
ALTER TABLE ONLY public.frontdesk_account_deletions
    ADD CONSTRAINT uq_frontdesk_account_deletions_account_id UNIQUE (account_id);
ALTER TABLE ONLY public.frontdesk_authenticators
    ADD CONSTRAINT uq_frontdesk_authenticators_credential_id UNIQUE (credential_id);
ALTER TABLE ONLY public.frontdesk_expansions
    ADD CONSTRAINT uq_frontdesk_expansions_notification_id UNIQUE (notification_id);
ALTER TABLE ONLY public.frontdesk_identities
    ADD CONSTRAINT uq_frontdesk_identities_issuer_subject UNIQUE (issuer, subject);
ALTER TABLE ONLY public.frontdesk_inbox
    ADD CONSTRAINT uq_frontdesk_inbox_notification_id_receiver_id UNIQUE (notification_id, receiver_id);
ALTER TABLE ONLY public.frontdesk_profiles
    ADD CONSTRAINT uq_frontdesk_profiles_account_id UNIQUE (account_id);
ALTER TABLE ONLY public.frontdesk_profiles
    ADD CONSTRAINT uq_frontdesk_profiles_avatar_file UNIQUE (avatar_file);
ALTER TABLE ONLY public.frontdesk_recovery_codes
    ADD CONSTRAINT uq_frontdesk_recovery_codes_digest UNIQUE (digest);
ALTER TABLE ONLY public.frontdesk_sessions
    ADD CONSTRAINT uq_frontdesk_sessions_public_id UNIQUE (public_id);
ALTER TABLE ONLY public.frontdesk_trusted_devices
    ADD CONSTRAINT uq_frontdesk_trusted_devices_digest UNIQUE (digest);
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT uq_frontdesk_workspace_members_workspace_id_account_id UNIQUE (workspace_id, account_id);
ALTER TABLE ONLY public.frontdesk_workspaces
    ADD CONSTRAINT uq_frontdesk_workspaces_slug UNIQUE (slug);
CREATE INDEX ix_accounts_created_at ON public.accounts USING btree (created_at, id);
CREATE INDEX ix_accounts_email ON public.accounts USING btree (email COLLATE "C");
CREATE INDEX ix_accounts_last_login_date ON public.accounts USING btree (last_login_date, id);
CREATE INDEX ix_accounts_phone ON public.accounts USING btree (phone) WHERE (phone IS NOT NULL);
CREATE INDEX ix_accounts_role ON public.accounts USING btree (role, created_at, id) WHERE ((role)::text <> 'user'::text);
CREATE INDEX ix_accounts_status ON public.accounts USING btree (status, created_at, id) WHERE ((status)::text <> 'active'::text);
CREATE INDEX ix_accounts_unverified ON public.accounts USING btree (created_at, id) WHERE (email_unverified_since IS NOT NULL);
CREATE INDEX ix_frontdesk_account_deletions_deletes_at ON public.frontdesk_account_deletions USING btree (deletes_at);
CREATE INDEX ix_frontdesk_authenticators_account_id ON public.frontdesk_authenticators USING btree (account_id, id);
CREATE INDEX ix_frontdesk_deliveries_outgoing_id ON public.frontdesk_deliveries USING btree (outgoing_id, channel, state);
CREATE INDEX ix_frontdesk_deliveries_queue ON public.frontdesk_deliveries USING btree (channel, lane, due_at, id) WHERE ((state)::text = 'pending'::text);
CREATE INDEX ix_frontdesk_deliveries_receiver_id ON public.frontdesk_deliveries USING btree (receiver_id, id);
CREATE INDEX ix_frontdesk_email_changes_account_id ON public.frontdesk_email_changes USING btree (account_id);
CREATE INDEX ix_frontdesk_email_changes_new_email ON public.frontdesk_email_changes USING btree (new_email);
CREATE INDEX ix_frontdesk_events_account_id ON public.frontdesk_events USING btree (account_id, at, id);
CREATE INDEX ix_frontdesk_events_actor_id ON public.frontdesk_events USING btree (actor_id, at, id);
CREATE INDEX ix_frontdesk_events_at ON public.frontdesk_events USING btree (at, id);
CREATE INDEX ix_frontdesk_events_target ON public.frontdesk_events USING btree (target_kind, target_id, at, id) WHERE (target_id IS NOT NULL);
CREATE INDEX ix_frontdesk_events_type ON public.frontdesk_events USING btree (type, at, id) WHERE ((type)::text <> 'login.succeeded'::text);
CREATE INDEX ix_frontdesk_events_workspace_id ON public.frontdesk_events USING btree (workspace_id, at, id) WHERE (workspace_id IS NOT NULL);
CREATE INDEX ix_frontdesk_expansions_queue ON public.frontdesk_expansions USING btree (due_at) WHERE ((state)::text = 'pending'::text);
CREATE INDEX ix_frontdesk_exports_account_id ON public.frontdesk_exports USING btree (account_id, id);
CREATE INDEX ix_frontdesk_exports_queue ON public.frontdesk_exports USING btree (due_at) WHERE ((state)::text = 'pending'::text);
CREATE INDEX ix_frontdesk_identities_account_id ON public.frontdesk_identities USING btree (account_id);
CREATE INDEX ix_frontdesk_inbox_receiver_id ON public.frontdesk_inbox USING btree (receiver_id, id);
CREATE INDEX ix_frontdesk_inbox_unread ON public.frontdesk_inbox USING btree (receiver_id, id) WHERE (NOT is_read);
CREATE INDEX ix_frontdesk_invitations_email ON public.frontdesk_invitations USING btree (email);
CREATE INDEX ix_frontdesk_invitations_inviter_id ON public.frontdesk_invitations USING btree (inviter_id);
CREATE INDEX ix_frontdesk_invitations_workspace_id ON public.frontdesk_invitations USING btree (workspace_id, id);
CREATE INDEX ix_frontdesk_keystore_entries_expires_at ON public.frontdesk_keystore_entries USING btree (expires_at);
CREATE INDEX ix_frontdesk_notifications_broadcasts ON public.frontdesk_notifications USING btree (id) WHERE (((notification_type)::text = 'admin'::text) AND ((scope)::text = 'account'::text));
CREATE INDEX ix_frontdesk_notifications_sender_id ON public.frontdesk_notifications USING btree (sender_id, id);
CREATE INDEX ix_frontdesk_outgoing_messages_subject ON public.frontdesk_outgoing_messages USING btree (subject_kind, subject_id);
CREATE INDEX ix_frontdesk_recovery_codes_account_id ON public.frontdesk_recovery_codes USING btree (account_id, id);
CREATE UNIQUE INDEX ix_frontdesk_saved_filters_account_id ON public.frontdesk_saved_filters USING btree (account_id, name);
CREATE INDEX ix_frontdesk_sessions_account_id ON public.frontdesk_sessions USING btree (account_id, id) WHERE (ended_at IS NULL);
CREATE INDEX ix_frontdesk_sessions_expires_at ON public.frontdesk_sessions USING btree (expires_at);
CREATE INDEX ix_frontdesk_tasks_owner_id ON public.frontdesk_tasks USING btree (owner, id);
CREATE INDEX ix_frontdesk_trusted_devices_account_id ON public.frontdesk_trusted_devices USING btree (account_id, id);
CREATE INDEX ix_frontdesk_workspace_members_account_id ON public.frontdesk_workspace_members USING btree (account_id);
CREATE INDEX ix_frontdesk_workspaces_creator_id ON public.frontdesk_workspaces USING btree (creator_id);
CREATE UNIQUE INDEX uq_frontdesk_invitations_pending ON public.frontdesk_invitations USING btree (workspace_id, email) WHERE ((state)::text = 'pending'::text);
ALTER TABLE ONLY public.frontdesk_account_deletions
    ADD CONSTRAINT fk_frontdesk_account_deletions_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_authenticators
    ADD CONSTRAINT fk_frontdesk_authenticators_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_deliveries
    ADD CONSTRAINT fk_frontdesk_deliveries_outgoing_id FOREIGN KEY (outgoing_id) REFERENCES public.frontdesk_outgoing_messages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_email_changes
    ADD CONSTRAINT fk_frontdesk_email_changes_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_expansions
    ADD CONSTRAINT fk_frontdesk_expansions_notification_id FOREIGN KEY (notification_id) REFERENCES public.frontdesk_notifications(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_exports
    ADD CONSTRAINT fk_frontdesk_exports_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_identities
    ADD CONSTRAINT fk_frontdesk_identities_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_inbox
    ADD CONSTRAINT fk_frontdesk_inbox_notification_id FOREIGN KEY (notification_id) REFERENCES public.frontdesk_notifications(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_inbox
    ADD CONSTRAINT fk_frontdesk_inbox_receiver_id FOREIGN KEY (receiver_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_invitations
    ADD CONSTRAINT fk_frontdesk_invitations_inviter_id FOREIGN KEY (inviter_id) REFERENCES public.accounts(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.frontdesk_invitations
    ADD CONSTRAINT fk_frontdesk_invitations_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.frontdesk_workspaces(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_notifications
    ADD CONSTRAINT fk_frontdesk_notifications_sender_id FOREIGN KEY (sender_id) REFERENCES public.accounts(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.frontdesk_profiles
    ADD CONSTRAINT fk_frontdesk_profiles_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_recovery_codes
    ADD CONSTRAINT fk_frontdesk_recovery_codes_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_saved_filters
    ADD CONSTRAINT fk_frontdesk_saved_filters_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_sessions
    ADD CONSTRAINT fk_frontdesk_sessions_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_trusted_devices
    ADD CONSTRAINT fk_frontdesk_trusted_devices_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT fk_frontdesk_workspace_members_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT fk_frontdesk_workspace_members_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.frontdesk_workspaces(id) ON DELETE CASCADE;
