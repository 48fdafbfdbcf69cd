// Package complete offers live names to the shell. It stays silent about what it cannot read: a completion is no place for errors.
package complete

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

const (
	// patience is how long a person who pressed TAB is kept waiting.
	patience = 3 * time.Second
	// most bounds the offered names; more than this helps nobody.
	most = 500
)

// Func completes words, as cobra wants it.
type Func = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// visit offers names through add.
type visit func(ctx context.Context, client *cluster.Client, query cluster.Query, add func(name, hint string)) error

// Schemas offers the names of PtahSchemas as the first argument, with their phase as the hint.
func Schemas(global *options.Global) Func { return first(global, schemas) }

// Resources offers schemas and migrations as the first argument.
func Resources(global *options.Global) Func {
	return first(global, func(ctx context.Context, client *cluster.Client, query cluster.Query, add func(name, hint string)) error {
		// A kind that may not be listed does not hide the other. Whoever has typed a kind wants names with it.
		both := func(kind, name, hint string) {
			add(name, hint)
			add(kind+"/"+name, hint)
		}
		_ = client.EachSchema(ctx, query, func(s *v1alpha1.PtahSchema) error {
			both("schema", s.Name, phase(string(s.Status.Phase)))
			return nil
		})
		return client.EachMigration(ctx, query, func(m *v1alpha1.PtahMigration) error {
			both("migration", m.Name, "migration "+phase(string(m.Status.Phase)))
			return nil
		})
	})
}

// Plans offers the names of stored plans of the schema that the first argument names, or of all, as a flag's value.
func Plans(global *options.Global) Func {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		schema := ""
		if len(args) > 0 {
			schema = args[0]
		}
		return names(cmd.Context(), global, prefix, func(ctx context.Context, client *cluster.Client, query cluster.Query, add func(name, hint string)) error {
			old := func(created metav1.Time) string { return render.Age(global.Clock().Sub(created.Time)) + " old" }
			err := client.EachSchemaPlan(ctx, query, func(p *v1alpha1.PtahSchemaPlan) error {
				if schema == "" || p.Spec.SchemaRef.Name == schema {
					add(p.Name, p.Spec.SchemaRef.Name+", "+old(p.CreationTimestamp))
				}
				return nil
			})
			if err != nil || schema != "" {
				return err
			}
			return client.EachMigrationPlan(ctx, query, func(p *v1alpha1.PtahMigrationPlan) error {
				add(p.Name, "migration "+p.Spec.MigrationRef.Name+", "+old(p.CreationTimestamp))
				return nil
			})
		})
	}
}

// AsFlag completes a flag's value as if it were the first argument.
func AsFlag(offer Func) Func {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return offer(cmd, nil, prefix)
	}
}

// StoredPlans offers the names of stored plans of both kinds as arguments.
func StoredPlans(global *options.Global) Func {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return Plans(global)(cmd, nil, prefix)
	}
}

// Namespaces offers the namespaces of the cluster.
func Namespaces(global *options.Global) Func {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return names(cmd.Context(), global, prefix, func(ctx context.Context, client *cluster.Client, _ cluster.Query, add func(name, hint string)) error {
			return cluster.EachObject(ctx, client, cluster.KindNamespaces, cluster.Query{}, func(n *corev1.Namespace) error {
				add(n.Name, string(n.Status.Phase))
				return nil
			})
		})
	}
}

// Kubeconfig offers the names of one part of the kubeconfig: its contexts, clusters or users.
func Kubeconfig(global *options.Global, part func(clientcmdapi.Config) []string) Func {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		config, err := global.Config.Raw()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list := part(config)
		slices.Sort(list)
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// Formats offers the output formats of a verb.
func Formats(output *options.Output) Func {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var words []string
		directive := cobra.ShellCompDirectiveNoFileComp
		for _, kind := range output.Allowed() {
			switch kind {
			case render.JSONPath, render.GoTemplate, render.Columns:
				words = append(words, string(kind)+"=")
				directive |= cobra.ShellCompDirectiveNoSpace
			default:
				words = append(words, string(kind))
			}
		}
		return words, directive
	}
}

func schemas(ctx context.Context, client *cluster.Client, query cluster.Query, add func(name, hint string)) error {
	return client.EachSchema(ctx, query, func(s *v1alpha1.PtahSchema) error {
		add(s.Name, phase(string(s.Status.Phase)))
		return nil
	})
}

func phase(word string) string {
	if word == "" {
		return "Pending"
	}
	return word
}

func first(global *options.Global, offer visit) Func {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd.Context(), global, prefix, offer)
	}
}

func names(ctx context.Context, global *options.Global, prefix string, offer visit) ([]string, cobra.ShellCompDirective) {
	client, err := global.Cluster()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	namespace, err := global.Namespace()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var words []string
	// What was read before an error is still worth offering.
	_ = offer(ctx, client, cluster.Query{Namespace: namespace, Limit: most}, func(name, hint string) {
		if strings.HasPrefix(name, prefix) && strings.Contains(name, "/") == strings.Contains(prefix, "/") {
			words = append(words, name+"\t"+hint)
		}
	})
	return words, cobra.ShellCompDirectiveNoFileComp
}
