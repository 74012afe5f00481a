package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

const (
	defaultAccount   = "default"
	tokenVolume      = "kube-api-access-"
	tokenMountPath   = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenSeconds     = 3607 // an hour, and a little that tells it from a wish for an hour
	rootCAConfigMap  = "kube-root-ca.crt"
	accountTries     = 10
	accountTryPeriod = 150 * time.Millisecond
)

// ServiceAccount gives each pod an account, and mounts its token.
type ServiceAccount struct {
	lister Lister
	clock  clock.Clock
}

// Name of the plugin.
func (*ServiceAccount) Name() string { return "ServiceAccount" }

// Admit fills in account, token volume and pull secrets of a new pod.
func (p *ServiceAccount) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	pod := a.Object.(*corev1.Pod)
	if isMirror(pod) {
		return nil
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = defaultAccount
	}
	account, err := p.account(ctx, a.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return forbidden(a, fmt.Errorf("error looking up service account %s/%s: %w", a.Namespace, pod.Spec.ServiceAccountName, err))
	}
	if mountsToken(account, pod) {
		mountToken(&pod.Spec)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		pod.Spec.ImagePullSecrets = slices.Clone(account.ImagePullSecrets)
	}
	return nil
}

// Validate holds mirror pods, which stand for files on a node, to what exists there.
func (p *ServiceAccount) Validate(_ context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	pod := a.Object.(*corev1.Pod)
	switch {
	case isMirror(pod) && pod.Spec.ServiceAccountName != "":
		return forbidden(a, errors.New("a mirror pod may not reference service accounts"))
	case isMirror(pod) && hasSecretVolume(pod):
		return forbidden(a, errors.New("a mirror pod may not reference secrets"))
	case !isMirror(pod) && pod.Spec.ServiceAccountName == "":
		return forbidden(a, fmt.Errorf("no service account specified for pod %s/%s", a.Namespace, pod.Name))
	}
	return nil
}

// account waits a little for the default one: a controller makes it, soon after
// the namespace.
func (p *ServiceAccount) account(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	tries := 1
	if name == defaultAccount {
		tries = accountTries
	}
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-p.clock.After(accountTryPeriod):
			}
		}
		obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("serviceaccounts"), namespace, name)
		if err == nil {
			return obj.(*corev1.ServiceAccount), nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
}

func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

func hasSecretVolume(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Secret != nil })
}

// mountsToken: the pod's word counts, then the account's, then yes.
func mountsToken(account *corev1.ServiceAccount, pod *corev1.Pod) bool {
	if pod.Spec.AutomountServiceAccountToken != nil {
		return *pod.Spec.AutomountServiceAccountToken
	}
	return ptr.Deref(account.AutomountServiceAccountToken, true)
}

// mountToken mounts the token into every container that mounts nothing there
// itself, and adds the volume if any did not.
func mountToken(spec *corev1.PodSpec) {
	name, hasVolume := tokenVolume+rand.String(5), false
	for _, v := range spec.Volumes {
		if strings.HasPrefix(v.Name, tokenVolume) {
			name, hasVolume = v.Name, true
			break
		}
	}
	mount := corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenMountPath}
	isNeeded := false
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if !mountsAt(&containers[i], tokenMountPath) {
				containers[i].VolumeMounts = append(containers[i].VolumeMounts, mount)
				isNeeded = true
			}
		}
	}
	if isNeeded && !hasVolume {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: tokenSource()})
	}
}

func mountsAt(c *corev1.Container, path string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path })
}

// tokenSource projects what a client in a pod needs: token, CA and namespace.
func tokenSource() corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To(corev1.ProjectedVolumeSourceDefaultMode),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Path:              "token",
				ExpirationSeconds: ptr.To[int64](tokenSeconds),
			}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: rootCAConfigMap},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{
				Items: []corev1.DownwardAPIVolumeFile{{
					Path:     "namespace",
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
				}},
			}},
		},
	}}
}
