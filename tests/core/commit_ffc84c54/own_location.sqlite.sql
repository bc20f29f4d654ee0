BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002_of_members');
INSERT INTO "alembic_version" VALUES('0031_shared_broadcasts');
CREATE TABLE frontdesk_account_deletions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	former_status VARCHAR(50) NOT NULL, 
	deletes_at DATETIME NOT NULL, 
	CONSTRAINT uq_frontdesk_account_deletions_account_id UNIQUE (account_id), 
	CONSTRAINT fk_frontdesk_account_deletions_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_account_notes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	author_id VARCHAR(40) NOT NULL, 
	text VARCHAR(2000) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT fk_frontdesk_account_notes_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_authenticators (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	confirmed_at DATETIME, 
	last_used_at DATETIME, 
	secret VARCHAR(255), 
	last_step BIGINT, 
	user_handle BLOB, 
	credential_id BLOB, 
	public_key BLOB, 
	sign_count BIGINT, 
	aaguid VARCHAR(36), 
	transports JSON, 
	backed_up BOOLEAN, 
	CONSTRAINT uq_frontdesk_authenticators_credential_id UNIQUE (credential_id), 
	CONSTRAINT fk_frontdesk_authenticators_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_broadcast_drafts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	content JSON NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT fk_frontdesk_broadcast_drafts_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_deliveries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	outgoing_id INTEGER NOT NULL, 
	receiver_id VARCHAR(255) NOT NULL, 
	channel VARCHAR(50) NOT NULL, 
	lane SMALLINT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	attempts SMALLINT NOT NULL, 
	due_at DATETIME NOT NULL, 
	claim VARCHAR(32), 
	reason VARCHAR(200), 
	reference VARCHAR(100), 
	finished_at DATETIME, 
	CONSTRAINT fk_frontdesk_deliveries_outgoing_id FOREIGN KEY(outgoing_id) REFERENCES frontdesk_outgoing_messages (id) ON DELETE CASCADE
);
CREATE TABLE frontdesk_email_changes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	old_email VARCHAR(320) NOT NULL, 
	new_email VARCHAR(320) NOT NULL, 
	is_undoable BOOLEAN NOT NULL, 
	requested_at DATETIME NOT NULL, 
	confirmed_at DATETIME, 
	CONSTRAINT fk_frontdesk_email_changes_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_events (
	id INTEGER NOT NULL, 
	type VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	actor_kind VARCHAR(20) NOT NULL, 
	actor_id VARCHAR(40), 
	account_id VARCHAR(40), 
	workspace_id INTEGER, 
	target_kind VARCHAR(64), 
	target_id VARCHAR(255), 
	address VARCHAR(45), 
	user_agent VARCHAR(255), 
	request_id VARCHAR(128), 
	data JSON NOT NULL, 
	CONSTRAINT pk_frontdesk_events PRIMARY KEY (id)
);
CREATE TABLE frontdesk_expansions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	notification_id INTEGER NOT NULL, 
	audience JSON NOT NULL, 
	channels JSON NOT NULL, 
	outgoing_id INTEGER, 
	last_id INTEGER, 
	last_created_at DATETIME, 
	position VARCHAR(255), 
	stored INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	attempts SMALLINT NOT NULL, 
	due_at DATETIME NOT NULL, 
	claim VARCHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT fk_frontdesk_expansions_notification_id FOREIGN KEY(notification_id) REFERENCES frontdesk_notifications (id) ON DELETE CASCADE, 
	CONSTRAINT uq_frontdesk_expansions_notification_id UNIQUE (notification_id)
);
CREATE TABLE frontdesk_exports (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	attempts SMALLINT NOT NULL, 
	due_at DATETIME NOT NULL, 
	claim VARCHAR(32), 
	file VARCHAR(64), 
	size INTEGER, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	CONSTRAINT fk_frontdesk_exports_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_identities (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	provider VARCHAR(50) NOT NULL, 
	issuer VARCHAR(255) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	email VARCHAR(320) NOT NULL, 
	linked_at DATETIME NOT NULL, 
	last_used_at DATETIME NOT NULL, 
	CONSTRAINT fk_frontdesk_identities_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE, 
	CONSTRAINT uq_frontdesk_identities_issuer_subject UNIQUE (issuer, subject)
);
CREATE TABLE frontdesk_inbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	notification_id INTEGER NOT NULL, 
	receiver_id VARCHAR(40) NOT NULL, 
	is_read BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT fk_frontdesk_inbox_notification_id FOREIGN KEY(notification_id) REFERENCES frontdesk_notifications (id) ON DELETE CASCADE, 
	CONSTRAINT fk_frontdesk_inbox_receiver_id FOREIGN KEY(receiver_id) REFERENCES members ("key") ON DELETE CASCADE, 
	CONSTRAINT uq_frontdesk_inbox_notification_id_receiver_id UNIQUE (notification_id, receiver_id)
);
CREATE TABLE frontdesk_installation (
	id SMALLINT NOT NULL, 
	secret VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_frontdesk_installation PRIMARY KEY (id)
);
CREATE TABLE frontdesk_invitations (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	workspace_id INTEGER NOT NULL, 
	inviter_id VARCHAR(40), 
	email VARCHAR(320) NOT NULL, 
	type VARCHAR(20) NOT NULL, 
	message VARCHAR(500), 
	state VARCHAR(20) NOT NULL, 
	sends INTEGER NOT NULL, 
	sent_at DATETIME, 
	expires_at DATETIME NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT fk_frontdesk_invitations_workspace_id FOREIGN KEY(workspace_id) REFERENCES frontdesk_workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT fk_frontdesk_invitations_inviter_id FOREIGN KEY(inviter_id) REFERENCES members ("key") ON DELETE SET NULL
);
CREATE TABLE frontdesk_keystore_entries (
	"key" VARCHAR(512) NOT NULL, 
	value TEXT NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_frontdesk_keystore_entries PRIMARY KEY ("key")
);
CREATE TABLE frontdesk_notifications (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	title VARCHAR(200) NOT NULL, 
	message TEXT NOT NULL, 
	channels JSON NOT NULL, 
	sender_id VARCHAR(40), 
	notification_type VARCHAR(20) NOT NULL, 
	scope VARCHAR(50) NOT NULL, 
	receivers INTEGER DEFAULT '0' NOT NULL, 
	created_at DATETIME NOT NULL, counts JSON, counted_at DATETIME, audience JSON, is_personal BOOLEAN, 
	CONSTRAINT fk_frontdesk_notifications_sender_id FOREIGN KEY(sender_id) REFERENCES members ("key") ON DELETE SET NULL
);
CREATE TABLE "frontdesk_outgoing_messages" (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	title VARCHAR(200) NOT NULL, 
	message TEXT NOT NULL, 
	template_file VARCHAR(255), 
	context TEXT, 
	created_at DATETIME NOT NULL, 
	subject_kind VARCHAR(30), 
	subject_id INTEGER
, is_personal BOOLEAN);
CREATE TABLE "frontdesk_profiles" (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	first_name VARCHAR(100), 
	last_name VARCHAR(100), 
	date_of_birth DATE, 
	gender VARCHAR(50), 
	marital_status VARCHAR(50), 
	phone VARCHAR(50), 
	address VARCHAR(255), 
	city VARCHAR(100), 
	state VARCHAR(100), 
	country VARCHAR(100), 
	postal_code VARCHAR(20), 
	bio VARCHAR(2000), 
	avatar VARCHAR(2048), 
	avatar_file VARCHAR(64), 
	extra JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT uq_frontdesk_profiles_account_id UNIQUE (account_id), 
	CONSTRAINT fk_frontdesk_profiles_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE, 
	CONSTRAINT uq_frontdesk_profiles_avatar_file UNIQUE (avatar_file)
);
CREATE TABLE frontdesk_recovery_codes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT uq_frontdesk_recovery_codes_digest UNIQUE (digest), 
	CONSTRAINT fk_frontdesk_recovery_codes_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_saved_filters (
	id INTEGER NOT NULL, 
	account_id VARCHAR(40) NOT NULL, 
	name VARCHAR(80) NOT NULL, 
	"query" VARCHAR(1000) NOT NULL, 
	CONSTRAINT pk_frontdesk_saved_filters PRIMARY KEY (id), 
	CONSTRAINT fk_frontdesk_saved_filters_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_segments (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(80) NOT NULL, 
	audience JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT uq_frontdesk_segments_name UNIQUE (name)
);
CREATE TABLE frontdesk_sessions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	public_id CHAR(32) NOT NULL, 
	account_id VARCHAR(40) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	secret BLOB NOT NULL, 
	counter INTEGER NOT NULL, 
	refreshed_at DATETIME, 
	amr VARCHAR(60) NOT NULL, 
	authenticated_at DATETIME NOT NULL, 
	factor_at DATETIME, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	end_reason VARCHAR(20), 
	ip VARCHAR(45), 
	user_agent VARCHAR(255), 
	CONSTRAINT uq_frontdesk_sessions_public_id UNIQUE (public_id), 
	CONSTRAINT fk_frontdesk_sessions_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_shared_broadcasts (
	item_id INTEGER NOT NULL, 
	notification_id INTEGER NOT NULL, 
	through_id VARCHAR(40) NOT NULL, 
	CONSTRAINT pk_frontdesk_shared_broadcasts PRIMARY KEY (item_id), 
	CONSTRAINT fk_frontdesk_shared_broadcasts_notification_id FOREIGN KEY(notification_id) REFERENCES frontdesk_notifications (id) ON DELETE CASCADE, 
	CONSTRAINT uq_frontdesk_shared_broadcasts_notification_id UNIQUE (notification_id)
);
CREATE TABLE frontdesk_shared_items (
	receiver_id VARCHAR(40) NOT NULL, 
	item_id INTEGER NOT NULL, 
	is_read BOOLEAN DEFAULT 0 NOT NULL, 
	is_deleted BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_frontdesk_shared_items PRIMARY KEY (receiver_id, item_id), 
	CONSTRAINT fk_frontdesk_shared_items_receiver_id FOREIGN KEY(receiver_id) REFERENCES members ("key") ON DELETE CASCADE, 
	CONSTRAINT fk_frontdesk_shared_items_item_id FOREIGN KEY(item_id) REFERENCES frontdesk_shared_broadcasts (item_id) ON DELETE CASCADE
);
CREATE TABLE frontdesk_tasks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	title VARCHAR(200) NOT NULL, 
	done BOOLEAN NOT NULL, 
	priority VARCHAR(50) NOT NULL, 
	owner VARCHAR(255) NOT NULL
);
CREATE TABLE frontdesk_trusted_devices (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id VARCHAR(40) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	user_agent VARCHAR(255), 
	ip VARCHAR(45), 
	created_at DATETIME NOT NULL, 
	last_used_at DATETIME, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT uq_frontdesk_trusted_devices_digest UNIQUE (digest), 
	CONSTRAINT fk_frontdesk_trusted_devices_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE
);
CREATE TABLE frontdesk_workspace_members (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	workspace_id INTEGER NOT NULL, 
	account_id VARCHAR(40) NOT NULL, 
	type VARCHAR(20) NOT NULL, 
	status VARCHAR(50) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT fk_frontdesk_workspace_members_workspace_id FOREIGN KEY(workspace_id) REFERENCES frontdesk_workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT fk_frontdesk_workspace_members_account_id FOREIGN KEY(account_id) REFERENCES members ("key") ON DELETE CASCADE, 
	CONSTRAINT uq_frontdesk_workspace_members_workspace_id_account_id UNIQUE (workspace_id, account_id)
);
CREATE TABLE frontdesk_workspaces (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	slug VARCHAR(63) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	is_default BOOLEAN NOT NULL, 
	is_personal BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, creator_id VARCHAR(40), logo_file VARCHAR(64), 
	CONSTRAINT uq_frontdesk_workspaces_slug UNIQUE (slug)
);
CREATE TABLE members (
	"key" VARCHAR(40) NOT NULL, 
	email VARCHAR(320) NOT NULL, 
	password_hash VARCHAR(255), 
	status VARCHAR(50) NOT NULL, 
	role VARCHAR(50) NOT NULL, 
	phone VARCHAR(32), 
	last_login_date DATETIME, 
	current_workspace_id BIGINT, 
	created_at DATETIME NOT NULL, 
	tokens_valid_from DATETIME, logged_out_at DATETIME, email_unverified_since DATETIME, suspended_until DATETIME, suspended_reason VARCHAR(500), locale VARCHAR(35), time_zone VARCHAR(64), 
	CONSTRAINT pk_members PRIMARY KEY ("key")
);
CREATE TABLE pets (
	id INTEGER NOT NULL, 
	profile_id BIGINT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(profile_id) REFERENCES frontdesk_profiles (id)
);
CREATE INDEX ix_frontdesk_keystore_entries_expires_at ON frontdesk_keystore_entries (expires_at);
CREATE INDEX ix_frontdesk_tasks_owner_id ON frontdesk_tasks (owner, id);
CREATE INDEX ix_frontdesk_workspace_members_account_id ON frontdesk_workspace_members (account_id);
CREATE INDEX ix_frontdesk_notifications_sender_id ON frontdesk_notifications (sender_id, id);
CREATE INDEX ix_frontdesk_inbox_receiver_id ON frontdesk_inbox (receiver_id, id);
CREATE INDEX ix_frontdesk_inbox_unread ON frontdesk_inbox (receiver_id, id) WHERE NOT is_read;
CREATE INDEX ix_frontdesk_deliveries_queue ON frontdesk_deliveries (channel, lane, due_at, id) WHERE state = 'pending';
CREATE INDEX ix_frontdesk_deliveries_outgoing_id ON frontdesk_deliveries (outgoing_id, channel, state);
CREATE INDEX ix_frontdesk_outgoing_messages_subject ON frontdesk_outgoing_messages (subject_kind, subject_id);
CREATE INDEX ix_frontdesk_identities_account_id ON frontdesk_identities (account_id);
CREATE INDEX ix_frontdesk_workspaces_creator_id ON frontdesk_workspaces (creator_id);
CREATE UNIQUE INDEX uq_frontdesk_invitations_pending ON frontdesk_invitations (workspace_id, email) WHERE state = 'pending';
CREATE INDEX ix_frontdesk_invitations_workspace_id ON frontdesk_invitations (workspace_id, id);
CREATE INDEX ix_frontdesk_invitations_inviter_id ON frontdesk_invitations (inviter_id);
CREATE INDEX ix_frontdesk_invitations_email ON frontdesk_invitations (email);
CREATE INDEX ix_frontdesk_events_at ON frontdesk_events (at, id);
CREATE INDEX ix_frontdesk_events_type ON frontdesk_events (type, at, id) WHERE type <> 'login.succeeded';
CREATE INDEX ix_frontdesk_events_actor_id ON frontdesk_events (actor_id, at, id);
CREATE INDEX ix_frontdesk_events_account_id ON frontdesk_events (account_id, at, id);
CREATE INDEX ix_frontdesk_events_workspace_id ON frontdesk_events (workspace_id, at, id) WHERE workspace_id IS NOT NULL;
CREATE INDEX ix_frontdesk_events_target ON frontdesk_events (target_kind, target_id, at, id) WHERE target_id IS NOT NULL;
CREATE INDEX ix_frontdesk_deliveries_receiver_id ON frontdesk_deliveries (receiver_id, id);
CREATE INDEX ix_frontdesk_email_changes_account_id ON frontdesk_email_changes (account_id);
CREATE INDEX ix_frontdesk_email_changes_new_email ON frontdesk_email_changes (new_email);
CREATE INDEX ix_frontdesk_account_deletions_deletes_at ON frontdesk_account_deletions (deletes_at);
CREATE INDEX ix_frontdesk_exports_account_id ON frontdesk_exports (account_id, id);
CREATE INDEX ix_frontdesk_exports_queue ON frontdesk_exports (due_at) WHERE state = 'pending';
CREATE INDEX ix_frontdesk_sessions_account_id ON frontdesk_sessions (account_id, id) WHERE ended_at IS NULL;
CREATE INDEX ix_frontdesk_sessions_expires_at ON frontdesk_sessions (expires_at);
CREATE INDEX ix_frontdesk_authenticators_account_id ON frontdesk_authenticators (account_id, id);
CREATE INDEX ix_frontdesk_recovery_codes_account_id ON frontdesk_recovery_codes (account_id, id);
CREATE INDEX ix_frontdesk_trusted_devices_account_id ON frontdesk_trusted_devices (account_id, id);
CREATE INDEX ix_frontdesk_expansions_queue ON frontdesk_expansions (due_at) WHERE state = 'pending';
CREATE INDEX ix_frontdesk_notifications_broadcasts ON frontdesk_notifications (id) WHERE notification_type = 'admin' AND scope = 'account';
CREATE UNIQUE INDEX ix_frontdesk_saved_filters_account_id ON frontdesk_saved_filters (account_id, name);
CREATE INDEX ix_frontdesk_broadcast_drafts_account_id ON frontdesk_broadcast_drafts (account_id, id);
CREATE INDEX ix_frontdesk_account_notes_account_id ON frontdesk_account_notes (account_id, id);
CREATE INDEX ix_frontdesk_deliveries_finished_at ON frontdesk_deliveries (state, finished_at, id) WHERE state IN ('sent', 'failed');
CREATE UNIQUE INDEX ix_frontdesk_workspaces_logo_file ON frontdesk_workspaces (logo_file);
CREATE INDEX ix_frontdesk_workspaces_slug ON frontdesk_workspaces (slug);
CREATE INDEX ix_frontdesk_workspaces_name ON frontdesk_workspaces (name);
CREATE INDEX ix_frontdesk_workspace_members_owners ON frontdesk_workspace_members (workspace_id, id, account_id) WHERE type = 'owner';
CREATE INDEX "ix_frontdesk_profiles_first_name_search" ON frontdesk_profiles (first_name);
CREATE INDEX "ix_frontdesk_profiles_last_name_search" ON frontdesk_profiles (last_name);
CREATE INDEX ix_frontdesk_shared_items_item_id ON frontdesk_shared_items (item_id);
COMMIT;
