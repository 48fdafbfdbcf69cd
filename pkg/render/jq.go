package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"
)

// CheckJQ says whether an expression compiles, before anything is fetched for it.
func CheckJQ(expression string) error {
	_, err := compileJQ(expression)
	return err
}

func compileJQ(expression string) (*gojq.Code, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("parsing jq expression %q: %w", expression, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("compiling jq expression %q: %w", expression, err)
	}
	return code, nil
}

// renderJQ filters the JSON of a view. Strings come out bare, everything else as JSON, one result a line.
func renderJQ(view View, options Options) ([]byte, error) {
	expression := options.JQ
	code, err := compileJQ(expression)
	if err != nil {
		return nil, err
	}
	options.JQ = ""
	options.Format = Format{Kind: JSON}
	data, err := Render(view, options)
	if err != nil {
		return nil, err
	}
	input, err := decodeNumbers(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	results := code.Run(input)
	for {
		value, ok := results.Next()
		if !ok {
			return out.Bytes(), nil
		}
		if err, failed := value.(error); failed {
			if halt := (*gojq.HaltError)(nil); errors.As(err, &halt) && halt.Value() == nil {
				return out.Bytes(), nil
			}
			return nil, fmt.Errorf("running jq expression %q: %w", expression, err)
		}
		if err := writeResult(&out, value); err != nil {
			return nil, err
		}
	}
}

// decodeNumbers keeps integers exact: gojq takes json.Number as it is.
func decodeNumbers(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading the answer back for jq: %w", err)
	}
	return value, nil
}

func writeResult(out *bytes.Buffer, value any) error {
	if text, ok := value.(string); ok {
		out.WriteString(text)
		out.WriteByte('\n')
		return nil
	}
	data, err := gojq.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a jq result: %w", err)
	}
	out.Write(data)
	out.WriteByte('\n')
	return nil
}
