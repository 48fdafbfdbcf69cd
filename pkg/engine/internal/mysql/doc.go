// Package mysql is the engine for MySQL 8.4 and MariaDB 10.11 and later.
package mysql
