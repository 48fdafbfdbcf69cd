package mysql

import (
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// server is everything that MySQL and MariaDB say or want differently. Nothing else in this package asks which of the two it speaks to.
type server struct {
	name  string // model.ServerMySQL or model.ServerMariaDB
	title string
	// oldest is the first supported version.
	oldest [2]int
	// sqlMode is the mode that every session of ours has. It is the server's own default, so that routines which nobody gave a mode agree.
	sqlMode string
	// collation is that of every connection of ours.
	collation string
	// extra are further settings of every session, and deadline the one that bounds a statement ("" where there is none).
	extra    []string
	deadline string
	// hidden and shown are the words of an index that the optimizer ignores, and of one that it does not.
	hidden, shown string
	// dropCheck is what stands before the name of a check that goes.
	dropCheck string
	// replaceRoutines says that CREATE OR REPLACE works for routines, triggers and events.
	replaceRoutines bool
	// sequences says that the server has them.
	sequences bool
	// checkInfix is what the server puts between the name of a table and a number to name a check, where a rename of the table changes that name.
	checkInfix string
	// renamesInExpressions says that the new name of a column gets into the expressions and partitions of its table.
	renamesInExpressions bool
	// bodyPrivilege lets an account read the routines of others.
	bodyPrivilege string
}

var servers = []server{
	{
		name: model.ServerMariaDB, title: "MariaDB", oldest: [2]int{10, 11},
		sqlMode:   "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
		collation: "utf8mb4_general_ci",
		extra:     []string{"system_versioning_alter_history = KEEP"},
		deadline:  "max_statement_time",
		hidden:    "IGNORED", shown: "NOT IGNORED", dropCheck: "DROP CONSTRAINT ", replaceRoutines: true, sequences: true, renamesInExpressions: true,
		bodyPrivilege: "SELECT on mysql.proc",
	},
	{
		name: model.ServerMySQL, title: "MySQL", oldest: [2]int{8, 4},
		sqlMode:   "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
		collation: "utf8mb4_0900_ai_ci",
		hidden:    "INVISIBLE", shown: "VISIBLE", dropCheck: "DROP CHECK ", checkInfix: "_chk_",
		bodyPrivilege: "SHOW_ROUTINE",
	},
}

// serverOf recognises a server by what SELECT VERSION() says; nil for one that is not supported.
func serverOf(version string) *server {
	s := &servers[1]
	if strings.Contains(strings.ToLower(version), "mariadb") {
		s = &servers[0]
		version = strings.TrimPrefix(version, "5.5.5-") // what a replication client is told
	}
	if major, minor := majorMinor(version); major < s.oldest[0] || major == s.oldest[0] && minor < s.oldest[1] {
		return nil
	}
	return s
}

func majorMinor(version string) (major, minor int) {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, _ = strconv.Atoi(first) // 0 is older than everything
	minor, _ = strconv.Atoi(second)
	return major, minor
}
