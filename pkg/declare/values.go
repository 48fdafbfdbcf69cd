package declare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PostgreSQL keeps maxName bytes of a name and cuts the rest off without an error; MySQL and MariaDB take maxNameMySQL characters.
const (
	maxName      = 63
	maxNameMySQL = 64
)

func textValue(at Position, text string) Value { return Value{at: at, form: formText, text: text} }

func flagValue(at Position, flag bool) Value { return Value{at: at, form: formFlag, flag: flag} }

func listValue(at Position, texts ...string) Value {
	v := Value{at: at, form: formList}
	for _, t := range texts {
		v.list = append(v.list, textValue(at, t))
	}
	return v
}

func refValue(at Position, parts []string, column string) Value {
	return Value{at: at, form: formRef, ref: &reference{parts: parts, column: column}}
}

// checkName says why a text cannot be a name; empty where it can.
func checkName(name string, mysql bool) string {
	switch {
	case name == "":
		return "is empty"
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return "is not text in UTF-8"
	case mysql && utf8.RuneCountInString(name) > maxNameMySQL:
		return fmt.Sprintf("has %d characters, and a name has at most %d", utf8.RuneCountInString(name), maxNameMySQL)
	case !mysql && len(name) > maxName:
		return fmt.Sprintf("has %d bytes, and a name has at most %d", len(name), maxName)
	}
	return ""
}

// splitName cuts "schema.name" into its parts. A part that holds a dot or a quote stands in double quotes, doubled inside.
func splitName(text string, mysql bool) (parts []string, problem string) {
	rest := text
	for {
		var part string
		if strings.HasPrefix(rest, `"`) {
			end := quotedEnd(rest)
			if end < 0 {
				return nil, "has an unclosed quote"
			}
			part, rest = strings.ReplaceAll(rest[1:end-1], `""`, `"`), rest[end:]
		} else {
			end := strings.IndexAny(rest, `."`)
			if end < 0 {
				end = len(rest)
			}
			part, rest = rest[:end], rest[end:]
		}
		if problem := checkName(part, mysql); problem != "" {
			return nil, problem
		}
		parts = append(parts, part)
		switch {
		case rest == "" && len(parts) <= 2:
			return parts, ""
		case rest == "":
			return nil, "has more than a schema and a name; put a name with a dot in double quotes"
		case rest[0] != '.':
			return nil, "has a quote inside of a name"
		}
		rest = rest[1:]
	}
}

// quotedEnd is the position behind a quoted name; -1 where it does not end.
func quotedEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

// splitColumn cuts "table(column)" apart.
func splitColumn(text string, mysql bool) (parts []string, column, problem string) {
	open := outsideQuotes(text, '(')
	if open <= 0 || !strings.HasSuffix(text, ")") {
		return nil, "", `is not of the form table(column)`
	}
	parts, problem = splitName(strings.TrimSpace(text[:open]), mysql)
	if problem != "" {
		return nil, "", problem
	}
	column = strings.TrimSpace(text[open+1 : len(text)-1])
	if inner := quotedEnd(column); strings.HasPrefix(column, `"`) && inner == len(column) {
		column = strings.ReplaceAll(column[1:inner-1], `""`, `"`)
	}
	return parts, column, checkName(column, mysql)
}

// outsideQuotes is where a character stands outside of quoted names; -1 where it does not.
func outsideQuotes(text string, c byte) int {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == c && !quoted:
			return i
		}
	}
	return -1
}

var integer = regexp.MustCompile(`^-?[0-9]{1,19}$`)

// accept turns a text, number, flag or list into what a property wants, or says what is wrong with it.
func accept(p property, v Value) (Value, string) {
	switch p.want {
	case wantFlag:
		if v.form != formFlag {
			return v, "want true or false"
		}
	case wantInteger:
		if _, err := strconv.ParseInt(v.text, 10, 64); v.form != formNumber || !integer.MatchString(v.text) || err != nil {
			return v, "want a whole number"
		}
	case wantLiteral:
		if v.form != formText && v.form != formNumber && v.form != formFlag && v.form != formNull {
			return v, "want text, a number, true, false or null"
		}
	case wantTexts, wantNames, wantQNames:
		return acceptList(p, v)
	case wantOptions:
		return acceptOptions(v)
	case wantRows:
		return acceptRows(v)
	default:
		return acceptText(p, v)
	}
	return v, ""
}

func acceptText(p property, v Value) (Value, string) {
	if v.form != formText {
		return v, "want text; put it in quotes"
	}
	if !utf8.ValidString(v.text) || strings.ContainsRune(v.text, 0) {
		return v, "is not text in UTF-8"
	}
	switch p.want {
	case wantName:
		return v, checkName(v.text, p.mysql)
	case wantQName:
		parts, problem := splitName(v.text, p.mysql)
		return refValue(v.at, parts, ""), problem
	case wantColumnOf:
		parts, column, problem := splitColumn(v.text, p.mysql)
		return refValue(v.at, parts, column), problem
	case wantWord:
		v.text = strings.ToUpper(strings.ReplaceAll(strings.Join(strings.Fields(v.text), " "), "_", " "))
		if !slices.Contains(p.words, v.text) {
			return v, "want one of " + strings.Join(p.words, ", ")
		}
	case wantSQL, wantType, wantQuery, wantElements:
		v.form = formSQL
		return v, checkSQL(v.text, map[want]place{wantSQL: inParentheses, wantType: asType, wantQuery: asQuery, wantElements: asElements}[p.want], p.mysql)
	}
	return v, ""
}

func acceptList(p property, v Value) (Value, string) {
	if v.form == formText {
		v = Value{at: v.at, form: formList, list: []Value{v}}
	}
	if v.form != formList || len(v.list) == 0 {
		return v, "want a list of texts"
	}
	item := property{want: map[want]want{wantTexts: wantText, wantNames: wantName, wantQNames: wantQName}[p.want], mysql: p.mysql}
	out := Value{at: v.at, form: formList}
	for _, e := range v.list {
		accepted, problem := accept(item, e)
		if problem != "" {
			return v, "in the list: " + problem
		}
		out.list = append(out.list, accepted)
	}
	return out, ""
}

var optionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// acceptOptions wants storage parameters.
func acceptOptions(v Value) (Value, string) {
	if v.form != formMap || len(v.entries) == 0 {
		return v, "want a mapping of names to values"
	}
	for _, e := range v.entries {
		if !optionName.MatchString(e.name) {
			return v, fmt.Sprintf("%q is no name of a storage parameter", oneLine(e.name))
		}
		if e.value.form != formText && e.value.form != formNumber && e.value.form != formFlag {
			return v, "want text, a number, true or false"
		}
	}
	return v, ""
}
