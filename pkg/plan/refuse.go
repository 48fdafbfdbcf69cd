package plan

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// sqlProblem says why a statement may not stand in a plan at all, whatever its severity; "" where it may.
func sqlProblem(dialect, sql string) string {
	if !utf8.ValidString(sql) {
		return "the SQL is not valid UTF-8"
	}
	toks, problem := tokenize(dialect, sql)
	switch {
	case problem != "":
		return "the SQL cannot be read: " + problem
	case len(toks) == 0:
		return "the SQL is empty"
	case severalStatements(dialect, toks):
		return "the SQL holds a semicolon: one statement each, without a closing semicolon"
	case controlsSession(toks):
		return "the SQL controls the transaction or the session's identity, which Apply alone does"
	case setsCredential(dialect, toks, 0):
		return "the SQL carries a credential: roles get their passwords outside of plans"
	}
	return ""
}

// severalStatements reports a semicolon outside the body of a routine and the parentheses around the actions of a rule.
func severalStatements(dialect string, toks []lexeme) bool {
	if dialect == DialectMySQL && definesRoutine(toks) {
		return !endsBlock(toks)
	}
	block, rule := 0, definesRule(toks)
	for i, t := range toks {
		switch {
		case t.is("BEGIN") && i+1 < len(toks) && toks[i+1].is("ATOMIC"):
			block++
		case block > 0 && t.is("CASE"):
			block++
		case block > 0 && t.is("END"):
			block--
		case block == 0 && t.punct(";") && (!rule || t.depth == 0):
			return true
		}
	}
	return false
}

func definesRule(toks []lexeme) bool {
	c := &cursor{toks: toks}
	if !c.take("CREATE") {
		return false
	}
	c.take("OR", "REPLACE")
	return c.take("RULE")
}

// endsBlock reports a statement whose last words close a block: END, END IF and the like, with or without the label of the block.
func endsBlock(toks []lexeme) bool {
	for i := len(toks) - 1; i >= 0 && i >= len(toks)-3; i-- {
		if !toks[i].is("END") {
			continue
		}
		rest := &cursor{toks: toks, pos: i + 1}
		rest.takeAny("IF", "CASE", "LOOP", "WHILE", "REPEAT")
		if rest.peek().name() {
			rest.pos++
		}
		return rest.done()
	}
	return false
}

func definesRoutine(toks []lexeme) bool {
	return toks[0].is("CREATE") && has(toks, "FUNCTION", "PROCEDURE", "TRIGGER", "EVENT") && slices.ContainsFunc(toks, func(t lexeme) bool { return t.punct(";") })
}

func controlsSession(toks []lexeme) bool {
	c := &cursor{toks: toks}
	switch c.keyword() {
	case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "XA", "USE", "DISCARD", "UNLISTEN":
		return true
	case "PREPARE":
		return hasSequence(toks, "PREPARE", "TRANSACTION")
	case "SET", "RESET":
		c.pos++
		c.takeAny("LOCAL", "SESSION", "GLOBAL")
		return slices.Contains([]string{"ROLE", "AUTHORIZATION", "TRANSACTION", "CHARACTERISTICS"}, c.keyword())
	}
	return false
}

// maxNesting bounds how deep setsCredential looks into literals inside of literals.
const maxNesting = 4

// setsCredential looks for DDL that carries a credential of a principal: in the statement and, where it can run a literal as SQL, in every
// literal of it. The text of a comment or of a default is only data.
func setsCredential(dialect string, toks []lexeme, nesting int) bool {
	if slices.ContainsFunc(split(flatten(toks), ";"), credentialIn) {
		return true
	}
	if nesting == maxNesting || (nesting == 0 && !runsLiterals(toks)) {
		return false
	}
	for _, t := range toks {
		if t.kind != text && t.kind != body {
			continue
		}
		if inner, problem := tokenize(dialect, t.value); problem == "" && setsCredential(dialect, inner, nesting+1) {
			return true
		}
	}
	return false
}

// runsLiterals reports whether a statement may run what stands in its literals: a block, a routine's body, a prepared statement.
func runsLiterals(toks []lexeme) bool {
	switch (&cursor{toks: toks}).keyword() {
	case "DO", "PREPARE", "EXECUTE", "CALL", "SELECT", "WITH":
		return true
	case "CREATE", "ALTER":
		return has(toks, "FUNCTION", "PROCEDURE", "TRIGGER", "EVENT")
	}
	return false
}

// flatten forgets the parentheses, so that split sees every semicolon.
func flatten(toks []lexeme) []lexeme {
	out := slices.Clone(toks)
	for i := range out {
		out[i].depth = 0
	}
	return out
}

func credentialIn(toks []lexeme) bool {
	if hasSequence(toks, "SET", "PASSWORD") || hasSequence(toks, "CHANGE", "MASTER") || hasSequence(toks, "CHANGE", "REPLICATION") {
		return true
	}
	principal := namesPrincipal(toks)
	for i, t := range toks {
		var next lexeme
		if i+1 < len(toks) {
			next = toks[i+1]
		}
		switch {
		case t.is("IDENTIFIED") && (next.is("BY") || next.is("WITH") || next.is("VIA")):
			return true
		case principal && t.is("PASSWORD") && !next.is("NULL") && !next.is("EXPIRE"):
			return true
		case principal && t.is("CONNECTION") && next.kind != word:
			return true
		case principal && t.kind == quoted && strings.EqualFold(t.value, "password") && next.kind == text:
			return true
		}
	}
	return false
}

// namesPrincipal reports CREATE or ALTER of something that logs in somewhere.
func namesPrincipal(toks []lexeme) bool {
	for i := range toks {
		c := &cursor{toks, i}
		if !c.take("CREATE") && !c.take("ALTER") {
			continue
		}
		c.takeAny("OR", "REPLACE", "IF", "NOT", "EXISTS")
		if c.take("ROLE") || c.take("USER") || c.take("GROUP") || c.take("SERVER") || c.take("SUBSCRIPTION") {
			return true
		}
	}
	return false
}
