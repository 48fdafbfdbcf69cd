variable "app" {
  type    = string
  default = "app"
}

locals {
  people = "People"
}

schema "app" {
  comment = "What the shop sells, and to whom"
}

extension "citext" {
  schema        = schema.app
  if_not_exists = true
}

enum "status" {
  schema = schema.app
  values = ["new", "paid", "sent; \"gone\""]
}

domain "positive" {
  schema  = schema.app
  type    = integer
  null    = false
  default = 1
  check "positive" {
    expr = "VALUE > 0"
  }
}

composite "address" {
  schema  = schema.app
  comment = "Where"
  field "street" {
    type = text
  }
  field "city" {
    type = text
  }
}

range "price_range" {
  schema  = schema.app
  subtype = numeric
}

sequence "invoice" {
  schema    = schema.app
  type      = bigint
  start     = 1000
  increment = 5
  min_value = 10
  max_value = 100000
  cache     = 10
  cycle     = true
  owned_by  = table.orders.column.invoice
}

table "customers" {
  schema  = schema.app
  comment = local.people
  options = { fillfactor = 70 }
  column "id" {
    type = bigint
    identity {
      generated = ALWAYS
      start     = 5
    }
  }
  column "email" {
    type   = sql("${var.app}.citext")
    unique = true
  }
  column "name" {
    type       = text
    null       = true
    default    = "it's"
    check      = "length(name) > 0"
    check_name = "name_given"
    comment    = "As written"
  }
  column "lower_name" {
    type = text
    null = true
    as {
      expr = "lower(name)"
      type = STORED
    }
  }
  column "score" {
    type    = integer
    null    = true
    default = -1
  }
  primary_key {
    columns = [column.id]
  }
  index "customers_name_idx" {
    columns = [column.name]
  }
}

table "app" "orders" {
  column "id" {
    type = bigint
    auto_increment = true
  }
  column "customer" {
    type = bigint
  }
  column "status" {
    type    = enum.status
    default = "new"
  }
  column "kind" {
    enum    = ["web", "shop"]
    null    = true
    default = "web"
  }
  column "invoice" {
    type    = bigint
    null    = true
    default = sql("nextval('app.invoice')")
  }
  column "total" {
    type    = numeric(12, 2)
    default = 0
  }
  column "placed" {
    type    = timestamptz
    null    = true
    default = sql("now()")
  }
  column "during" {
    type = tstzrange
    null = true
  }
  column "where" {
    type = composite.address
    null = true
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "orders_customer" {
    columns     = [column.customer]
    ref_columns = [table.customers.column.id]
    on_delete   = CASCADE
    on_update   = NO_ACTION
  }
  check {
    expr = "total >= 0"
  }
  index "orders_placed" {
    on {
      column     = column.placed
      desc       = true
      nulls_last = true
    }
    on {
      expr = "abs(total)"
    }
    where   = "total > 0"
    comment = "For reports"
  }
  index "orders_total" {
    columns = [column.total]
    include = [column.status]
    type    = BTREE
  }
  unique "orders_once" {
    columns    = [column.customer, column.invoice]
    deferrable = true
    initially  = DEFERRED
  }
  constraint "orders_apart" {
    type      = EXCLUDE
    using     = "gist"
    elements  = "during WITH &&"
    condition = "total > 0"
  }
  check "total_small" {
    expr      = "total < 1000000"
    not_valid = true
  }
  row_security {
    enabled = true
  }
}

function "total_of" {
  schema     = schema.app
  lang       = sql
  return     = numeric
  volatility = STABLE
  arg "customer_id" {
    type = bigint
  }
  as      = "SELECT sum(total) FROM app.orders WHERE customer = customer_id"
  comment = "What a customer owes"
}

function "touch" {
  schema   = schema.app
  language = "plpgsql"
  returns  = trigger
  security = DEFINER
  as       = <<-SQL
    BEGIN
      NEW.placed := now();
      RETURN NEW;
    END
  SQL
}

view "paid" {
  schema  = schema.app
  as      = "SELECT id FROM app.recent WHERE total > 0"
  comment = "Paid"
}

view "recent" {
  schema       = schema.app
  as           = "SELECT id, total FROM app.orders -- all of them"
  check_option = CASCADED
}

materialized "totals" {
  schema = schema.app
  as     = "SELECT customer, app.total_of(customer) AS total FROM app.orders"
  index "totals_customer" {
    columns = ["customer"]
    unique  = true
  }
}

trigger "touch" {
  on = table.orders
  before {
    insert    = true
    update_of = [column.total]
  }
  for     = ROW
  when    = "NEW.total > 0"
  as      = "EXECUTE FUNCTION app.touch()"
  comment = "Keeps placed"
}

policy "own" {
  on    = table.orders
  for   = SELECT
  to    = ["PUBLIC"]
  using = "customer = 1"
}
