CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';
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
CREATE TABLE public.frontdesk_account_notes (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    author_id bigint NOT NULL,
    text character varying(2000) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_account_notes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_account_notes_id_seq OWNED BY public.frontdesk_account_notes.id;
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
CREATE TABLE public.frontdesk_broadcast_drafts (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    title character varying(200) NOT NULL,
    content json NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_broadcast_drafts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_broadcast_drafts_id_seq OWNED BY public.frontdesk_broadcast_drafts.id;
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
    counted_at timestamp with time zone,
    audience json,
    is_personal boolean
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
    subject_id bigint,
    is_personal boolean
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
CREATE TABLE public.frontdesk_segments (
    id bigint NOT NULL,
    name character varying(80) NOT NULL,
    audience json NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.frontdesk_segments_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.frontdesk_segments_id_seq OWNED BY public.frontdesk_segments.id;
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
CREATE TABLE public.frontdesk_shared_broadcasts (
    item_id bigint NOT NULL,
    notification_id bigint NOT NULL,
    through_id bigint NOT NULL
);
CREATE TABLE public.frontdesk_shared_items (
    receiver_id bigint NOT NULL,
    item_id bigint NOT NULL,
    is_read boolean DEFAULT false NOT NULL,
    is_deleted boolean DEFAULT false NOT NULL
);
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
    creator_id bigint,
    logo_file character varying(64)
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
ALTER TABLE ONLY public.frontdesk_account_notes ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_account_notes_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_authenticators ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_authenticators_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_broadcast_drafts ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_broadcast_drafts_id_seq'::regclass);
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
ALTER TABLE ONLY public.frontdesk_segments ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_segments_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_sessions ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_sessions_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_tasks ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_tasks_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_trusted_devices ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_trusted_devices_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_workspace_members ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_workspace_members_id_seq'::regclass);
ALTER TABLE ONLY public.frontdesk_workspaces ALTER COLUMN id SET DEFAULT nextval('public.frontdesk_workspaces_id_seq'::regclass);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT pk_accounts PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_account_deletions
    ADD CONSTRAINT pk_frontdesk_account_deletions PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_account_notes
    ADD CONSTRAINT pk_frontdesk_account_notes PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_authenticators
    ADD CONSTRAINT pk_frontdesk_authenticators PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_broadcast_drafts
    ADD CONSTRAINT pk_frontdesk_broadcast_drafts PRIMARY KEY (id);
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
ALTER TABLE ONLY public.frontdesk_segments
    ADD CONSTRAINT pk_frontdesk_segments PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_sessions
    ADD CONSTRAINT pk_frontdesk_sessions PRIMARY KEY (id);
ALTER TABLE ONLY public.frontdesk_shared_broadcasts
    ADD CONSTRAINT pk_frontdesk_shared_broadcasts PRIMARY KEY (item_id);
ALTER TABLE ONLY public.frontdesk_shared_items
    ADD CONSTRAINT pk_frontdesk_shared_items PRIMARY KEY (receiver_id, item_id);
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
ALTER TABLE ONLY public.frontdesk_segments
    ADD CONSTRAINT uq_frontdesk_segments_name UNIQUE (name);
ALTER TABLE ONLY public.frontdesk_sessions
    ADD CONSTRAINT uq_frontdesk_sessions_public_id UNIQUE (public_id);
ALTER TABLE ONLY public.frontdesk_shared_broadcasts
    ADD CONSTRAINT uq_frontdesk_shared_broadcasts_notification_id UNIQUE (notification_id);
ALTER TABLE ONLY public.frontdesk_trusted_devices
    ADD CONSTRAINT uq_frontdesk_trusted_devices_digest UNIQUE (digest);
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT uq_frontdesk_workspace_members_workspace_id_account_id UNIQUE (workspace_id, account_id);
ALTER TABLE ONLY public.frontdesk_workspaces
    ADD CONSTRAINT uq_frontdesk_workspaces_slug UNIQUE (slug);
CREATE INDEX ix_accounts_created_at ON public.accounts USING btree (created_at, id);
CREATE INDEX ix_accounts_email ON public.accounts USING btree (email COLLATE "C");
CREATE INDEX ix_accounts_email_search ON public.accounts USING gin (email public.gin_trgm_ops);
CREATE INDEX ix_accounts_last_login_date ON public.accounts USING btree (last_login_date, id);
CREATE INDEX ix_accounts_phone ON public.accounts USING btree (phone) WHERE (phone IS NOT NULL);
CREATE INDEX ix_accounts_phone_search ON public.accounts USING gin (phone public.gin_trgm_ops);
CREATE INDEX ix_accounts_role ON public.accounts USING btree (role, created_at, id) WHERE ((role)::text <> 'user'::text);
CREATE INDEX ix_accounts_status ON public.accounts USING btree (status, created_at, id) WHERE ((status)::text <> 'active'::text);
CREATE INDEX ix_accounts_unverified ON public.accounts USING btree (created_at, id) WHERE (email_unverified_since IS NOT NULL);
CREATE INDEX ix_frontdesk_account_deletions_deletes_at ON public.frontdesk_account_deletions USING btree (deletes_at);
CREATE INDEX ix_frontdesk_account_notes_account_id ON public.frontdesk_account_notes USING btree (account_id, id);
CREATE INDEX ix_frontdesk_authenticators_account_id ON public.frontdesk_authenticators USING btree (account_id, id);
CREATE INDEX ix_frontdesk_broadcast_drafts_account_id ON public.frontdesk_broadcast_drafts USING btree (account_id, id);
CREATE INDEX ix_frontdesk_deliveries_finished_at ON public.frontdesk_deliveries USING btree (state, finished_at, id) WHERE ((state)::text = ANY ((ARRAY['sent'::character varying, 'failed'::character varying])::text[]));
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
CREATE INDEX ix_frontdesk_profiles_names_search ON public.frontdesk_profiles USING gin (first_name public.gin_trgm_ops, last_name public.gin_trgm_ops);
CREATE INDEX ix_frontdesk_recovery_codes_account_id ON public.frontdesk_recovery_codes USING btree (account_id, id);
CREATE UNIQUE INDEX ix_frontdesk_saved_filters_account_id ON public.frontdesk_saved_filters USING btree (account_id, name);
CREATE INDEX ix_frontdesk_sessions_account_id ON public.frontdesk_sessions USING btree (account_id, id) WHERE (ended_at IS NULL);
CREATE INDEX ix_frontdesk_sessions_expires_at ON public.frontdesk_sessions USING btree (expires_at);
CREATE INDEX ix_frontdesk_shared_items_item_id ON public.frontdesk_shared_items USING btree (item_id);
CREATE INDEX ix_frontdesk_tasks_owner_id ON public.frontdesk_tasks USING btree (owner, id);
CREATE INDEX ix_frontdesk_trusted_devices_account_id ON public.frontdesk_trusted_devices USING btree (account_id, id);
CREATE INDEX ix_frontdesk_workspace_members_account_id ON public.frontdesk_workspace_members USING btree (account_id);
CREATE INDEX ix_frontdesk_workspace_members_owners ON public.frontdesk_workspace_members USING btree (workspace_id, id, account_id) WHERE ((type)::text = 'owner'::text);
CREATE INDEX ix_frontdesk_workspaces_creator_id ON public.frontdesk_workspaces USING btree (creator_id);
CREATE UNIQUE INDEX ix_frontdesk_workspaces_logo_file ON public.frontdesk_workspaces USING btree (logo_file);
CREATE INDEX ix_frontdesk_workspaces_name ON public.frontdesk_workspaces USING btree (name COLLATE "C");
CREATE INDEX ix_frontdesk_workspaces_slug ON public.frontdesk_workspaces USING btree (slug COLLATE "C");
CREATE UNIQUE INDEX uq_frontdesk_invitations_pending ON public.frontdesk_invitations USING btree (workspace_id, email) WHERE ((state)::text = 'pending'::text);
ALTER TABLE ONLY public.frontdesk_account_deletions
    ADD CONSTRAINT fk_frontdesk_account_deletions_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_account_notes
    ADD CONSTRAINT fk_frontdesk_account_notes_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_authenticators
    ADD CONSTRAINT fk_frontdesk_authenticators_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_broadcast_drafts
    ADD CONSTRAINT fk_frontdesk_broadcast_drafts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
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
ALTER TABLE ONLY public.frontdesk_shared_broadcasts
    ADD CONSTRAINT fk_frontdesk_shared_broadcasts_notification_id FOREIGN KEY (notification_id) REFERENCES public.frontdesk_notifications(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_shared_items
    ADD CONSTRAINT fk_frontdesk_shared_items_item_id FOREIGN KEY (item_id) REFERENCES public.frontdesk_shared_broadcasts(item_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_shared_items
    ADD CONSTRAINT fk_frontdesk_shared_items_receiver_id FOREIGN KEY (receiver_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_trusted_devices
    ADD CONSTRAINT fk_frontdesk_trusted_devices_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT fk_frontdesk_workspace_members_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.frontdesk_workspace_members
    ADD CONSTRAINT fk_frontdesk_workspace_members_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.frontdesk_workspaces(id) ON DELETE CASCADE;
INSERT INTO public.alembic_version VALUES ('0031_shared_broadcasts');
