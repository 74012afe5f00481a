package validation_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// warn asks for the warnings about an object that is new.
func warn[T any, P interface {
	*T
	runtime.Object
	metav1.Object
}](t *testing.T, name, text string, warnings func(obj, old P) []string, prepare func(P), want ...string) {
	t.Helper()
	obj := written[T, P](t, true, text)
	prepare(obj)
	if got := warnings(obj, nil); !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestPodWarnings(t *testing.T) {
	pod := func(name, spec string, want ...string) {
		t.Helper()
		warn(t, name, `{spec: {containers: [{name: c, image: i}], `+spec+`}}`, validation.PodWarnings, defaults.Pod, want...)
	}
	pod("none", ``)
	pod("variables", `initContainers: [{name: a, image: i, env: [{name: A, value: x}, {name: A, value: $(A)y}, {name: A, value: z}]}]`,
		`spec.initContainers[0].env[2]: hides previous definition of "A", which may be dropped when using apply`)
	pod("bytes", `overhead: {memory: 100m}`, `spec.overhead[memory]: fractional byte value "100m" is invalid, must be an integer`)
	pod("labels", `nodeSelector: {beta.kubernetes.io/os: linux}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: beta.kubernetes.io/arch, whenUnsatisfiable: DoNotSchedule}]`,
		`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
		`spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead`,
		`spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod`)
	pod("volumes", `volumes: [{name: g, gitRepo: {repository: r}}, {name: s, secret: {secretName: t, items: [{key: a, path: x}, {key: b, path: x/y}]}}, `+
		`{name: p, projected: {sources: [{configMap: {name: m, items: [{key: a, path: t}]}}, {serviceAccountToken: {path: t}}]}}]`,
		`spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+`,
		`volume "s" (Secret "t"): overlapping paths: "x/y" with "x"`,
		`volume "p" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" (ConfigMap "m")`)
	pod("references", `imagePullSecrets: [{name: a}, {name: a}, {name: ""}], hostAliases: [{ip: 1.2.3.4}, {ip: 1.2.3.4}]`,
		`spec.hostAliases[1].ip: duplicate ip "1.2.3.4"`,
		`spec.imagePullSecrets[1].name: duplicate name "a"`,
		`spec.imagePullSecrets[2].name: invalid empty name ""`)
	warn(t, "ports", `{metadata: {name: a.b}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]},
		{name: d, image: i, ports: [{containerPort: 80, name: w, hostIP: 1.2.3.4}, {containerPort: 81, name: w}]}]}}`, validation.PodWarnings, defaults.Pod,
		`metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]`,
		`spec.containers[1].ports[0]: hostIP set without hostPort: {Name:w HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}`,
		`spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]`,
		`spec.containers[1].ports[1]: duplicate port name "w" with spec.containers[1].ports[0], services and probes that select ports by name will use spec.containers[1].ports[0]`)
}

func TestOtherWarnings(t *testing.T) {
	service := func(name, text string, want ...string) {
		t.Helper()
		warn(t, name, text, validation.ServiceWarnings, func(s *corev1.Service) { defaults.Service(s); addressAndPort(s) }, want...)
	}
	service("none", `{spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}}`)
	service("headless", `{spec: {clusterIP: None, sessionAffinity: ClientIP, externalIPs: [1.2.3.4]}}`,
		`spec.externalIPs is ignored for headless services`, `spec.SessionAffinity is ignored for headless services`)
	service("close", `{spec: {clusterIP: 10.0.0.1, trafficDistribution: PreferClose, externalName: x, externalIPs: [1.2.3.4]}}`,
		`spec.externalIPs is deprecated and may no longer be implemented in some clusters`,
		`spec.externalName is ignored when spec.type is not "ExternalName"`,
		`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
	warn(t, "class", `{metadata: {annotations: {kubernetes.io/ingress.class: a}}}`, validation.IngressWarnings, func(*networkingv1.Ingress) {},
		`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`)
	warn(t, "certificate", `{type: kubernetes.io/tls}`, validation.SecretWarnings, func(*corev1.Secret) {}, `tls: failed to find any PEM data in certificate input`)
	warn(t, "volume", `{spec: {persistentVolumeReclaimPolicy: Recycle, cephfs: {}}}`, validation.PersistentVolumeWarnings, func(*corev1.PersistentVolume) {},
		`spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.`,
		`spec.cephfs: deprecated in v1.28, non-functional in v1.31+`)
}
