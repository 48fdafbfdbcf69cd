package options

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// slow is a server that takes its time.
type slow time.Duration

func (s slow) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(s))
	return &http.Response{StatusCode: http.StatusOK}, nil
}

// step is a request, or without a path the time in which nothing is asked.
type step struct {
	path string
	took time.Duration
}

// Time is that of a bubble, which passes only while everything waits.
func TestProgress(t *testing.T) {
	const list = "/apis/operator.ptah.run/v1alpha1/ptahschemas"
	asking := func(answers string) string {
		return "asking the API server at api.example:6443, " + answers + " so far ..."
	}
	for name, c := range map[string]struct {
		patience time.Duration
		steps    []step
		want     []string // by when it was said
	}{
		"just under a second":         {time.Second, []step{{list, 999 * time.Millisecond}}, nil},
		"just over a second":          {time.Second, []step{{list, 1001 * time.Millisecond}}, []string{"1s " + asking("0 answers")}},
		"one request that takes long": {time.Second, []step{{list, 12 * time.Second}}, []string{"1s " + asking("0 answers"), "6s " + asking("0 answers"), "11s " + asking("0 answers")}},
		"many short ones": {
			time.Second,
			[]step{{list, 600 * time.Millisecond}, {list, 600 * time.Millisecond}, {list, 600 * time.Millisecond}},
			[]string{"1s " + asking("1 answer")},
		},
		"a person thinks": {time.Second, []step{{list, 100 * time.Millisecond}, {"", time.Minute}, {list, 100 * time.Millisecond}}, nil},
		"a person thinks, then waits": {
			time.Second,
			[]step{{list, 100 * time.Millisecond}, {"", time.Minute}, {list, 1500 * time.Millisecond}},
			[]string{"1m1.1s " + asking("1 answer")},
		},
		"a watch may take long": {time.Second, []step{{list + "?watch=true", time.Hour}}, nil},
		"silence was asked for": {Silent, []step{{list, time.Hour}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				said := &sayings{since: start}
				global := New(genericiooptions.IOStreams{ErrOut: said}, Screen{}, time.Now, func(string) string { return "" })
				global.Patience = c.patience
				through := global.watchRequests(nil).(*progress)
				for _, s := range c.steps {
					if s.path == "" {
						time.Sleep(s.took)
						continue
					}
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example:6443"+s.path, http.NoBody)
					require.NoError(t, err)
					through.next = slow(s.took)
					_, err = through.RoundTrip(request)
					require.NoError(t, err)
				}
				synctest.Wait()
				assert.Equal(t, c.want, said.lines)
			})
		})
	}
}

// sayings notes what was said, and when.
type sayings struct {
	since time.Time
	lines []string
}

func (s *sayings) Write(text []byte) (int, error) {
	s.lines = append(s.lines, time.Since(s.since).String()+" "+strings.TrimSpace(string(text)))
	return len(text), nil
}

// A command is patient for a second unless it says otherwise.
func TestPatience(t *testing.T) {
	assert.Equal(t, time.Second, New(genericiooptions.IOStreams{}, Screen{}, time.Now, nil).Patience)
}
