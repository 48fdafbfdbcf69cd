package realm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/realm"
)

func TestNormaliseEngine(t *testing.T) {
	cases := map[string]struct {
		want string
		ok   bool
	}{
		"PostgreSQL": {"postgres", true}, "postgresql": {"postgres", true}, "MySQL": {"mysql", true},
		"postgres": {"", false}, "MariaDB": {"", false}, "Oracle": {"", false}, "": {"", false},
	}
	for in, want := range cases {
		got, ok := realm.NormaliseEngine(in)
		assert.Equal(t, want.ok, ok, in)
		assert.Equal(t, want.want, got, in)
	}
}

func TestDigestIsOfEngineAndExactKey(t *testing.T) {
	base := realm.Digest("postgres", "prod/orders")
	assert.Equal(t, "sha256:08c423bd2f2d7920c3bc2b396e3a31dd4ef01db6c79c0ece5854f1f83920672f", base, "a realm must keep its Lease across releases")
	for _, other := range []string{
		realm.Digest("mysql", "prod/orders"), realm.Digest("postgres", "prod/orders "), realm.Digest("postgres", "Prod/orders"),
		realm.Digest("postgresp", "rod/orders"), realm.Digest("postgres", ""),
	} {
		assert.NotEqual(t, base, other)
	}
	name, err := realm.LeaseName(base)
	require.NoError(t, err)
	assert.Equal(t, "ptah-realm-"+strings.TrimPrefix(base, "sha256:")[:40], name)
	assert.NotContains(t, name, "orders", "the name is owner-neutral")
	_, err = realm.LeaseName("prod/orders")
	require.Error(t, err)
}

func TestJudge(t *testing.T) {
	d := realm.Digest("postgres", "k")
	self := realm.Claimant{UID: "self", Digest: d}
	shared := realm.Claimant{UID: "self", Digest: d, Shared: true}
	other := func(uid string, change ...func(*realm.Claimant)) realm.Claimant {
		c := realm.Claimant{UID: uid, Digest: d}
		for _, f := range change {
			f(&c)
		}
		return c
	}
	declared := func(c *realm.Claimant) { c.Shared = true }
	suspended := func(c *realm.Claimant) { c.Suspended = true }
	deleted := func(c *realm.Claimant) { c.Deleted = true }
	elsewhere := func(c *realm.Claimant) { c.Digest = realm.Digest("mysql", "k") }
	cases := map[string]struct {
		self   realm.Claimant
		others []realm.Claimant
		want   realm.Verdict
	}{
		"alone, not even listed":           {self, nil, realm.Verdict{Claimants: 1, Undeclared: 1}},
		"alone and listed":                 {self, []realm.Claimant{self}, realm.Verdict{Claimants: 1, Undeclared: 1}},
		"two, neither declared":            {self, []realm.Claimant{self, other("a")}, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 2}},
		"two, only self declared":          {shared, []realm.Claimant{other("a")}, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}},
		"two, only the other declared":     {self, []realm.Claimant{other("a", declared)}, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}},
		"two, both declared":               {shared, []realm.Claimant{other("a", declared)}, realm.Verdict{Claimants: 2}},
		"three, one undeclared":            {shared, []realm.Claimant{other("a", declared), other("b")}, realm.Verdict{Contested: true, Claimants: 3, Undeclared: 1}},
		"the other is suspended":           {self, []realm.Claimant{other("a", suspended)}, realm.Verdict{Claimants: 1, Undeclared: 1}},
		"the other is being deleted":       {self, []realm.Claimant{other("a", deleted)}, realm.Verdict{Claimants: 1, Undeclared: 1}},
		"the other has another database":   {self, []realm.Claimant{other("a", elsewhere)}, realm.Verdict{Claimants: 1, Undeclared: 1}},
		"self is fresher than its listing": {shared, []realm.Claimant{self, other("a", declared)}, realm.Verdict{Claimants: 2}},
		"one listed twice":                 {shared, []realm.Claimant{other("a"), other("a")}, realm.Verdict{Contested: true, Claimants: 2, Undeclared: 1}},
		"self runs nothing":                {other("self", suspended), []realm.Claimant{other("a")}, realm.Verdict{Claimants: 1, Undeclared: 1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, realm.Judge(c.self, c.others))
		})
	}
	v := realm.Judge(self, []realm.Claimant{other("a", declared)})
	assert.Equal(t, "2 resources claim this database and 1 of them has not declared spec.target.sharedRealm: true", v.Message())
	assert.Empty(t, realm.Judge(self, nil).Message())
}
