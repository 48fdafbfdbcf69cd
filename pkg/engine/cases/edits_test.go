package cases_test

import "strings"

// withoutViews drops all views of the schema public for the time of a change under them, and makes them again as they were.
func withoutViews(sql string) string {
	return `CREATE TABLE kept_views AS SELECT quote_ident(relname) AS name, pg_get_viewdef(oid) AS body, row_number() OVER (ORDER BY oid) AS n FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace;
DO $$ DECLARE v record; BEGIN FOR v IN SELECT * FROM kept_views ORDER BY n DESC LOOP EXECUTE 'DROP VIEW ' || v.name; END LOOP; END $$;
` + sql + `;
DO $$ DECLARE v record; BEGIN FOR v IN SELECT * FROM kept_views ORDER BY n LOOP EXECUTE 'CREATE VIEW ' || v.name || ' AS ' || v.body; END LOOP; END $$;
DROP TABLE kept_views`
}

// widened makes a key bigint, and everything that refers to it.
func widened(table, column string) string {
	return strings.NewReplacer("$table", table, "$column", column).Replace(`
DO $$ DECLARE k record; BEGIN
  ALTER TABLE $table ALTER $column TYPE bigint;
  FOR k IN SELECT DISTINCT c.conrelid::regclass AS child, a.attname AS name FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    WHERE c.contype = 'f' AND c.confrelid = '$table'::regclass AND a.attinhcount = 0 AND a.atttypid = 'integer'::regtype
  LOOP EXECUTE format('ALTER TABLE %s ALTER %I TYPE bigint', k.child, k.name); END LOOP;
END $$`)
}

var pagilaEdits = []edit{
	{does: "add a column with a default, a check and a comment", sql: `ALTER TABLE film ADD COLUMN budget numeric(12,2) NOT NULL DEFAULT 0 CONSTRAINT film_budget_positive CHECK (budget >= 0);
COMMENT ON COLUMN film.budget IS 'in euro'; COMMENT ON TABLE film IS 'one row per title'`},
	{does: "widen a referenced key below a view", sql: withoutViews(`ALTER TABLE customer ALTER customer_id TYPE bigint; ALTER TABLE rental ALTER customer_id TYPE bigint; DROP MATERIALIZED VIEW rental_by_category;
ALTER TABLE payment ALTER customer_id TYPE bigint; CREATE MATERIALIZED VIEW rental_by_category AS SELECT c.name AS category, sum(f.rental_rate) AS total_sales FROM film f JOIN film_category fc USING (film_id) JOIN category c USING (category_id) GROUP BY c.name WITH NO DATA;
CREATE UNIQUE INDEX rental_category ON rental_by_category (category)`)},
	{does: "drop an index, add partial and expression ones", sql: `DROP INDEX idx_last_name; CREATE INDEX customer_names ON customer (lower(last_name), first_name DESC NULLS LAST) WHERE activebool; CREATE UNIQUE INDEX staff_login ON staff (lower(username)) INCLUDE (active)`},
	{
		does: "rename a table and columns", sql: `ALTER TABLE category RENAME TO genre; ALTER TABLE customer RENAME activebool TO is_active; ALTER TABLE film RENAME length TO minutes`,
		renamed: map[string]string{"genre": "category", "customer.is_active": "activebool", "film.minutes": "length"},
	},
	{does: "change a view's body and the order of its columns", sql: `DROP VIEW customer_list; CREATE VIEW customer_list WITH (security_barrier) AS SELECT cu.last_name || ', ' || cu.first_name AS name, cu.customer_id AS id, a.address, cu.store_id AS sid, cu.email
FROM customer cu JOIN address a USING (address_id) WHERE cu.is_active; COMMENT ON VIEW customer_list IS 'active ones'`},
	{does: "replace a function's body, and another's result", sql: `CREATE OR REPLACE FUNCTION last_day(timestamp with time zone) RETURNS date LANGUAGE sql IMMUTABLE STRICT AS $x$SELECT (date_trunc('month', $1) + interval '1 month -1 day')::date$x$;
DROP FUNCTION inventory_in_stock(integer); CREATE FUNCTION inventory_in_stock(p_inventory_id integer) RETURNS integer LANGUAGE sql STABLE AS $x$SELECT count(*)::int FROM rental WHERE inventory_id = p_inventory_id AND return_date IS NULL$x$`},
	{does: "add values to an enum", sql: `ALTER TYPE mpaa_rating ADD VALUE 'NC-21'; ALTER TYPE mpaa_rating ADD VALUE 'U' BEFORE 'G'`},
	{does: "attach a partition, detach another", sql: `CREATE TABLE payment_p2026_08 PARTITION OF payment FOR VALUES FROM ('2026-08-01 00:00:00+00') TO ('2026-09-01 00:00:00+00'); CREATE INDEX ON payment_p2026_08 (customer_id);
ALTER TABLE payment DETACH PARTITION payment_p2022_01`, changes: []string{"payment"}},
	{does: "move a trigger, change its time", sql: `DROP TRIGGER last_updated ON country; DROP TRIGGER last_updated ON store; CREATE TRIGGER last_updated BEFORE INSERT OR UPDATE OF address_id ON store FOR EACH ROW WHEN (NEW.address_id > 0) EXECUTE FUNCTION last_updated();
CREATE FUNCTION noticed() RETURNS trigger LANGUAGE plpgsql AS $x$BEGIN RETURN NULL; END$x$; CREATE TRIGGER moved AFTER DELETE ON country REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION noticed()`},
	{does: "turn on row security with policies", sql: `ALTER TABLE staff ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CREATE POLICY own ON staff FOR SELECT USING (username = CURRENT_USER);
CREATE POLICY managers ON staff AS RESTRICTIVE FOR UPDATE USING (EXISTS (SELECT FROM store s WHERE s.manager_staff_id = staff.staff_id)) WITH CHECK (active)`},
	{does: "change the check of a domain and add one to a table", sql: `ALTER DOMAIN year DROP CONSTRAINT year_check; ALTER DOMAIN year ADD CONSTRAINT year_check CHECK (VALUE BETWEEN 1888 AND 2155);
ALTER TABLE rental ADD CONSTRAINT returned_later CHECK (return_date IS NULL OR return_date >= rental_date)`},
	{does: "make a column mandatory", sql: `ALTER TABLE customer ALTER email SET NOT NULL, ALTER active SET DEFAULT 1, ALTER create_date DROP DEFAULT`},
	{does: "split a table", sql: `CREATE TABLE staff_credentials (staff_id integer PRIMARY KEY REFERENCES staff ON UPDATE CASCADE ON DELETE CASCADE, password text, changed timestamptz NOT NULL DEFAULT now()); ALTER TABLE staff DROP COLUMN password`},
	{does: "drop a table with all that stands on it", sql: `DROP TABLE film_category CASCADE`},
}

var sakilaEdits = []edit{
	{does: "widen a varchar", sql: `ALTER TABLE customer ALTER email TYPE varchar(120); ALTER TABLE staff ALTER password TYPE text`},
	{does: "add generated and defaulted columns", sql: `ALTER TABLE film ADD COLUMN long boolean GENERATED ALWAYS AS (length > 120) STORED, ADD COLUMN seen bigint NOT NULL DEFAULT 0`},
	{does: "widen a referenced key below views", sql: withoutViews(widened("film", "film_id") + "; " + widened("language", "language_id"))},
	{
		does: "rename a column and the trigger's argument with it", sql: `ALTER TABLE film RENAME fulltext TO search; DROP TRIGGER film_fulltext_trigger ON film;
CREATE TRIGGER film_fulltext_trigger BEFORE INSERT OR UPDATE ON film FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger('search', 'pg_catalog.english', 'title', 'description')`,
		renamed: map[string]string{"film.search": "fulltext"},
	},
	{does: "add a child with its rule", sql: `CREATE TABLE payment_p2007_07 (CONSTRAINT payment_p2007_07_payment_date_check CHECK (payment_date >= '2007-07-01' AND payment_date < '2007-08-01')) INHERITS (payment);
ALTER TABLE payment_p2007_07 ALTER payment_id SET DEFAULT nextval('payment_payment_id_seq'); CREATE INDEX ON payment_p2007_07 (customer_id);
CREATE RULE payment_insert_p2007_07 AS ON INSERT TO payment WHERE NEW.payment_date >= '2007-07-01' AND NEW.payment_date < '2007-08-01' DO INSTEAD INSERT INTO payment_p2007_07 VALUES (DEFAULT, NEW.customer_id, NEW.staff_id, NEW.rental_id, NEW.amount, NEW.payment_date);
DROP RULE payment_insert_p2007_01 ON payment`},
	{does: "take a child out of its family", sql: `ALTER TABLE payment_p2007_06 NO INHERIT payment`, changes: []string{"payment"}},
	{does: "add a value to an enum", sql: `ALTER TYPE mpaa_rating ADD VALUE 'PG-16' AFTER 'PG-13'`},
	{does: "let a foreign key delete", sql: `ALTER TABLE payment_p2007_02 DROP CONSTRAINT payment_p2007_02_customer_id_fkey; ALTER TABLE payment_p2007_02 ADD CONSTRAINT payment_p2007_02_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer ON DELETE CASCADE DEFERRABLE`},
	{does: "make columns mandatory", sql: `ALTER TABLE customer ALTER email SET NOT NULL; ALTER TABLE rental ALTER last_update DROP NOT NULL`},
	{does: "change what functions return", sql: `DROP FUNCTION inventory_held_by_customer(integer); CREATE FUNCTION inventory_held_by_customer(p_inventory_id integer) RETURNS bigint LANGUAGE sql STABLE AS $x$SELECT customer_id::bigint FROM rental WHERE return_date IS NULL AND inventory_id = p_inventory_id$x$;
CREATE OR REPLACE FUNCTION _group_concat(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $x$SELECT concat_ws('; ', $1, $2)$x$`},
	{does: "change views and the order of their columns", sql: `DROP VIEW staff_list; CREATE VIEW staff_list AS SELECT s.store_id AS sid, s.staff_id AS id, s.last_name FROM staff s; CREATE OR REPLACE VIEW sales_by_store AS SELECT 'all'::text AS store, 'all'::text AS manager, sum(amount) AS total_sales FROM payment;
CREATE MATERIALIZED VIEW busy_actors AS SELECT actor_id, count(*) AS films FROM film_actor GROUP BY actor_id; CREATE UNIQUE INDEX ON busy_actors (actor_id)`},
	{does: "comments on everything", sql: `COMMENT ON TABLE film IS 'titles'; COMMENT ON VIEW film_list IS 'for the shop'; COMMENT ON FUNCTION last_day(timestamp) IS 'of a month'; COMMENT ON AGGREGATE group_concat(text) IS 'as elsewhere'; COMMENT ON TYPE mpaa_rating IS 'of the MPAA';
COMMENT ON DOMAIN year IS 'of release'; COMMENT ON INDEX idx_title IS 'for search'; COMMENT ON CONSTRAINT film_pkey ON film IS 'the key'; COMMENT ON TRIGGER last_updated ON film IS 'stamps'; COMMENT ON RULE payment_insert_p2007_02 ON payment IS 'routes'; COMMENT ON SEQUENCE film_film_id_seq IS 'ids'; COMMENT ON SCHEMA public IS 'the shop'`},
	{does: "drop a table with all that stands on it", sql: `DROP TABLE store CASCADE`},
}

var synapseEdits = []edit{
	{does: "add columns with defaults", sql: `ALTER TABLE events ADD COLUMN soft_failed boolean NOT NULL DEFAULT false, ADD COLUMN seen_ts bigint DEFAULT 0`},
	{does: "drop an index, add partial and expression ones", sql: `DROP INDEX event_contains_url_index; CREATE INDEX events_kept ON events (room_id, stream_ordering DESC) WHERE processed AND NOT outlier; CREATE UNIQUE INDEX users_lower ON users (lower(name)); CREATE STATISTICS events_by_room (ndistinct, dependencies) ON room_id, type FROM events`},
	{does: "widen smallint", sql: `ALTER TABLE users ALTER admin TYPE integer, ALTER is_guest TYPE bigint`},
	{does: "add foreign keys that delete", sql: `ALTER TABLE devices ADD CONSTRAINT devices_of_users FOREIGN KEY (user_id) REFERENCES users (name) ON DELETE CASCADE; ALTER TABLE event_edges DROP CONSTRAINT event_edges_event_id_fkey;
ALTER TABLE event_edges ADD CONSTRAINT event_edges_event_id_fkey FOREIGN KEY (event_id) REFERENCES events (event_id) ON DELETE CASCADE ON UPDATE CASCADE NOT VALID`},
	{does: "make a unique column the primary key", sql: `ALTER TABLE profiles DROP CONSTRAINT profiles_user_id_key, ADD PRIMARY KEY (user_id); ALTER TABLE devices ALTER ip SET NOT NULL`},
	{does: "rename a table and a column", sql: `ALTER TABLE room_stats_state RENAME TO room_state_stats; ALTER TABLE room_state_stats RENAME topic TO subject`, renamed: map[string]string{"room_state_stats": "room_stats_state", "room_state_stats.subject": "topic"}},
	{does: "replace a trigger's function and move the trigger", sql: `DROP TRIGGER check_partial_state_events ON partial_state_events; CREATE OR REPLACE FUNCTION check_partial_state_events() RETURNS trigger LANGUAGE plpgsql AS $x$BEGIN IF NEW.room_id IS NULL THEN RAISE EXCEPTION 'no room'; END IF; RETURN NEW; END$x$;
CREATE CONSTRAINT TRIGGER check_partial_state_events AFTER INSERT OR UPDATE ON partial_state_rooms DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_partial_state_events()`},
	{does: "split a table", sql: `CREATE TABLE user_agents (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id text NOT NULL, user_agent text NOT NULL, UNIQUE NULLS NOT DISTINCT (user_id, user_agent)); ALTER TABLE user_ips DROP COLUMN user_agent`},
	{does: "turn on row security with a policy", sql: `ALTER TABLE access_tokens ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON access_tokens USING (user_id = current_setting('app.user', true))`},
	{does: "add checks, one for new rows only", sql: `ALTER TABLE users ADD CONSTRAINT known_kind CHECK (user_type IN ('bot', 'support')) NOT VALID; ALTER TABLE devices ADD CONSTRAINT named CHECK (length(device_id) > 0)`},
	{does: "views, one on the other", sql: `CREATE VIEW open_rooms AS SELECT room_id, join_rules FROM room_state_stats WHERE join_rules <> 'invite'; CREATE MATERIALIZED VIEW busy_rooms AS SELECT r.room_id, count(e.*) AS events FROM open_rooms r JOIN events e USING (room_id) GROUP BY r.room_id; CREATE UNIQUE INDEX busy ON busy_rooms (room_id)`},
	{does: "retype a column below both views", sql: `DROP MATERIALIZED VIEW busy_rooms; DROP VIEW open_rooms; ALTER TABLE room_state_stats ALTER join_rules TYPE varchar(100);
CREATE VIEW open_rooms AS SELECT join_rules, room_id FROM room_state_stats WHERE join_rules <> 'invite'; CREATE MATERIALIZED VIEW busy_rooms AS SELECT count(e.*) AS events, r.room_id FROM open_rooms r JOIN events e USING (room_id) GROUP BY r.room_id; CREATE UNIQUE INDEX busy ON busy_rooms (room_id)`},
	{does: "drop a table that others refer to", sql: `DROP TABLE refresh_tokens CASCADE; DROP TABLE rooms CASCADE`},
}

// lemmyEdits fit both ends of lemmy's history.
var lemmyEdits = []edit{
	{does: "add columns with defaults", sql: `ALTER TABLE post ADD COLUMN reading_time integer NOT NULL DEFAULT 0, ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', name)) STORED; CREATE INDEX post_words ON post USING gin (words)`},
	{does: "widen varchars", sql: `ALTER TABLE person ALTER display_name TYPE varchar(300); ALTER TABLE site ALTER name TYPE text`},
	{does: "widen a key that everything refers to", sql: widened("post", "id") + "; ALTER SEQUENCE post_id_seq AS bigint MAXVALUE 9223372036854775807"},
	{does: "drop an index, add partial and expression ones", sql: `DROP INDEX idx_post_url; CREATE INDEX post_shown ON post (community_id, id DESC) WHERE NOT removed AND NOT deleted; CREATE INDEX person_bot ON person (lower(name) text_pattern_ops) WHERE bot_account`},
	{
		does: "rename columns", sql: `ALTER TABLE person RENAME bio TO about; ALTER TABLE registration_application RENAME TO application; ALTER TABLE application RENAME answer TO text`,
		renamed: map[string]string{"person.about": "bio", "application": "registration_application", "application.text": "answer"},
	},
	{does: "add a value to an enum and a column of it", sql: `ALTER TYPE listing_type_enum ADD VALUE 'Friends' BEFORE 'Local'; ALTER TABLE community ADD COLUMN listing listing_type_enum DEFAULT 'All'`},
	{does: "make columns mandatory", sql: `ALTER TABLE person ALTER display_name SET NOT NULL; ALTER TABLE post ALTER body SET DEFAULT '', ALTER body SET NOT NULL`},
	{does: "change what a foreign key does", sql: `ALTER TABLE post DROP CONSTRAINT post_language_id_fkey, ADD CONSTRAINT post_language_id_fkey FOREIGN KEY (language_id) REFERENCES language ON DELETE SET DEFAULT; ALTER TABLE login_token ADD CONSTRAINT given CHECK (token <> '')`},
	{does: "change functions under a default and an index", sql: `CREATE OR REPLACE FUNCTION generate_unique_changeme() RETURNS text LANGUAGE sql AS $x$SELECT 'http://changeme.invalid/' || md5(random()::text)$x$;
CREATE FUNCTION initial(name text) RETURNS text LANGUAGE sql IMMUTABLE RETURN upper(left(name, 1)); CREATE INDEX person_initial ON person (initial(name))`},
	{does: "change the result of a function below an index", sql: `DROP INDEX person_initial; DROP FUNCTION initial(text); CREATE FUNCTION initial(name text) RETURNS integer LANGUAGE sql IMMUTABLE RETURN ascii(name); CREATE INDEX person_initial ON person (initial(name))`},
	{does: "split a table", sql: `CREATE TABLE local_user_secret (local_user_id integer PRIMARY KEY REFERENCES local_user ON UPDATE CASCADE ON DELETE CASCADE, totp_2fa_secret text); ALTER TABLE local_user DROP COLUMN totp_2fa_secret`},
	{does: "turn on row security with policies", sql: `ALTER TABLE private_message ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON private_message USING (creator_id = 1 OR recipient_id = 1) WITH CHECK (creator_id = 1)`},
	{does: "move a trigger", sql: `CREATE FUNCTION stamped() RETURNS trigger LANGUAGE plpgsql AS $x$BEGIN RETURN NEW; END$x$; CREATE TRIGGER stamp BEFORE UPDATE ON tagline FOR EACH ROW EXECUTE FUNCTION stamped(); CREATE TRIGGER stamp BEFORE INSERT ON site FOR EACH ROW EXECUTE FUNCTION stamped(); ALTER TABLE site DISABLE TRIGGER stamp`},
	{does: "drop tables that others refer to", sql: `DROP TABLE custom_emoji CASCADE; DROP TABLE tagline`},
}

var openFGAEdits = []edit{
	{does: "add a column with a default", sql: `ALTER TABLE tuple ADD COLUMN source text NOT NULL DEFAULT 'api' CHECK (source IN ('api', 'import'))`},
	{does: "widen a number", sql: `ALTER TABLE changelog ALTER operation TYPE bigint`},
	{does: "drop an index, add partial and expression ones", sql: `DROP INDEX idx_tuple_partial_userset; CREATE INDEX tuple_recent ON tuple (store, inserted_at DESC) WHERE condition_name IS NOT NULL; CREATE INDEX tuple_object ON tuple ((object_type || ':' || object_id))`},
	{does: "rename a column of the primary key", sql: `ALTER TABLE tuple RENAME _user TO subject; ALTER TABLE assertion RENAME TO assertions`, renamed: map[string]string{"tuple.subject": "_user", "assertions": "assertion"}},
	{does: "add foreign keys that delete", sql: `ALTER TABLE tuple ADD CONSTRAINT tuple_store FOREIGN KEY (store) REFERENCES store ON DELETE CASCADE; ALTER TABLE changelog ADD CONSTRAINT changelog_store FOREIGN KEY (store) REFERENCES store ON DELETE CASCADE`},
	{does: "make columns mandatory", sql: `ALTER TABLE tuple ALTER condition_name SET NOT NULL; ALTER TABLE store ALTER updated_at SET DEFAULT now(), ALTER updated_at SET NOT NULL`},
	{does: "change the primary key", sql: `ALTER TABLE changelog DROP CONSTRAINT changelog_pkey, ADD CONSTRAINT changelog_pkey PRIMARY KEY (store, ulid, object_type, object_id)`},
	{does: "an enum and a view on it", sql: `CREATE TYPE direction AS ENUM ('write', 'delete'); ALTER TABLE changelog ADD COLUMN direction public.direction DEFAULT 'write'; CREATE VIEW deletes AS SELECT store, ulid, subject FROM (SELECT store, ulid, _user AS subject, direction FROM changelog) c WHERE direction = 'delete'`},
	{does: "add a value to the enum below the view", sql: `ALTER TYPE direction ADD VALUE 'touch' BEFORE 'delete'; DROP VIEW deletes; CREATE VIEW deletes AS SELECT ulid, store, _user AS subject, direction FROM changelog WHERE direction = 'delete'`},
	{does: "a partitioned table takes the place of a plain one", sql: `CREATE TABLE audit (store text NOT NULL, at timestamptz NOT NULL, what jsonb, PRIMARY KEY (store, at)) PARTITION BY RANGE (at); CREATE TABLE audit_2025 PARTITION OF audit FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE audit_rest PARTITION OF audit DEFAULT; CREATE INDEX ON audit (at)`},
	{does: "attach and detach partitions", sql: `CREATE TABLE audit_2026 PARTITION OF audit FOR VALUES FROM ('2026-01-01') TO ('2027-01-01'); ALTER TABLE audit DETACH PARTITION audit_2025`},
	{does: "a trigger that keeps a count", sql: `CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $x$BEGIN PERFORM pg_notify('tuples', TG_OP); RETURN NULL; END$x$; CREATE TRIGGER counted AFTER INSERT OR DELETE ON tuple FOR EACH STATEMENT EXECUTE FUNCTION counted(); ALTER TABLE tuple ENABLE ALWAYS TRIGGER counted`},
	{does: "split a table, row security on the new half", sql: `CREATE TABLE store_dates (id text PRIMARY KEY REFERENCES store ON DELETE CASCADE, deleted_at timestamptz); ALTER TABLE store_dates ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON store_dates FOR DELETE USING (deleted_at IS NULL); ALTER TABLE store DROP COLUMN deleted_at`},
	{does: "drop a table that others refer to", sql: `DROP TABLE store CASCADE`},
}

var uaaEdits = []edit{
	{does: "add columns with defaults", sql: `ALTER TABLE users ADD COLUMN locale varchar(12) NOT NULL DEFAULT 'en', ADD COLUMN failed_logins integer NOT NULL DEFAULT 0 CONSTRAINT failed_logins_positive CHECK (failed_logins >= 0)`},
	{does: "widen varchars", sql: `ALTER TABLE groups ALTER displayname TYPE varchar(512); ALTER TABLE oauth_client_details ALTER client_secret TYPE text; ALTER TABLE users ALTER id TYPE varchar(64)`, changes: []string{"users.id"}},
	{does: "widen serial keys", sql: `ALTER TABLE group_membership ALTER id TYPE bigint; ALTER SEQUENCE group_membership_id_seq AS bigint MAXVALUE 9223372036854775807; ALTER TABLE sec_audit ALTER id TYPE bigint, ALTER event_type TYPE bigint`},
	{does: "drop an index, add partial and expression ones", sql: `DROP INDEX user_perf_email; CREATE INDEX users_by_email ON users (lower(email), origin) WHERE active AND verified; CREATE UNIQUE INDEX zones_lower ON identity_zone (lower(subdomain))`},
	{
		does: "rename columns below expression indexes", sql: `ALTER TABLE users RENAME username TO login; ALTER TABLE user_info RENAME TO user_infos; ALTER TABLE user_infos RENAME info TO body`,
		renamed: map[string]string{"users.login": "username", "user_infos": "user_info", "user_infos.body": "info"},
	},
	{does: "add a foreign key that deletes", sql: `ALTER TABLE group_membership ADD CONSTRAINT membership_of_group FOREIGN KEY (group_id) REFERENCES groups ON DELETE CASCADE; ALTER TABLE identity_provider ADD CONSTRAINT provider_of_zone FOREIGN KEY (identity_zone_id) REFERENCES identity_zone ON DELETE RESTRICT`},
	{does: "make columns mandatory, others not", sql: `ALTER TABLE users ALTER givenname SET NOT NULL, ALTER familyname SET NOT NULL, ALTER password DROP NOT NULL; ALTER TABLE users ALTER origin DROP DEFAULT`},
	{does: "change a check and a unique key", sql: `ALTER TABLE users DROP CONSTRAINT failed_logins_positive, ADD CONSTRAINT failed_logins_positive CHECK (failed_logins BETWEEN 0 AND 100); ALTER TABLE group_membership DROP CONSTRAINT IF EXISTS group_membership_unique_key; DROP INDEX IF EXISTS group_membership_unique_key;
ALTER TABLE group_membership ADD CONSTRAINT group_membership_unique_key UNIQUE (member_id, group_id, origin)`},
	{does: "split a table", sql: `CREATE TABLE user_password (user_id varchar(64) PRIMARY KEY REFERENCES users ON DELETE CASCADE, password varchar(255) NOT NULL, salt varchar(36)); ALTER TABLE users DROP COLUMN password, DROP COLUMN salt`},
	{does: "a domain and an enum", sql: `CREATE DOMAIN zone_id AS varchar(36) CHECK (VALUE <> ''); CREATE TYPE member_kind AS ENUM ('USER', 'GROUP'); ALTER TABLE groups ADD COLUMN owner zone_id, ADD COLUMN kind member_kind NOT NULL DEFAULT 'USER'`},
	{does: "views and a materialized one", sql: `CREATE VIEW active_users AS SELECT id, login, email FROM users WHERE active; CREATE MATERIALIZED VIEW group_sizes AS SELECT g.id, g.displayname, count(m.member_id) AS members FROM groups g LEFT JOIN group_membership m ON m.group_id = g.id GROUP BY g.id; CREATE UNIQUE INDEX ON group_sizes (id)`},
	{does: "change both", sql: `DROP VIEW active_users; CREATE VIEW active_users WITH (security_invoker) AS SELECT email, id FROM users WHERE active AND verified; DROP MATERIALIZED VIEW group_sizes; CREATE MATERIALIZED VIEW group_sizes AS SELECT group_id, count(*) AS members FROM group_membership GROUP BY group_id`},
	{does: "a trigger and its function", sql: `CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS $x$BEGIN NEW.lastmodified := now(); RETURN NEW; END$x$; CREATE TRIGGER touched BEFORE UPDATE ON users FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION touched()`},
	{does: "row security and comments", sql: `ALTER TABLE users ENABLE ROW LEVEL SECURITY; CREATE POLICY zone ON users TO PUBLIC USING (identity_zone_id = current_setting('uaa.zone', true)); COMMENT ON POLICY zone ON users IS 'one zone sees itself'; COMMENT ON TABLE users IS 'people'`},
	{does: "drop tables that others refer to", sql: `DROP TABLE users CASCADE; DROP TABLE spring_session CASCADE`},
}

// mysqlSakilaEdits end in the default mode and delimiter, as the file of the schema does not.
var mysqlSakilaEdits = []edit{
	{does: "add a column with a default", sql: "ALTER TABLE film ADD COLUMN budget DECIMAL(12,2) NOT NULL DEFAULT 0 COMMENT 'in euro', ADD COLUMN is_long BOOLEAN AS (length > 120) STORED"},
	{does: "add an enum value", sql: "ALTER TABLE film MODIFY rating ENUM('G','PG','PG-13','R','NC-17','X') DEFAULT 'G'"},
	{does: "add and drop indexes", sql: "CREATE INDEX by_payment_date ON payment (payment_date DESC, amount); DROP INDEX idx_title ON film; CREATE FULLTEXT INDEX film_words ON film (title, description); CREATE UNIQUE INDEX staff_login ON staff (username)"},
	{does: "widen a varchar", sql: "ALTER TABLE customer MODIFY email VARCHAR(120); ALTER TABLE actor MODIFY last_name VARCHAR(300) NOT NULL"},
	{does: "widen a referenced key", sql: "ALTER TABLE film_category DROP FOREIGN KEY fk_film_category_category; ALTER TABLE category MODIFY category_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT; ALTER TABLE film_category MODIFY category_id BIGINT UNSIGNED NOT NULL; ALTER TABLE film_category ADD CONSTRAINT fk_film_category_category FOREIGN KEY (category_id) REFERENCES category (category_id) ON DELETE CASCADE ON UPDATE CASCADE"},
	{does: "add a check", sql: "ALTER TABLE customer ADD CONSTRAINT email_is_given CHECK (email <> '')"},
	{does: "add a table with a foreign key", sql: "CREATE TABLE award (award_id INT UNSIGNED PRIMARY KEY AUTO_INCREMENT, actor_id INT UNSIGNED NOT NULL, won DATE, CONSTRAINT award_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id) ON DELETE CASCADE)"},
	{does: "add a view, change the order of another's columns", sql: "CREATE OR REPLACE VIEW actor_awards AS SELECT a.actor_id, a.last_name, COUNT(*) AS awards FROM actor a JOIN award w USING (actor_id) GROUP BY a.actor_id, a.last_name; CREATE OR REPLACE VIEW customer_list AS SELECT cu.last_name AS name, cu.customer_id AS ID, cu.email FROM customer cu WHERE cu.active"},
	{does: "change a trigger and move another", sql: "DROP TRIGGER del_film; CREATE TRIGGER del_film BEFORE DELETE ON film FOR EACH ROW DELETE FROM film_text WHERE film_id = OLD.film_id; CREATE TRIGGER stamp BEFORE UPDATE ON city FOR EACH ROW SET NEW.last_update = NOW()"},
	{does: "change what a foreign key does", sql: "ALTER TABLE rental DROP FOREIGN KEY fk_rental_staff; ALTER TABLE rental ADD CONSTRAINT fk_rental_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id) ON UPDATE CASCADE ON DELETE CASCADE"},
	{does: "replace a function's result", sql: "DROP FUNCTION inventory_in_stock; CREATE FUNCTION inventory_in_stock(p_inventory_id INT) RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM rental WHERE inventory_id = p_inventory_id)"},
	{does: "make a column mandatory", sql: "ALTER TABLE address MODIFY address2 VARCHAR(50) NOT NULL; ALTER TABLE payment MODIFY last_update TIMESTAMP NULL"},
	{does: "split a table", sql: "CREATE TABLE staff_picture (staff_id INT UNSIGNED PRIMARY KEY, picture MEDIUMBLOB, CONSTRAINT picture_of FOREIGN KEY (staff_id) REFERENCES staff (staff_id) ON DELETE CASCADE); ALTER TABLE staff DROP COLUMN picture; ALTER TABLE film COMMENT 'titles'"},
	{does: "drop a table with what stands on it", sql: "DROP VIEW film_list; DROP VIEW nicer_but_slower_film_list; DROP VIEW actor_info; DROP VIEW sales_by_film_category; DROP TABLE film_category"},
}

var mysqlUAAEdits = []edit{
	{does: "add columns with defaults", sql: "ALTER TABLE users ADD COLUMN locale VARCHAR(12) NOT NULL DEFAULT 'en', ADD COLUMN failed_logins INT NOT NULL DEFAULT 0"},
	{does: "widen varchars", sql: "ALTER TABLE `groups` MODIFY displayname VARCHAR(300) NOT NULL; ALTER TABLE identity_zone MODIFY name VARCHAR(400) NOT NULL"},
	{does: "widen a key", sql: "ALTER TABLE group_membership MODIFY id BIGINT NOT NULL AUTO_INCREMENT"},
	{does: "add and drop indexes", sql: "CREATE INDEX users_by_zone ON users (identity_zone_id, active, created DESC); CREATE INDEX zone_names ON identity_zone (name(20))"},
	{does: "add a table with a foreign key", sql: "CREATE TABLE zone_owner (zone_id VARCHAR(36) CHARACTER SET latin1 NOT NULL, owner VARCHAR(255) NOT NULL, PRIMARY KEY (zone_id, owner)); ALTER TABLE zone_owner ADD KEY (owner)"},
	{does: "make columns mandatory, others not", sql: "ALTER TABLE users MODIFY givenname VARCHAR(255) NOT NULL, MODIFY familyname VARCHAR(255) NOT NULL"},
	{does: "add a check, then another", sql: "ALTER TABLE users ADD CONSTRAINT failed_logins_range CHECK (failed_logins BETWEEN 0 AND 100)"},
	{does: "change the check", sql: "ALTER TABLE users DROP CONSTRAINT failed_logins_range, ADD CONSTRAINT failed_logins_range CHECK (failed_logins BETWEEN 0 AND 1000)"},
	{does: "views, one on the other", sql: "CREATE VIEW active_users AS SELECT id, username, email FROM users WHERE active; CREATE VIEW active_mails AS SELECT email, id FROM active_users"},
	{does: "change the order of their columns", sql: "CREATE OR REPLACE VIEW active_users AS SELECT email, id FROM users WHERE active AND verified"},
	{does: "a function and a trigger", sql: "CREATE FUNCTION lowered(s VARCHAR(255)) RETURNS VARCHAR(255) DETERMINISTIC RETURN LOWER(s); CREATE TRIGGER touched BEFORE UPDATE ON users FOR EACH ROW SET NEW.lastmodified = NOW()"},
	{does: "replace both", sql: "DROP FUNCTION lowered; CREATE FUNCTION lowered(s VARCHAR(100)) RETURNS TEXT DETERMINISTIC RETURN TRIM(LOWER(s)); DROP TRIGGER touched; CREATE TRIGGER touched BEFORE INSERT ON users FOR EACH ROW SET NEW.lastmodified = NOW()"},
	{does: "split a table", sql: "CREATE TABLE user_salt (user_id CHAR(36) PRIMARY KEY, salt VARCHAR(36)); ALTER TABLE users DROP COLUMN salt; ALTER TABLE users COMMENT 'people'"},
	{does: "drop tables", sql: "DROP TABLE SPRING_SESSION_ATTRIBUTES; DROP TABLE SPRING_SESSION"},
}

var mysqlOpenFGAEdits = []edit{
	{does: "add a column with a default", sql: "ALTER TABLE tuple ADD COLUMN source VARCHAR(10) NOT NULL DEFAULT 'api'"},
	{does: "widen a number and a varchar", sql: "ALTER TABLE changelog MODIFY operation BIGINT NOT NULL; ALTER TABLE store MODIFY name VARCHAR(300) NOT NULL"},
	{does: "add and drop indexes", sql: "CREATE INDEX tuple_recent ON tuple (store, inserted_at DESC); DROP INDEX idx_reverse_lookup_user ON tuple; CREATE INDEX tuple_users ON tuple (user_type, relation)"},
	{does: "add foreign keys that delete", sql: "ALTER TABLE tuple ADD CONSTRAINT tuple_store FOREIGN KEY (store) REFERENCES store (id) ON DELETE CASCADE; ALTER TABLE changelog ADD CONSTRAINT changelog_store FOREIGN KEY (store) REFERENCES store (id) ON DELETE CASCADE"},
	{does: "make columns mandatory", sql: "ALTER TABLE store MODIFY updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"},
	{does: "change the primary key", sql: "ALTER TABLE changelog DROP PRIMARY KEY, ADD PRIMARY KEY (store, ulid, object_type, operation)"},
	{does: "add an enum", sql: "ALTER TABLE changelog ADD COLUMN direction ENUM('write','delete') NOT NULL DEFAULT 'write'; CREATE VIEW deletes AS SELECT store, ulid, direction FROM changelog WHERE direction = 'delete'"},
	{does: "add a value to it", sql: "ALTER TABLE changelog MODIFY direction ENUM('write','delete','touch') NOT NULL DEFAULT 'write'; CREATE OR REPLACE VIEW deletes AS SELECT direction, ulid, store FROM changelog WHERE direction = 'delete'"},
	{does: "a check", sql: "ALTER TABLE tuple ADD CONSTRAINT known_source CHECK (source IN ('api', 'import'))"},
	{does: "a partitioned table", sql: "CREATE TABLE audit (store CHAR(26) NOT NULL, at DATETIME NOT NULL, what JSON, PRIMARY KEY (store, at)) PARTITION BY RANGE COLUMNS (at) (PARTITION p2025 VALUES LESS THAN ('2026-01-01'), PARTITION p2026 VALUES LESS THAN ('2027-01-01'))"},
	{does: "a partition more", sql: "ALTER TABLE audit ADD PARTITION (PARTITION p2027 VALUES LESS THAN ('2028-01-01'))"},
	{does: "a trigger", sql: "CREATE TRIGGER counted AFTER INSERT ON store FOR EACH ROW SET @stores = @stores + 1"},
	{does: "split a table", sql: "CREATE TABLE store_dates (id CHAR(26) PRIMARY KEY, deleted_at TIMESTAMP NULL, CONSTRAINT dates_of FOREIGN KEY (id) REFERENCES store (id) ON DELETE CASCADE); ALTER TABLE store DROP COLUMN deleted_at; ALTER TABLE tuple COMMENT 'who may what'"},
	{does: "drop tables that others refer to", sql: "DROP TABLE assertion; DROP TABLE authorization_model"},
}
