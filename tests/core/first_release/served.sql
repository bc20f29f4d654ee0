-- POST /login
SELECT keystore_entries.key, keystore_entries.value FROM keystore_entries WHERE keystore_entries.key IN (%(key_1_1)s::VARCHAR, %(key_1_2)s::VARCHAR, %(key_1_3)s::VARCHAR, %(key_1_4)s::VARCHAR) AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"expires_at_1": "2026-11-25 14:44:29.458428+00:00", "key_1_1": "login-round:ada@example.com", "key_1_2": "login-300:0:ada@example.com:127.0.0.1", "key_1_3": "login-address-60:127.0.0.1", "key_1_4": "login-account-3600:0:ada@example.com"}
COMMIT;
SELECT accounts.id, accounts.password_hash FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT keystore_entries.key, keystore_entries.value FROM keystore_entries WHERE keystore_entries.key IN (%(key_1_1)s::VARCHAR, %(key_1_2)s::VARCHAR, %(key_1_3)s::VARCHAR, %(key_1_4)s::VARCHAR) AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"expires_at_1": "2026-11-25 14:44:29.584593+00:00", "key_1_1": "login-round:ada@example.com", "key_1_2": "login-300:0:ada@example.com:127.0.0.1", "key_1_3": "login-address-60:127.0.0.1", "key_1_4": "login-account-3600:0:ada@example.com"}
COMMIT;
INSERT INTO keystore_entries (key, value, expires_at) VALUES (%(key)s::VARCHAR, %(value)s::VARCHAR, %(expires_at)s::TIMESTAMP WITH TIME ZONE) ON CONFLICT (key) DO UPDATE SET value = %(param_1)s::VARCHAR, expires_at = %(param_2)s::TIMESTAMP WITH TIME ZONE RETURNING keystore_entries.value;
-- {"key": "known:ada@example.com:127.0.0.1", "value": "1", "expires_at": "2027-02-23 14:44:29.587179+00:00", "param_1": "1", "param_2": "2027-02-23 14:44:29.587179+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.id = %(pk_1)s::BIGINT;
-- {"pk_1": 1}
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.603061+00:00"}
COMMIT;
SELECT keystore_entries.expires_at FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR;
-- {"key_1": "revoked:ada@example.com"}
COMMIT;
DELETE FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR RETURNING keystore_entries.value, keystore_entries.expires_at;
-- {"key_1": "revoked:ada@example.com"}
COMMIT;
UPDATE accounts SET last_login_date=%(last_login_date)s::TIMESTAMP WITH TIME ZONE WHERE accounts.id = %(accounts_id)s::BIGINT;
-- {"last_login_date": "2026-11-25 14:44:29.673682+00:00", "accounts_id": 1}
SELECT workspaces.id, workspaces.slug, workspaces.name, workspaces.is_default, workspaces.is_personal, workspaces.created_at, workspace_members.id AS id_1, workspace_members.workspace_id, workspace_members.account_id, workspace_members.type, workspace_members.status, workspace_members.created_at AS created_at_1 FROM workspaces JOIN workspace_members ON workspace_members.workspace_id = workspaces.id WHERE workspace_members.account_id = %(account_id)s::BIGINT ORDER BY workspace_members.id;
-- {"account_id": 1}
COMMIT;

-- GET /account
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.695290+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
ROLLBACK;

-- GET /profiles
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.710582+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT profiles.id, profiles.account_id, profiles.first_name, profiles.last_name, profiles.date_of_birth, profiles.gender, profiles.marital_status, profiles.phone, profiles.address, profiles.city, profiles.state, profiles.country, profiles.postal_code, profiles.bio, profiles.avatar, profiles.avatar_file, profiles.extra, profiles.created_at, profiles.updated_at FROM profiles WHERE profiles.account_id = %(account_id_1)s::BIGINT;
-- {"account_id_1": 1}
ROLLBACK;

-- PUT /profiles
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.730070+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
UPDATE profiles SET id=profiles.id WHERE profiles.account_id = %(account_id_1)s::BIGINT RETURNING profiles.id;
-- {"account_id_1": 1}
SELECT profiles.id, profiles.account_id, profiles.first_name, profiles.last_name, profiles.date_of_birth, profiles.gender, profiles.marital_status, profiles.phone, profiles.address, profiles.city, profiles.state, profiles.country, profiles.postal_code, profiles.bio, profiles.avatar, profiles.avatar_file, profiles.extra, profiles.created_at, profiles.updated_at FROM profiles WHERE profiles.account_id = %(account_id_1)s::BIGINT;
-- {"account_id_1": 1}
UPDATE profiles SET date_of_birth=%(date_of_birth)s::DATE, city=%(city)s::VARCHAR, updated_at=%(updated_at)s::TIMESTAMP WITH TIME ZONE WHERE profiles.id = %(profiles_id)s::BIGINT;
-- {"date_of_birth": "1985-12-10", "city": "Leeds", "updated_at": "2026-11-25 14:44:29.793709+00:00", "profiles_id": 1}
COMMIT;

-- GET /notifications/
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.811221+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT inbox.id, inbox.notification_id, inbox.receiver_id, inbox.is_read, notifications.title, notifications.message, CAST(notifications.channels AS TEXT) AS channels, notifications.sender_id, notifications.notification_type, notifications.scope, notifications.created_at FROM inbox JOIN notifications ON notifications.id = inbox.notification_id WHERE inbox.receiver_id = %(receiver_id)s::BIGINT ORDER BY inbox.id DESC LIMIT %(limit)s OFFSET %(offset)s;
-- {"receiver_id": 1, "offset": 0, "limit": 100}
ROLLBACK;

-- GET /notifications/unread-count
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.822750+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT count(*) AS count_1 FROM inbox WHERE inbox.receiver_id = %(receiver_id)s::BIGINT AND NOT inbox.is_read;
-- {"receiver_id": 1}
ROLLBACK;

-- PATCH /notifications/1/mark
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.863812+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
UPDATE inbox SET is_read=NOT inbox.is_read WHERE inbox.receiver_id = %(receiver_id_1)s::BIGINT AND inbox.notification_id = %(notification_id_1)s::BIGINT RETURNING inbox.id;
-- {"receiver_id_1": 1, "notification_id_1": 1}
SELECT inbox.id, inbox.notification_id, inbox.receiver_id, inbox.is_read, notifications.title, notifications.message, CAST(notifications.channels AS TEXT) AS channels, notifications.sender_id, notifications.notification_type, notifications.scope, notifications.created_at FROM inbox JOIN notifications ON notifications.id = inbox.notification_id WHERE inbox.receiver_id = %(receiver_id)s::BIGINT AND inbox.id = %(item_id)s::BIGINT;
-- {"receiver_id": 1, "item_id": 1}
COMMIT;

-- POST /admin/notifications/
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:29.898096+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
INSERT INTO notifications (title, message, channels, sender_id, notification_type, scope, receivers, created_at, standing, counted_at) VALUES (%(title)s::VARCHAR, %(message)s::VARCHAR, %(channels)s::JSON, %(sender_id)s::BIGINT, %(notification_type)s::VARCHAR, %(scope)s::VARCHAR, %(receivers)s::BIGINT, %(created_at)s::TIMESTAMP WITH TIME ZONE, %(standing)s::JSON, %(counted_at)s::TIMESTAMP WITH TIME ZONE) RETURNING notifications.id;
-- {"title": "Closed", "message": "On Friday.", "channels": "[\"inapp\", \"email\"]", "sender_id": 1, "notification_type": "admin", "scope": "account", "receivers": 0, "created_at": "2026-11-25 14:44:29.906155+00:00", "standing": null, "counted_at": null}
INSERT INTO inbox (notification_id, receiver_id, is_read) SELECT %(param_1)s::INTEGER AS anon_1, accounts.id, %(param_2)s AS anon_2 FROM accounts;
-- {"param_1": "<notifications>", "param_2": false}
UPDATE notifications SET receivers=%(receivers)s::BIGINT WHERE notifications.id = %(notifications_id)s::BIGINT;
-- {"receivers": 2, "notifications_id": "<notifications>"}
INSERT INTO outgoing_messages (notification_id, title, message, template_file, context, created_at) VALUES (%(notification_id)s::BIGINT, %(title)s::VARCHAR, %(message)s::VARCHAR, %(template_file)s::VARCHAR, %(context)s::VARCHAR, %(created_at)s::TIMESTAMP WITH TIME ZONE) RETURNING outgoing_messages.id;
-- {"notification_id": "<notifications>", "title": "Closed", "message": "On Friday.", "template_file": null, "context": null, "created_at": "2026-11-25 14:44:29.918667+00:00"}
SELECT count(*) AS count_1 FROM (SELECT inbox.receiver_id AS receiver_id FROM inbox JOIN accounts ON accounts.id = inbox.receiver_id WHERE inbox.notification_id = %(notification_id_1)s::BIGINT LIMIT %(param_1)s::INTEGER) AS anon_1;
-- {"notification_id_1": "<notifications>", "param_1": 51}
INSERT INTO deliveries (receiver_id, outgoing_id, channel, lane, state, reason, attempts, due_at) SELECT inbox.receiver_id, %(param_1)s::INTEGER AS anon_1, %(param_2)s::VARCHAR AS anon_2, %(param_3)s::INTEGER AS anon_3, CASE WHEN (accounts.email IS NULL OR accounts.email = %(email_1)s::VARCHAR) THEN %(param_4)s::VARCHAR ELSE %(param_5)s::VARCHAR END AS anon_4, CASE WHEN (accounts.email IS NULL OR accounts.email = %(email_1)s::VARCHAR) THEN %(param_6)s::VARCHAR END AS anon_5, %(param_7)s::INTEGER AS anon_6, %(param_8)s::TIMESTAMP WITH TIME ZONE AS anon_7 FROM inbox JOIN accounts ON accounts.id = inbox.receiver_id WHERE inbox.notification_id = %(notification_id_1)s::BIGINT;
-- {"param_1": "<outgoing_messages>", "param_2": "email", "param_3": 0, "email_1": "", "param_4": "skipped", "param_5": "pending", "param_6": "The account has no email", "param_7": 0, "param_8": "2026-11-25 14:44:29.918595+00:00", "notification_id_1": "<notifications>"}
SELECT deliveries.state, count(*) AS count_1 FROM deliveries WHERE deliveries.outgoing_id = %(outgoing_id_1)s::BIGINT AND deliveries.channel = %(channel_1)s::VARCHAR GROUP BY deliveries.state;
-- {"outgoing_id_1": "<outgoing_messages>", "channel_1": "email"}
COMMIT;

-- flask notifications send
SELECT (SELECT min(deliveries.due_at) AS min_1 FROM deliveries WHERE deliveries.channel = %(channel)s::VARCHAR AND deliveries.lane = 0 AND deliveries.state = 'pending') AS anon_1, (SELECT min(deliveries.due_at) AS min_2 FROM deliveries WHERE deliveries.channel = %(channel)s::VARCHAR AND deliveries.lane = 1 AND deliveries.state = 'pending') AS anon_2;
-- {"channel": "email"}
WITH chosen AS (SELECT deliveries.id AS id FROM deliveries WHERE deliveries.channel = %(channel_1)s::VARCHAR AND deliveries.lane = %(lane_1)s::SMALLINT AND deliveries.state = %(state_1)s::VARCHAR AND deliveries.due_at <= %(due_at_1)s::TIMESTAMP WITH TIME ZONE ORDER BY deliveries.due_at, deliveries.id LIMIT %(param_1)s::INTEGER FOR UPDATE SKIP LOCKED) UPDATE deliveries SET attempts=(deliveries.attempts + %(attempts_1)s::SMALLINT), due_at=%(due_at)s::TIMESTAMP WITH TIME ZONE, claim=%(claim)s::VARCHAR WHERE deliveries.id IN (SELECT chosen.id FROM chosen) RETURNING deliveries.id, deliveries.outgoing_id, deliveries.receiver_id, deliveries.attempts;
-- {"attempts_1": 1, "due_at": "2026-11-25 14:45:00.014840+00:00", "claim": "4863c447af5726462af2ba5ebc8054a6", "channel_1": "email", "lane_1": 0, "state_1": "pending", "due_at_1": "2026-11-25 14:44:30.014840+00:00", "param_1": 100}
WITH chosen AS (SELECT deliveries.id AS id FROM deliveries WHERE deliveries.channel = %(channel_1)s::VARCHAR AND deliveries.lane = %(lane_1)s::SMALLINT AND deliveries.state = %(state_1)s::VARCHAR AND deliveries.due_at <= %(due_at_1)s::TIMESTAMP WITH TIME ZONE ORDER BY deliveries.due_at, deliveries.id LIMIT %(param_1)s::INTEGER FOR UPDATE SKIP LOCKED) UPDATE deliveries SET attempts=(deliveries.attempts + %(attempts_1)s::SMALLINT), due_at=%(due_at)s::TIMESTAMP WITH TIME ZONE, claim=%(claim)s::VARCHAR WHERE deliveries.id IN (SELECT chosen.id FROM chosen) RETURNING deliveries.id, deliveries.outgoing_id, deliveries.receiver_id, deliveries.attempts;
-- {"attempts_1": 1, "due_at": "2026-11-25 14:45:00.046397+00:00", "claim": "4863c447af5726462af2ba5ebc8054a6", "channel_1": "email", "lane_1": 1, "state_1": "pending", "due_at_1": "2026-11-25 14:44:30.046397+00:00", "param_1": 98}
SELECT outgoing_messages.id, outgoing_messages.title, outgoing_messages.message, outgoing_messages.created_at, outgoing_messages.template_file, outgoing_messages.context FROM outgoing_messages WHERE outgoing_messages.id IN (%(id_1_1)s::BIGINT);
-- {"id_1_1": "<outgoing_messages>"}
SELECT accounts.id, accounts.email, accounts.phone FROM accounts WHERE accounts.id = any(%(any_1)s);
-- {"any_1": [1, 2]}
ROLLBACK;
UPDATE deliveries SET state=%(new_state)s::VARCHAR, reason=%(why)s::VARCHAR, reference=%(known_as)s::VARCHAR, finished_at=%(moment)s::TIMESTAMP WITH TIME ZONE WHERE deliveries.id = %(delivery_id)s::BIGINT AND deliveries.claim = %(by)s::VARCHAR AND deliveries.state = 'pending' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' RETURNING deliveries.id;
-- {"new_state": "sent", "why": null, "known_as": null, "moment": "2026-11-25 14:44:30.056285+00:00", "delivery_id": "<deliveries>", "by": "4863c447af5726462af2ba5ebc8054a6"}
UPDATE deliveries SET state=%(new_state)s::VARCHAR, reason=%(why)s::VARCHAR, reference=%(known_as)s::VARCHAR, finished_at=%(moment)s::TIMESTAMP WITH TIME ZONE WHERE deliveries.id = %(delivery_id)s::BIGINT AND deliveries.claim = %(by)s::VARCHAR AND deliveries.state = 'pending' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' RETURNING deliveries.id;
-- {"new_state": "sent", "why": null, "known_as": null, "moment": "2026-11-25 14:44:30.057127+00:00", "delivery_id": "<deliveries>", "by": "4863c447af5726462af2ba5ebc8054a6"}
DELETE FROM outgoing_messages WHERE outgoing_messages.id IN (%(id_1_1)s::BIGINT) AND outgoing_messages.notification_id IS NULL AND NOT (EXISTS (SELECT deliveries.id FROM deliveries WHERE deliveries.outgoing_id = outgoing_messages.id AND deliveries.state IN (%(state_1_1)s::VARCHAR, %(state_1_2)s::VARCHAR)));
-- {"id_1_1": "<outgoing_messages>", "state_1_1": "pending", "state_1_2": "failed"}
ROLLBACK;
SELECT (SELECT min(deliveries.due_at) AS min_1 FROM deliveries WHERE deliveries.channel = %(channel)s::VARCHAR AND deliveries.lane = 0 AND deliveries.state = 'pending') AS anon_1, (SELECT min(deliveries.due_at) AS min_2 FROM deliveries WHERE deliveries.channel = %(channel)s::VARCHAR AND deliveries.lane = 1 AND deliveries.state = 'pending') AS anon_2;
-- {"channel": "email"}
SELECT (SELECT min(deliveries.due_at) AS min_1 FROM deliveries WHERE deliveries.channel = %(channel)s::VARCHAR AND deliveries.lane = 0 AND deliveries.state = 'pending') AS anon_1, (SELECT min(deliveries.due_at) AS min_2 FROM deliveries WHERE deliveries.channel = %(channel)s::VARCHAR AND deliveries.lane = 1 AND deliveries.state = 'pending') AS anon_2;
-- {"channel": "sms"}
SELECT deliveries.channel, deliveries.state, count(*) AS count_1 FROM deliveries GROUP BY deliveries.channel, deliveries.state ORDER BY deliveries.channel, deliveries.state;
ROLLBACK;
SELECT min(outgoing_messages.created_at) AS min_1 FROM outgoing_messages WHERE EXISTS (SELECT deliveries.id FROM deliveries WHERE deliveries.outgoing_id = outgoing_messages.id AND deliveries.state = %(state_1)s::VARCHAR);
-- {"state_1": "pending"}
ROLLBACK;

-- GET /admin/notifications/all
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:30.065540+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT notifications.id, notifications.title, notifications.message, notifications.channels, notifications.sender_id, notifications.notification_type, notifications.scope, notifications.created_at, notifications.receivers, notifications.standing, notifications.counted_at FROM notifications WHERE notifications.sender_id = %(sender_id_1)s::BIGINT AND notifications.notification_type = %(notification_type_1)s::VARCHAR AND notifications.scope = %(scope_1)s::VARCHAR ORDER BY notifications.id DESC LIMIT %(param_1)s::INTEGER OFFSET %(param_2)s::INTEGER;
-- {"sender_id_1": 1, "notification_type_1": "admin", "scope_1": "account", "param_1": 100, "param_2": 0}
SELECT inbox.notification_id, count(*) AS count_1 FROM inbox WHERE inbox.notification_id IN (%(notification_id_1_1)s::BIGINT) AND inbox.is_read GROUP BY inbox.notification_id;
-- {"notification_id_1_1": "<notifications>"}
SELECT outgoing_messages.notification_id, deliveries.channel, deliveries.state, count(*) AS count_1 FROM deliveries JOIN outgoing_messages ON outgoing_messages.id = deliveries.outgoing_id WHERE outgoing_messages.notification_id IN (%(notification_id_1_1)s::BIGINT) GROUP BY outgoing_messages.notification_id, deliveries.channel, deliveries.state;
-- {"notification_id_1_1": "<notifications>"}
ROLLBACK;

-- POST /workspaces
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:30.079752+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
INSERT INTO workspaces (slug, name, is_default, is_personal, created_at) VALUES (%(slug)s::VARCHAR, %(name)s::VARCHAR, %(is_default)s, %(is_personal)s, %(created_at)s::TIMESTAMP WITH TIME ZONE) ON CONFLICT DO NOTHING RETURNING workspaces.id, workspaces.slug, workspaces.name, workspaces.is_default, workspaces.is_personal, workspaces.created_at;
-- {"slug": "office-<n>", "name": "Office", "is_default": false, "is_personal": false, "created_at": "2026-11-25 14:44:30.081134+00:00"}
INSERT INTO workspace_members (workspace_id, account_id, type, status, created_at) VALUES (%(workspace_id)s::BIGINT, %(account_id)s::BIGINT, %(type)s::VARCHAR, %(status)s::VARCHAR, %(created_at)s::TIMESTAMP WITH TIME ZONE) RETURNING workspace_members.id;
-- {"workspace_id": "<workspaces>", "account_id": 1, "type": "owner", "status": "active", "created_at": "2026-11-25 14:44:30.083306+00:00"}
COMMIT;

-- GET /workspaces/ada/members
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:30.090132+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT workspaces.id, workspaces.slug, workspaces.name, workspaces.is_default, workspaces.is_personal, workspaces.created_at, workspace_members.id AS id_1, workspace_members.workspace_id, workspace_members.account_id, workspace_members.type, workspace_members.status, workspace_members.created_at AS created_at_1 FROM workspaces LEFT OUTER JOIN workspace_members ON workspace_members.workspace_id = workspaces.id AND workspace_members.account_id = %(account_id_1)s::BIGINT WHERE workspaces.slug = %(slug_1)s::VARCHAR;
-- {"account_id_1": 1, "slug_1": "ada"}
SELECT workspace_members.id, workspace_members.workspace_id, workspace_members.account_id, workspace_members.type, workspace_members.status, workspace_members.created_at, accounts.email FROM workspace_members JOIN accounts ON accounts.id = workspace_members.account_id WHERE workspace_members.workspace_id = %(workspace_id_1)s::BIGINT ORDER BY workspace_members.id LIMIT %(param_1)s::INTEGER OFFSET %(param_2)s::INTEGER;
-- {"workspace_id_1": 1, "param_1": 100, "param_2": 0}
ROLLBACK;

-- PATCH /workspaces/ada/members/2
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:30.104751+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
SELECT workspaces.id, workspaces.slug, workspaces.name, workspaces.is_default, workspaces.is_personal, workspaces.created_at, workspace_members.id AS id_1, workspace_members.workspace_id, workspace_members.account_id, workspace_members.type, workspace_members.status, workspace_members.created_at AS created_at_1 FROM workspaces LEFT OUTER JOIN workspace_members ON workspace_members.workspace_id = workspaces.id AND workspace_members.account_id = %(account_id_1)s::BIGINT WHERE workspaces.slug = %(slug_1)s::VARCHAR;
-- {"account_id_1": 1, "slug_1": "ada"}
COMMIT;
UPDATE workspaces SET id=workspaces.id WHERE workspaces.id = %(id_1)s::BIGINT RETURNING workspaces.id;
-- {"id_1": 1}
SELECT workspace_members.id, workspace_members.workspace_id, workspace_members.account_id, workspace_members.type, workspace_members.status, workspace_members.created_at FROM workspace_members WHERE workspace_members.workspace_id = %(workspace_id_1)s::BIGINT AND workspace_members.account_id = %(account_id_1)s::BIGINT;
-- {"workspace_id_1": 1, "account_id_1": 1}
SELECT workspace_members.id, workspace_members.workspace_id, workspace_members.account_id, workspace_members.type, workspace_members.status, workspace_members.created_at FROM workspace_members WHERE workspace_members.workspace_id = %(workspace_id_1)s::BIGINT AND workspace_members.account_id = %(account_id_1)s::BIGINT;
-- {"workspace_id_1": 1, "account_id_1": 2}
UPDATE workspace_members SET type=%(type)s::VARCHAR WHERE workspace_members.id = %(workspace_members_id)s::BIGINT;
-- {"type": "guest", "workspace_members_id": 2}
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.id = %(pk_1)s::BIGINT;
-- {"pk_1": 2}
COMMIT;

-- POST /tasks/
INSERT INTO tasks (title, done, priority, owner) VALUES (%(title)s::VARCHAR, %(done)s, %(priority)s::VARCHAR, %(owner)s::VARCHAR) RETURNING tasks.id;
-- {"title": "Water the plants", "done": false, "priority": "high", "owner": "ada"}
COMMIT;

-- PATCH /tasks/1
UPDATE tasks SET id=tasks.id WHERE tasks.id = %(id_1)s::BIGINT AND tasks.owner = %(owner_1)s::VARCHAR RETURNING tasks.id;
-- {"id_1": 1, "owner_1": "ada"}
SELECT tasks.id, tasks.title, tasks.done, tasks.priority, tasks.owner FROM tasks WHERE tasks.id = %(id_1)s::BIGINT AND tasks.owner = %(owner_1)s::VARCHAR;
-- {"id_1": 1, "owner_1": "ada"}
UPDATE tasks SET done=%(done)s WHERE tasks.id = %(tasks_id)s::BIGINT;
-- {"done": true, "tasks_id": 1}
COMMIT;

-- GET /tasks/
SELECT tasks.id, tasks.title, tasks.done, tasks.priority, tasks.owner FROM tasks WHERE tasks.owner = %(owner_1)s::VARCHAR ORDER BY tasks.id LIMIT %(param_1)s::INTEGER OFFSET %(param_2)s::INTEGER;
-- {"owner_1": "ada", "param_1": 100, "param_2": 0}
ROLLBACK;

-- POST /password-recovery
INSERT INTO keystore_entries (key, value, expires_at) VALUES (%(key)s::VARCHAR, %(value)s::VARCHAR, %(expires_at)s::TIMESTAMP WITH TIME ZONE) ON CONFLICT (key) DO UPDATE SET value = CASE WHEN (keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE) THEN CAST(CAST(keystore_entries.value AS BIGINT) + %(param_1)s::BIGINT AS TEXT) ELSE %(param_2)s::VARCHAR END, expires_at = CASE WHEN (keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE) THEN keystore_entries.expires_at ELSE %(param_3)s::TIMESTAMP WITH TIME ZONE END RETURNING keystore_entries.value;
-- {"key": "recovery-address-60:127.0.0.1", "value": "1", "expires_at": "2026-11-25 14:45:30.152278+00:00", "expires_at_1": "2026-11-25 14:44:30.148651+00:00", "param_1": 1, "param_2": "1", "param_3": "2026-11-25 14:45:30.152175+00:00"}
COMMIT;
INSERT INTO keystore_entries (key, value, expires_at) VALUES (%(key)s::VARCHAR, %(value)s::VARCHAR, %(expires_at)s::TIMESTAMP WITH TIME ZONE) ON CONFLICT (key) DO UPDATE SET value = CASE WHEN (keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE) THEN CAST(CAST(keystore_entries.value AS BIGINT) + %(param_1)s::BIGINT AS TEXT) ELSE %(param_2)s::VARCHAR END, expires_at = CASE WHEN (keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE) THEN keystore_entries.expires_at ELSE %(param_3)s::TIMESTAMP WITH TIME ZONE END RETURNING keystore_entries.value;
-- {"key": "recovery-600:ada@example.com", "value": "1", "expires_at": "2026-11-25 14:54:30.157689+00:00", "expires_at_1": "2026-11-25 14:44:30.157402+00:00", "param_1": 1, "param_2": "1", "param_3": "2026-11-25 14:54:30.157640+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email_1)s::VARCHAR;
-- {"email_1": "ada@example.com"}
INSERT INTO keystore_entries (key, value, expires_at) VALUES (%(key)s::VARCHAR, %(value)s::VARCHAR, %(expires_at)s::TIMESTAMP WITH TIME ZONE) ON CONFLICT (key) DO UPDATE SET value = %(param_1)s::VARCHAR, expires_at = %(param_2)s::TIMESTAMP WITH TIME ZONE RETURNING keystore_entries.value;
-- {"key": "reset-code:1", "value": "a3ad2fdf:0dd8fb969f7eb9421b118dc51f6e67f42e7ce5f1a7e4e34117674fa87a0df808:fbfa32e3931f85cd0039a917d6b7e8c30f823c9991822b98f4d5423ebdc7f241", "expires_at": "2026-11-25 14:54:30.162974+00:00", "param_1": "a3ad2fdf:0dd8fb969f7eb9421b118dc51f6e67f42e7ce5f1a7e4e34117674fa87a0df808:fbfa32e3931f85cd0039a917d6b7e8c30f823c9991822b98f4d5423ebdc7f241", "param_2": "2026-11-25 14:54:30.162974+00:00"}
COMMIT;

-- DELETE /logout
SELECT keystore_entries.value FROM keystore_entries WHERE keystore_entries.key = %(key_1)s::VARCHAR AND keystore_entries.expires_at > %(expires_at_1)s::TIMESTAMP WITH TIME ZONE;
-- {"key_1": "revoked:ada@example.com", "expires_at_1": "2026-11-25 14:44:30.168092+00:00"}
COMMIT;
SELECT accounts.id, accounts.email, accounts.password_hash, accounts.status, accounts.role, accounts.phone, accounts.last_login_date, accounts.current_workspace_id, accounts.created_at, accounts.tokens_valid_from, accounts.logged_out_at FROM accounts WHERE accounts.email = %(email)s::VARCHAR;
-- {"email": "ada@example.com"}
INSERT INTO keystore_entries (key, value, expires_at) VALUES (%(key)s::VARCHAR, %(value)s::VARCHAR, %(expires_at)s::TIMESTAMP WITH TIME ZONE) ON CONFLICT (key) DO UPDATE SET value = %(param_1)s::VARCHAR, expires_at = %(param_2)s::TIMESTAMP WITH TIME ZONE RETURNING keystore_entries.value;
-- {"key": "revoked:ada@example.com", "value": "1", "expires_at": "2026-11-25 15:14:30.173271+00:00", "param_1": "1", "param_2": "2026-11-25 15:14:30.173271+00:00"}
COMMIT;
UPDATE accounts SET logged_out_at=%(logged_out_at)s::TIMESTAMP WITH TIME ZONE WHERE accounts.id = %(accounts_id)s::BIGINT;
-- {"logged_out_at": "2026-11-25 14:44:30.174768+00:00", "accounts_id": 1}
COMMIT;
