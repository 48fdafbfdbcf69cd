//go:build linux

package node

import (
	"fmt"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/process"
)

func (c Config) component(name string, flags ...string) process.Spec {
	return process.Spec{
		Name: name, Argv: append([]string{c.Binaries[name]}, flags...), LogFile: c.LogFile(name), Restart: true,
	}
}

func (c Config) own(name string, arguments ...string) process.Spec {
	return process.Spec{
		Name: name, Argv: append([]string{c.Self}, arguments...), LogFile: c.LogFile(name), Restart: true,
	}
}

func (c Config) etcd() process.Spec {
	const client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
	return c.component("etcd", "--name=n", "--data-dir="+runDir+"/etcd", "--unsafe-no-fsync",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=n="+peer,
		"--log-level=warn")
}

func (c Config) apiServer() process.Spec {
	return c.component("kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
		"--bind-address=0.0.0.0", fmt.Sprintf("--secure-port=%d", cluster.APIServerPort),
		"--advertise-address="+cluster.NodeAddress, "--service-cluster-ip-range="+cluster.ServiceCIDR,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		// Webhooks are reached through EndpointSlices, not through the Service address.
		"--enable-aggregator-routing=true",
		"--client-ca-file="+c.pki("ca.crt"),
		"--tls-cert-file="+c.pki("kube-apiserver.crt"), "--tls-private-key-file="+c.pki("kube-apiserver.key"),
		"--kubelet-client-certificate="+c.pki("apiserver-kubelet-client.crt"),
		"--kubelet-client-key="+c.pki("apiserver-kubelet-client.key"),
		"--kubelet-certificate-authority="+c.pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc."+cluster.Domain,
		"--service-account-key-file="+c.pki("sa.pub"), "--service-account-signing-key-file="+c.pki("sa.key"),
		"--requestheader-client-ca-file="+c.pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+c.pki("front-proxy-client.crt"),
		"--proxy-client-key-file="+c.pki("front-proxy-client.key"),
		"--audit-policy-file="+c.etc("audit-policy.yaml"), "--audit-log-path="+c.LogFile("audit"),
		"--audit-log-maxsize=200", "--audit-log-maxbackup=1")
}

func (c Config) controllerManager() process.Spec {
	own := c.pki("kube-controller-manager.kubeconfig")
	return c.component("kube-controller-manager", "--kubeconfig="+own, "--authentication-kubeconfig="+own,
		"--authorization-kubeconfig="+own, "--bind-address=127.0.0.1", "--leader-elect=false",
		"--use-service-account-credentials=true", "--service-account-private-key-file="+c.pki("sa.key"),
		"--root-ca-file="+c.pki("ca.crt"), "--cluster-signing-cert-file="+c.pki("ca.crt"),
		"--cluster-signing-key-file="+c.pki("ca.key"), "--controllers=*",
		"--kube-api-qps=200", "--kube-api-burst=400")
}

func (c Config) scheduler() process.Spec {
	own := c.pki("kube-scheduler.kubeconfig")
	return c.component("kube-scheduler", "--kubeconfig="+own, "--authentication-kubeconfig="+own,
		"--authorization-kubeconfig="+own, "--bind-address=127.0.0.1", "--leader-elect=false",
		"--kube-api-qps=200", "--kube-api-burst=400")
}

func (c Config) containerd() process.Spec {
	spec := c.component("containerd", "--config="+c.etc("containerd.toml"))
	spec.Env = []string{"TMPDIR=" + runDir + "/tmp"}
	return spec
}

func (c Config) kubelet() process.Spec {
	spec := c.component("kubelet", "--config="+c.etc("kubelet.yaml"), "--kubeconfig="+c.pki("kubelet.kubeconfig"),
		"--root-dir=/var/lib/kubelet", "--hostname-override="+cluster.NodeName, "--node-ip="+cluster.NodeAddress,
		"--v=2")
	spec.Env = []string{"TMPDIR=" + runDir + "/tmp"}
	return spec
}

func (c Config) proxy() process.Spec {
	// The conntrack limits are global to the machine: zero leaves them alone.
	return c.component("kube-proxy", "--kubeconfig="+c.pki("kube-proxy.kubeconfig"), "--proxy-mode=nftables",
		"--cluster-cidr="+cluster.PodCIDR, "--hostname-override="+cluster.NodeName,
		"--bind-address="+cluster.NodeAddress, "--conntrack-max-per-core=0", "--conntrack-min=0",
		"--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0")
}

func (c Config) registry() process.Spec {
	return c.own("registry", "registry", "--listen", fmt.Sprintf("0.0.0.0:%d", cluster.RegistryPort),
		"--dir", c.StateDir+"/registry")
}

func (c Config) dns() process.Spec {
	return c.own("dns", "dns", "--listen", cluster.NodeAddress+":53", "--kubeconfig", c.pki("dns.kubeconfig"))
}
