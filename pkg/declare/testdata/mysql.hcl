schema "app" {
  charset = "utf8mb4"
  collate = "utf8mb4_unicode_ci"
}

table "customers" {
  schema         = schema.app
  engine         = InnoDB
  comment        = "Who buys, it's said"
  auto_increment = 100
  options        = { ROW_FORMAT = "DYNAMIC", STATS_PERSISTENT = 1 }
  column "id" {
    type           = bigint
    unsigned       = true
    auto_increment = true
  }
  column "email" {
    type    = varchar(200)
    collate = "ascii_bin"
    unique  = true
    comment = "with \\ and 'quotes'"
  }
  column "name" {
    type    = varchar(80)
    null    = true
    default = "it's"
    check   = "length(`name`) > 0"
  }
  column "upper_name" {
    type = varchar(80)
    null = true
    as {
      expr = "upper(`name`)"
      type = STORED
    }
  }
  column "short" {
    type = varchar(9)
    null = true
    as   = "left(`name`, 9)"
  }
  column "kind" {
    type    = enum("web", "shop", "it's")
    default = "web"
  }
  column "flags" {
    type = set("a", "b")
    null = true
  }
  column "secret" {
    type      = int
    null      = true
    invisible = true
    default   = 5
  }
  column "token" {
    type    = char(36)
    null    = true
    default = sql("uuid()")
  }
  column "bits" {
    type    = bit(4)
    null    = true
    default = sql("b'101'")
  }
  column "seen" {
    type      = datetime(3)
    null      = true
    default   = sql("CURRENT_TIMESTAMP(3)")
    on_update = sql("current_timestamp(3)")
  }
  column "price" {
    type     = decimal(10, 2)
    unsigned = true
    default  = 1.50
  }
  column "about" {
    type    = text
    null    = true
    charset = "latin1"
  }
  primary_key {
    columns = [column.id]
  }
  index "by_name" {
    on {
      column = column.name
      prefix = 10
      desc   = true
    }
    on {
      column = column.kind
    }
    comment = "For lists"
    options = { KEY_BLOCK_SIZE = 4 }
  }
  index "by_price" {
    columns   = [column.price]
    type      = HASH
    invisible = true
  }
  index "words" {
    columns = [column.about]
    type    = FULLTEXT
  }
  check "price_given" {
    expr = "price >= 0"
  }
}

table "orders" {
  schema = schema.app
  column "id" {
    type = int
  }
  column "customer" {
    type     = bigint
    unsigned = true
  }
  column "place" {
    type = point
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
  index "where" {
    columns = [column.place]
    type    = SPATIAL
  }
}

table "history" {
  schema           = schema.app
  system_versioned = true
  column "id" {
    type = int
  }
  column "n" {
    type               = int
    null               = true
    without_versioning = true
  }
}

table "parts" {
  schema       = schema.app
  custom       = ["PERIOD FOR during (a, b)"]
  partition_by = "RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)"
  column "id" {
    type = int
  }
  column "a" {
    type = date
  }
  column "b" {
    type = date
  }
}

function "twice" {
  schema        = schema.app
  return        = int
  deterministic = true
  data_access   = NO_SQL
  security      = INVOKER
  comment       = "Doubles"
  arg "n" {
    type = INT
  }
  as = "RETURN n * 2"
}

procedure "clean" {
  schema = schema.app
  params = "IN before_id INT, OUT n INT"
  as     = <<-SQL
    BEGIN
      DELETE FROM orders WHERE id < before_id;
      SET n = ROW_COUNT();
    END
  SQL
}

view "expensive" {
  schema   = schema.app
  as       = "SELECT id FROM some_orders WHERE id > 1"
  security = INVOKER
}

view "some_orders" {
  schema       = schema.app
  as           = "SELECT id FROM orders"
  check_option = CASCADED
  algorithm    = MERGE
}

trigger "z_first" {
  on = table.customers
  before {
    insert = true
  }
  for = ROW
  as  = "SET NEW.email = lower(NEW.email)"
}

trigger "a_second" {
  on = table.customers
  before {
    insert = true
  }
  follows = "z_first"
  as      = "SET NEW.secret = 1"
}

event "sweep" {
  schema   = schema.app
  schedule = "EVERY 1 DAY STARTS '2030-01-01 00:00:00'"
  preserve = true
  status   = DISABLE
  comment  = "Nightly"
  as       = "DELETE FROM orders WHERE id < 0"
}
