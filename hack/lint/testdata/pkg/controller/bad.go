// Package controller breaks the rule drivers: a manager with a database driver.
package controller

import "github.com/jackc/pgx/v5"

// Conn must be refused.
type Conn = pgx.Conn
