package fakelet

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestAddresses(t *testing.T) {
	a := newAddresses()
	network := netip.MustParsePrefix("10.244.0.0/29") // .2 to .6 can be handed out
	take := func(uid types.UID) string {
		addr, err := a.take(uid, network)
		if err != nil {
			return "none"
		}
		return addr.String()
	}
	a.keep("old", "10.244.0.3")
	steps := []struct{ do, uid, want string }{
		{"take", "a", "10.244.0.2"},
		{"take", "a", "10.244.0.2"},
		{"take", "b", "10.244.0.4"},
		{"take", "old", "10.244.0.3"},
		{"release", "a", ""},
		{"take", "c", "10.244.0.5"}, // not the one that was just given back
		{"take", "d", "10.244.0.6"},
		{"take", "e", "10.244.0.2"},
		{"take", "f", "none"},
		{"release", "old", ""},
		{"take", "f", "10.244.0.3"},
	}
	for i, s := range steps {
		if s.do == "release" {
			a.release(types.UID(s.uid))
		} else if got := take(types.UID(s.uid)); got != s.want {
			t.Errorf("step %d: %s took %s, want %s", i, s.uid, got, s.want)
		}
	}
	a.keep("thief", "10.244.0.3")
	if got := take("f"); got != "10.244.0.3" {
		t.Errorf("the first owner lost its address, has %s", got)
	}
}

func TestPodCIDRs(t *testing.T) {
	p := newPodCIDRs()
	p.keep("10.244.1.0/24")
	got := map[string]int{}
	for i := range maxNodes {
		cidr, err := p.take()
		if err != nil {
			t.Fatalf("network %d: %v", i, err)
		}
		if _, twice := got[cidr]; twice || cidr == "10.244.1.0/24" {
			t.Fatalf("%s handed out twice", cidr)
		}
		got[cidr] = i
	}
	for cidr, want := range map[string]int{"10.244.0.0/24": 0, "10.244.2.0/24": 1, "10.244.255.0/24": 254, "100.64.0.0/24": 255, "100.65.0.0/24": 511} {
		if i, ok := got[cidr]; !ok || i != want {
			t.Errorf("%s is number %d (%t), want %d", cidr, i, ok, want)
		}
	}
	p.release("10.244.7.0/24")
	if cidr, err := p.take(); err != nil || cidr != "10.244.7.0/24" {
		t.Errorf("took %s, %v after a release", cidr, err)
	}
}

func TestImages(t *testing.T) {
	for name, want := range map[string]string{
		"nginx":                   "docker.io/library/nginx:latest",
		"nginx:1.27":              "docker.io/library/nginx:1.27",
		"bitnami/redis":           "docker.io/bitnami/redis:latest",
		"registry.k8s.io/pause:3": "registry.k8s.io/pause:3",
		"localhost:5000/a/b":      "localhost:5000/a/b:latest",
		"ghcr.io/a/b@sha256:00":   "ghcr.io/a/b@sha256:00",
	} {
		if got := imageName(name); got != want {
			t.Errorf("imageName(%q) = %s, want %s", name, got, want)
		}
	}
	if got, want := imageID("ghcr.io/a/b:v1@sha256:00"), "ghcr.io/a/b@sha256:00"; got != want {
		t.Errorf("imageID keeps a digest: %s, want %s", got, want)
	}
	if got := imageID("nginx:1.27"); len(got) != len("docker.io/library/nginx@sha256:")+64 {
		t.Errorf("imageID of a tag: %s", got)
	}
	id := containerID(pod(func(*corev1.Pod) {}), &corev1.Container{Name: "c"}, 0)
	if want := len("containerd://") + 64; len(id) != want {
		t.Errorf("containerID %s has length %d, want %d", id, len(id), want)
	}
}
