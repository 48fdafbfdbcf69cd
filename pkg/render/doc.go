// Package render turns an answer of the plugin into bytes: text for people (plain, or coloured and fitted to a terminal), and JSON, YAML,
// names, JSONPath, Go templates and jq results for programs. Every answer is a View: one value that says both what programs get and how
// people see it, so that the two can never tell different stories.
//
// Nothing here reads a clock, a cluster or an environment: times, widths and colours come in as values, and the same value gives the same bytes.
package render
