CREATE TABLE app.ledger (id bigint PRIMARY KEY, full_name text);
