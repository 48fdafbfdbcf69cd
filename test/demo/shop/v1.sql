-- A small shop, first edition: who buys, what is sold, what is in stock, what was ordered, paid and sent.
CREATE SCHEMA shop;

CREATE TYPE shop.order_status AS ENUM ('draft', 'placed', 'paid', 'shipped', 'cancelled');
CREATE TYPE shop.payment_method AS ENUM ('card', 'transfer', 'voucher');

CREATE TABLE shop.customers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email text NOT NULL,
    full_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT customers_email_key UNIQUE (email),
    CONSTRAINT customers_email_check CHECK (position('@' in email) > 1)
);
COMMENT ON TABLE shop.customers IS 'People who may order.';

CREATE TABLE shop.addresses (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES shop.customers (id) ON DELETE CASCADE,
    line1 text NOT NULL,
    line2 text,
    city text NOT NULL,
    postal_code character varying(16) NOT NULL,
    country character(2) NOT NULL,
    is_default boolean DEFAULT false NOT NULL
);
CREATE UNIQUE INDEX addresses_one_default ON shop.addresses (customer_id) WHERE is_default;

CREATE TABLE shop.categories (
    id integer PRIMARY KEY,
    parent_id integer REFERENCES shop.categories (id),
    name text NOT NULL UNIQUE
);

CREATE TABLE shop.products (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    category_id integer NOT NULL REFERENCES shop.categories (id),
    sku character varying(32) NOT NULL UNIQUE,
    title text NOT NULL,
    price numeric(10, 2) NOT NULL CHECK (price >= 0),
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL
);
CREATE INDEX products_attributes ON shop.products USING gin (attributes);
CREATE INDEX products_title ON shop.products (lower(title));

CREATE TABLE shop.stock (
    product_id bigint PRIMARY KEY REFERENCES shop.products (id) ON DELETE CASCADE,
    on_hand integer DEFAULT 0 NOT NULL CHECK (on_hand >= 0),
    reserved integer DEFAULT 0 NOT NULL CHECK (reserved >= 0),
    CONSTRAINT stock_reserved_fits CHECK (reserved <= on_hand)
);

CREATE TABLE shop.orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES shop.customers (id),
    ship_to bigint REFERENCES shop.addresses (id) ON DELETE SET NULL,
    status shop.order_status DEFAULT 'draft' NOT NULL,
    placed_at timestamp with time zone,
    legacy_code text
);
CREATE INDEX orders_open ON shop.orders (customer_id, placed_at DESC) WHERE status IN ('draft', 'placed');

CREATE TABLE shop.order_lines (
    order_id bigint NOT NULL REFERENCES shop.orders (id) ON DELETE CASCADE,
    line_no integer NOT NULL,
    product_id bigint NOT NULL REFERENCES shop.products (id),
    quantity integer NOT NULL CHECK (quantity > 0),
    unit_price numeric(10, 2) NOT NULL,
    total numeric(12, 2) GENERATED ALWAYS AS (quantity * unit_price) STORED,
    PRIMARY KEY (order_id, line_no)
);

CREATE TABLE shop.payments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id bigint NOT NULL REFERENCES shop.orders (id),
    method shop.payment_method NOT NULL,
    amount numeric(12, 2) NOT NULL CHECK (amount > 0),
    received_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX payments_by_order ON shop.payments (order_id);

CREATE TABLE shop.shipments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id bigint NOT NULL REFERENCES shop.orders (id),
    carrier text NOT NULL,
    tracking_code text UNIQUE,
    sent_at timestamp with time zone
);
