CREATE TABLE public.accounts (
    id bigint NOT NULL,
    email character varying(320) NOT NULL,
    password_hash character varying(128),
    status character varying(50) NOT NULL,
    role character varying(50) NOT NULL,
    phone character varying(32),
    last_login_date timestamp with time zone,
    current_workspace_id bigint,
    created_at timestamp with time zone NOT NULL,
    tokens_valid_from timestamp with time zone,
    logged_out_at timestamp with time zone
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
CREATE TABLE public.deliveries (
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
CREATE SEQUENCE public.deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.deliveries_id_seq OWNED BY public.deliveries.id;
CREATE TABLE public.inbox (
    id bigint NOT NULL,
    notification_id bigint NOT NULL,
    receiver_id bigint NOT NULL,
    is_read boolean DEFAULT false NOT NULL
);
CREATE SEQUENCE public.inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.inbox_id_seq OWNED BY public.inbox.id;
CREATE TABLE public.keystore_entries (
    key character varying(512) NOT NULL,
    value text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.notifications (
    id bigint NOT NULL,
    title character varying(200) NOT NULL,
    message text NOT NULL,
    channels json NOT NULL,
    sender_id bigint,
    notification_type character varying(20) NOT NULL,
    scope character varying(50) NOT NULL,
    receivers bigint DEFAULT '0'::bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    standing json,
    counted_at timestamp with time zone
);
CREATE SEQUENCE public.notifications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.notifications_id_seq OWNED BY public.notifications.id;
CREATE TABLE public.outgoing_messages (
    id bigint NOT NULL,
    notification_id bigint,
    title character varying(200) NOT NULL,
    message text NOT NULL,
    template_file character varying(255),
    context text,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.outgoing_messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.outgoing_messages_id_seq OWNED BY public.outgoing_messages.id;
CREATE TABLE public.profiles (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    first_name character varying(100) NOT NULL,
    last_name character varying(100) NOT NULL,
    date_of_birth date NOT NULL,
    gender character varying(50) NOT NULL,
    marital_status character varying(50) NOT NULL,
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
CREATE SEQUENCE public.profiles_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.profiles_id_seq OWNED BY public.profiles.id;
CREATE TABLE public.tasks (
    id bigint NOT NULL,
    title character varying(200) NOT NULL,
    done boolean NOT NULL,
    priority character varying(50) NOT NULL,
    owner character varying(255) NOT NULL
);
CREATE SEQUENCE public.tasks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.tasks_id_seq OWNED BY public.tasks.id;
CREATE TABLE public.workspace_members (
    id bigint NOT NULL,
    workspace_id bigint NOT NULL,
    account_id bigint NOT NULL,
    type character varying(20) NOT NULL,
    status character varying(50) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.workspace_members_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.workspace_members_id_seq OWNED BY public.workspace_members.id;
CREATE TABLE public.workspaces (
    id bigint NOT NULL,
    slug character varying(63) NOT NULL,
    name character varying(200) NOT NULL,
    is_default boolean NOT NULL,
    is_personal boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.workspaces_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.workspaces_id_seq OWNED BY public.workspaces.id;
ALTER TABLE ONLY public.accounts ALTER COLUMN id SET DEFAULT nextval('public.accounts_id_seq'::regclass);
ALTER TABLE ONLY public.deliveries ALTER COLUMN id SET DEFAULT nextval('public.deliveries_id_seq'::regclass);
ALTER TABLE ONLY public.inbox ALTER COLUMN id SET DEFAULT nextval('public.inbox_id_seq'::regclass);
ALTER TABLE ONLY public.notifications ALTER COLUMN id SET DEFAULT nextval('public.notifications_id_seq'::regclass);
ALTER TABLE ONLY public.outgoing_messages ALTER COLUMN id SET DEFAULT nextval('public.outgoing_messages_id_seq'::regclass);
ALTER TABLE ONLY public.profiles ALTER COLUMN id SET DEFAULT nextval('public.profiles_id_seq'::regclass);
ALTER TABLE ONLY public.tasks ALTER COLUMN id SET DEFAULT nextval('public.tasks_id_seq'::regclass);
ALTER TABLE ONLY public.workspace_members ALTER COLUMN id SET DEFAULT nextval('public.workspace_members_id_seq'::regclass);
ALTER TABLE ONLY public.workspaces ALTER COLUMN id SET DEFAULT nextval('public.workspaces_id_seq'::regclass);
INSERT INTO public.accounts VALUES (1, 'ada@example.com', '$2b$04$m7anwiRgu/qvkn88Z5iJSenu2KAEl8Q19Sm6kZAZJ.ug6Yb.DhdJe', 'active', 'root', '+15005550006', NULL, 1, '2026-11-01 12:00:00+00', NULL, NULL);
INSERT INTO public.accounts VALUES (2, 'bob@example.com', NULL, 'suspended', 'user', NULL, NULL, NULL, '2026-11-02 12:00:00+00', NULL, '2026-11-03 12:00:00+00');
INSERT INTO public.alembic_version VALUES ('0007_standing');
INSERT INTO public.deliveries VALUES (1, 1, 1, 'email', 1, 'sent', 1, '2026-11-03 12:00:00+00', NULL, NULL, NULL, NULL);
INSERT INTO public.deliveries VALUES (2, 1, 2, 'email', 1, 'pending', 0, '2026-11-03 12:00:00+00', NULL, NULL, NULL, NULL);
INSERT INTO public.inbox VALUES (1, 1, 1, true);
INSERT INTO public.inbox VALUES (2, 1, 2, false);
INSERT INTO public.keystore_entries VALUES ('revoked:ada@example.com', '1', '2030-01-01 00:00:00+00');
INSERT INTO public.notifications VALUES (1, 'Welcome', 'Hello', '["inapp", "email"]', 1, 'system', 'account', 2, '2026-11-03 12:00:00+00', '{"email": {"sent": 1}}', '2026-11-03 12:05:00+00');
INSERT INTO public.outgoing_messages VALUES (1, 1, 'Welcome', 'Hello', NULL, NULL, '2026-11-03 12:00:00+00');
INSERT INTO public.outgoing_messages VALUES (2, NULL, 'Reset', 'Code', 'reset_password.html', '{}', '2026-11-03 12:00:00+00');
INSERT INTO public.profiles VALUES (1, 1, 'Ada', 'King', '1815-12-10', 'female', 'married', NULL, NULL, 'London', NULL, NULL, NULL, NULL, NULL, NULL, '{"likes": ["engines"]}', '2026-11-01 12:00:00+00', '2026-11-01 12:00:00+00');
INSERT INTO public.tasks VALUES (1, 'Water the plants', false, 'high', 'ada');
INSERT INTO public.tasks VALUES (2, 'Read', true, 'low', 'ada');
INSERT INTO public.workspace_members VALUES (1, 1, 1, 'owner', 'active', '2026-11-01 12:00:00+00');
INSERT INTO public.workspace_members VALUES (2, 1, 2, 'member', 'active', '2026-11-02 12:00:00+00');
INSERT INTO public.workspaces VALUES (1, 'ada', 'Ada', true, true, '2026-11-01 12:00:00+00');
SELECT pg_catalog.setval('public.accounts_id_seq', 7, true);
SELECT pg_catalog.setval('public.deliveries_id_seq', 2, true);
SELECT pg_catalog.setval('public.inbox_id_seq', 2, true);
SELECT pg_catalog.setval('public.notifications_id_seq', 1, true);
SELECT pg_catalog.setval('public.outgoing_messages_id_seq', 2, true);
SELECT pg_catalog.setval('public.profiles_id_seq', 1, true);
SELECT pg_catalog.setval('public.tasks_id_seq', 9, true);
SELECT pg_catalog.setval('public.workspace_members_id_seq', 2, true);
SELECT pg_catalog.setval('public.workspaces_id_seq', 1, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT pk_accounts PRIMARY KEY (id);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT pk_deliveries PRIMARY KEY (id);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT pk_inbox PRIMARY KEY (id);
ALTER TABLE ONLY public.keystore_entries
    ADD CONSTRAINT pk_keystore_entries PRIMARY KEY (key);
ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT pk_notifications PRIMARY KEY (id);
ALTER TABLE ONLY public.outgoing_messages
    ADD CONSTRAINT pk_outgoing_messages PRIMARY KEY (id);
ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT pk_profiles PRIMARY KEY (id);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT pk_tasks PRIMARY KEY (id);
ALTER TABLE ONLY public.workspace_members
    ADD CONSTRAINT pk_workspace_members PRIMARY KEY (id);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT pk_workspaces PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT uq_accounts_email UNIQUE (email);
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT uq_inbox_notification_id_receiver_id UNIQUE (notification_id, receiver_id);
ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT uq_profiles_account_id UNIQUE (account_id);
ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT uq_profiles_avatar_file UNIQUE (avatar_file);
ALTER TABLE ONLY public.workspace_members
    ADD CONSTRAINT uq_workspace_members_workspace_id_account_id UNIQUE (workspace_id, account_id);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT uq_workspaces_slug UNIQUE (slug);
CREATE INDEX ix_deliveries_outgoing_id ON public.deliveries USING btree (outgoing_id, channel, state);
CREATE INDEX ix_deliveries_queue ON public.deliveries USING btree (channel, lane, due_at, id) WHERE ((state)::text = 'pending'::text);
CREATE INDEX ix_inbox_receiver_id ON public.inbox USING btree (receiver_id, id);
CREATE INDEX ix_inbox_unread ON public.inbox USING btree (receiver_id, id) WHERE (NOT is_read);
CREATE INDEX ix_keystore_entries_expires_at ON public.keystore_entries USING btree (expires_at);
CREATE INDEX ix_notifications_sender_id ON public.notifications USING btree (sender_id, id);
CREATE INDEX ix_outgoing_messages_notification_id ON public.outgoing_messages USING btree (notification_id);
CREATE INDEX ix_tasks_owner_id ON public.tasks USING btree (owner, id);
CREATE INDEX ix_workspace_members_account_id ON public.workspace_members USING btree (account_id);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT fk_deliveries_outgoing_id_outgoing_messages FOREIGN KEY (outgoing_id) REFERENCES public.outgoing_messages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT fk_inbox_notification_id_notifications FOREIGN KEY (notification_id) REFERENCES public.notifications(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT fk_inbox_receiver_id_accounts FOREIGN KEY (receiver_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT fk_notifications_sender_id_accounts FOREIGN KEY (sender_id) REFERENCES public.accounts(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.outgoing_messages
    ADD CONSTRAINT fk_outgoing_messages_notification_id_notifications FOREIGN KEY (notification_id) REFERENCES public.notifications(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT fk_profiles_account_id_accounts FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workspace_members
    ADD CONSTRAINT fk_workspace_members_account_id_accounts FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workspace_members
    ADD CONSTRAINT fk_workspace_members_workspace_id_workspaces FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id) ON DELETE CASCADE;
