package dns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// Run serves the Services of the cluster that kubeconfig points at, under domain, until ctx is done.
func Run(ctx context.Context, address, kubeconfig, domain string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making an API client: %w", err)
	}
	services := NewServices(client, domain)
	services.start(ctx)
	return Serve(ctx, address, services.Lookup)
}

// Services answers from the watched Services and EndpointSlices.
type Services struct {
	domain   string
	factory  informers.SharedInformerFactory
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	synced   []cache.InformerSynced
	once     sync.Once
}

// NewServices prepares the watches.
func NewServices(client kubernetes.Interface, domain string) *Services {
	factory := informers.NewSharedInformerFactory(client, 0)
	services := factory.Core().V1().Services()
	endpoints := factory.Discovery().V1().EndpointSlices()
	return &Services{
		domain: domain, factory: factory, services: services.Lister(), slices: endpoints.Lister(),
		synced: []cache.InformerSynced{services.Informer().HasSynced, endpoints.Informer().HasSynced},
	}
}

func (s *Services) start(ctx context.Context) {
	s.once.Do(func() { s.factory.Start(ctx.Done()) })
	cache.WaitForCacheSync(ctx.Done(), s.synced...)
}

// Lookup answers for <service>.<namespace>.svc.<domain>. A Service with a cluster address has that address whether it
// selects Pods or not; a headless one has the addresses of its ready endpoints, and none when it has no endpoints.
func (s *Services) Lookup(name string) ([]netip.Addr, bool) {
	rest, found := strings.CutSuffix(name, ".svc."+s.domain)
	service, namespace, two := strings.Cut(rest, ".")
	if !found || !two || strings.Contains(namespace, ".") {
		return nil, false
	}
	object, err := s.services.Services(namespace).Get(service)
	if err != nil || object.Spec.Type == corev1.ServiceTypeExternalName {
		return nil, false
	}
	if object.Spec.ClusterIP == corev1.ClusterIPNone {
		return s.endpoints(namespace, service), true
	}
	address, err := netip.ParseAddr(object.Spec.ClusterIP)
	if err != nil || !address.Is4() {
		return nil, true
	}
	return []netip.Addr{address}, true
}

func (s *Services) endpoints(namespace, service string) []netip.Addr {
	selector := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service})
	found, err := s.slices.EndpointSlices(namespace).List(selector)
	if err != nil {
		return nil
	}
	var addresses []netip.Addr
	for _, slice := range found {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready != nil && !*endpoint.Conditions.Ready {
				continue
			}
			for _, text := range endpoint.Addresses {
				if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
					addresses = append(addresses, address)
				}
			}
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}
