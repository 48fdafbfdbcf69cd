package options_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/plugin/options"
)

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "2w": 336 * time.Hour, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "0s": 0, "0d": 0} {
		var age options.Age
		assert.NoError(t, age.Set(text), text)
		assert.Equal(t, want, time.Duration(age), text)
	}
	for _, text := range []string{"", "30", "-1d", "-1h", "1.5d", "d", "99999999999w", "2147483647w", "1y"} {
		var age options.Age
		assert.Error(t, age.Set(text), text)
	}
}
