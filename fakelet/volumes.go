package fakelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

const (
	// volumeSize is how much a volume really holds.
	volumeSize = 16 << 20
	// refreshEvery is how old the content of a ConfigMap or Secret in a volume may get.
	refreshEvery = time.Minute
)

// volumes makes what pods mount. The content of claims outlives the pods.
type volumes struct {
	environment
	clock clock.Clock

	mu     sync.Mutex
	claims map[string]*vfs.Tree // by namespace and name
	hosts  map[string]*vfs.Tree // hostPath volumes, by node and path
}

// missing looks for what a pod mounts. It is nil when everything is there. The
// ConfigMap of the cluster's root certificate is not waited for: each pod mounts
// it, and the controller that makes it comes up beside the first pods.
func (v *volumes) missing(ctx context.Context, pod *corev1.Pod) error {
	for i := range pod.Spec.Volumes {
		vol := &pod.Spec.Volumes[i]
		var err error
		switch {
		case vol.ConfigMap != nil:
			err = v.checkConfigMap(ctx, pod, vol.ConfigMap.Name, vol.ConfigMap.Optional, vol.ConfigMap.Items)
		case vol.Secret != nil:
			err = v.checkSecret(ctx, pod, vol.Secret.SecretName, vol.Secret.Optional, vol.Secret.Items)
		case vol.Projected != nil:
			for _, s := range vol.Projected.Sources {
				switch {
				case s.ConfigMap != nil && s.ConfigMap.Name != "kube-root-ca.crt":
					err = errors.Join(err, v.checkConfigMap(ctx, pod, s.ConfigMap.Name, s.ConfigMap.Optional, s.ConfigMap.Items))
				case s.Secret != nil:
					err = errors.Join(err, v.checkSecret(ctx, pod, s.Secret.Name, s.Secret.Optional, s.Secret.Items))
				}
			}
		}
		if err != nil {
			return fmt.Errorf("MountVolume.SetUp failed for volume %q : %w", vol.Name, err)
		}
	}
	return nil
}

func (v *volumes) checkConfigMap(ctx context.Context, pod *corev1.Pod, name string, optional *bool, items []corev1.KeyToPath) error {
	data, err := v.configMap(ctx, pod.Namespace, name, optional)
	return checkItems(data, err, optional, items)
}

func (v *volumes) checkSecret(ctx context.Context, pod *corev1.Pod, name string, optional *bool, items []corev1.KeyToPath) error {
	data, err := v.secret(ctx, pod.Namespace, name, optional)
	return checkItems(data, err, optional, items)
}

func checkItems(data map[string]string, err error, optional *bool, items []corev1.KeyToPath) error {
	if err != nil || optional != nil && *optional {
		return err
	}
	for _, item := range items {
		if _, ok := data[item.Key]; !ok {
			return missing("references non-existent config key: " + item.Key)
		}
	}
	return nil
}

// tree makes a volume of a pod.
func (v *volumes) tree(pod *corev1.Pod, vol *corev1.Volume) *vfs.Tree {
	now := v.clock.Now
	switch {
	case vol.PersistentVolumeClaim != nil:
		return v.keep(&v.claims, pod.Namespace+"/"+vol.PersistentVolumeClaim.ClaimName)
	case vol.Ephemeral != nil:
		return v.keep(&v.claims, pod.Namespace+"/"+pod.Name+"-"+vol.Name)
	case vol.HostPath != nil:
		return v.keep(&v.hosts, pod.Spec.NodeName+":"+vol.HostPath.Path)
	case vol.ConfigMap != nil || vol.Secret != nil || vol.DownwardAPI != nil || vol.Projected != nil:
		t := vfs.NewTree(volumeSize, now)
		t.Generated(v.generator(pod, vol))
		return t
	}
	return vfs.NewTree(volumeSize, now)
}

func (v *volumes) keep(in *map[string]*vfs.Tree, name string) *vfs.Tree {
	v.mu.Lock()
	defer v.mu.Unlock()
	if *in == nil {
		*in = map[string]*vfs.Tree{}
	}
	t, ok := (*in)[name]
	if !ok {
		t = vfs.NewTree(volumeSize, v.clock.Now)
		(*in)[name] = t
	}
	return t
}

// generator writes a volume's files from the API, again when they are old. As a
// kubelet lays them out, they stand behind a link that is switched over.
func (v *volumes) generator(pod *corev1.Pod, vol *corev1.Volume) func(*vfs.Tree) error {
	var mu sync.Mutex
	var filled time.Time
	var last map[string]file
	return func(t *vfs.Tree) error {
		mu.Lock()
		defer mu.Unlock()
		now := v.clock.Now()
		if !filled.IsZero() && now.Sub(filled) < refreshEvery {
			return nil
		}
		filled = now
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		files, err := v.files(ctx, pod, vol)
		if err != nil || sameFiles(files, last) {
			return nil //nolint:nilerr // the old content stays, as on a node
		}
		last = files
		t.Clear()
		dir := now.UTC().Format("..2006_01_02_15_04_05.000000000")
		if err := t.PutLink("/..data", dir); err != nil {
			return err
		}
		for name, f := range files {
			if err := t.Put(path.Join("/", dir, name), []byte(f.data), f.mode); err != nil {
				return err
			}
			top, _, _ := strings.Cut(name, "/")
			if err := t.PutLink("/"+top, "..data/"+top); err != nil {
				return err
			}
		}
		return nil
	}
}

type file struct {
	data string
	mode fs.FileMode
}

func sameFiles(a, b map[string]file) bool {
	if b == nil || len(a) != len(b) {
		return false
	}
	for name, f := range a {
		if b[name] != f {
			return false
		}
	}
	return true
}

// files are the content of a volume by path.
func (v *volumes) files(ctx context.Context, pod *corev1.Pod, vol *corev1.Volume) (map[string]file, error) {
	out := map[string]file{}
	switch {
	case vol.ConfigMap != nil:
		s := vol.ConfigMap
		data, err := v.configMap(ctx, pod.Namespace, s.Name, s.Optional)
		project(out, data, s.Items, s.DefaultMode)
		return out, err
	case vol.Secret != nil:
		s := vol.Secret
		data, err := v.secret(ctx, pod.Namespace, s.SecretName, s.Optional)
		project(out, data, s.Items, s.DefaultMode)
		return out, err
	case vol.DownwardAPI != nil:
		return out, v.downward(pod, vol.DownwardAPI.Items, vol.DownwardAPI.DefaultMode, out)
	}
	for _, s := range vol.Projected.Sources {
		if err := v.projected(ctx, pod, &s, vol.Projected.DefaultMode, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *volumes) projected(ctx context.Context, pod *corev1.Pod, s *corev1.VolumeProjection, mode *int32, out map[string]file) error {
	switch {
	case s.ConfigMap != nil:
		data, err := v.configMap(ctx, pod.Namespace, s.ConfigMap.Name, s.ConfigMap.Optional)
		if s.ConfigMap.Name == "kube-root-ca.crt" && isMissing(err) {
			err = nil
		}
		project(out, data, s.ConfigMap.Items, mode)
		return err
	case s.Secret != nil:
		data, err := v.secret(ctx, pod.Namespace, s.Secret.Name, s.Secret.Optional)
		project(out, data, s.Secret.Items, mode)
		return err
	case s.DownwardAPI != nil:
		return v.downward(pod, s.DownwardAPI.Items, mode, out)
	case s.ServiceAccountToken != nil:
		token, err := v.token(ctx, pod, s.ServiceAccountToken)
		if err != nil {
			return err
		}
		out[s.ServiceAccountToken.Path] = file{token, 0o600}
	}
	return nil
}

// token asks for a token of the pod's ServiceAccount, bound to the pod.
func (v *volumes) token(ctx context.Context, pod *corev1.Pod, s *corev1.ServiceAccountTokenProjection) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: s.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	if s.Audience != "" {
		request.Spec.Audiences = []string{s.Audience}
	}
	answer, err := v.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) || apierrors.ReasonForError(err) == "NotImplemented" {
			return "", nil
		}
		return "", err
	}
	return answer.Status.Token, nil
}

func (v *volumes) downward(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, mode *int32, out map[string]file) error {
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = v.field(pod, item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			value, err = v.resource(pod, &pod.Spec.Containers[0], item.ResourceFieldRef)
		}
		if err != nil {
			return err
		}
		out[path.Clean("/" + item.Path)[1:]] = file{value, modeOf(item.Mode, mode)}
	}
	return nil
}

// project picks keys, all of them without items.
func project(out map[string]file, data map[string]string, items []corev1.KeyToPath, mode *int32) {
	if len(items) == 0 {
		for k, value := range data {
			out[k] = file{value, modeOf(nil, mode)}
		}
	}
	for _, item := range items {
		if value, ok := data[item.Key]; ok {
			out[path.Clean("/" + item.Path)[1:]] = file{value, modeOf(item.Mode, mode)}
		}
	}
}

func modeOf(modes ...*int32) fs.FileMode {
	at := slices.IndexFunc(modes, func(m *int32) bool { return m != nil })
	if at < 0 {
		return 0o644
	}
	return fs.FileMode(*modes[at]).Perm()
}
