CREATE TABLE app.ledger (id bigint PRIMARY KEY, first_name text, last_name text);
