package preflight

import (
	"fmt"
	"strconv"
)

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
