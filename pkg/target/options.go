package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parseOptions reads the server's command-line options ("-c name=value", "--name=value"), and only settings of the vocabulary: others
// could load libraries or run code in the session.
func parseOptions(text string) (map[string]string, error) {
	settings := map[string]string{}
	words, err := splitOptions(text)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(words); i++ {
		assignment, ok := strings.CutPrefix(words[i], "--")
		if !ok {
			assignment, ok = strings.CutPrefix(words[i], "-c")
			if ok && assignment == "" && i+1 < len(words) {
				i++
				assignment = words[i]
			}
		}
		name, value, assigned := strings.Cut(assignment, "=")
		if !ok || !assigned || value == "" {
			return nil, refuse("parameter options", "may hold only -c name=value and --name=value")
		}
		name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
		if !parameters[name].session {
			return nil, refuse("parameter options", "sets something that is not supported; supported are %s", strings.Join(sessionParameters(), ", "))
		}
		if _, twice := settings[name]; twice {
			return nil, refuse("parameter options", "sets %s twice", name)
		}
		settings[name] = value
	}
	return settings, nil
}

// splitOptions cuts at blanks as the server does: a backslash takes the next character literally.
func splitOptions(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\':
			inWord, escaped = true, true
		case r == ' ':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if escaped {
		return nil, refuse("parameter options", "ends with a backslash")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

func sessionParameters() []string {
	var names []string
	for name, rule := range parameters {
		if rule.session {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(values, v) {
			return nil
		}
		return fmt.Errorf("must be one of %s", strings.Join(values, ", "))
	}
}

func charset(allowed string) func(string) error {
	return func(v string) error {
		if len(v) > 128 || strings.Trim(v, allowed) != "" {
			return errors.New("has a value that is not allowed")
		}
		return nil
	}
}

func path(v string) error {
	if !strings.HasPrefix(v, "/") && v != "system" {
		return errors.New("must be an absolute path")
	}
	return nil
}
