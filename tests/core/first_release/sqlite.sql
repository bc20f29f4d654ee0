BEGIN TRANSACTION;
CREATE TABLE accounts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	email VARCHAR(320) NOT NULL, 
	password_hash VARCHAR(128), 
	status VARCHAR(50) NOT NULL, 
	role VARCHAR(50) NOT NULL, 
	phone VARCHAR(32), 
	last_login_date DATETIME, 
	current_workspace_id INTEGER, 
	created_at DATETIME NOT NULL, 
	tokens_valid_from DATETIME, logged_out_at DATETIME, 
	CONSTRAINT uq_accounts_email UNIQUE (email)
);
INSERT INTO "accounts" VALUES(1,'ada@example.com','$2b$04$m7anwiRgu/qvkn88Z5iJSenu2KAEl8Q19Sm6kZAZJ.ug6Yb.DhdJe','active','root','+15005550006',NULL,1,'2026-11-01 12:00:00.000000',NULL,NULL);
INSERT INTO "accounts" VALUES(2,'bob@example.com',NULL,'suspended','user',NULL,NULL,NULL,'2026-11-02 12:00:00.000000',NULL,'2026-11-03 12:00:00.000000');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0007_standing');
CREATE TABLE deliveries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	outgoing_id INTEGER NOT NULL, 
	receiver_id INTEGER NOT NULL, 
	channel VARCHAR(50) NOT NULL, 
	lane SMALLINT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	attempts SMALLINT NOT NULL, 
	due_at DATETIME NOT NULL, 
	claim VARCHAR(32), 
	reason VARCHAR(200), 
	reference VARCHAR(100), 
	finished_at DATETIME, 
	CONSTRAINT fk_deliveries_outgoing_id_outgoing_messages FOREIGN KEY(outgoing_id) REFERENCES outgoing_messages (id) ON DELETE CASCADE
);
INSERT INTO "deliveries" VALUES(1,1,1,'email',1,'sent',1,'2026-11-03 12:00:00.000000',NULL,NULL,NULL,NULL);
INSERT INTO "deliveries" VALUES(2,1,2,'email',1,'pending',0,'2026-11-03 12:00:00.000000',NULL,NULL,NULL,NULL);
CREATE TABLE inbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	notification_id INTEGER NOT NULL, 
	receiver_id INTEGER NOT NULL, 
	is_read BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT fk_inbox_notification_id_notifications FOREIGN KEY(notification_id) REFERENCES notifications (id) ON DELETE CASCADE, 
	CONSTRAINT fk_inbox_receiver_id_accounts FOREIGN KEY(receiver_id) REFERENCES accounts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_inbox_notification_id_receiver_id UNIQUE (notification_id, receiver_id)
);
INSERT INTO "inbox" VALUES(1,1,1,1);
INSERT INTO "inbox" VALUES(2,1,2,0);
CREATE TABLE keystore_entries (
	"key" VARCHAR(512) NOT NULL, 
	value TEXT NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_keystore_entries PRIMARY KEY ("key")
);
INSERT INTO "keystore_entries" VALUES('revoked:ada@example.com','1','2030-01-01 00:00:00.000000');
CREATE TABLE notifications (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	title VARCHAR(200) NOT NULL, 
	message TEXT NOT NULL, 
	channels JSON NOT NULL, 
	sender_id INTEGER, 
	notification_type VARCHAR(20) NOT NULL, 
	scope VARCHAR(50) NOT NULL, 
	receivers INTEGER DEFAULT '0' NOT NULL, 
	created_at DATETIME NOT NULL, standing JSON, counted_at DATETIME, 
	CONSTRAINT fk_notifications_sender_id_accounts FOREIGN KEY(sender_id) REFERENCES accounts (id) ON DELETE SET NULL
);
INSERT INTO "notifications" VALUES(1,'Welcome','Hello','["inapp", "email"]',1,'system','account',2,'2026-11-03 12:00:00.000000','{"email": {"sent": 1}}','2026-11-03 12:05:00.000000');
CREATE TABLE outgoing_messages (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	notification_id INTEGER, 
	title VARCHAR(200) NOT NULL, 
	message TEXT NOT NULL, 
	template_file VARCHAR(255), 
	context TEXT, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT fk_outgoing_messages_notification_id_notifications FOREIGN KEY(notification_id) REFERENCES notifications (id) ON DELETE CASCADE
);
INSERT INTO "outgoing_messages" VALUES(1,1,'Welcome','Hello',NULL,NULL,'2026-11-03 12:00:00.000000');
INSERT INTO "outgoing_messages" VALUES(2,NULL,'Reset','Code','reset_password.html','{}','2026-11-03 12:00:00.000000');
CREATE TABLE profiles (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id INTEGER NOT NULL, 
	first_name VARCHAR(100) NOT NULL, 
	last_name VARCHAR(100) NOT NULL, 
	date_of_birth DATE NOT NULL, 
	gender VARCHAR(50) NOT NULL, 
	marital_status VARCHAR(50) NOT NULL, 
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
	CONSTRAINT fk_profiles_account_id_accounts FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_profiles_account_id UNIQUE (account_id), 
	CONSTRAINT uq_profiles_avatar_file UNIQUE (avatar_file)
);
INSERT INTO "profiles" VALUES(1,1,'Ada','King','1815-12-10','female','married',NULL,NULL,'London',NULL,NULL,NULL,NULL,NULL,NULL,'{"likes": ["engines"]}','2026-11-01 12:00:00.000000','2026-11-01 12:00:00.000000');
CREATE TABLE tasks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	title VARCHAR(200) NOT NULL, 
	done BOOLEAN NOT NULL, 
	priority VARCHAR(50) NOT NULL, 
	owner VARCHAR(255) NOT NULL
);
INSERT INTO "tasks" VALUES(1,'Water the plants',0,'high','ada');
INSERT INTO "tasks" VALUES(2,'Read',1,'low','ada');
CREATE TABLE workspace_members (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	workspace_id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	type VARCHAR(20) NOT NULL, 
	status VARCHAR(50) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT fk_workspace_members_workspace_id_workspaces FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT fk_workspace_members_account_id_accounts FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_workspace_members_workspace_id_account_id UNIQUE (workspace_id, account_id)
);
INSERT INTO "workspace_members" VALUES(1,1,1,'owner','active','2026-11-01 12:00:00.000000');
INSERT INTO "workspace_members" VALUES(2,1,2,'member','active','2026-11-02 12:00:00.000000');
CREATE TABLE workspaces (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	slug VARCHAR(63) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	is_default BOOLEAN NOT NULL, 
	is_personal BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT uq_workspaces_slug UNIQUE (slug)
);
INSERT INTO "workspaces" VALUES(1,'ada','Ada',1,1,'2026-11-01 12:00:00.000000');
CREATE INDEX ix_keystore_entries_expires_at ON keystore_entries (expires_at);
CREATE INDEX ix_tasks_owner_id ON tasks (owner, id);
CREATE INDEX ix_workspace_members_account_id ON workspace_members (account_id);
CREATE INDEX ix_notifications_sender_id ON notifications (sender_id, id);
CREATE INDEX ix_inbox_receiver_id ON inbox (receiver_id, id);
CREATE INDEX ix_inbox_unread ON inbox (receiver_id, id) WHERE NOT is_read;
CREATE INDEX ix_outgoing_messages_notification_id ON outgoing_messages (notification_id);
CREATE INDEX ix_deliveries_queue ON deliveries (channel, lane, due_at, id) WHERE state = 'pending';
CREATE INDEX ix_deliveries_outgoing_id ON deliveries (outgoing_id, channel, state);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tasks',9);
INSERT INTO "sqlite_sequence" VALUES('accounts',7);
INSERT INTO "sqlite_sequence" VALUES('workspaces',1);
INSERT INTO "sqlite_sequence" VALUES('workspace_members',2);
INSERT INTO "sqlite_sequence" VALUES('profiles',1);
INSERT INTO "sqlite_sequence" VALUES('notifications',1);
INSERT INTO "sqlite_sequence" VALUES('inbox',2);
INSERT INTO "sqlite_sequence" VALUES('outgoing_messages',2);
INSERT INTO "sqlite_sequence" VALUES('deliveries',2);
COMMIT;
