package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/test/standin"
)

const coordination = "ptah-coordination"

func namespaceOf(i int) string { return fmt.Sprintf("fleet-%02d", i%namespaces) }

// prepare makes everything but the schemas, and starts the stand-in node and what cleans up behind it.
func (b *bench) prepare(ctx context.Context) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config := rest.CopyConfig(b.server.Config)
	config.QPS = -1
	var err error
	if b.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for _, o := range surroundings() {
		if err := b.client.Create(ctx, o); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	if b.view, err = watchCluster(ctx, config, scheme); err != nil {
		return err
	}
	b.model = standin.NewModel("v1")
	b.work = newWork(b.model)
	if _, err := standin.Start(ctx, b.client, b.work.execute); err != nil {
		return err
	}
	go b.sweep(ctx)
	return nil
}

func surroundings() []client.Object {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: coordination}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: floorNamespace}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "manager"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: account.Name}},
		},
	}
	for i := range namespaces {
		objects = append(
			objects,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(i)}},
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(i), Name: "default"}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(i), Name: "policy"}, Immutable: ptr.To(true), Data: map[string]string{"policy.yaml": "version: 1\n"}},
		)
	}
	return objects
}

func (b *bench) createSchemas(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range b.count {
		group.Go(func() error {
			s := b.schema(i)
			if err := b.client.Create(ctx, s); err != nil {
				return fmt.Errorf("creating schema %s: %w", s.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (b *bench) schema(i int) *v1alpha1.PtahSchema {
	name := fmt.Sprintf("schema-%04d", i)
	return &v1alpha1.PtahSchema{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(i), Name: name},
		Spec: v1alpha1.PtahSchemaSpec{
			Target: v1alpha1.Target{
				Engine: "PostgreSQL", CoordinationKey: "bench/" + name,
				URLFrom: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name + "-database"}, Key: "url"},
			},
			Desired: v1alpha1.Source{
				OCIRef:                 "oci://registry.example/shop:stable",
				VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "policy.yaml"},
			},
			Interval:  metav1.Duration{Duration: b.interval},
			Policy:    v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways},
			Execution: v1alpha1.Execution{ActiveDeadlineSeconds: deadline},
		},
	}
}

// sweep deletes finished Jobs when their cleanup time has come, and their Pods: no controller does it here.
func (b *bench) sweep(ctx context.Context) {
	for sleep(ctx, time.Second) == nil {
		for key, uid := range b.view.expired(time.Now()) {
			b.deleteJob(ctx, key, uid)
		}
	}
}

// expired are the Jobs whose cleanup time has come. Each is named once; a deletion that fails leaves a Job behind.
func (v *view) expired(now time.Time) map[client.ObjectKey]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[client.ObjectKey]string{}
	for key, e := range v.expires {
		if now.After(e.at) {
			out[key] = string(e.uid)
			delete(v.expires, key)
		}
	}
	return out
}

func (b *bench) deleteJob(ctx context.Context, key client.ObjectKey, uid string) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err := errors.Join(
		client.IgnoreNotFound(b.client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))),
		b.client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(key.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: uid}, client.GracePeriodSeconds(0)),
	)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
		fmt.Printf("cleaning up Job %s: %v\n", key, err)
	}
}
