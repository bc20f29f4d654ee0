-- Fills the tables of a service with many accounts, %(accounts)s in all, for bench/busy.py.
-- The first account is root, has %(items)s messages in its inbox, and has sent as many.
SELECT setseed(0.5);

-- Names are as unequally frequent as real ones: the most frequent first name has 6 in 1,000 accounts.
INSERT INTO frontdesk_profiles (account_id, first_name, last_name, extra, created_at, updated_at)
SELECT id,
    (ARRAY['Ma', 'An', 'El', 'Jo', 'Ka', 'Lu', 'Mi', 'Ni', 'Pe', 'Sa'])[1 + first %% 10]
        || (ARRAY['ri', 'na', 'li', 'ro', 'ta', 'mi', 'de', 'so', 'ka', 'le'])[1 + first / 10 %% 10]
        || (ARRAY['a', 'an', 'us', 'ne', 'o', 'ck', 'th', 'nda', 'x', 'lia', 'm', 'st', 'ko', 'ng',
            'ya', 'ris', 'to', 'que', 's', 'vi'])[1 + first / 100],
    (ARRAY['Mül', 'Schmi', 'Ro', 'Gar', 'Fi', 'We', 'Ko', 'San', 'Ber', 'Da'])[1 + last %% 10]
        || (ARRAY['le', 'de', 'ni', 'to', 'va', 'sche', 'cia', 'ne', 'bu', 'ma'])[1 + last / 10 %% 10]
        || (ARRAY['r', 'n', 'mann', 'son', 'ski', 'z', 'rt', 'll', 'va', 's'])[1 + last / 100 %% 10]
        || (ARRAY['', 'e', 'en', 'i', 'o'])[1 + last / 1000],
    '{}', now(), now()
FROM (
    SELECT id, floor(power(random(), 1.5) * 2000)::int AS first,
        floor(power(random(), 1.5) * 5000)::int AS last
    FROM accounts ORDER BY id
) AS named;

-- Created evenly over two years, the last ones just now. Half of them signed in later.
UPDATE accounts SET
    role = CASE WHEN id = 1 THEN 'root' WHEN id <= 20 THEN 'admin' ELSE 'user' END,
    email = CASE WHEN id <= 1000 THEN email ELSE lower(first_name || '.' || last_name) || id
        || '@' || (ARRAY['example.com', 'example.org', 'mail.example', 'team.example'])[1 + id %% 4]
        END,
    status = CASE WHEN id > 1 AND id %% 200 = 0 THEN 'suspended' ELSE 'active' END,
    email_unverified_since = CASE WHEN id > 1 AND id %% 50 = 0 THEN now() END,
    created_at = now() - (%(accounts)s - id) * interval '730 days' / %(accounts)s,
    last_login_date = CASE WHEN id %% 2 = 1 THEN now() - random() * (%(accounts)s - id)
        * interval '730 days' / %(accounts)s END
FROM (SELECT account_id, first_name, last_name FROM frontdesk_profiles) AS named
WHERE account_id = accounts.id;

INSERT INTO frontdesk_notifications
    (title, message, channels, sender_id, notification_type, scope, receivers, created_at)
SELECT 'Message number ' || n, 'What message number ' || n || ' says.', '["inapp"]', 1,
    'admin', 'account', 1, now() - n * interval '10 minutes'
FROM generate_series(%(items)s, 1, -1) n;

INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)
SELECT id, 1, id %% 3 = 0 FROM frontdesk_notifications WHERE receivers = 1 ORDER BY id;

-- 100 broadcasts to a hundredth of the accounts, and one to all of them.
INSERT INTO frontdesk_notifications
    (title, message, channels, sender_id, notification_type, scope, receivers, created_at, audience)
SELECT 'Broadcast number ' || n, 'By email too.', '["inapp", "email"]', 1, 'admin', 'account',
    CASE n WHEN 101 THEN %(accounts)s ELSE %(accounts)s / 100 END,
    now() - (101 - n) * interval '1 day' - interval '1 hour', '{"active": true}'
FROM generate_series(1, 101) n;

INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)
SELECT n.id, a.id, a.id %% 3 = 0
FROM frontdesk_notifications n JOIN accounts a
    ON n.receivers = %(accounts)s OR a.id %% 100 = substr(n.title, 18)::int %% 100
WHERE n.title LIKE 'Broadcast number %%' ORDER BY n.id, a.id;

INSERT INTO frontdesk_outgoing_messages (subject_kind, subject_id, title, message, created_at)
SELECT 'notification', id, title, message, created_at
FROM frontdesk_notifications WHERE title LIKE 'Broadcast number %%' ORDER BY id;

-- Pending deliveries become due after the bench, so that no worker claims them.
INSERT INTO frontdesk_deliveries
    (outgoing_id, receiver_id, channel, lane, state, attempts, due_at, reason, finished_at)
SELECT m.id, i.receiver_id, 'email', 1, state, 1,
    CASE state WHEN 'pending' THEN now() + interval '1 year' ELSE m.created_at END,
    CASE state WHEN 'failed' THEN '550 no such mailbox' END,
    CASE WHEN state <> 'pending' THEN m.created_at + random() * interval '1 hour' END
FROM frontdesk_outgoing_messages m JOIN frontdesk_inbox i ON i.notification_id = m.subject_id,
    LATERAL (SELECT CASE WHEN i.receiver_id / 100 %% 100 = 0 THEN 'failed'
        WHEN i.receiver_id / 100 %% 100 < 10 AND m.title LIKE '%%101' THEN 'pending'
        ELSE 'sent' END AS state) AS s
WHERE m.title LIKE 'Broadcast number %%' ORDER BY m.id, i.receiver_id;

-- As many audit log entries as accounts in 180 days, most of them sign-ins.
INSERT INTO frontdesk_events (type, at, actor_kind, actor_id, account_id, address, data)
SELECT CASE n %% 20 WHEN 0 THEN 'access.refused' WHEN 1 THEN 'login.failed'
        ELSE 'login.succeeded' END,
    now() - (%(accounts)s - n) * interval '180 days' / %(accounts)s, 'account',
    account, account, '192.0.2.0', '{}'
FROM (
    SELECT n, 1 + floor(random() * %(accounts)s)::int AS account
    FROM generate_series(1, %(accounts)s) n
) AS numbered;

-- The first 20 workspaces have 500 members, one has 20,000, and each other has ten.
INSERT INTO frontdesk_workspaces (slug, name, is_default, is_personal, created_at, creator_id)
SELECT 'team-' || n, 'Team number ' || n, false, false,
    now() - (5000 - n) * interval '1 hour', 1 + n * 37 FROM generate_series(1, 5000) n;

INSERT INTO frontdesk_workspace_members (workspace_id, account_id, type, status, created_at)
SELECT w.id, a.id, CASE WHEN a.id = 1 OR a.id = w.lowest THEN 'owner' ELSE 'member' END, 'active', now()
FROM (
    SELECT id, CASE WHEN n <= 21 THEN 1 ELSE n * 37 %% (%(accounts)s - 20) END AS lowest,
        CASE WHEN n <= 20 THEN 500 WHEN n = 21 THEN LEAST(20000, %(accounts)s) ELSE 10 END AS members
    FROM (SELECT id, substr(slug, 6)::int AS n FROM frontdesk_workspaces WHERE slug LIKE 'team-%%') t
) w JOIN accounts a ON a.id >= w.lowest AND a.id < w.lowest + w.members
ORDER BY w.id, a.id;

INSERT INTO frontdesk_events
    (type, at, actor_kind, actor_id, account_id, workspace_id, address, data)
SELECT 'member.added', w.created_at + n * interval '1 minute', 'account', 1, 1, w.id, '192.0.2.0',
    '{}' FROM frontdesk_workspaces w, generate_series(1, 10) n;

-- 100 segments, every tenth a list of 5,000 accounts.
INSERT INTO frontdesk_segments (name, audience, created_at)
SELECT 'Segment number ' || n,
    CASE WHEN n %% 10 = 0
        THEN json_build_object('ids', (SELECT json_agg(id) FROM accounts WHERE id <= 5000))
        ELSE '{"active": true, "role": "user"}' END, now()
FROM generate_series(1, 100) n;

INSERT INTO frontdesk_broadcast_drafts (account_id, title, content, updated_at)
SELECT 1, 'Draft number ' || n,
    json_build_object('title', 'A draft', 'message', 'Its text', 'channels', '["email"]'::json,
        'audience', json_build_object('kind', 'filtered', 'status', 'verified')), now()
FROM generate_series(1, 20) n;

INSERT INTO frontdesk_account_notes (account_id, author_id, text, created_at)
SELECT 1, 1, 'Note number ' || n, now() FROM generate_series(1, 20) n;

INSERT INTO frontdesk_sessions (public_id, account_id, kind, secret, counter, amr,
    authenticated_at, created_at, used_at, expires_at, user_agent)
SELECT gen_random_uuid(), 1, 'cookie', decode(repeat('00', 32), 'hex'), 0, 'pwd', now(), now(),
    now(), now() + interval '1 year', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
FROM generate_series(1, 20);
