package dns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

func service(name, clusterIP string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}, Spec: corev1.ServiceSpec{ClusterIP: clusterIP},
	}
}

func endpointSlice(name, service string, ready bool, addresses ...string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", Labels: map[string]string{discoveryv1.LabelServiceName: service},
		},
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		}},
	}
}

func testServices(t *testing.T) *Services {
	t.Helper()
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	slices := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	external := service("mail", "")
	external.Spec.Type = corev1.ServiceTypeExternalName
	for _, object := range []*corev1.Service{
		service("web", "10.96.1.2"), service("pods", corev1.ClusterIPNone), service("empty", corev1.ClusterIPNone), external,
	} {
		require.NoError(t, services.Add(object))
	}
	for _, object := range []*discoveryv1.EndpointSlice{
		endpointSlice("pods-1", "pods", true, "10.88.0.9", "10.88.0.4"), endpointSlice("pods-2", "pods", true, "10.88.0.4"),
		endpointSlice("pods-3", "pods", false, "10.88.0.5"), endpointSlice("web-1", "web", true, "10.88.0.7"),
	} {
		require.NoError(t, slices.Add(object))
	}
	return &Services{
		domain: "cluster.local", services: corelisters.NewServiceLister(services),
		slices: discoverylisters.NewEndpointSliceLister(slices),
	}
}

func TestLookup(t *testing.T) {
	services := testServices(t)
	for name, tc := range map[string]struct {
		name   string
		want   string
		exists bool
	}{
		"cluster address, selector or not":      {"web.shop.svc.cluster.local", "[10.96.1.2]", true},
		"headless: ready endpoints, each once":  {"pods.shop.svc.cluster.local", "[10.88.0.4 10.88.0.9]", true},
		"headless without endpoints":            {"empty.shop.svc.cluster.local", "[]", true},
		"external name":                         {"mail.shop.svc.cluster.local", "[]", false},
		"no such Service":                       {"db.shop.svc.cluster.local", "[]", false},
		"other namespace":                       {"web.default.svc.cluster.local", "[]", false},
		"search path tried first":               {"web.shop.svc.cluster.local.shop.svc.cluster.local", "[]", false},
		"outside the cluster":                   {"example.com", "[]", false},
		"the domain itself":                     {"svc.cluster.local", "[]", false},
		"name of one label below the namespace": {"shop.svc.cluster.local", "[]", false},
	} {
		t.Run(name, func(t *testing.T) {
			addresses, exists := services.Lookup(tc.name)
			assert.Equal(t, tc.want, fmt.Sprint(addresses))
			assert.Equal(t, tc.exists, exists)
		})
	}
}

func query(t *testing.T, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := message.Pack()
	require.NoError(t, err)
	return packed
}

func TestAnswer(t *testing.T) {
	lookup := func(name string) ([]netip.Addr, bool) {
		return []netip.Addr{netip.MustParseAddr("10.96.1.2")}, name == "web.shop.svc.cluster.local"
	}
	for name, tc := range map[string]struct {
		name    string
		kind    dnsmessage.Type
		limit   int
		code    dnsmessage.RCode
		answers int
		cut     bool
	}{
		"address":              {"web.shop.svc.cluster.local.", dnsmessage.TypeA, maxUDP, dnsmessage.RCodeSuccess, 1, false},
		"letters of any case":  {"WEB.shop.svc.Cluster.local.", dnsmessage.TypeA, maxUDP, dnsmessage.RCodeSuccess, 1, false},
		"no IPv6 but the name": {"web.shop.svc.cluster.local.", dnsmessage.TypeAAAA, maxUDP, dnsmessage.RCodeSuccess, 0, false},
		"no such name":         {"db.shop.svc.cluster.local.", dnsmessage.TypeA, maxUDP, dnsmessage.RCodeNameError, 0, false},
		"does not fit":         {"web.shop.svc.cluster.local.", dnsmessage.TypeA, 50, dnsmessage.RCodeSuccess, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			packed, err := Answer(query(t, tc.name, tc.kind), lookup, tc.limit)
			require.NoError(t, err)
			var reply dnsmessage.Message
			require.NoError(t, reply.Unpack(packed))
			assert.Equal(t, uint16(7), reply.ID)
			assert.Equal(t, tc.code, reply.RCode)
			assert.Equal(t, tc.cut, reply.Truncated)
			assert.Len(t, reply.Answers, tc.answers)
		})
	}
}

func TestServeSpeaksUDPAndTCP(t *testing.T) {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := probe.Addr().String()
	require.NoError(t, probe.Close())
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, address, testServices(t).Lookup) }()
	for _, network := range []string{"udp", "tcp"} {
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			found, err := resolver.LookupHost(context.Background(), "web.shop.svc.cluster.local.")
			assert.NoError(c, err)
			assert.Equal(c, []string{"10.96.1.2"}, found)
		}, 5*time.Second, 20*time.Millisecond, network)
	}
	cancel()
	assert.NoError(t, <-served)
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03web\x04shop\x00\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lookup := func(string) ([]netip.Addr, bool) { return []netip.Addr{netip.IPv4Unspecified()}, true }
		answer, err := Answer(data, lookup, maxUDP)
		if err == nil {
			var message dnsmessage.Message
			require.NoError(t, message.Unpack(answer))
			require.True(t, message.Response)
		}
	})
}
