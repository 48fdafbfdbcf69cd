package executor

import (
	"time"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/target"
)

// checkDeadlines refuses a child that may no longer start. A mutating child needs both deadlines; for others they are optional. It is
// asked twice: before any work, and again right before the child is started.
func checkDeadlines(in intent.Intent, now time.Time) error {
	dispatch, execution := in.DispatchNotAfter, in.ExecutionNotAfter
	switch {
	case in.Operation == intent.Apply && (dispatch == nil || execution == nil):
		return refuse(frame.CodeConfigurationInvalid, "checking the deadlines: an Apply needs a dispatch and an execution deadline")
	case dispatch != nil && execution != nil && !dispatch.Before(*execution):
		return refuse(frame.CodeConfigurationInvalid, "checking the deadlines: the dispatch deadline does not lie before the execution deadline")
	case dispatch != nil && !now.Before(*dispatch):
		return refuse(frame.CodeDeadlineExceeded, "checking the deadlines: the dispatch window has closed; nothing was executed")
	case execution != nil && !now.Before(*execution):
		return refuse(frame.CodeDeadlineExceeded, "checking the deadlines: the execution deadline has passed; nothing was executed")
	}
	return nil
}

// openTarget parses the URL, and refuses one that leads elsewhere than the order says. From here on the frame names the database.
func (s *stage) openTarget(url string) (target.Target, error) {
	if url == "" {
		return target.Target{}, refuse(frame.CodeCredentialMissing, "reading the database URL: the Secret key that urlFrom selects is empty")
	}
	t, err := target.Parse(url)
	if err != nil {
		return target.Target{}, err
	}
	if t.Engine() != s.intent.Engine {
		return target.Target{}, refuse(frame.CodeDatabaseURLInvalid, "database URL: scheme: does not belong to the engine of the resource")
	}
	s.protectTarget(t)
	s.frame.TargetIdentityDigest = t.IdentityDigest()
	want := s.intent.TargetIdentityDigest
	switch {
	case want == "" && s.intent.Operation == intent.Apply:
		return target.Target{}, refuse(frame.CodeConfigurationInvalid, "checking the database: an Apply names the database that it was planned against")
	case want != "" && want != t.IdentityDigest():
		return target.Target{}, refuse(frame.CodeTargetChanged,
			"checking the database: the URL leads to another database, host, user, role or transport policy than the one read before; nothing was executed")
	}
	return t, nil
}

// openDev parses the scratch URL of a Plan, nil where the order has none.
func (s *stage) openDev(url string) (*target.Target, error) {
	if s.intent.Scope == nil || !s.intent.Scope.Dev {
		return nil, nil //nolint:nilnil // no scratch database is a normal order
	}
	if url == "" {
		return nil, refuse(frame.CodeCredentialMissing, "reading the dev database URL: the Secret key that dev.urlFrom selects is empty")
	}
	t, err := target.Parse(url)
	if err != nil {
		return nil, refuse(frame.CodeDatabaseURLInvalid, "dev %s", err.Error())
	}
	if t.Engine() != s.intent.Engine {
		return nil, refuse(frame.CodeDatabaseURLInvalid, "dev database URL: scheme: does not belong to the engine of the resource")
	}
	s.protectTarget(t)
	return &t, nil
}

// protectTarget adds the canonical spelling and the decoded passwords, which may differ from what the environment holds.
func (s *stage) protectTarget(t target.Target) {
	s.protect(t.URL())
	for _, secret := range t.Secrets() {
		s.protect(secret)
	}
}
