package frame

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/intent"
)

// Kinds of refusal. Errors of Parse wrap exactly one of them; any other error comes from the reader and says nothing about the frame.
var (
	ErrNoFrame   = errors.New("the log is empty")                     // nothing was written, or nothing has arrived yet
	ErrTruncated = errors.New("the frame ends early")                 // a beginning of a frame: the rest may still arrive, or is lost
	ErrSurplus   = errors.New("there is text before or after it")     // something else wrote to the log, or its beginning was rotated away
	ErrAltered   = errors.New("the frame is damaged")                 // lengths, digest or encoding do not agree
	ErrTooLarge  = errors.New("the frame is too large")               // over a bound
	ErrForeign   = errors.New("the frame belongs to another run")     // other operation or operation ID
	ErrProtocol  = errors.New("the frame speaks another protocol")    // other frame version or runner protocol
	ErrInvalid   = errors.New("the frame breaks a rule of its shape") // see Frame.Validate
)

// Incomplete says that reading the same log again later may succeed: nothing, or only the beginning of a frame, was there.
func Incomplete(err error) bool { return errors.Is(err, ErrNoFrame) || errors.Is(err, ErrTruncated) }

// Expect is the run whose result is wanted.
type Expect struct {
	Operation   intent.Operation
	OperationID string
}

// Parse reads a whole log that must be exactly one frame of the expected run. It keeps at most the encoded frame and its decoded form
// in memory and reads at most MaxEncoded plus line ends.
func Parse(r io.Reader, want Expect) (Frame, error) {
	encoded, err := readText(bufio.NewReaderSize(r, 64<<10))
	if err != nil {
		return Frame{}, fmt.Errorf("reading frame: %w", err)
	}
	f, err := expand(encoded)
	if err != nil {
		return Frame{}, fmt.Errorf("decoding frame: %w", err)
	}
	// The protocol first: a frame of another one need not keep our rules.
	switch {
	case f.ProtocolVersion != intent.ProtocolVersion:
		return Frame{}, fmt.Errorf("decoding frame: %w", ErrProtocol)
	case f.Operation != want.Operation || f.OperationID != want.OperationID:
		return Frame{}, fmt.Errorf("decoding frame: %w", ErrForeign)
	}
	if err := f.Validate(); err != nil {
		return Frame{}, fmt.Errorf("decoding frame: %w", err)
	}
	return f, nil
}

// readText checks the text form and gives the base64 characters, whose digest it has proved.
func readText(r *bufio.Reader) ([]byte, error) {
	length, digest, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	encoded, err := readBody(r, length)
	if err != nil {
		return nil, err
	}
	if err := expectText(r, trailer); err != nil {
		return nil, err
	}
	if _, err := r.ReadByte(); err == nil {
		return nil, fmt.Errorf("%w: after the trailer", ErrSurplus)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	sum := sha256.Sum256(encoded)
	if hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("%w: digest differs", ErrAltered)
	}
	return encoded, nil
}

// maxHeader covers the longest header line that readHeader accepts.
const maxHeader = len(magic) + 10 + len(" sha256:") + 64 + 1

func readHeader(r *bufio.Reader) (length int, digest string, err error) {
	line, err := readLine(r, maxHeader)
	switch {
	case errors.Is(err, io.EOF) && line == "":
		return 0, "", ErrNoFrame
	case errors.Is(err, io.EOF) && (strings.HasPrefix(magic, line) || strings.HasPrefix(line, magic)):
		return 0, "", ErrTruncated
	case err != nil && !errors.Is(err, io.EOF):
		return 0, "", err
	}
	rest, ok := strings.CutPrefix(line, magic)
	if !ok {
		if strings.HasPrefix(line, "PTAH-FRAME v") {
			return 0, "", ErrProtocol
		}
		return 0, "", fmt.Errorf("%w: before the header", ErrSurplus)
	}
	count, digest, _ := strings.Cut(strings.TrimSuffix(rest, "\n"), " sha256:")
	length, err = strconv.Atoi(count)
	switch {
	case err != nil || length <= 0 || strconv.Itoa(length) != count || !digestPattern.MatchString("sha256:"+digest):
		return 0, "", fmt.Errorf("%w: malformed header", ErrAltered)
	case length > MaxEncoded:
		return 0, "", ErrTooLarge
	}
	return length, digest, nil
}

// readLine reads up to and including a newline, at most limit bytes; a longer line comes back cut and without one. At the end of the
// input it returns what is there with io.EOF.
func readLine(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	for len(line) < limit {
		b, err := r.ReadByte()
		if err != nil {
			return string(line), err
		}
		line = append(line, b)
		if b == '\n' {
			break
		}
	}
	return string(line), nil
}

// readBody reads the lines. The buffer grows with what really arrives, so that a header alone cannot reserve memory.
func readBody(r *bufio.Reader, length int) ([]byte, error) {
	var encoded bytes.Buffer
	for left := length; left > 0; {
		n := min(lineLength, left)
		if _, err := io.CopyN(&encoded, r, int64(n)); err != nil {
			return nil, early(err)
		}
		if err := expectText(r, "\n"); err != nil {
			return nil, err
		}
		left -= n
	}
	return encoded.Bytes(), nil
}

// expectText consumes exactly the given text.
func expectText(r *bufio.Reader, text string) error {
	for i := range len(text) {
		b, err := r.ReadByte()
		if err != nil {
			return early(err)
		}
		if b != text[i] {
			return fmt.Errorf("%w: line ends or trailer are not where they belong", ErrAltered)
		}
	}
	return nil
}

func early(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrTruncated
	}
	return err
}

// expand turns the characters into a frame. What was digested must be the canonical spelling: one gzip member, one JSON document, no
// unknown, repeated or differently written field.
func expand(encoded []byte) (Frame, error) {
	if bytes.ContainsAny(encoded, "\r\n") { // the decoder would skip them
		return Frame{}, fmt.Errorf("%w: line ends where characters belong", ErrAltered)
	}
	packed := bufio.NewReader(base64.NewDecoder(base64.StdEncoding.Strict(), bytes.NewReader(encoded)))
	zip, err := gzip.NewReader(packed)
	if err != nil {
		return Frame{}, fmt.Errorf("%w: not compressed base64", ErrAltered)
	}
	zip.Multistream(false)
	limited := &io.LimitedReader{R: zip, N: MaxDecoded + 1}
	seen := sha256.New()
	dec := json.NewDecoder(io.TeeReader(limited, seen))
	dec.DisallowUnknownFields()
	var f Frame
	decodeErr := dec.Decode(&f)
	if limited.N <= 0 {
		return Frame{}, ErrTooLarge
	}
	if decodeErr != nil { // not wrapped: it may quote what it read
		return Frame{}, fmt.Errorf("%w: not the JSON of a frame", ErrAltered)
	}
	// The rest, so that the checksum of the compression is verified and surplus is seen.
	if _, err := io.Copy(seen, limited); err != nil {
		return Frame{}, fmt.Errorf("%w: compression is damaged", ErrAltered)
	}
	if limited.N <= 0 {
		return Frame{}, ErrTooLarge
	}
	if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
		return Frame{}, fmt.Errorf("%w: data after the compressed frame", ErrAltered)
	}
	again := sha256.New()
	if err := canonical(again, f); err != nil || !bytes.Equal(seen.Sum(nil), again.Sum(nil)) {
		return Frame{}, fmt.Errorf("%w: not the canonical spelling", ErrAltered)
	}
	return f, nil
}
