package frame

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptah-run/ptah/pkg/intent"
)

// Bounds of what a frame may hold.
const (
	MaxDocument     = 8 << 20 // bytes of a plan document, its closing newline included
	MaxFindings     = 64
	maxOperationID  = 128
	maxName         = 255 // media types, artifact types, fingerprints
	maxReference    = 2048
	maxRequirements = 64
	maxManifest     = 4 << 20
)

// Ellipsis ends a message that was cut.
const Ellipsis = "…"

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Fail builds a Failure whose message fits a frame: control characters become blanks and a long text is cut at a character.
func Fail(code Code, format string, args ...any) *Failure {
	message := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...))
	message = strings.TrimSpace(message)
	if len(message) > MaxMessage {
		cut := MaxMessage - len(Ellipsis)
		for !utf8.RuneStart(message[cut]) {
			cut--
		}
		message = message[:cut] + Ellipsis
	}
	if message == "" {
		message = "no further information"
	}
	return &Failure{Code: code, Message: message}
}

// Validate says whether a frame keeps every rule of the protocol: one payload of its own operation on success, none on failure, closed
// vocabularies, bounds, and flags that make sense together. Errors wrap ErrInvalid.
func (f Frame) Validate() error {
	for _, check := range []func() error{f.checkHeader, f.checkFlags, f.checkPayloads} {
		if err := check(); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return nil
}

func (f Frame) checkHeader() error {
	switch f.Operation {
	case intent.Resolve, intent.Verify, intent.Observe, intent.Plan, intent.Apply, intent.History:
	default:
		return fmt.Errorf("unknown operation")
	}
	switch {
	case f.ProtocolVersion != intent.ProtocolVersion:
		return fmt.Errorf("runner protocol %d, this build speaks %d", f.ProtocolVersion, intent.ProtocolVersion)
	case !token(f.OperationID, maxOperationID):
		return fmt.Errorf("operation ID is empty, too long or holds blanks")
	case f.ExitCode < 0 || f.ExitCode > 255:
		return fmt.Errorf("exit code %d is out of range", f.ExitCode)
	case f.CoordinationDigest != "" && !digestPattern.MatchString(f.CoordinationDigest):
		return fmt.Errorf("coordination digest is malformed")
	case f.TargetIdentityDigest != "" && !digestPattern.MatchString(f.TargetIdentityDigest):
		return fmt.Errorf("target identity digest is malformed")
	}
	return nil
}

// checkFlags keeps mutation flags to operations that can mutate, and uncertainty to failures.
func (f Frame) checkFlags() error {
	opensDatabase := f.Operation != intent.Resolve && f.Operation != intent.Verify
	switch {
	case f.MutationStarted && f.Operation != intent.Apply:
		return fmt.Errorf("a read-only operation reports a mutation")
	case f.OutcomeUncertain && !f.MutationStarted:
		return fmt.Errorf("an uncertain outcome without a started mutation")
	case f.OutcomeUncertain && f.Error == nil:
		return fmt.Errorf("an uncertain outcome reported as success")
	case f.Error == nil && f.ExitCode != 0:
		return fmt.Errorf("success with exit code %d", f.ExitCode)
	case !opensDatabase && f.TargetIdentityDigest != "":
		return fmt.Errorf("an operation without a database names one")
	case opensDatabase && f.Error == nil && f.TargetIdentityDigest == "":
		return fmt.Errorf("success without the identity of the database")
	}
	return nil
}

func (f Frame) checkPayloads() error {
	present := f.payloads()
	if f.Error != nil {
		if len(present) != 0 {
			return fmt.Errorf("a failure with a payload")
		}
		return f.Error.check()
	}
	if len(present) != 1 || present[0].operation != f.Operation {
		return fmt.Errorf("success needs exactly the payload of its operation")
	}
	return present[0].check()
}

type payload struct {
	operation intent.Operation
	check     func() error
}

func (f Frame) payloads() []payload {
	var list []payload
	if f.Resolve != nil {
		list = append(list, payload{intent.Resolve, f.Resolve.check})
	}
	if f.Verify != nil {
		list = append(list, payload{intent.Verify, f.Verify.check})
	}
	if f.Observe != nil {
		list = append(list, payload{intent.Observe, f.Observe.check})
	}
	if f.Plan != nil {
		list = append(list, payload{intent.Plan, f.Plan.check})
	}
	if f.Apply != nil {
		list = append(list, payload{intent.Apply, f.Apply.check})
	}
	return list
}

func (e Failure) check() error {
	switch {
	case !e.Code.Known():
		return fmt.Errorf("unknown failure code")
	case e.Message == "" || len(e.Message) > MaxMessage:
		return fmt.Errorf("failure message has %d bytes, allowed are 1 to %d", len(e.Message), MaxMessage)
	case !utf8.ValidString(e.Message) || strings.ContainsFunc(e.Message, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("failure message holds control characters")
	}
	return nil
}

func (r Resolved) check() error {
	switch {
	case !digestPattern.MatchString(r.Digest):
		return fmt.Errorf("resolved digest is malformed")
	case len(r.ResolvedReference) > maxReference || !token(r.ResolvedReference, maxReference):
		return fmt.Errorf("resolved reference is empty, too long or holds blanks")
	case !strings.HasPrefix(r.ResolvedReference, "oci://") || !strings.HasSuffix(r.ResolvedReference, "@"+r.Digest):
		return fmt.Errorf("resolved reference is not pinned to its digest")
	case !token(r.MediaType, maxName) || !token(r.ArtifactType, maxName):
		return fmt.Errorf("media type or artifact type is empty, too long or holds blanks")
	case r.Size <= 0 || r.Size > maxManifest:
		return fmt.Errorf("manifest size %d is out of range", r.Size)
	}
	return nil
}

func (v Verified) check() error {
	switch {
	case !token(v.ArtifactType, maxName):
		return fmt.Errorf("artifact type is empty, too long or holds blanks")
	case !digestPattern.MatchString(v.PolicyDigest):
		return fmt.Errorf("policy digest is malformed")
	case len(v.Requirements) == 0 || len(v.Requirements) > maxRequirements:
		return fmt.Errorf("%d requirements, allowed are 1 to %d", len(v.Requirements), maxRequirements)
	}
	for i, name := range v.Requirements {
		if !token(name, maxName) || i > 0 && v.Requirements[i-1] >= name {
			return fmt.Errorf("requirements are not a sorted set of names")
		}
	}
	return nil
}

// Validate says whether a report keeps every rule of the protocol: at most MaxFindings, in order, and totals that fit. Errors wrap ErrInvalid.
func (o Observed) Validate() error {
	if err := o.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

func (o Observed) check() error {
	switch {
	case o.Dialect != "postgres" && o.Dialect != "mysql":
		return fmt.Errorf("unknown dialect")
	case !digestPattern.MatchString(o.ReportDigest):
		return fmt.Errorf("report digest is malformed")
	case len(o.Findings) > MaxFindings:
		return fmt.Errorf("%d findings, allowed are %d", len(o.Findings), MaxFindings)
	}
	sum := 0
	for i, finding := range o.Findings {
		if err := finding.check(); err != nil {
			return err
		}
		if i > 0 && !before(o.Findings[i-1], finding) {
			return fmt.Errorf("findings are not sorted by severity and category, or one comes twice")
		}
		if sum += finding.Count; sum < 0 {
			return fmt.Errorf("counts overflow")
		}
	}
	return o.checkTotals(sum)
}

func (o Observed) checkTotals(sum int) error {
	highest := ""
	if len(o.Findings) > 0 {
		highest = o.Findings[0].Severity
	}
	switch {
	case o.Highest != highest:
		return fmt.Errorf("highest severity is not that of the first finding")
	case !o.Truncated && o.Total != sum, o.Truncated && o.Total <= sum:
		return fmt.Errorf("total %d does not fit the findings, which count %d", o.Total, sum)
	case o.Truncated && len(o.Findings) != MaxFindings:
		return fmt.Errorf("a truncated list that is not full")
	}
	return nil
}

func (f Finding) check() error {
	switch {
	case !slices.Contains(categories, f.Category):
		return fmt.Errorf("unknown drift category")
	case SeverityRank(f.Severity) < 0:
		return fmt.Errorf("unknown drift severity")
	case f.Count <= 0:
		return fmt.Errorf("count %d is not positive", f.Count)
	}
	return nil
}

// before orders findings: severity descending, then category ascending.
func before(a, b Finding) bool {
	if ra, rb := SeverityRank(a.Severity), SeverityRank(b.Severity); ra != rb {
		return ra < rb
	}
	return a.Category < b.Category
}

func (p Planned) check() error {
	switch {
	case !token(p.FromFingerprint, maxName) || !token(p.ToFingerprint, maxName):
		return fmt.Errorf("plan fingerprints are empty, too long or hold blanks")
	case p.NoChange != (len(p.Document) == 0):
		return fmt.Errorf("a plan is either no change or a document")
	case len(p.Document) > MaxDocument:
		return fmt.Errorf("plan document has %d bytes, allowed are %d", len(p.Document), MaxDocument)
	case !p.NoChange && p.Document[len(p.Document)-1] != '\n':
		return fmt.Errorf("plan document does not end with a newline")
	}
	return nil
}

func (a Applied) check() error {
	switch {
	case a.StatementsExecuted < 0:
		return fmt.Errorf("%d statements executed", a.StatementsExecuted)
	case !token(a.ResultFingerprint, maxName):
		return fmt.Errorf("result fingerprint is empty, too long or holds blanks")
	}
	return nil
}

// token says that s is 1 to limit bytes of visible ASCII.
func token(s string, limit int) bool {
	return s != "" && len(s) <= limit && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
