package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// ContractVersion is the version of the engine's command line and of Answer.
const ContractVersion = 1

// maxAnswer bounds what an engine may print, in bytes: a plan document of 8 MiB in base64, and room for the rest.
const maxAnswer = 16 << 20

// Answer is what an engine prints on standard output: one JSON document, exactly one payload of its operation or a failure.
type Answer struct {
	ContractVersion int              `json:"contractVersion"`
	Operation       intent.Operation `json:"operation"`
	OperationID     string           `json:"operationID"`
	// MutationStarted says that the first changing statement was sent; OutcomeUncertain that nobody knows what it did.
	MutationStarted  bool `json:"mutationStarted,omitempty"`
	OutcomeUncertain bool `json:"outcomeUncertain,omitempty"`

	Failure *frame.Failure `json:"failure,omitempty"`

	Observe *frame.Observed `json:"observe,omitempty"`
	Plan    *frame.Planned  `json:"plan,omitempty"`
	Apply   *frame.Applied  `json:"apply,omitempty"`
}

// errAnswer says why an answer is not one. Its text never quotes the answer.
var errAnswer = errors.New("the engine's output is not an answer")

// readAnswer decodes strictly: one document, no unknown field, this contract and this run, and an exit code that agrees.
func readAnswer(output []byte, exitCode int, in intent.Intent) (Answer, error) {
	dec := json.NewDecoder(bytes.NewReader(output))
	dec.DisallowUnknownFields()
	var a Answer
	if dec.Decode(&a) != nil {
		return Answer{}, fmt.Errorf("%w: not the JSON of the contract", errAnswer)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Answer{}, fmt.Errorf("%w: data after the document", errAnswer)
	}
	switch {
	case a.ContractVersion != ContractVersion:
		return Answer{}, fmt.Errorf("%w: contract version %d, this runner speaks %d", errAnswer, a.ContractVersion, ContractVersion)
	case a.Operation != in.Operation || a.OperationID != in.OperationID:
		return Answer{}, fmt.Errorf("%w: it answers another order", errAnswer)
	case (a.Failure == nil) != (exitCode == 0):
		return Answer{}, fmt.Errorf("%w: exit code %d contradicts it", errAnswer, exitCode)
	}
	return a, nil
}
