package fakelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// defaultPath is PATH in an image that does not set it.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment makes the variables of containers. What they refer to is read from
// the API when it is needed, as a kubelet does.
type environment struct {
	client kubernetes.Interface
	nodes  *nodes
}

// variables are those of a container, services included. A missing ConfigMap,
// Secret or key is an error, unless it is optional.
func (e environment) variables(ctx context.Context, pod *corev1.Pod, c *corev1.Container) (map[string]string, error) {
	env := map[string]string{"PATH": defaultPath, "HOME": "/root", "HOSTNAME": hostnameOf(pod)}
	if err := e.services(ctx, pod, env); err != nil {
		return nil, err
	}
	return env, e.own(ctx, pod, c, env)
}

// own adds the container's variables to those that are there.
func (e environment) own(ctx context.Context, pod *corev1.Pod, c *corev1.Container, env map[string]string) error {
	for _, from := range c.EnvFrom {
		data, err := e.source(ctx, pod.Namespace, &from)
		if err != nil {
			return err
		}
		for k, v := range data {
			env[from.Prefix+k] = v
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			env[v.Name] = expandVariables(v.Value, env)
			continue
		}
		value, found, err := e.value(ctx, pod, c, v.ValueFrom)
		if err != nil {
			return err
		}
		if found {
			env[v.Name] = value
		}
	}
	return nil
}

func (e environment) source(ctx context.Context, namespace string, from *corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case from.ConfigMapRef != nil:
		return e.configMap(ctx, namespace, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		return e.secret(ctx, namespace, from.SecretRef.Name, from.SecretRef.Optional)
	}
	return nil, nil
}

// configMap is the content of a ConfigMap, nil for one that is optional and not there.
func (e environment) configMap(ctx context.Context, namespace, name string, optional *bool) (map[string]string, error) {
	m, err := e.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && optional != nil && *optional:
		return nil, nil
	case apierrors.IsNotFound(err):
		return nil, missing(fmt.Sprintf("configmap %q not found", name))
	case err != nil:
		return nil, err
	}
	data := maps.Clone(m.Data)
	if data == nil {
		data = map[string]string{}
	}
	for k, v := range m.BinaryData {
		data[k] = string(v)
	}
	return data, nil
}

// secret is the content of a Secret, nil for one that is optional and not there.
func (e environment) secret(ctx context.Context, namespace, name string, optional *bool) (map[string]string, error) {
	s, err := e.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && optional != nil && *optional:
		return nil, nil
	case apierrors.IsNotFound(err):
		return nil, missing(fmt.Sprintf("secret %q not found", name))
	case err != nil:
		return nil, err
	}
	data := map[string]string{}
	for k, v := range s.Data {
		data[k] = string(v)
	}
	return data, nil
}

// missing is what a container can't be made without.
type missing string

// Error implements error.
func (m missing) Error() string { return string(m) }

func isMissing(err error) bool {
	var m missing
	return errors.As(err, &m)
}

func (e environment) value(ctx context.Context, pod *corev1.Pod, c *corev1.Container, from *corev1.EnvVarSource) (value string, found bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = e.field(pod, from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		value, err = e.resource(pod, c, from.ResourceFieldRef)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		r := from.ConfigMapKeyRef
		data, err := e.configMap(ctx, pod.Namespace, r.Name, r.Optional)
		return key(data, r.Key, r.Optional, err, "couldn't find key %v in ConfigMap %v/%v", pod.Namespace, r.Name)
	case from.SecretKeyRef != nil:
		r := from.SecretKeyRef
		data, err := e.secret(ctx, pod.Namespace, r.Name, r.Optional)
		return key(data, r.Key, r.Optional, err, "couldn't find key %v in Secret %v/%v", pod.Namespace, r.Name)
	}
	return "", false, nil
}

func key(data map[string]string, name string, optional *bool, err error, message, namespace, object string) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	value, ok := data[name]
	if !ok && (optional == nil || !*optional) {
		return "", false, missing(fmt.Sprintf(message, name, namespace, object))
	}
	return value, ok, nil
}

// field is a field of a pod, as the downward API names it.
func (e environment) field(pod *corev1.Pod, path string) (string, error) {
	if base, sub, ok := strings.Cut(strings.TrimSuffix(path, "']"), "['"); ok {
		switch base {
		case "metadata.labels":
			return pod.Labels[sub], nil
		case "metadata.annotations":
			return pod.Annotations[sub], nil
		}
	}
	hostIP := pod.Status.HostIP
	if hostIP == "" {
		hostIP, _, _ = e.nodes.place(pod.Spec.NodeName)
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return fieldMap(pod.Labels), nil
	case "metadata.annotations":
		return fieldMap(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return hostIP, nil
	case "status.podIP", "status.podIPs":
		return pod.Status.PodIP, nil
	}
	return "", fmt.Errorf("unsupported fieldPath: %s", path)
}

func fieldMap(m map[string]string) string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, fmt.Sprintf("%s=%q", k, m[k]))
	}
	return strings.Join(lines, "\n")
}

// resource is what a container may use, divided; the node's size where it has no limit.
func (e environment) resource(pod *corev1.Pod, c *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" {
		for i := range pod.Spec.Containers {
			if pod.Spec.Containers[i].Name == ref.ContainerName {
				c = &pod.Spec.Containers[i]
			}
		}
	}
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := c.Resources.Limits
	if kind == "requests" {
		list = c.Resources.Requests
	}
	q, ok := list[corev1.ResourceName(name)]
	if !ok && kind == "limits" {
		q = e.nodes.allocatable(pod.Spec.NodeName)[corev1.ResourceName(name)]
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == string(corev1.ResourceCPU) {
		return strconv.FormatInt(ceil(q.MilliValue(), divisor.MilliValue()), 10), nil
	}
	return strconv.FormatInt(ceil(q.Value(), divisor.Value()), 10), nil
}

func ceil(n, by int64) int64 {
	if by == 0 {
		return n
	}
	return (n + by - 1) / by
}

// services adds the variables of the namespace's Services, and of the API's.
func (e environment) services(ctx context.Context, pod *corev1.Pod, env map[string]string) error {
	kubernetesService, err := e.client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err == nil {
		serviceVariables(kubernetesService, env)
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	if pod.Spec.EnableServiceLinks != nil && !*pod.Spec.EnableServiceLinks {
		return nil
	}
	list, err := e.client.CoreV1().Services(pod.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		serviceVariables(&list.Items[i], env)
	}
	return nil
}

// serviceVariables are the ones that Docker links had.
func serviceVariables(s *corev1.Service, env map[string]string) {
	if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone || len(s.Spec.Ports) == 0 {
		return
	}
	prefix := strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
	ip := s.Spec.ClusterIP
	env[prefix+"_SERVICE_HOST"] = ip
	env[prefix+"_SERVICE_PORT"] = strconv.Itoa(int(s.Spec.Ports[0].Port))
	for i, port := range s.Spec.Ports {
		number, protocol := strconv.Itoa(int(port.Port)), strings.ToLower(string(port.Protocol))
		if port.Name != "" {
			env[prefix+"_SERVICE_PORT_"+strings.ToUpper(strings.ReplaceAll(port.Name, "-", "_"))] = number
		}
		url := protocol + "://" + net.JoinHostPort(ip, number)
		if i == 0 {
			env[prefix+"_PORT"] = url
		}
		base := prefix + "_PORT_" + number + "_" + strings.ToUpper(protocol)
		env[base], env[base+"_PROTO"], env[base+"_PORT"], env[base+"_ADDR"] = url, protocol, number, ip
	}
}

// expandVariables replaces $(NAME) by variables; $$ stands for a dollar sign, and a
// name that is not known stays as it is.
func expandVariables(text string, env map[string]string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		switch text[i+1] {
		case '$':
			b.WriteByte('$')
			i++
		case '(':
			end := strings.IndexByte(text[i:], ')')
			if end < 0 {
				b.WriteString(text[i:])
				return b.String()
			}
			name := text[i+2 : i+end]
			if value, ok := env[name]; ok {
				b.WriteString(value)
			} else {
				b.WriteString(text[i : i+end+1])
			}
			i += end
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// hostnameOf is a pod's host name.
func hostnameOf(pod *corev1.Pod) string {
	switch {
	case pod.Spec.HostNetwork:
		return pod.Spec.NodeName
	case pod.Spec.Hostname != "":
		return pod.Spec.Hostname
	}
	return strings.TrimRight(pod.Name[:min(len(pod.Name), 63)], "-.")
}
