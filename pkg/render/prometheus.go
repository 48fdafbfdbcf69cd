package render

import (
	"fmt"
	"strings"
)

// Bytes answers for -o prometheus: every metric with its help and type, also when there is nothing to report, so that a rule never looks at
// a series that only exists on bad days. A list that was not seen whole says so in its own series.
func (l *StalledList) Bytes(kind FormatKind) ([]byte, bool) {
	if kind != Prometheus {
		return nil, false
	}
	var out strings.Builder
	gauge(&out, "ptah_find_stalled_last_run_timestamp_seconds", "When this file was written, in seconds since 1970.")
	sample(&out, "ptah_find_stalled_last_run_timestamp_seconds", float64(l.At.Unix()))
	gauge(&out, "ptah_find_stalled_complete", "Whether every resource of the kind was seen: 1, or 0 when a list was forbidden or broke off.")
	for _, k := range l.Kinds {
		sample(&out, "ptah_find_stalled_complete", boolean(k.Complete), "resource_kind", k.ResourceKind)
	}
	counts := []struct {
		name, help string
		value      func(StalledCount) int
	}{
		{"ptah_find_stalled_checked", "Resources that were looked at.", func(k StalledCount) int { return k.Checked }},
		{"ptah_find_stalled_stalled", "Resources that nothing works on.", func(k StalledCount) int { return k.Stalled }},
		{"ptah_find_stalled_unknown", "Resources that nothing is scheduled for, and whose status does not say why.", func(k StalledCount) int { return k.Unknown }},
		{"ptah_find_stalled_suspended", "Resources that their author suspended.", func(k StalledCount) int { return k.Suspended }},
	}
	for _, count := range counts {
		gauge(&out, count.name, count.help)
		for _, k := range l.Kinds {
			sample(&out, count.name, float64(count.value(k)), "resource_kind", k.ResourceKind)
		}
	}
	gauge(&out, "ptah_resource_stalled", "1 for each resource that nothing works on; 0 where it could not be told. A resource that is all right has no series.")
	l.each(&out, "ptah_resource_stalled", func(s *Stalled) float64 { return boolean(s.State == "Stalled") })
	gauge(&out, "ptah_resource_overdue_seconds", "How long ago the next look at a stalled resource was due, in seconds.")
	l.each(&out, "ptah_resource_overdue_seconds", func(s *Stalled) float64 { return float64(s.OverdueSeconds) })
	gauge(&out, "ptah_resource_attempt", "Attempt of the operation that a stalled resource is in; 0 without one.")
	l.each(&out, "ptah_resource_attempt", func(s *Stalled) float64 { return float64(s.Attempt) })
	return []byte(out.String()), true
}

func (l *StalledList) each(out *strings.Builder, name string, value func(*Stalled) float64) {
	for _, s := range l.Items {
		sample(out, name, value(s), "resource_kind", s.ResourceKind, "resource_namespace", s.Namespace, "resource_name", s.Name, "phase", Printable(s.Phase))
	}
}

func gauge(out *strings.Builder, name, help string) {
	fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func sample(out *strings.Builder, name string, value float64, labels ...string) {
	out.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		fmt.Fprintf(out, `%s%s="%s"`, separator, labels[i], labelEscapes.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		out.WriteByte('}')
	}
	fmt.Fprintf(out, " %.0f\n", value)
}

func boolean(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
