package options

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/render"
)

// Confirm asks on stderr and reads one line. The question may be long and wrap; what to type, and the answer, have a line of their own. It returns nil when the line is the wanted word, and a refusal otherwise. The caller has
// made sure that a person is there to answer.
func (g *Global) Confirm(ctx context.Context, question, want string) error {
	g.Note(render.Plain, "%s", question)
	g.Say(fmt.Sprintf("Type %s: ", want))
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
