DROP TABLE app.ledger;
