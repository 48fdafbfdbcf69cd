package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/target"
)

// refusal is an error that knows how the frame must report it. Its message is written by us.
type refusal struct {
	code             frame.Code
	message          string
	exitCode         int // of the engine child
	mutationStarted  bool
	outcomeUncertain bool
}

// Error is the message.
func (r *refusal) Error() string { return r.message }

func refuse(code frame.Code, format string, args ...any) *refusal {
	return &refusal{code: code, message: fmt.Sprintf(format, args...)}
}

// asRefusal types every error. One that nobody typed is a defect, and its text stays inside: it may hold anything.
func asRefusal(err error) *refusal {
	var known *refusal
	var ofArtifact *artifact.Error
	var ofURL *target.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &ofArtifact):
		return refuse(ofArtifact.Code, "%s", ofArtifact.Message)
	case errors.As(err, &ofURL):
		return refuse(frame.CodeDatabaseURLInvalid, "%s", ofURL.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return refuse(frame.CodeDeadlineExceeded, "the deadline of the operation passed")
	case errors.Is(err, context.Canceled):
		return refuse(frame.CodeCancelled, "cancelled from outside")
	default:
		return refuse(frame.CodeInternal, "an error that the executor does not know; report it with the operation and the versions")
	}
}

// readBounded reads a file of at most limit bytes. Its errors are ours and name the file by its role only.
func readBounded(path, role string, limit int64, code frame.Code) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // a fixed path of the Pod
	if err != nil {
		return nil, refuse(code, "reading %s: it is missing or cannot be opened", role)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, refuse(code, "reading %s: it cannot be read", role)
	}
	if int64(len(data)) > limit {
		return nil, refuse(code, "reading %s: it is over %d bytes", role, limit)
	}
	return data, nil
}
