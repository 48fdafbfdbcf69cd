package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// The text form. A header line names the number of base64 characters and their digest, the characters follow in lines, a trailer ends
// the frame; every line ends with a newline:
//
//	PTAH-FRAME v1 <characters> sha256:<64 hex digits>
//	<base64 of gzip of JSON, lineLength characters a line>
//	PTAH-FRAME-END
const (
	magic      = "PTAH-FRAME v1 "
	trailer    = "PTAH-FRAME-END\n"
	lineLength = 4096
)

// Bounds of the text form, in bytes.
const (
	MaxEncoded = 50 << 20 // base64 characters, line ends not counted
	MaxDecoded = 64 << 20 // JSON
)

// Encode writes one frame. It refuses a frame that Parse would not accept and writes nothing then. Equal frames have equal text.
func Encode(w io.Writer, f Frame) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("encoding frame: %w", err)
	}
	encoded, err := compress(f)
	if err != nil {
		return fmt.Errorf("encoding frame: %w", err)
	}
	if len(encoded) > MaxEncoded {
		return fmt.Errorf("encoding frame: %w: %d bytes, allowed are %d", ErrTooLarge, len(encoded), MaxEncoded)
	}
	if err := writeText(w, encoded); err != nil {
		return fmt.Errorf("writing frame: %w", err)
	}
	return nil
}

// compress gives the base64 characters, without line ends.
func compress(f Frame) ([]byte, error) {
	var out bytes.Buffer
	b64 := base64.NewEncoder(base64.StdEncoding, &out)
	zip := gzip.NewWriter(b64)
	if err := canonical(zip, f); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	if err := b64.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// canonical writes the one JSON spelling of a frame: struct order, no HTML escaping, a newline at the end.
func canonical(w io.Writer, f Frame) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(f)
}

func writeText(w io.Writer, encoded []byte) error {
	sum := sha256.Sum256(encoded)
	if _, err := fmt.Fprintf(w, "%s%d sha256:%s\n", magic, len(encoded), hex.EncodeToString(sum[:])); err != nil {
		return err
	}
	for line := range chunks(encoded) {
		if _, err := w.Write(line); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, trailer)
	return err
}

// chunks cuts the characters into lines.
func chunks(encoded []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(encoded) > 0 {
			n := min(lineLength, len(encoded))
			if !yield(encoded[:n:n]) {
				return
			}
			encoded = encoded[n:]
		}
	}
}
