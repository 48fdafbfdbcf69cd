// Package postgres is the PostgreSQL half of the engine: catalog reader, planner, Apply and the loader of SQL files. PostgreSQL 14 to 18.
package postgres
