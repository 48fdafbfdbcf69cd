package options

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// Confirm asks on stderr and reads one line. It returns nil when the line is the wanted word, and a refusal otherwise. The caller has
// made sure that a person is there to answer.
func (g *Global) Confirm(ctx context.Context, question, want string) error {
	g.Say(fmt.Sprintf("%s Type %s: ", question, want))
	answers := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(g.In).ReadString('\n')
		answers <- line
	}()
	select {
	case <-ctx.Done():
		g.Say("\n")
		return Refusedf("interrupted; nothing was changed")
	case answer := <-answers:
		if strings.TrimSpace(answer) != want {
			return Refusedf("the answer was not %q; nothing was changed", want)
		}
		return nil
	}
}
