package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorization "k8s.io/api/authorization/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/plugin/options"
)

// needsNothing are commands that ask nothing of the cluster.
var needsNothing = []string{"explain", "verify", "push", "schema"}

// permission is one verb on one resource: the smallest thing that a Role can leave out.
type permission struct{ group, resource, verb string }

func (p permission) String() string { return p.verb + " " + p.resource }

// role is what docs/rbac says that a command needs.
type role struct {
	command     string
	permissions []permission
	optional    []string // it does without these
}

func readRole(t *testing.T, path string) role {
	t.Helper()
	r := role{command: strings.TrimSuffix(filepath.Base(path), ".yaml")}
	for _, text := range strings.Split(read(t, path), "\n---\n") {
		document := rbac.ClusterRole{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &document), path)
		assert.Contains(t, []string{"Role", "ClusterRole"}, document.Kind, path)
		assert.Equal(t, "ptah-"+r.command, document.Name, path)
		r.optional = append(r.optional, strings.Split(document.Annotations["cli.ptah.run/optional"], ", ")...)
		for _, rule := range document.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					p := permission{rule.APIGroups[0], resource, verb}
					if !slices.Contains(r.permissions, p) { // the same in a namespace and in the cluster
						r.permissions = append(r.permissions, p)
					}
					if document.Kind == "ClusterRole" && r.command == "preflight" {
						r.optional = append(r.optional, p.String())
					}
				}
			}
		}
	}
	return r
}

// rules grants permissions; those of a Role are granted everywhere, so that scenarios with -A can be played.
func rules(permissions []permission) []rbac.PolicyRule {
	var list []rbac.PolicyRule
	for _, p := range permissions {
		list = append(list, rbac.PolicyRule{APIGroups: []string{p.group}, Resources: []string{p.resource}, Verbs: []string{p.verb}})
	}
	return list
}

// only makes a user who has these permissions and no others, and waits until the server goes by them.
func (s *realServer) only(t *testing.T, name string, permissions []permission) {
	t.Helper()
	object := &rbac.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules(permissions)}
	_, err := s.client.RbacV1().ClusterRoles().Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbac.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	if len(permissions) == 0 {
		return
	}
	last := permissions[len(permissions)-1]
	resource, sub, _ := strings.Cut(last.resource, "/")
	require.Eventually(t, func() bool {
		review, err := s.client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
			User: name, ResourceAttributes: &authorization.ResourceAttributes{Group: last.group, Resource: resource, Subresource: sub, Verb: last.verb},
		}}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed
	}, 20*time.Second, 20*time.Millisecond)
}

// plays are the scenarios that one command is judged by: all that ask a real server and take no permission away. What checks a cluster for
// Helm reports that its caller is no cluster-admin, so those with one are no measure of a Role; what they read is not held against it.
func plays(t *testing.T, command string) []string {
	t.Helper()
	pattern := "testdata/" + command + "/*/case.yaml"
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return slices.DeleteFunc(files, func(file string) bool {
		s := readScenario(t, file)
		other := slices.ContainsFunc(s.After, func(next string) bool {
			verb := strings.Fields(next)[0]
			return verb != command && !slices.Contains(needsNothing, verb)
		})
		return s.stubOnly() || s.Admin || len(s.Forbid) > 0 || other
	})
}

// as plays a scenario as one user and says whether it went as expected.
func (s *realServer) as(t *testing.T, user, file string) (result, bool) {
	t.Helper()
	c := readScenario(t, file)
	s.alias = user
	defer func() { s.alias = "" }()
	s.load(t, readCluster(t, c.Cluster), c)
	if c.Becomes != "" {
		s.later(t, readCluster(t, c.Cluster), readCluster(t, c.Becomes))
	}
	c.dir = t.TempDir()
	got := c.play(t, s)
	directory := filepath.Dir(file)
	name := func(text string) string { return strings.ReplaceAll(text, user, "alice") }
	return got, got.code == options.Code(c.Exit) && name(got.stdout) == read(t, filepath.Join(directory, "stdout")) && name(got.stderr) == read(t, filepath.Join(directory, "stderr"))
}

// TestEachRoleIsEnoughAndNotTooMuch plays every scenario of a command as somebody who has the Role of docs/rbac and nothing else: all go as
// for anybody. Then it takes one permission after the other away: some scenario has to notice each.
func TestEachRoleIsEnoughAndNotTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("plays every scenario several times")
	}
	files, err := filepath.Glob("../docs/rbac/*.yaml")
	require.NoError(t, err)
	server := startReal(t)
	for _, file := range files {
		r := readRole(t, file)
		t.Run(r.command, func(t *testing.T) {
			server.only(t, "only-"+r.command, r.permissions)
			var good []string
			for _, play := range plays(t, r.command) {
				got, same := server.as(t, "only-"+r.command, play)
				if assert.True(t, same, "%s with the Role of %s alone: exit %d\n%s%s", play, file, got.code, got.stdout, got.stderr) {
					good = append(good, play)
				}
			}
			require.NotEmpty(t, good, "a scenario that shows that the Role is enough")
			for i, left := range r.permissions {
				if slices.Contains(r.optional, left.String()) {
					continue
				}
				user := fmt.Sprintf("only-%s-%d", r.command, i)
				server.only(t, user, slices.Delete(slices.Clone(r.permissions), i, i+1))
				assert.True(t, slices.ContainsFunc(good, func(play string) bool { _, same := server.as(t, user, play); return !same }),
					"%s: no scenario misses %q", file, left)
			}
		})
	}
}

func TestEveryCommandHasARole(t *testing.T) {
	root := invoke(scenario{Program: "kubectl_complete-ptah"}, []string{""})
	page := read(t, "../docs/rbac.md")
	_, runbooks, _ := strings.Cut(read(t, "../README.md"), "## Every runbook is one command")
	runbooks, _, _ = strings.Cut(runbooks, "\n## ")
	for _, line := range strings.Split(root.stdout, "\n") {
		command, _, named := strings.Cut(line, "\t")
		if !named || command == "help" {
			continue
		}
		assert.Contains(t, page, "`"+command+"`", "docs/rbac.md")
		if !slices.Contains([]string{"version", "completion"}, command) {
			assert.Regexp(t, "`(kubectl ptah )?"+command+"[` ]", runbooks, "the table of README.md")
		}
		_, err := os.Stat("../docs/rbac/" + command + ".yaml")
		assert.Equal(t, slices.Contains(needsNothing, command), err != nil, "docs/rbac/%s.yaml", command)
	}
}
