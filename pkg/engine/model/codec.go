package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxSize bounds an encoded model, in bytes.
const MaxSize = 8 << 20

// ErrTooLarge is wrapped where a model exceeds MaxSize.
var ErrTooLarge = errors.New("schema model is larger than 8 MiB")

// Encode writes the canonical bytes of a model: fixed key order, sorted objects, no HTML escaping, one closing newline. The same model
// gives the same bytes. It refuses what Decode would refuse.
func Encode(d *Database) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, fmt.Errorf("encoding schema model: %w", err)
	}
	out, err := encode(d, 0)
	if err != nil {
		return nil, err
	}
	if len(out) > MaxSize {
		return nil, fmt.Errorf("encoding schema model of %d bytes: %w", len(out), ErrTooLarge)
	}
	return out, nil
}

// encode writes into a buffer of the expected size.
func encode(d *Database, size int) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encoding schema model: %w", err)
	}
	return buf.Bytes(), nil
}

// Decode reads the bytes of Encode strictly: anything that Encode would not have written, to the byte, is refused. That covers unknown
// and repeated keys, another order, white space, a missing newline and data after it.
func Decode(data []byte) (*Database, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("decoding schema model of %d bytes: %w", len(data), ErrTooLarge)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("decoding schema model: not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var d Database
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("decoding schema model: %w", err)
	}
	if err := d.Validate(); err != nil {
		return nil, fmt.Errorf("decoding schema model: %w", err)
	}
	canonical, err := encode(&d, len(data))
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(canonical, data) {
		return nil, errors.New("decoding schema model: not in canonical form")
	}
	return &d, nil
}
