package plugin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// prune runs the command against a stub and gives the report as JSON.
func prune(t *testing.T, kubeconfig string, args ...string) (report map[string]any, stderr string, code options.Code) {
	t.Helper()
	var out, errOut bytes.Buffer
	global := options.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, options.Screen{}, fixedClock, noEnv)
	code = plugin.Run(t.Context(), global, "kubectl-ptah", append([]string{"prune", "--kubeconfig", kubeconfig, "-o", "json"}, args...))
	if out.Len() > 0 {
		require.NoError(t, json.Unmarshal(out.Bytes(), &report))
	}
	return report, errOut.String(), code
}

// verdicts maps the plans of a report to verdict and reason.
func verdicts(report map[string]any) map[string]string {
	found := map[string]string{}
	for _, item := range report["plans"].([]any) {
		p := item.(map[string]any)
		found[p["name"].(string)] = fmt.Sprintf("%s: %s", p["verdict"], p["reason"])
	}
	return found
}

func retentionStub(t *testing.T) (*stub, string) {
	t.Helper()
	s, kubeconfig := stage(t)
	for _, object := range retentionCleanCluster() {
		s.put(toUnstructured(object))
	}
	return s, kubeconfig
}

// The two plans of the cluster that nothing names, the older first.
func goingPlans() (older, newer string) {
	objects := retentionCleanCluster()
	return objects[3].(*v1alpha1.PtahSchemaPlan).Name, objects[5].(*v1alpha1.PtahSchemaPlan).Name
}

// While the first plan is deleted, a person approves the second: the pins are read again for each plan, so the second stays.
func TestPruneReadsThePinsAgainForEveryPlan(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, newer := goingPlans()
	s.beforeDelete = func(resource, name string) {
		if resource == "ptahschemaplans" && name == older {
			s.put(toUnstructured(newApproval(retentionCleanCluster()[5].(*v1alpha1.PtahSchemaPlan), "just-now", 70)))
		}
	}
	report, stderr, code := prune(t, kubeconfig, "--yes")
	assert.Equal(t, options.Refused, code, stderr)
	found := verdicts(report)
	assert.Contains(t, found[older], "deleted")
	assert.Equal(t, "spared: a person authorized these exact bytes (spec.planRef of PtahSchemaApproval just-now)", found[newer])
	assert.NotNil(t, s.get("ptahschemaplans", "app", newer))
	assert.NotNil(t, s.get("configmaps", "app", newer+"-000"))
}

// An operation that starts while the command runs makes it stop for the plans of that schema.
func TestPruneStopsWhenAnOperationStarts(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, newer := goingPlans()
	s.beforeDelete = func(resource, name string) {
		if resource == "configmaps" && name == older+"-000" {
			orders := retentionCleanCluster()[0].(*v1alpha1.PtahSchema)
			orders.Status.ActiveOperation = retentionOperatingCluster()[0].(*v1alpha1.PtahSchema).Status.ActiveOperation
			s.put(toUnstructured(orders))
		}
	}
	report, _, code := prune(t, kubeconfig, "--yes")
	assert.Equal(t, options.Refused, code)
	assert.Equal(t, "spared: schema orders: operation Observe is in flight (status.activeOperation)", verdicts(report)[newer])
	assert.NotNil(t, s.get("ptahschemaplans", "app", newer))
}

// A plan that was changed or made again since it was read is not the plan that was judged.
func TestPruneDeletesExactlyWhatItRead(t *testing.T) {
	older, newer := goingPlans()
	t.Run("changed", func(t *testing.T) {
		s, kubeconfig := retentionStub(t)
		s.beforeDelete = func(resource, name string) {
			if resource == "ptahschemaplans" && name == older {
				s.put(s.get(resource, "app", name)) // another version
			}
		}
		report, _, code := prune(t, kubeconfig, "--yes")
		assert.Equal(t, options.Refused, code)
		assert.Equal(t, "spared: it changed while it was being deleted", verdicts(report)[older])
		assert.NotNil(t, s.get("configmaps", "app", older+"-000"))
		assert.Nil(t, s.get("ptahschemaplans", "app", newer), "the others go on")
	})
	t.Run("made again", func(t *testing.T) {
		s, kubeconfig := retentionStub(t)
		s.beforeDelete = func(resource, name string) {
			if resource == "ptahschemaplans" && name == older {
				remade := s.get(resource, "app", newer).DeepCopy()
				remade.SetUID(uid(4711))
				s.put(remade)
			}
		}
		report, _, code := prune(t, kubeconfig, "--yes")
		assert.Equal(t, options.Refused, code)
		assert.Equal(t, "spared: it was deleted and made again", verdicts(report)[newer])
		assert.NotNil(t, s.get("ptahschemaplans", "app", newer))
	})
}

// Even when the plan goes away under it, a dry run deletes nothing.
func TestPruneDryRunLeavesTheChunksOfAPlanThatSomebodyElseDeleted(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, newer := goingPlans()
	s.beforeDelete = func(resource, name string) {
		if name == older {
			s.remove(s.get("ptahschemaplans", "app", newer))
		}
	}
	report, stderr, _ := prune(t, kubeconfig, "--yes", "--dry-run=server")
	assert.Equal(t, "deleted: somebody else deleted it", verdicts(report)[newer], stderr)
	assert.NotNil(t, s.get("configmaps", "app", newer+"-000"))
	assert.NotNil(t, s.get("configmaps", "app", older+"-000"))
}

// A chunk that another stored plan lists is not only that of the plan that goes.
func TestPruneLeavesAChunkThatAnotherPlanLists(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, _ := goingPlans()
	kept := s.get("ptahschemaplans", "app", retentionCleanCluster()[1].(*v1alpha1.PtahSchemaPlan).Name).DeepCopy()
	setChunkName(kept.Object, older)
	s.put(kept)
	_, stderr, _ := prune(t, kubeconfig, "--yes")
	assert.Nil(t, s.get("ptahschemaplans", "app", older))
	assert.NotNil(t, s.get("configmaps", "app", older+"-000"))
	assert.Contains(t, stderr, "stays: plan "+kept.GetName()+" lists it too")
}

// A chunk that changed while it was being deleted is not gone: neither it nor its bytes are counted, and the next run finds it.
func TestPruneDoesNotCountAChunkThatStays(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, newer := goingPlans()
	s.beforeDelete = func(resource, name string) {
		if name == older+"-000" {
			s.put(s.get("configmaps", "app", name)) // another version
		}
	}
	report, stderr, code := prune(t, kubeconfig, "--yes")
	assert.Equal(t, options.Failed, code)
	assert.Contains(t, stderr, "ConfigMap app/"+older+"-000 stays: it changed while it was being deleted")
	assert.NotNil(t, s.get("configmaps", "app", older+"-000"))
	totals := report["totals"].(map[string]any)
	assert.EqualValues(t, 2, totals["deleted"])
	assert.EqualValues(t, 1, totals["chunks"])
	for _, item := range report["plans"].([]any) {
		p := item.(map[string]any)
		switch p["name"] {
		case older:
			assert.Equal(t, []any{older + "-000"}, p["left"])
		case newer:
			assert.Equal(t, p["size"], totals["bytes"], "of the one that went whole")
		}
	}
	report, stderr, code = prune(t, kubeconfig)
	assert.Equal(t, options.Done, code, stderr)
	require.Len(t, report["orphans"], 1, "the next run finds it")

	s.beforeDelete = func(_, name string) { s.put(s.get("configmaps", "app", name)) }
	report, stderr, code = prune(t, kubeconfig, "--yes")
	assert.Equal(t, "spared", report["orphans"].([]any)[0].(map[string]any)["verdict"])
	assert.Equal(t, options.Refused, code, "a chunk that was asked for and stays is no success")
	assert.Contains(t, stderr, "1 chunk left alone")
	assert.EqualValues(t, 0, report["totals"].(map[string]any)["chunks"])
}

// A chunk without a plan may be one that is on its way. An operation that starts meanwhile saves it, whatever was asked for.
func TestPruneLeavesAChunkThatMayBeOnItsWay(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, newer := goingPlans()
	s.remove(s.get("ptahschemaplans", "app", newer))
	s.beforeDelete = func(resource, name string) {
		if name == older {
			orders := retentionCleanCluster()[0].(*v1alpha1.PtahSchema)
			orders.Status.ActiveOperation = retentionOperatingCluster()[0].(*v1alpha1.PtahSchema).Status.ActiveOperation
			s.put(toUnstructured(orders))
		}
	}
	_, stderr, code := prune(t, kubeconfig, "--yes", "--while-operating")
	assert.NotNil(t, s.get("configmaps", "app", newer+"-000"))
	assert.Equal(t, options.Refused, code)
	assert.Contains(t, stderr, "1 chunk left alone")

	s.beforeDelete = nil
	report, stderr, code := prune(t, kubeconfig, "--yes")
	assert.Equal(t, "busy", report["orphans"].([]any)[0].(map[string]any)["verdict"])
	assert.Equal(t, options.Refused, code, stderr)
	_, stderr, code = prune(t, kubeconfig)
	assert.Equal(t, options.Done, code, "a dry run refuses nothing: %s", stderr)
}

// The race that no precondition closes: the plan becomes current in the moment of its deletion. Its bytes stay, and the lost pin is reported.
func TestPruneReportsAPinThatItBroke(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	older, _ := goingPlans()
	s.beforeDelete = func(resource, name string) {
		if resource == "ptahschemaplans" && name == older {
			orders := retentionCleanCluster()[0].(*v1alpha1.PtahSchema)
			orders.Status.Plan = record(retentionCleanCluster()[3].(*v1alpha1.PtahSchemaPlan))
			s.put(toUnstructured(orders))
		}
	}
	report, stderr, code := prune(t, kubeconfig, "--yes", "--older-than", "30d")
	assert.Equal(t, options.Findings, code, stderr)
	require.Len(t, report["findings"], 1)
	assert.Contains(t, fmt.Sprint(report["findings"]), "names plan "+older+" in status.plan, and no such plan is stored")
	assert.Contains(t, stderr, "its chunks stay: published and awaiting approval")
	assert.NotNil(t, s.get("configmaps", "app", older+"-000"), "the bytes are all that is left of it")
}

// Wherever a run dies, the next one finishes its work, and a pinned plan is whole throughout.
func TestPruneRepeatsSafelyAfterDyingAnywhere(t *testing.T) {
	older, newer := goingPlans()
	for die := 1; die <= 4; die++ {
		t.Run(fmt.Sprint("before deletion ", die), func(t *testing.T) {
			s, kubeconfig := retentionStub(t)
			count := 0
			s.dying = func() bool { // from here on nothing succeeds, as if the process were gone
				count++
				return count >= die
			}
			_, _, code := prune(t, kubeconfig, "--yes")
			assert.Equal(t, options.Failed, code)

			s.mu.Lock()
			s.dying = nil
			s.mu.Unlock()
			for _, name := range []string{older, newer} {
				if s.get("ptahschemaplans", "app", name) != nil {
					assert.NotNil(t, s.get("configmaps", "app", name+"-000"), "a plan that is left has its bytes")
				}
			}
			_, stderr, code := prune(t, kubeconfig, "--yes")
			assert.Equal(t, options.Done, code, stderr)
			for _, name := range []string{older, newer} {
				assert.Nil(t, s.get("ptahschemaplans", "app", name))
				assert.Nil(t, s.get("configmaps", "app", name+"-000"))
			}
			report, _, code := prune(t, kubeconfig)
			assert.Equal(t, options.Done, code)
			assert.Len(t, report["plans"], 2)
			assert.Empty(t, report["orphans"])
		})
	}
}

// Ten thousand plans and five thousand approvals are judged in bounded memory. The stub runs in this process, so the program's memory is
// its own.
func TestPruneOfTenThousandPlansFitsIntoMemory(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds the program and reads its peak memory as Linux reports it")
	}
	s, kubeconfig := stage(t)
	const owners, each = 100, 100
	for i := range owners {
		schema := newSchema("app", fmt.Sprintf("schema-%03d", i), 100000+i)
		s.put(toUnstructured(schema))
		first, objects := publish(schema, 200000+i, 40*days, safeStatements)
		template, chunk := toUnstructured(objects[0]), toUnstructured(objects[1])
		for j := range each {
			p, c := template.DeepCopy(), chunk.DeepCopy()
			name := fmt.Sprintf("ptah-plan-%012d%012d", i, j)
			p.SetName(name)
			p.SetUID(uid(1000000 + i*each + j))
			c.SetName(name + "-000")
			c.SetLabels(map[string]string{v1alpha1.PlanLabel: name, v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue})
			setChunkName(p.Object, name)
			s.put(p, c)
			if j%2 == 0 {
				a := newApproval(first, fmt.Sprintf("approval-%03d-%03d", i, j), 5000000+2*(i*each+j))
				a.Spec.PlanRef = v1alpha1.ObjectRef{Name: name, UID: p.GetUID()}
				s.put(toUnstructured(a))
			}
		}
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	command := exec.Command(buildPlugin(t), "prune", "-A", "-o", "json", "--kubeconfig", kubeconfig)
	command.Stdout, command.Stderr = out, os.Stderr
	start := time.Now()
	require.NoError(t, command.Start())
	peak := make(chan int)
	go func() { peak <- watchMemory(command.Process.Pid) }()
	require.NoError(t, command.Wait())
	kib := <-peak
	t.Logf("10,000 plans, 5,000 approvals: %s, processor %s, peak %d MiB", time.Since(start).Round(time.Millisecond),
		(command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Round(time.Millisecond), kib>>10)
	assert.Less(t, kib>>10, 128, "MiB")

	var report struct{ Totals struct{ MayGo, Kept int } }
	data, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &report))
	assert.Equal(t, owners*each/2, report.Totals.MayGo)
	assert.Equal(t, owners*each/2, report.Totals.Kept)
}

// watchMemory follows the peak of a process, in KiB, until it ends. What the kernel reports after the end would be the peak of this big
// process, from which the other was forked.
func watchMemory(pid int) (peak int) {
	for {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, found := strings.Cut(string(data), "VmHWM:")
		if err != nil || !found { // gone, or a zombie
			return peak
		}
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && !strings.HasSuffix(exe, ".test") {
			var kib int
			_, _ = fmt.Sscan(rest, &kib)
			peak = max(peak, kib)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func setChunkName(object map[string]any, plan string) {
	chunks := object["spec"].(map[string]any)["chunks"].([]any)
	chunks[0].(map[string]any)["name"] = plan + "-000"
}
