package options

import (
	"math"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
)

// Silent is the patience of a command that says nothing while it is at work: what it prints is mailed, or is taken for trouble.
const Silent = time.Duration(math.MaxInt64)

// repeat is how often a command that is at work says so again.
const repeat = 5 * time.Second

// progress says on stderr that the command waits for the API server, once that takes longer than a person waits without wondering, and then
// how far it is. It sees every request, so that no verb can forget it.
type progress struct {
	global *Global
	next   http.RoundTripper

	mu       sync.Mutex
	timer    *time.Timer
	inFlight int
	answers  int
	silent   bool // the timer stands still, because nothing is being asked
}

func (g *Global) watchRequests(next http.RoundTripper) http.RoundTripper {
	return &progress{global: g, next: next}
}

// RoundTrip lets a request through and takes note of it. Watches are meant to take long.
func (p *progress) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Has("watch") {
		return p.next.RoundTrip(request)
	}
	p.begin(request.URL)
	response, err := p.next.RoundTrip(request)
	p.mu.Lock()
	p.inFlight--
	p.answers++
	p.mu.Unlock()
	return response, err
}

// WrappedRoundTripper lets client-go reach the transport underneath, to cancel a request.
func (p *progress) WrappedRoundTripper() http.RoundTripper { return p.next }

func (p *progress) begin(to *url.URL) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight++
	switch {
	case p.timer == nil:
		p.timer = time.AfterFunc(p.global.Patience, func() { p.tell(to.Host) })
	case p.silent:
		p.silent = false
		p.timer.Reset(p.global.Patience)
	}
}

// tell speaks only while something is being asked: between a question and its answer it is the person who takes the time.
func (p *progress) tell(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inFlight == 0 {
		p.silent = true
		return
	}
	p.global.Note(render.Dim, "asking the API server at %s, %s so far ...", host, spelling.Count(p.answers, "answer"))
	p.timer.Reset(repeat)
}
