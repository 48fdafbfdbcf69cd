// Command demo walks through the main job of Ptah on the local cluster: a shop's schema appears, changes, is refused where it would lose data, and
// survives somebody's hand in the database. Every command that it shows is one that it ran.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ptah-run/ptah/test/rig"
)

const (
	namespace = "shop"
	name      = "storefront"
	database  = "storefront"
	phase     = ".status.phase"
)

// patience bounds every wait for the operator: a slow or shared machine is no failure, and the narrator tells the phase all the while.
const patience = 15 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "\nerror: %v\n", err)
		fmt.Fprintf(os.Stderr, "look: kubectl ptah status %s -n %s; kubectl get events -n %s; kubectl logs -n %s deployment/ptah-operator-manager\n", name, namespace, namespace, rig.OperatorNamespace)
		os.Exit(1) //nolint:gocritic // stop() only restores signal handling
	}
}

func run(ctx context.Context) error {
	r, err := rig.FromEnv()
	if err != nil {
		return err
	}
	n := &narrator{rig: r, out: os.Stdout, started: time.Now(), live: term.IsTerminal(int(os.Stdout.Fd()))}
	for _, chapter := range []func(context.Context, *narrator) error{install, firstSchema, secondVersion, destructive, drift} {
		if err := chapter(ctx, n); err != nil {
			return err
		}
	}
	return epilogue(ctx, n)
}

// install starts from nothing: no resource of an earlier run, an empty database, the operator of this build.
func install(ctx context.Context, n *narrator) error {
	n.Step("Install the operator", "Helm 4 installs the chart with the images of this checkout, pinned by digest. An earlier run of this demo is cleared first.")
	if _, err := n.rig.Must(ctx, "", "kubectl", "delete", "namespace", namespace, "--ignore-not-found", "--timeout=120s"); err != nil {
		return err
	}
	if err := n.rig.RecreateDatabase(ctx, database); err != nil {
		return err
	}
	if err := n.rig.InstallOperator(ctx); err != nil {
		return err
	}
	n.Saw("six CRDs established, manager available")
	// "no" is kubectl's answer and exit code 1.
	if err := n.Show(ctx, 1, "kubectl", "auth", "can-i", "get", "secrets", "-A", "--as", "system:serviceaccount:"+rig.OperatorNamespace+":"+n.rig.ManagerAccount(ctx)); err != nil {
		return fmt.Errorf("the manager may read Secrets: %w", err)
	}
	n.Saw("the manager cannot read a Secret anywhere")
	return nil
}

// publish pushes one edition and points the schema at its digest.
func publish(ctx context.Context, n *narrator, file string) error {
	ref, err := n.rig.PushSchema(ctx, "shop/storefront", "test/demo/shop/"+file)
	if err != nil {
		return err
	}
	n.printf("        $ kubectl ptah push schema test/demo/shop/%s oci://%s/shop/storefront\n        | %s\n", file, n.rig.Registry, ref)
	n.Saw("published; the resource will name this digest")
	return n.rig.ApplySchema(ctx, rig.Schema{Namespace: namespace, Name: name, Reference: ref, URL: n.rig.DatabaseURL(database), Interval: "30s"})
}

func firstSchema(ctx context.Context, n *narrator) error {
	n.Step("Publish the shop's schema and declare it", "The SQL file is loaded into a scratch database, read back into the canonical model and pushed as an immutable artifact.\nA PtahSchema in namespace shop names the artifact's digest, the database's Secret and a verification policy.")
	if err := publish(ctx, n, "v1.sql"); err != nil {
		return err
	}
	if err := n.Wait(ctx, "a plan that needs approval", phase, "AwaitingApproval", patience); err != nil {
		return err
	}
	n.Step("Read the plan", "Every chunk of the stored plan is checked against its digest before a byte is printed.")
	if err := n.Show(ctx, 0, "kubectl-ptah", "plan", name, "-n", namespace); err != nil {
		return err
	}
	n.Step("Approve exactly this plan", "The approval binds the plan's UID and fingerprint. Admission stamps who approved.")
	if err := approve(ctx, n); err != nil {
		return err
	}
	if err := n.Show(ctx, 0, "psql", n.rig.DatabaseURL(database), "-X", "-c", `\dt shop.*`); err != nil {
		return err
	}
	n.Saw("the tables are there, and a fresh reading proved it")
	return nil
}

// approve approves the plan on offer and waits for the proof.
func approve(ctx context.Context, n *narrator) error {
	if err := n.Show(ctx, 0, "kubectl-ptah", "approve", name, "-n", namespace, "--yes"); err != nil {
		return err
	}
	if err := n.Wait(ctx, "applied and proven InSync", phase, "InSync", patience); err != nil {
		return err
	}
	return n.Show(ctx, 0, "kubectl-ptah", "status", name, "-n", namespace)
}

func secondVersion(ctx context.Context, n *narrator) error {
	n.Step("A second edition", "Reviews, a loyalty level, delivery times and one more payment method: additions only.")
	if err := publish(ctx, n, "v2.sql"); err != nil {
		return err
	}
	if err := n.Wait(ctx, "a plan that needs approval", phase, "AwaitingApproval", patience); err != nil {
		return err
	}
	if err := n.Show(ctx, 0, "kubectl-ptah", "plan", name, "-n", namespace, "-o", "sql"); err != nil {
		return err
	}
	return approve(ctx, n)
}

func destructive(ctx context.Context, n *narrator) error {
	n.Step("A destructive edition is refused", "The third edition drops orders.legacy_code. Policy does not allow destructive plans, so nothing may run.")
	if err := publish(ctx, n, "v3.sql"); err != nil {
		return err
	}
	if err := n.Wait(ctx, "refused by policy", phase, "Blocked", patience); err != nil {
		return err
	}
	if err := n.Show(ctx, 0, "kubectl-ptah", "status", name, "-n", namespace); err != nil {
		return err
	}
	kept, err := n.rig.Query(ctx, database, "SELECT count(*)::text FROM information_schema.columns WHERE table_schema='shop' AND table_name='orders' AND column_name='legacy_code'")
	if err != nil {
		return err
	}
	if kept != "1" {
		return fmt.Errorf("orders.legacy_code is gone although policy refused it")
	}
	n.Saw("orders.legacy_code still stands; back to the second edition")
	if err := publish(ctx, n, "v2.sql"); err != nil {
		return err
	}
	return n.Wait(ctx, "InSync again, nothing to do", phase, "InSync", patience)
}

func drift(ctx context.Context, n *narrator) error {
	n.Step("Somebody changes the database by hand", "An index is dropped in psql. The next reading finds it and plans it back.")
	if err := n.Show(ctx, 0, "psql", n.rig.DatabaseURL(database), "-X", "-c", "DROP INDEX shop.payments_by_order"); err != nil {
		return err
	}
	if err := n.Wait(ctx, "the drift is found and a plan waits", phase, "AwaitingApproval", patience); err != nil {
		return err
	}
	if err := n.Show(ctx, 0, "kubectl-ptah", "plan", name, "-n", namespace); err != nil {
		return err
	}
	return approve(ctx, n)
}

func epilogue(ctx context.Context, n *narrator) error {
	table, err := n.rig.Must(ctx, "", "kubectl-ptah", "status", "-A")
	if err != nil {
		return err
	}
	n.printf("\n[%s] Done: the shop is InSync.\n\n%s\n", n.elapsed(), indent(table))
	n.printf("%s", `Try next (eval "$(bin/ptah-cluster env)" first):
        kubectl ptah plan storefront -n shop --applied
        kubectl ptah status -A
        kubectl explain ptahschema.spec.policy
        kubectl get ptah -A
Clean up:
        kubectl delete namespace shop        # the database keeps its tables: deleting never runs SQL
        make cluster-down                    # stops everything and leaves nothing behind
`)
	return nil
}

func indent(text string) string {
	return "        " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n        ") + "\n"
}
